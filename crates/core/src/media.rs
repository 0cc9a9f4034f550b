//! Pictures, sounds and files in a message, as far as a counter needs to know them.

use crate::byte_range::ByteRange;

/// Kind of a media block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MediaKind {
    /// A picture.
    Image,
    /// Sound.
    Audio,
    /// Moving pictures.
    Video,
    /// A document or other file.
    File,
}

/// An image, a sound or a file inside a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MediaRef {
    /// What it is.
    pub kind: MediaKind,
    /// Its element in the event's bytes.
    pub outer: ByteRange,
    /// How much of it there is, where the bytes tell.
    pub extent: MediaExtent,
    /// Size of the decoded data in bytes, 0 where it is only referred to.
    pub size: u32,
    /// How closely the model is to look at it.
    pub detail: PictureDetail,
}

/// How much of a picture, sound or file there is: what a provider counts it by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum MediaExtent {
    /// The bytes do not tell, or there are only an address and an id.
    #[default]
    Unknown,
    /// Width and height of a picture (PNG, JPEG, GIF and WebP headers).
    Pixels(u32, u32),
    /// Pages of a document (PDF).
    Pages(u32),
    /// Seconds of a sound or a video, begun ones included (WAV, MP3 and MP4 headers).
    Seconds(u32),
    /// Plain text of this many bytes, packed so that nothing here reads it.
    Text(u32),
    /// Plain text that is among the texts of its block, and counted there.
    Read,
}

impl MediaRef {
    /// Width and height of a picture, where they are known.
    #[must_use]
    pub fn pixels(&self) -> Option<(u32, u32)> {
        match self.extent {
            MediaExtent::Pixels(width, height) => Some((width, height)),
            _ => None,
        }
    }
}

/// How closely a model is to look at a picture, where the message says so (`OpenAI`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PictureDetail {
    /// The provider's choice, or nothing said.
    #[default]
    Auto,
    /// One small version of it.
    Low,
    /// As it is.
    High,
}

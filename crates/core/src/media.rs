//! Pictures, sounds and files in a message, as far as a counter has to know them.

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
    /// The kind of media.
    pub kind: MediaKind,
    /// Its element in the event's bytes.
    pub outer: ByteRange,
    /// Its size in pixels, pages or seconds, where the bytes show it.
    pub extent: MediaExtent,
    /// Size of the decoded data in bytes; 0 where the message only refers to it.
    pub size: u32,
    /// How closely the model should look at it.
    pub detail: PictureDetail,
}

/// The extent of a picture, sound or file, by which a provider counts its tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum MediaExtent {
    /// The bytes do not show it, or there is only an address or an id.
    #[default]
    Unknown,
    /// Width and height of a picture (PNG, JPEG, GIF and WebP headers).
    Pixels(u32, u32),
    /// Pages of a document (PDF).
    Pages(u32),
    /// Seconds of a sound or a video, rounded up (WAV, MP3 and MP4 headers).
    Seconds(u32),
    /// Plain text of this many bytes that is encoded, so that it is not read here.
    Text(u32),
    /// Plain text that is also among the texts of its block, and is counted there.
    Read,
}

impl MediaRef {
    /// Width and height of a picture; `None` where they are not known.
    #[must_use]
    pub fn pixels(&self) -> Option<(u32, u32)> {
        match self.extent {
            MediaExtent::Pixels(width, height) => Some((width, height)),
            _ => None,
        }
    }
}

/// How closely a model should look at a picture (a setting of `OpenAI` messages).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PictureDetail {
    /// The provider decides, or the message says nothing.
    #[default]
    Auto,
    /// A small version of the picture.
    Low,
    /// The picture in full.
    High,
}

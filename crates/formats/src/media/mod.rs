//! What the header of an image, a sound or a file says, without decoding all of its bytes.

mod base64;
mod document;
mod image;
mod sound;

use std::ops::Range;

use midfold_core::{
    ByteRange, EventView, MediaExtent, MediaKind, MediaRef, PictureDetail, TextRef,
};

use crate::fields::ObjectFields;
use crate::problem::ReadProblem;
use crate::scan;

pub(crate) use document::readable;
pub use image::pixels;

/// Describes the media element `outer`. `holder` is the member that holds the data: a string
/// (base64, a data URL, a URL or an id) or an object with such a string under `url`, `data`,
/// `file_data`, …
pub(crate) fn describe(
    bytes: &[u8],
    kind: MediaKind,
    outer: ByteRange,
    holder: Option<ByteRange>,
) -> MediaRef {
    let detail = match kind {
        MediaKind::Image => detail(bytes, outer, holder),
        _ => PictureDetail::Auto,
    };
    let token = holder.map(ByteRange::to_usize).and_then(|holder| data_token(bytes, holder));
    let Some(data) = token.and_then(|token| payload(bytes.get(token)?)) else {
        return MediaRef { kind, outer, extent: MediaExtent::Unknown, size: 0, detail };
    };
    let size = decoded_size(data);
    let extent = match kind {
        MediaKind::Image => pixels(data).map(|(width, height)| MediaExtent::Pixels(width, height)),
        MediaKind::Audio | MediaKind::Video => sound::seconds(data, size).map(MediaExtent::Seconds),
        MediaKind::File => document::extent(data, size),
    };
    MediaRef { kind, outer, extent: extent.unwrap_or_default(), size, detail }
}

/// The `detail` of an image. Chat Completions has it beside the URL, Responses beside the image.
fn detail(bytes: &[u8], outer: ByteRange, holder: Option<ByteRange>) -> PictureDetail {
    let places = [holder, Some(outer)].into_iter().flatten().map(ByteRange::to_usize);
    let value = places.filter_map(|at| scan::get(bytes, at, "detail")).next();
    match value.map(|value| &bytes[value]) {
        Some(br#""low""#) => PictureDetail::Low,
        Some(br#""high""# | br#""original""#) => PictureDetail::High,
        _ => PictureDetail::Auto,
    }
}

/// A [`ReadProblem`] for each image of this message whose size in pixels is not known, because its header is broken or
/// its format is not read. Such an image is counted as one of ordinary size.
pub fn unsized_images(view: &EventView) -> impl Iterator<Item = ReadProblem> {
    let media = view.blocks.iter().flat_map(|block| &block.media);
    let unsized_ones = media.filter(|media| {
        media.kind == MediaKind::Image && media.size > 0 && media.pixels().is_none()
    });
    unsized_ones.map(|media| {
        let detail = format!(
            "an image of {} bytes does not tell its size in pixels: counted as an ordinary one",
            media.size
        );
        ReadProblem::new("image-size", detail)
    })
}

/// The source of an image, without a dialect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PictureSource {
    /// The image itself.
    Base64 {
        /// The media type of the image, in small letters.
        mime: String,
        /// The bytes of the image in base64.
        data: String,
    },
    /// The image's URL.
    Url(String),
}

impl PictureSource {
    /// The bytes of an image. Providers compare its type letter by letter, and do not know the short `image/jpg`.
    fn base64(mime: &str, data: String) -> Self {
        let mime = match mime.to_ascii_lowercase() {
            short if short == "image/jpg" => "image/jpeg".to_owned(),
            mime => mime,
        };
        Self::Base64 { mime, data }
    }

    /// The source as a URL; image bytes become a data URL.
    pub(crate) fn to_url(&self) -> String {
        match self {
            Self::Base64 { mime, data } => format!("data:{mime};base64,{data}"),
            Self::Url(url) => url.clone(),
        }
    }
}

/// The source of the image in this element. `None` for the id of a file that a provider holds.
pub(crate) fn source(bytes: &[u8], media: &MediaRef) -> Option<PictureSource> {
    let outer = media.outer.to_usize();
    let text = |value: Range<usize>| TextRef::string(to_range(value)).decode(bytes).into_owned();
    if let Some(image) = scan::get(bytes, outer.clone(), "image") {
        return bedrock_source(bytes, image);
    }
    let holder = match bytes.get(outer.start)? {
        b'"' => outer.clone(),
        _ => {
            let part = ObjectFields::of(bytes, outer.clone()).in_either_spelling();
            let names = ["image_url", "source", "inlineData", "fileData"];
            names.iter().find_map(|name| part.get(name)).unwrap_or_else(|| outer.clone())
        }
    };
    let fields = ObjectFields::of(bytes, holder.clone()).in_either_spelling();
    let string = |name: &str| fields.string(name).map(text);
    let url = if bytes.get(holder.start) == Some(&b'"') {
        Some(text(holder.clone()))
    } else {
        string("url").or_else(|| string("fileUri"))
    };
    if let Some(url) = url {
        return from_url(url);
    }
    let mime = string("media_type").or_else(|| string("mimeType"));
    let data = string("data")?;
    Some(PictureSource::base64(mime.as_deref().unwrap_or("image/png"), data))
}

/// Reads Bedrock's `{format, source: {bytes}}`.
fn bedrock_source(bytes: &[u8], image: Range<usize>) -> Option<PictureSource> {
    let source = scan::get(bytes, image.clone(), "source")?;
    let text = |holder: Range<usize>, name: &str| {
        let value = scan::get(bytes, holder, name)?;
        let token = TextRef::string(to_range(value.clone()));
        (bytes.get(value.start) == Some(&b'"')).then(|| token.decode(bytes).into_owned())
    };
    let format = text(image, "format").unwrap_or_else(|| "png".to_owned());
    let data = text(source, "bytes")?;
    Some(PictureSource::base64(&format!("image/{format}"), data))
}

fn from_url(url: String) -> Option<PictureSource> {
    if let Some(rest) = url.strip_prefix("data:") {
        let (mime, data) = rest.split_once(";base64,")?;
        return Some(PictureSource::base64(mime, data.to_owned()));
    }
    if url.contains("://") {
        return Some(PictureSource::Url(url));
    }
    // Ollama sends base64 without a prefix.
    let is_base64 = url.len() >= 64;
    is_base64.then(|| PictureSource::base64(mime(&url), url))
}

/// The media type of an image, by the first characters of its base64.
fn mime(base64: &str) -> &'static str {
    const STARTS: [(&str, &str); 3] =
        [("/9j/", "image/jpeg"), ("R0lGOD", "image/gif"), ("UklGR", "image/webp")];
    STARTS.iter().find(|(start, _)| base64.starts_with(start)).map_or("image/png", |(_, mime)| mime)
}

fn to_range(range: Range<usize>) -> ByteRange {
    ByteRange::new(range.start, range.end)
}

/// The range of the string that holds the data: the holder itself, or a member of it.
fn data_token(bytes: &[u8], holder: Range<usize>) -> Option<Range<usize>> {
    match bytes.get(holder.start)? {
        b'"' => Some(holder),
        b'{' => ["data", "bytes", "file_data", "url"]
            .iter()
            .filter_map(|name| scan::get(bytes, holder.clone(), name))
            .find(|value| bytes.get(value.start) == Some(&b'"')),
        _ => None,
    }
}

/// The base64 in a string token. `None` for URLs and ids.
fn payload(token: &[u8]) -> Option<&[u8]> {
    let inner = scan::inside(token);
    if inner.starts_with(b"data:") {
        let comma = memchr::memchr(b',', inner)?;
        return inner.get(..comma)?.ends_with(b";base64").then(|| &inner[comma + 1..]);
    }
    // An id is shorter than 64 bytes, and a URL has a colon, which base64 does not.
    let head = inner.get(..inner.len().min(64))?;
    (inner.len() >= 64 && !head.contains(&b':')).then_some(inner)
}

fn decoded_size(base64: &[u8]) -> u32 {
    let padding = base64.iter().rev().take(2).filter(|&&b| b == b'=').count();
    let escapes = memchr::memchr_iter(b'\\', base64).count();
    let digits = base64.len().saturating_sub(padding + escapes);
    u32::try_from(digits / 4 * 3 + (digits % 4).saturating_sub(1)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::base64::encode;
    use super::*;

    #[test]
    fn sizes_of_the_four_formats() {
        let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
        png.extend([0, 0, 4, 0, 0, 0, 3, 0]);
        assert_eq!(pixels(&encode(&png)), Some((1024, 768)));
        assert_eq!(pixels(&encode(b"GIF89a\x40\x01\xf0\x00..")), Some((320, 240)));
        let mut jpeg = vec![0xFF, 0xD8, 0xFF, 0xE1, 0x20, 0x00];
        jpeg.resize(4 + 0x2000, 0xAA);
        jpeg.extend([0xFF, 0xC2, 0, 17, 8, 0x02, 0x58, 0x03, 0x20, 3]);
        assert_eq!(pixels(&encode(&jpeg)), Some((800, 600)), "the size lies behind 8 KB of EXIF");
        let mut webp = b"RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0".to_vec();
        webp.extend([0x7F, 0x07, 0, 0x37, 0x04, 0]);
        assert_eq!(pixels(&encode(&webp)), Some((1920, 1080)));
        assert_eq!(pixels(b"aGVsbG8="), None);
    }

    #[test]
    fn a_header_with_an_impossible_size_tells_none() {
        for size in [[0xFF; 8], [0; 8], [0x7F, 0xFF, 0xFF, 0xFF, 0, 0, 0, 1]] {
            let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
            png.extend(size);
            assert_eq!(pixels(&encode(&png)), None, "{size:?}");
        }
    }

    #[test]
    fn size_counts_decoded_bytes_and_urls_count_nothing() {
        for len in 48..60 {
            let text = encode(&vec![7; len]);
            assert_eq!(decoded_size(&text) as usize, len);
        }
        assert!(
            payload(
                b"\"https://example.org/some/long/path/that/is/more/than/sixty-four/bytes.png\""
            )
            .is_none()
        );
        assert!(payload(b"\"file-abc123\"").is_none());
        assert_eq!(payload(b"\"data:image/png;base64,AAAA\""), Some(&b"AAAA"[..]));
    }

    #[test]
    fn escaped_slashes_are_decoded() {
        let png = encode(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\xff\xff\0\0\xff\xff");
        let escaped = String::from_utf8(png).unwrap().replace('/', "\\/");
        assert_eq!(pixels(escaped.as_bytes()), Some((0xFFFF, 0xFFFF)));
    }
}

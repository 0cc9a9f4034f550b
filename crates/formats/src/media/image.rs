//! The size of an image in pixels, read from its header.

use super::base64::decode;

/// The most bytes of a JPEG that are searched: its size comes after its metadata.
const JPEG_REACH: usize = 64 * 1024;
/// The longest side that all of the formats but PNG can express, in pixels. A longer side is a broken header.
const LONGEST_SIDE: u32 = 65_535;
/// The bytes that are decoded first: enough for the headers of PNG, GIF and WebP, and of most JPEG files.
const HEADER: usize = 1024;

/// Width and height in pixels of the image in this base64 text (PNG, JPEG, GIF, WebP). `None` for other formats and for
/// a header with an impossible size.
#[must_use]
pub fn pixels(base64: &[u8]) -> Option<(u32, u32)> {
    let head = decode(base64, HEADER);
    let pixels = if head.starts_with(&[0xFF, 0xD8]) {
        jpeg(&head).or_else(|| jpeg(&decode(base64, JPEG_REACH)))
    } else {
        png(&head).or_else(|| gif(&head)).or_else(|| webp(&head))
    };
    let plausible = |side: u32| (1..=LONGEST_SIDE).contains(&side);
    pixels.filter(|(width, height)| plausible(*width) && plausible(*height))
}

fn be16(bytes: &[u8], at: usize) -> Option<u32> {
    let pair = bytes.get(at..at + 2)?;
    Some(u32::from(pair[0]) << 8 | u32::from(pair[1]))
}

fn le16(bytes: &[u8], at: usize) -> Option<u32> {
    let pair = bytes.get(at..at + 2)?;
    Some(u32::from(pair[1]) << 8 | u32::from(pair[0]))
}

fn le24(bytes: &[u8], at: usize) -> Option<u32> {
    Some(le16(bytes, at)? | u32::from(*bytes.get(at + 2)?) << 16)
}

fn png(bytes: &[u8]) -> Option<(u32, u32)> {
    if !bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
        return None;
    }
    let word = |at| Some(be16(bytes, at)? << 16 | be16(bytes, at + 2)?);
    Some((word(16)?, word(20)?))
}

fn gif(bytes: &[u8]) -> Option<(u32, u32)> {
    if !bytes.starts_with(b"GIF8") {
        return None;
    }
    Some((le16(bytes, 6)?, le16(bytes, 8)?))
}

fn webp(bytes: &[u8]) -> Option<(u32, u32)> {
    if !bytes.starts_with(b"RIFF") || bytes.get(8..12)? != b"WEBP" {
        return None;
    }
    match bytes.get(12..16)? {
        b"VP8 " => Some((le16(bytes, 26)? & 0x3FFF, le16(bytes, 28)? & 0x3FFF)),
        b"VP8L" => {
            let packed = le16(bytes, 21)? | le16(bytes, 23)? << 16;
            Some(((packed & 0x3FFF) + 1, (packed >> 14 & 0x3FFF) + 1))
        }
        b"VP8X" => Some((le24(bytes, 24)? + 1, le24(bytes, 27)? + 1)),
        _ => None,
    }
}

/// Walks the segments to the frame header (SOF), which has the size.
fn jpeg(bytes: &[u8]) -> Option<(u32, u32)> {
    let mut at = 2;
    loop {
        if *bytes.get(at)? != 0xFF {
            return None;
        }
        let marker = *bytes.get(at + 1)?;
        match marker {
            // Fill bytes may come before a marker.
            0xFF => at += 1,
            0x01 | 0xD0..=0xD8 => at += 2,
            // These three have numbers among the frame headers and are none.
            0xC4 | 0xC8 | 0xCC => at += 2 + be16(bytes, at + 2)? as usize,
            0xC0..=0xCF => return Some((be16(bytes, at + 7)?, be16(bytes, at + 5)?)),
            _ => at += 2 + be16(bytes, at + 2)? as usize,
        }
    }
}

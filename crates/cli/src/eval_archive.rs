//! Reads `.eval` logs of Inspect AI: zip archives with a file for each sample.
//!
//! Shape: `inspect_ai/log/_recorders/eval.py` of UKGovernmentBEIS/inspect_ai. `header.json` says what holds for all
//! samples, `samples/NAME.json` is one sample. A log that did not end has `start.json` in place of the header. Sizes
//! above 4 GiB (Zip64) are not read.

use std::io::{Error, ErrorKind, Read, Result};

/// The signature of a file in an archive, which is also that of the archive itself.
const LOCAL: &[u8] = b"PK\x03\x04";
/// The signature of an entry of the directory at the end of an archive.
const ENTRY: &[u8] = b"PK\x01\x02";
/// The signature of the end of that directory.
const END: &[u8] = b"PK\x05\x06";

/// The longest comment that may follow the end of the directory.
const COMMENT: usize = u16::MAX as usize;

/// A file in an archive, as its directory describes it.
struct ArchiveEntry<'a> {
    name: &'a [u8],
    method: u16,
    /// The position of the file's own header.
    header: usize,
    /// The packed size in bytes.
    packed: usize,
}

/// The log in an archive as one JSON value, as `inspect log dump` writes it. `None` where the bytes are no archive of a
/// log. More than `most` unpacked bytes are refused as [`ErrorKind::FileTooLarge`].
pub fn log(bytes: &[u8], most: u64) -> Result<Option<Vec<u8>>> {
    if !bytes.starts_with(LOCAL) {
        return Ok(None);
    }
    let entries = entries(bytes).ok_or_else(broken)?;
    let is_sample =
        |it: &&ArchiveEntry<'_>| it.name.starts_with(b"samples/") && it.name.ends_with(b".json");
    let mut samples = entries.iter().filter(is_sample).peekable();
    if samples.peek().is_none() {
        return Ok(None);
    }
    let head = ["header.json", "_journal/start.json", "start.json"]
        .iter()
        .find_map(|name| entries.iter().find(|entry| entry.name == name.as_bytes()));
    let Some(head) = head else { return Ok(None) };
    let mut left = most;
    let mut out = opened(unpacked(bytes, head, &mut left)?);
    out.extend_from_slice(b"\"samples\":[");
    for (at, sample) in samples.enumerate() {
        out.extend_from_slice(if at == 0 { b"" } else { b"," });
        out.extend_from_slice(&unpacked(bytes, sample, &mut left)?);
    }
    out.extend_from_slice(b"]}");
    Ok(Some(out))
}

/// An object without its closing bracket, with a status: that of the log, or that of a log which did not end.
fn opened(mut head: Vec<u8>) -> Vec<u8> {
    let end = head.iter().rposition(|byte| *byte == b'}').unwrap_or(head.len());
    head.truncate(end);
    // The last of two equal keys counts, so the status of the log is put behind this one.
    let start = head.iter().position(|byte| *byte == b'{').map_or(0, |at| at + 1);
    head.splice(start..start, *b"\"status\":\"started\",");
    head.push(b',');
    head
}

/// The files of the archive in the order of its directory. `None` where the archive is broken.
fn entries(bytes: &[u8]) -> Option<Vec<ArchiveEntry<'_>>> {
    let from = bytes.len().saturating_sub(COMMENT + 22);
    let end = from + memchr::memmem::rfind(&bytes[from..], END)?;
    let count = number(bytes, end + 10, 2)?;
    let mut at = number(bytes, end + 16, 4)?;
    let mut found = Vec::new();
    for _ in 0..count {
        if bytes.get(at..at + 4)? != ENTRY {
            return None;
        }
        let [name, extra, comment] = [28, 30, 32].map(|offset| number(bytes, at + offset, 2));
        let start = at + 46;
        found.push(ArchiveEntry {
            name: bytes.get(start..start + name?)?,
            method: u16::try_from(number(bytes, at + 10, 2)?).ok()?,
            header: number(bytes, at + 42, 4)?,
            packed: number(bytes, at + 20, 4)?,
        });
        at = start + name? + extra? + comment?;
    }
    Some(found)
}

/// The little-endian number of so many bytes.
fn number(bytes: &[u8], at: usize, size: usize) -> Option<usize> {
    let digits = bytes.get(at..at.checked_add(size)?)?;
    Some(digits.iter().rev().fold(0, |number, byte| number << 8 | usize::from(*byte)))
}

/// The content of a file. `left` is how many bytes may still be unpacked.
fn unpacked(bytes: &[u8], entry: &ArchiveEntry<'_>, left: &mut u64) -> Result<Vec<u8>> {
    let packed = packed(bytes, entry).ok_or_else(broken)?;
    let unpack: Box<dyn Read + '_> = match entry.method {
        0 => Box::new(packed),
        8 => Box::new(flate2::read::DeflateDecoder::new(packed)),
        93 => Box::new(zstd::stream::read::Decoder::new(packed)?),
        other => {
            return Err(Error::new(ErrorKind::Unsupported, format!("zip method {other}")));
        }
    };
    let mut plain = Vec::new();
    unpack.take(left.saturating_add(1)).read_to_end(&mut plain)?;
    *left = left.checked_sub(plain.len() as u64).ok_or(ErrorKind::FileTooLarge)?;
    Ok(plain)
}

/// The packed bytes of a file, which follow its own header.
fn packed<'a>(bytes: &'a [u8], entry: &ArchiveEntry<'_>) -> Option<&'a [u8]> {
    let at = entry.header;
    if bytes.get(at..at.checked_add(4)?)? != LOCAL {
        return None;
    }
    let start = at + 30 + number(bytes, at + 26, 2)? + number(bytes, at + 28, 2)?;
    bytes.get(start..start.checked_add(entry.packed)?)
}

fn broken() -> Error {
    Error::new(ErrorKind::InvalidData, "the zip archive is damaged")
}

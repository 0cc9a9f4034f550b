//! Reads `.eval` logs of Inspect AI: zip archives with a file for each sample.
//!
//! Shape: `inspect_ai/log/_recorders/eval.py` of UKGovernmentBEIS/inspect_ai. `header.json` says what holds for all
//! samples, `samples/NAME.json` is one sample. A log that did not end has `start.json` in place of the header.

use std::io::{Cursor, Error, ErrorKind, Read, Result};

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use zip::ZipArchive;
use zip::result::ZipError;

/// The names of the file with what holds for all samples, the best first.
const HEADS: [&str; 3] = ["header.json", "_journal/start.json", "start.json"];

/// The log as `inspect log dump` writes it.
#[derive(Serialize)]
struct DumpedLog {
    #[serde(flatten)]
    head: Map<String, Value>,
    samples: Vec<Box<RawValue>>,
}

/// The log in an archive as one JSON value. `None` where the bytes are no archive of a log. More than `most` unpacked
/// bytes are refused as [`ErrorKind::FileTooLarge`].
pub fn log(bytes: &[u8], most: u64) -> Result<Option<Vec<u8>>> {
    let mut archive =
        ArchiveReader { files: opened(ZipArchive::new(Cursor::new(bytes)))?, room: most };
    let names: Vec<String> = archive.files.file_names().map(str::to_owned).collect();
    let is_sample = |name: &&String| name.starts_with("samples/") && name.ends_with(".json");
    let samples: Vec<_> = names.iter().filter(is_sample).collect();
    let head = HEADS.into_iter().find(|head| names.iter().any(|name| name == head));
    let (Some(head), false) = (head, samples.is_empty()) else { return Ok(None) };
    let mut head: Map<String, Value> = archive.json(head)?;
    head.entry("status").or_insert(json!("started"));
    let samples = samples.into_iter().map(|name| archive.json(name)).collect::<Result<_>>()?;
    Ok(Some(serde_json::to_vec(&DumpedLog { head, samples })?))
}

/// An archive that is unpacked file by file.
struct ArchiveReader<'a> {
    files: ZipArchive<Cursor<&'a [u8]>>,
    /// How many bytes may still be unpacked.
    room: u64,
}

impl ArchiveReader<'_> {
    /// A file of the archive as JSON.
    fn json<T: serde::de::DeserializeOwned>(&mut self, name: &str) -> Result<T> {
        let mut plain = Vec::new();
        let file = opened(self.files.by_name(name))?;
        file.take(self.room.saturating_add(1)).read_to_end(&mut plain)?;
        self.room = self.room.checked_sub(plain.len() as u64).ok_or(ErrorKind::FileTooLarge)?;
        let json = serde_json::from_slice(&plain);
        json.map_err(|error| Error::new(ErrorKind::InvalidData, format!("{name} in it: {error}")))
    }
}

/// The result of opening an archive or a file in it.
fn opened<T>(result: std::result::Result<T, ZipError>) -> Result<T> {
    result.map_err(|error| match error {
        ZipError::Io(error) => error,
        ZipError::UnsupportedArchive(_) => Error::new(ErrorKind::Unsupported, error),
        error => Error::new(ErrorKind::InvalidData, error),
    })
}

//! Reading rows in chunks. Where a chunk ends depends on where it begins and on nothing else.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, stdin};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::files::RowFileKind;
use super::packed;
use crate::paths::is_stdin;

/// The longest row that is read: what is longer is rejected, so that memory stays bounded.
pub const LONGEST: usize = 64 << 20;

/// What is wrong with a file that somebody wrote for people.
const SPREAD: &str = "rows are written over several lines, and each has to be one line: \
                      `jq -c '.[]?' FILE` writes a list so, `jq -c . FILE` rows one after the other";

/// Whether a value that begins in the first line ends in a later one: no line of such a file is a row.
fn is_spread(bytes: &[u8]) -> bool {
    let start = bytes.trim_ascii_start();
    let Some(end) = memchr::memchr(b'\n', start) else { return false };
    let first = start[..end].trim_ascii_end();
    let is_open = matches!(first.first(), Some(b'{' | b'['))
        && !start[end..].trim_ascii_start().starts_with(b"{\"");
    let parsed = serde_json::from_slice::<serde::de::IgnoredAny>(first);
    is_open && parsed.is_err_and(|error| error.is_eof())
}

/// Where reading goes on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct LinePosition {
    /// Which of the inputs.
    pub file: usize,
    /// Bytes of its lines that are done; of Parquet, rows.
    pub offset: u64,
    /// Lines of it that are done.
    pub line: u64,
    /// Bytes of the file that were read for that, about: for whoever wants to know how far it is.
    pub read: u64,
}

/// Some rows.
pub struct LineChunk {
    /// Where they begin.
    pub from: LinePosition,
    /// Where the next ones begin.
    pub to: LinePosition,
    /// Whole lines, or the beginning of one that is too long.
    pub bytes: Vec<u8>,
    /// It is one line of more than [`LONGEST`] bytes.
    pub too_long: bool,
}

struct OpenLines {
    lines: Box<dyn Read>,
    /// Of a packed file, the bytes that were read.
    read: Option<Rc<Cell<u64>>>,
}

/// The chunks of some files.
pub struct LineChunks<'a> {
    files: &'a [PathBuf],
    open: Option<OpenLines>,
    at: LinePosition,
    /// What was read and is part of no chunk yet.
    rest: Vec<u8>,
    /// Bytes of a chunk, about.
    size: usize,
}

impl<'a> LineChunks<'a> {
    /// From a place in these files on, in chunks of about so many bytes.
    pub fn new(files: &'a [PathBuf], from: LinePosition, size: usize) -> Self {
        Self { files, open: None, at: from, rest: Vec::new(), size: size.max(1) }
    }

    /// The next chunk; `None` at the end of the last file. The error names the file.
    pub fn next_chunk(&mut self) -> Result<Option<LineChunk>, (PathBuf, io::Error)> {
        while let Some(path) = self.files.get(self.at.file) {
            let chunk = self.read(path).map_err(|error| (path.clone(), error))?;
            if chunk.is_some() {
                return Ok(chunk);
            }
            self.open = None;
            self.at = LinePosition { file: self.at.file + 1, ..LinePosition::default() };
        }
        Ok(None)
    }

    fn read(&mut self, path: &Path) -> io::Result<Option<LineChunk>> {
        if self.open.is_none() {
            self.open = Some(open(path, self.at.offset)?);
        }
        let mut bytes = std::mem::take(&mut self.rest);
        loop {
            let wanted = if bytes.len() < self.size { self.size } else { bytes.len() * 2 };
            let ended = self.fill(&mut bytes, wanted)?;
            let end = match memchr::memrchr(b'\n', &bytes) {
                _ if ended => bytes.len(),
                Some(newline) => newline + 1,
                None if bytes.len() > LONGEST => return self.skip(bytes).map(Some),
                None => continue,
            };
            self.rest = bytes.split_off(end);
            if self.at.offset == 0 && is_spread(&bytes) {
                return Err(io::Error::new(io::ErrorKind::InvalidData, SPREAD));
            }
            return Ok((!bytes.is_empty()).then(|| self.chunk(bytes)));
        }
    }

    fn chunk(&mut self, bytes: Vec<u8>) -> LineChunk {
        let lines = memchr::memchr_iter(b'\n', &bytes).count() as u64;
        let unended = u64::from(bytes.last() != Some(&b'\n'));
        let from = self.at;
        self.at.offset += bytes.len() as u64;
        self.at.line += lines + unended;
        self.count();
        LineChunk { from, to: self.at, bytes, too_long: false }
    }

    /// Steps over a line that is too long.
    fn skip(&mut self, bytes: Vec<u8>) -> io::Result<LineChunk> {
        let from = self.at;
        let mut length = bytes.len() as u64;
        drop(bytes);
        loop {
            let mut more = Vec::new();
            let ended = self.fill(&mut more, self.size.max(1 << 16))?;
            let newline = memchr::memchr(b'\n', &more);
            if let Some(newline) = newline {
                self.rest = more.split_off(newline + 1);
            }
            length += more.len() as u64;
            if newline.is_some() || ended {
                break;
            }
        }
        self.at.offset += length;
        self.at.line += 1;
        self.count();
        Ok(LineChunk { from, to: self.at, bytes: Vec::new(), too_long: true })
    }

    fn count(&mut self) {
        let read = self.open.as_ref().and_then(|open| open.read.as_ref()).map(|read| read.get());
        self.at.read = read.unwrap_or(self.at.offset);
    }

    /// Reads until there are `wanted` bytes. True at the end of the file.
    fn fill(&mut self, bytes: &mut Vec<u8>, wanted: usize) -> io::Result<bool> {
        let Some(open) = &mut self.open else { return Ok(true) };
        let missing = wanted.saturating_sub(bytes.len()) as u64;
        let read = open.lines.by_ref().take(missing).read_to_end(bytes)?;
        Ok((read as u64) < missing)
    }
}

fn open(path: &Path, offset: u64) -> io::Result<OpenLines> {
    let lines: Box<dyn Read> = match RowFileKind::of(path) {
        _ if is_stdin(path) => Box::new(stdin()),
        RowFileKind::Packed => {
            let (lines, read) = packed::open(path, offset)?;
            return Ok(OpenLines { lines, read: Some(read) });
        }
        _ => {
            let mut file = File::open(path)?;
            file.seek(SeekFrom::Start(offset))?;
            Box::new(file)
        }
    };
    Ok(OpenLines { lines, read: None })
}

//! Reads rows in chunks. The end of a chunk depends only on its start, so that a resumed run makes the same chunks.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom, stdin};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::files::RowFileKind;
use super::packed;
use super::transcripts::{InputRows, LONGEST, TranscriptRows, is_spread};
use crate::input;
use crate::session_folder::SessionFolder;
use crate::stdin::is_stdin;

/// The error for a file whose JSON values take several lines each.
const SPREAD: &str = "rows are written over several lines, and each has to be one line: \
                      `jq -c '.[]?' FILE` writes a list so, `jq -c . FILE` rows one after the other";

/// The position at which reading goes on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct LinePosition {
    /// The index of the input file.
    pub file: usize,
    /// The bytes of lines in this file that are done. For Parquet, the rows.
    pub offset: u64,
    /// The number of lines in this file that are done.
    pub line: u64,
    /// The bytes of the file that were read for them, roughly. Only the display of progress uses it.
    pub read: u64,
}

/// A chunk of rows.
pub struct LineChunk {
    /// The position of the first row.
    pub from: LinePosition,
    /// The position after the last row.
    pub to: LinePosition,
    /// Whole lines. Empty if `too_long`.
    pub bytes: Vec<u8>,
    /// Whether the chunk is a single line of more than [`LONGEST`] bytes.
    pub too_long: bool,
}

struct OpenLines {
    lines: Box<dyn Read>,
    read: FileShare,
}

/// How many bytes of the file the lines that are done came of.
enum FileShare {
    /// The lines are the bytes of the file.
    Same,
    /// The lines are unpacked while they are read. This counts the bytes of the file.
    Counted(Rc<Cell<u64>>),
    /// The whole file was read, and lines of `made_bytes` bytes were made of its `size` bytes.
    Made { made_bytes: u64, size: u64 },
}

impl FileShare {
    fn of(&self, offset: u64) -> u64 {
        match self {
            Self::Same => offset,
            Self::Counted(read) => read.get(),
            Self::Made { made_bytes, size } => {
                let share =
                    u128::from(offset) * u128::from(*size) / u128::from((*made_bytes).max(1));
                u64::try_from(share).unwrap_or(*size)
            }
        }
    }
}

/// The chunks of some files, in order.
pub struct LineChunks<'a> {
    files: &'a [PathBuf],
    transcripts: &'a TranscriptRows,
    open: Option<OpenLines>,
    at: LinePosition,
    /// Bytes that were read and belong to the next chunk.
    rest: Vec<u8>,
    /// The size of a chunk in bytes; roughly kept.
    size: usize,
}

impl<'a> LineChunks<'a> {
    /// Chunks of roughly `size` bytes, from a position in these files on.
    pub fn new(
        files: &'a [PathBuf],
        transcripts: &'a TranscriptRows,
        from: LinePosition,
        size: usize,
    ) -> Self {
        Self { files, transcripts, open: None, at: from, rest: Vec::new(), size: size.max(1) }
    }

    /// The next chunk. `None` at the end of the last file. An error comes with the path of its file.
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
            self.open = Some(open(path, self.transcripts, self.at.offset)?);
        }
        let mut bytes = std::mem::take(&mut self.rest);
        loop {
            // A line may be longer than a chunk. Then twice as much is read, until its end is found.
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

    /// Skips the rest of a line that is too long, without keeping it in memory.
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
        let offset = self.at.offset;
        self.at.read = self.open.as_ref().map_or(offset, |open| open.read.of(offset));
    }

    /// Reads until there are `wanted` bytes. Returns true at the end of the file.
    fn fill(&mut self, bytes: &mut Vec<u8>, wanted: usize) -> io::Result<bool> {
        let Some(open) = &mut self.open else { return Ok(true) };
        let missing = wanted.saturating_sub(bytes.len()) as u64;
        let read = open.lines.by_ref().take(missing).read_to_end(bytes)?;
        Ok((read as u64) < missing)
    }
}

fn open(path: &Path, transcripts: &TranscriptRows, offset: u64) -> io::Result<OpenLines> {
    let plain = |lines: Box<dyn Read>| Ok(OpenLines { lines, read: FileShare::Same });
    let open_rows = |rows: Vec<u8>, size: Option<u64>| {
        let made_bytes = rows.len() as u64;
        let read = size.map_or(FileShare::Same, |size| FileShare::Made { made_bytes, size });
        let mut rows = Cursor::new(rows);
        rows.set_position(offset);
        Ok(OpenLines { lines: Box::new(rows), read })
    };
    if is_stdin(path) {
        return match transcripts.look(path, stdin(), None)? {
            InputRows::Own(read) => plain(Box::new(Cursor::new(read).chain(stdin()))),
            InputRows::Made(rows) => open_rows(rows, None),
        };
    }
    let size = path.metadata()?.len();
    let is_gzip = path.extension().is_some_and(|end| end == "gz");
    if is_gzip || SessionFolder::of(path).is_some() {
        let all = input::bytes(path).map_err(|failure| io::Error::other(failure.to_string()))?;
        return match transcripts.look(path, &all[..], Some(all.len() as u64))? {
            InputRows::Made(rows) => open_rows(rows, Some(size)),
            // These are only the first lines.
            InputRows::Own(_) => open_rows(all, Some(size)),
        };
    }
    if RowFileKind::of(path) == RowFileKind::Packed {
        let (lines, _) = packed::open(path, 0)?;
        return match transcripts.look(path, lines, Some(size))? {
            InputRows::Made(rows) => open_rows(rows, Some(size)),
            InputRows::Own(_) => {
                let (lines, read) = packed::open(path, offset)?;
                Ok(OpenLines { lines, read: FileShare::Counted(read) })
            }
        };
    }
    let mut file = File::open(path)?;
    match transcripts.look(path, &file, Some(size))? {
        InputRows::Made(rows) => open_rows(rows, Some(size)),
        InputRows::Own(_) => {
            file.seek(SeekFrom::Start(offset))?;
            plain(Box::new(file))
        }
    }
}

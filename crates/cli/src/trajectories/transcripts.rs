//! Inputs that are no rows but transcripts: a client's session file, a request, a recording. Each conversation in one
//! becomes a row.

use std::collections::BTreeMap;
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use midfold::formats::ReadProblem;
use midfold::formats::read::{TranscriptFormat, detect, read_recorded};
use midfold::formats::trajectory::{TrajectoryRow, TurnShape, row_of};

use serde_json::value::RawValue;

use crate::bounded::{self, MOST_STREAMED};

/// The most bytes of a row, 64 MiB. Longer rows are rejected, so that memory stays bounded.
pub const LONGEST: usize = 64 << 20;

/// The largest file of which all is read to find out what it is, where its first line does not say: 1 GiB.
const LARGEST: u64 = 1 << 30;

/// How transcripts become rows, and what was lost.
#[derive(Debug)]
pub struct TranscriptRows {
    /// The shape of the rows.
    pub shape: TurnShape,
    /// What the rows of each file could not carry over, once, however often the file is read.
    lost: Mutex<BTreeMap<PathBuf, Vec<ReadProblem>>>,
}

/// The rows of an input.
pub enum InputRows {
    /// The input holds rows. These are the bytes of it that were read.
    Own(Vec<u8>),
    /// Rows that were made of its conversations.
    Made(Vec<u8>),
}

/// A kind of loss: how often it happened, and the words for the first one.
pub struct LossCount {
    pub code: &'static str,
    pub count: u64,
    pub example: String,
}

impl TranscriptRows {
    /// Rows of this shape; nothing is lost yet.
    pub fn new(shape: TurnShape) -> Self {
        Self { shape, lost: Mutex::default() }
    }

    /// Finds out what an input is. `size` is that of a file; `None` for a stream, which is read no further than it has to
    /// be.
    pub fn look(
        &self,
        path: &Path,
        mut input: impl Read,
        size: Option<u64>,
    ) -> io::Result<InputRows> {
        let read = first_line(&mut input)?;
        let start = read.trim_ascii_start();
        let line = memchr::memchr(b'\n', start).map_or(start, |end| &start[..end]);
        let is_transcript = match detect(line) {
            Some(format) => !is_row(line, format),
            // The values of a client's file may begin with one that says nothing, and a value may take several lines.
            None => size.is_some_and(|size| size <= LARGEST) || is_spread(&read),
        };
        if !is_transcript {
            return Ok(InputRows::Own(read));
        }
        let most = if size.is_some() { u64::MAX - 1 } else { MOST_STREAMED };
        let all = Bytes::from(bounded::stream(Cursor::new(read).chain(input), most)?);
        Ok(match self.rows(path, &all) {
            Some(rows) => InputRows::Made(rows),
            None => InputRows::Own(all.into()),
        })
    }

    /// The rows of an input whose lines are no rows. `None` where nothing in it is known.
    fn rows(&self, path: &Path, input: &Bytes) -> Option<Vec<u8>> {
        if is_spread(input)
            && let Some(rows) = spread_rows(input)
        {
            return Some(rows);
        }
        let outcome = read_recorded(input, None).ok()?;
        let mut lost = outcome.problems;
        let mut rows = Vec::new();
        for conversation in outcome.conversations {
            if is_of_rows(conversation.format) && conversation.envelope.wrapper.is_some() {
                return None;
            }
            let (row, problems) = row_of(conversation, self.shape);
            rows.extend(row);
            rows.push(b'\n');
            lost.extend(problems);
        }
        let all = || self.lost.lock().unwrap_or_else(PoisonError::into_inner);
        all().insert(path.to_owned(), lost);
        Some(rows)
    }

    /// All kinds of losses, the most frequent one first.
    pub fn lost(&self) -> Vec<LossCount> {
        let lost = self.lost.lock().unwrap_or_else(PoisonError::into_inner);
        let mut kinds: BTreeMap<&str, LossCount> = BTreeMap::new();
        for problem in lost.values().flatten() {
            let new =
                || LossCount { code: problem.code, count: 0, example: problem.detail.clone() };
            kinds.entry(problem.code).or_insert_with(new).count += 1;
        }
        let mut kinds: Vec<_> = kinds.into_values().collect();
        kinds.sort_by_key(|kind| std::cmp::Reverse(kind.count));
        kinds
    }
}

/// Whether a line is a row: an object with its turns in a list. A message of a bare list is none.
fn is_row(line: &[u8], format: TranscriptFormat) -> bool {
    is_of_rows(format) && TrajectoryRow::read(line).is_ok_and(|row| row.has_turns())
}

/// Whether rows are written in this format.
fn is_of_rows(format: TranscriptFormat) -> bool {
    matches!(
        format,
        TranscriptFormat::FineTuning | TranscriptFormat::ShareGpt | TranscriptFormat::OpenAiChat
    )
}

/// The rows of an input that is written over several lines: a list of rows, or rows one after the other. `None` where a
/// value is no row.
fn spread_rows(input: &[u8]) -> Option<Vec<u8>> {
    let mut rows = Vec::new();
    for value in serde_json::Deserializer::from_slice(input).into_iter::<&RawValue>() {
        let value = value.ok()?;
        let list: Vec<&RawValue> = match value.get().starts_with('[') {
            true => serde_json::from_str(value.get()).ok()?,
            false => vec![value],
        };
        for row in list.into_iter().map(|row| row.get().as_bytes()) {
            detect(row).filter(|format| is_row(row, *format))?;
            // A line break of JSON is between its values, never in a string.
            rows.extend(
                row.iter().map(|byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { *byte }),
            );
            rows.push(b'\n');
        }
    }
    Some(rows)
}

/// The first lines, up to the end of the first one that is not blank. A longer line than a row may be is cut.
fn first_line(input: &mut impl Read) -> io::Result<Vec<u8>> {
    const STEP: u64 = 1 << 16;
    let mut first = Vec::new();
    loop {
        let read = input.by_ref().take(STEP).read_to_end(&mut first)?;
        let text = first.trim_ascii_start();
        if read == 0 || first.len() > LONGEST || memchr::memchr(b'\n', text).is_some() {
            return Ok(first);
        }
    }
}

/// Whether a value that begins in the first line ends in a later one. No line of such a file is a row.
pub fn is_spread(bytes: &[u8]) -> bool {
    let start = bytes.trim_ascii_start();
    let Some(end) = memchr::memchr(b'\n', start) else { return false };
    let first = start[..end].trim_ascii_end();
    let is_open = matches!(first.first(), Some(b'{' | b'['))
        && !start[end..].trim_ascii_start().starts_with(b"{\"");
    let parsed = serde_json::from_slice::<serde::de::IgnoredAny>(first);
    is_open && parsed.is_err_and(|error| error.is_eof())
}

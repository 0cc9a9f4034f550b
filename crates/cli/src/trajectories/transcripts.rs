//! Inputs that are no rows but transcripts: a client's session file, a request, a recording. Each conversation in one
//! becomes a row.

use std::collections::BTreeMap;
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use midfold::formats::ReadProblem;
use midfold::formats::read::{TranscriptFormat, detect, read_recorded};
use midfold::formats::trajectory::{TrajectoryRow, TurnShape, on_one_line, row_of};
use serde_json::value::RawValue;

use crate::bounded::{self, MOST_STREAMED};

/// The most bytes of a row, 64 MiB. Longer rows are rejected, so that memory stays bounded.
pub const LONGEST: usize = 64 << 20;

/// How transcripts become rows, and what was lost.
#[derive(Debug)]
pub struct TranscriptRows {
    /// The shape of the rows.
    pub shape: TurnShape,
    /// What the rows of each file could not carry over, by code: counted once, however often the file is read.
    losses: Mutex<BTreeMap<PathBuf, LossCounts>>,
    /// Which of [`TurnShape::ALL`] were written.
    written: [AtomicBool; TurnShape::ALL.len()],
}

/// The rows of an input.
pub enum InputRows {
    /// The input holds rows. These are the bytes of it that were read.
    Own(Vec<u8>),
    /// Rows that were made of its conversations.
    Made(Vec<u8>),
}

/// The kinds of losses by their code: how often each happened, and the words for the first one.
type LossCounts = BTreeMap<&'static str, (u64, String)>;

impl TranscriptRows {
    /// Rows of this shape; nothing is lost yet.
    pub fn new(shape: TurnShape) -> Self {
        Self { shape, losses: Mutex::default(), written: Default::default() }
    }

    /// Finds out what an input is. `size` is that of a file; `None` for a stream, which is read no further than it has
    /// to be.
    pub fn look(
        &self,
        path: &Path,
        mut input: impl Read,
        size: Option<u64>,
    ) -> io::Result<InputRows> {
        let read = first_lines(&mut input)?;
        let mut lines =
            read.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
        // A file with a row among its first lines is one of rows, whatever is wrong with the others.
        if lines.any(is_row) || !may_be_transcript(&read, size) {
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
        let mut losses = LossCounts::new();
        count(&mut losses, outcome.problems);
        let mut rows = Vec::new();
        for conversation in outcome.conversations {
            if is_of_rows(conversation.format) && conversation.envelope.wrapper.is_some() {
                return None;
            }
            let (row, problems) = row_of(conversation, self.shape);
            rows.extend(row);
            rows.push(b'\n');
            count(&mut losses, problems);
        }
        let all = || self.losses.lock().unwrap_or_else(PoisonError::into_inner);
        all().insert(path.to_owned(), losses);
        Some(rows)
    }

    /// Notes the shape of a row that is written.
    pub fn wrote(&self, shape: Option<TurnShape>) {
        let place = TurnShape::ALL.iter().position(|known| Some(*known) == shape);
        if let Some(written) = place.and_then(|at| self.written.get(at)) {
            written.store(true, Ordering::Relaxed);
        }
    }

    /// The shape of the rows that were there before, where rows of transcripts were written beside them in another one.
    pub fn other_shape(&self) -> Option<TurnShape> {
        let is_mixed = self.written.iter().all(|written| written.load(Ordering::Relaxed));
        let is_made = !self.losses.lock().unwrap_or_else(PoisonError::into_inner).is_empty();
        TurnShape::ALL
            .into_iter()
            .find(|shape| *shape != self.shape)
            .filter(|_| is_mixed && is_made)
    }

    /// All kinds of losses, the most frequent one first.
    pub fn losses(&self) -> Vec<(&'static str, u64, String)> {
        let losses = self.losses.lock().unwrap_or_else(PoisonError::into_inner);
        let mut kinds = LossCounts::new();
        for (code, (count, example)) in losses.values().flatten() {
            kinds.entry(code).or_insert_with(|| (0, example.clone())).0 += count;
        }
        let kinds = kinds.into_iter().map(|(code, (count, example))| (code, count, example));
        let mut kinds: Vec<_> = kinds.collect();
        kinds.sort_by_key(|(_, count, _)| std::cmp::Reverse(*count));
        kinds
    }
}

fn count(losses: &mut LossCounts, problems: Vec<ReadProblem>) {
    for ReadProblem { code, detail, .. } in problems {
        losses.entry(code).or_insert((0, detail)).0 += 1;
    }
}

/// Whether an input whose first lines are no rows is read whole, to find out what it is. A file of a client may
/// begin with a value that says nothing, and a value may take several lines.
fn may_be_transcript(first: &[u8], size: Option<u64>) -> bool {
    let start = first.trim_ascii_start();
    let line = memchr::memchr(b'\n', start).map_or(start, |end| &start[..end]);
    let is_small = size.is_some_and(|size| size <= MOST_STREAMED);
    is_small || is_spread(first) || detect(line).is_some()
}

/// Whether a line is a row: an object with its turns in a list. A message of a bare list is none.
fn is_row(line: &[u8]) -> bool {
    detect(line).is_some_and(is_of_rows)
        && TrajectoryRow::read(line).is_ok_and(|row| row.has_turns())
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
            if !is_row(row) {
                return None;
            }
            rows.extend(on_one_line(row));
            rows.push(b'\n');
        }
    }
    Some(rows)
}

/// The first lines, up to the end of the first one that is not blank. A longer line than a row may be is cut.
fn first_lines(input: &mut impl Read) -> io::Result<Vec<u8>> {
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

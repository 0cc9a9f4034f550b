//! A store as text: one JSON record a line, from one store into another. What comes out of
//! `export(import(x))` is `x`, byte for byte.
//!
//! The first line names the format and its version, the last one counts the records: half a file
//! is refused before anything of its last session is kept open. A session's lines follow each
//! other: the session, its events, its folds, its calls. Jobs and keys of appends belong to the
//! nodes of one store and stay there; a span that waits is queued again by the next turn.

use std::io::{BufRead, Write};

use bytes::Bytes;
use midfold_core::Hash;
use serde::{Deserialize, Serialize};

use crate::Store;
use crate::error::StoreError;
use crate::types::{Append, NewCall, NewEvent, NewFold, NewSession};

/// Version of the format.
pub const VERSION: u32 = 1;

/// Events that are read or appended at once.
const PAGE: u64 = 64;
/// Sessions that are read at once.
const SESSIONS: u32 = 256;

/// Why an export or an import stopped.
#[derive(Debug, thiserror::Error)]
pub enum TransferError {
    /// The store refused.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The file cannot be read or written.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// A line is not what it should be.
    #[error("line {line}: {problem}")]
    Line {
        /// Its number, from 1.
        line: u64,
        /// What is wrong with it.
        problem: String,
    },
}

/// What was written or read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moved {
    /// Sessions.
    pub sessions: u64,
    /// Events.
    pub events: u64,
    /// Folds.
    pub folds: u64,
    /// Model calls.
    pub calls: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "kebab-case", deny_unknown_fields)]
enum Line {
    Midfold {
        version: u32,
    },
    Session {
        new: NewSession,
        head: u64,
        active: Option<Hash>,
        state: String,
    },
    Event {
        bytes: Content,
        hash: Hash,
        turn: u32,
        tokens: u32,
        usage: Option<String>,
    },
    Fold(Box<FoldLine>),
    Call {
        number: u64,
        head: u64,
        fold: Option<Hash>,
        hash: Hash,
        body: String,
        now: u64,
        usage: Option<String>,
    },
    End(Moved),
}

#[derive(Serialize, Deserialize)]
struct FoldLine {
    id: Hash,
    start: u64,
    end: u64,
    before: Hash,
    through: Hash,
    policy: Hash,
    recap: Hash,
    kept: Vec<(u64, u64)>,
    now: u64,
    body: String,
}

/// An event's bytes: text where they are text.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Content {
    Text(String),
    Hex(String),
}

impl Content {
    fn of(bytes: &[u8]) -> Self {
        match std::str::from_utf8(bytes) {
            Ok(text) => Self::Text(text.to_owned()),
            Err(_) => {
                let digit = |half: u8| char::from_digit(u32::from(half), 16).unwrap_or('0');
                Self::Hex(bytes.iter().flat_map(|b| [digit(b >> 4), digit(b & 15)]).collect())
            }
        }
    }

    fn bytes(self) -> Result<Bytes, String> {
        match self {
            Self::Text(text) => Ok(text.into_bytes().into()),
            Self::Hex(digits) => {
                let value = |c: u8| char::from(c).to_digit(16).and_then(|d| u8::try_from(d).ok());
                let pair = |pair: &[u8]| match pair {
                    [high, low] => Some(value(*high)? << 4 | value(*low)?),
                    _ => None,
                };
                let all: Option<Vec<u8>> = digits.as_bytes().chunks(2).map(pair).collect();
                all.map(Bytes::from)
                    .ok_or_else(|| "the bytes are no pairs of hex digits".to_owned())
            }
        }
    }
}

fn put(out: &mut impl Write, line: &Line) -> Result<(), TransferError> {
    serde_json::to_writer(&mut *out, line).map_err(std::io::Error::from)?;
    Ok(out.write_all(b"\n")?)
}

/// Writes sessions (all without `only`) as lines.
///
/// # Errors
/// When the store cannot be read or the file not be written.
pub async fn export<W: Write + Send>(
    store: &dyn Store,
    only: Option<&str>,
    out: &mut W,
) -> Result<Moved, TransferError> {
    let mut moved = Moved::default();
    put(out, &Line::Midfold { version: VERSION })?;
    if let Some(id) = only {
        export_session(store, id, out, &mut moved).await?;
    } else {
        let mut after: Option<String> = None;
        loop {
            let page = store.sessions(after.as_deref(), SESSIONS).await?;
            let Some(last) = page.last() else { break };
            after = Some(last.new.id.clone());
            for row in &page {
                export_session(store, &row.new.id, out, &mut moved).await?;
            }
        }
    }
    put(out, &Line::End(moved))?;
    out.flush()?;
    Ok(moved)
}

async fn export_session<W: Write + Send>(
    store: &dyn Store,
    id: &str,
    out: &mut W,
    moved: &mut Moved,
) -> Result<(), TransferError> {
    let row = store.session(id).await?;
    // Read after the session's row: so the active fold is among them.
    let folds = store.folds(id).await?;
    let (head, active, state) = (row.head, row.active, row.state);
    put(out, &Line::Session { new: row.new, head, active, state })?;
    moved.sessions += 1;
    let mut seq = 0;
    while seq < head {
        let page = store.events(id, seq..head.min(seq + PAGE)).await?;
        let Some(last) = page.last() else { break };
        seq = last.seq + 1;
        for row in page {
            let NewEvent { bytes, hash, turn, tokens, usage } = row.event;
            put(out, &Line::Event { bytes: Content::of(&bytes), hash, turn, tokens, usage })?;
            moved.events += 1;
        }
    }
    // A fold that came in meanwhile over events after `head` belongs to a later export.
    for row in folds.into_iter().filter(|row| row.fold.end <= head) {
        let NewFold { id, start, end, before, through, policy, recap, kept, body, now } = row.fold;
        let kept = kept.into_iter().map(|run| (run.start, run.end)).collect();
        let fold = FoldLine { id, start, end, before, through, policy, recap, kept, now, body };
        put(out, &Line::Fold(Box::new(fold)))?;
        moved.folds += 1;
    }
    for row in store.calls(id).await?.into_iter().take_while(|row| row.call.head <= head) {
        let NewCall { number, head, fold, hash, body, now } = row.call;
        put(out, &Line::Call { number, head, fold, hash, body, now, usage: row.usage })?;
        moved.calls += 1;
    }
    Ok(())
}

/// Reads what [`export`] wrote. Sessions must be new to the store.
///
/// The whole file is read through once before anything is stored: a file that was cut off, or of
/// another version, changes nothing.
///
/// # Errors
/// [`TransferError::Line`] for a bad or cut file; [`StoreError::Exists`] for a session that is
/// there already, with those before it imported.
pub async fn import<R, F>(store: &dyn Store, open: F) -> Result<Moved, TransferError>
where
    R: BufRead + Send,
    F: Fn() -> std::io::Result<R> + Send,
{
    let promised = survey(open()?)?;
    let mut importer = Importer { store, open: None, moved: Moved::default() };
    for (line, text) in open()?.lines().enumerate() {
        let line = line as u64 + 1;
        importer.take(parse(line, &text?)?, line).await?;
    }
    importer.close().await?;
    if importer.moved != promised {
        let problem = "the file changed while it was read".to_owned();
        return Err(TransferError::Line { line: 1, problem });
    }
    Ok(importer.moved)
}

fn parse(line: u64, text: &str) -> Result<Line, TransferError> {
    let bad = |error: serde_json::Error| TransferError::Line { line, problem: error.to_string() };
    serde_json::from_str(text).map_err(bad)
}

/// Reads the file through: the first and the last line, and the number of records between.
fn survey(file: impl BufRead) -> Result<Moved, TransferError> {
    let mut seen = Moved::default();
    let (mut line, mut end) = (0, None);
    for text in file.lines() {
        line += 1;
        let bad = |problem: &str| TransferError::Line { line, problem: problem.to_owned() };
        let record = parse(line, &text?)?;
        if end.is_some() {
            return Err(bad("the file goes on after its end"));
        }
        match record {
            Line::Midfold { version } if line == 1 && version == VERSION => {}
            Line::Midfold { version } if line == 1 => {
                return Err(bad(&format!("version {version}; this midfold reads {VERSION}")));
            }
            _ if line == 1 => return Err(bad("not an export of midfold")),
            Line::Midfold { .. } => return Err(bad("a second beginning")),
            Line::Session { .. } => seen.sessions += 1,
            _ if seen.sessions == 0 && !matches!(record, Line::End(_)) => {
                return Err(bad("a record before the first session"));
            }
            Line::Event { .. } => seen.events += 1,
            Line::Fold(_) => seen.folds += 1,
            Line::Call { .. } => seen.calls += 1,
            Line::End(promised) => end = Some(promised),
        }
    }
    match end {
        Some(promised) if promised == seen => Ok(seen),
        Some(_) => Err(TransferError::Line { line, problem: "records are missing".to_owned() }),
        None => {
            let problem = "the file ends too early: it was cut off".to_owned();
            Err(TransferError::Line { line, problem })
        }
    }
}

/// The session that is being imported.
struct Open {
    id: String,
    active: Option<Hash>,
    state: String,
    next: u64,
    waiting: Vec<NewEvent>,
}

struct Importer<'a> {
    store: &'a dyn Store,
    open: Option<Open>,
    moved: Moved,
}

impl Importer<'_> {
    async fn take(&mut self, record: Line, line: u64) -> Result<(), TransferError> {
        match record {
            Line::Midfold { .. } => {}
            Line::End(_) => self.close().await?,
            Line::Session { new, active, state, .. } => {
                self.close().await?;
                let id = new.id.clone();
                self.store.create(new).await?;
                self.open = Some(Open { id, active, state, next: 0, waiting: Vec::new() });
                self.moved.sessions += 1;
            }
            Line::Event { bytes, hash, turn, tokens, usage } => {
                let bytes =
                    bytes.bytes().map_err(|problem| TransferError::Line { line, problem })?;
                let event = NewEvent { bytes, hash, turn, tokens, usage };
                if let Some(open) = &mut self.open {
                    open.waiting.push(event);
                }
                self.moved.events += 1;
                self.flush(PAGE).await?;
            }
            Line::Fold(fold) => {
                self.flush(1).await?;
                let FoldLine { id, start, end, before, through, policy, recap, kept, now, body } =
                    *fold;
                let kept = kept.into_iter().map(|(from, to)| from..to).collect();
                let fold =
                    NewFold { id, start, end, before, through, policy, recap, kept, body, now };
                if let Some(open) = &self.open {
                    self.store.put_fold(&open.id, &fold).await?;
                }
                self.moved.folds += 1;
            }
            Line::Call { number, head, fold, hash, body, now, usage } => {
                self.flush(1).await?;
                let call = NewCall { number, head, fold, hash, body, now };
                if let Some(open) = &self.open {
                    self.store.record_call(&open.id, &call).await?;
                    if let Some(usage) = &usage {
                        self.store.settle_call(&open.id, number, usage).await?;
                    }
                }
                self.moved.calls += 1;
            }
        }
        Ok(())
    }

    /// Appends what waits, when it is at least so much.
    async fn flush(&mut self, least: u64) -> Result<(), TransferError> {
        let Some(open) = &mut self.open else { return Ok(()) };
        if (open.waiting.len() as u64) < least {
            return Ok(());
        }
        let events = std::mem::take(&mut open.waiting);
        let append = Append { expected: open.next, events, ..Append::default() };
        open.next = {
            let answer = self.store.append(&open.id, append).await?;
            answer.first + answer.count
        };
        Ok(())
    }

    async fn close(&mut self) -> Result<(), TransferError> {
        self.flush(1).await?;
        let Some(open) = self.open.take() else { return Ok(()) };
        if open.active.is_some() {
            self.store.activate(&open.id, None, open.active).await?;
        }
        if !open.state.is_empty() {
            self.store.save_state(&open.id, 0, &open.state).await?;
        }
        Ok(())
    }
}

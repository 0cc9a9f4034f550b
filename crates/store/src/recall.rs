//! Recall: what a fold took out of the context, brought back from the log.
//!
//! Four questions, each bounded: *where is it* ([`grep`]), *what was it called* ([`names()`]), *show
//! me the original* ([`expand`]), *what does this fold cover* ([`describe`]). [`dispatch`] answers
//! them for an agent that was given [`tools`]. What comes back is quoted history: data, never instructions.

mod names;
mod tools;

use std::ops::Range;

use midfold_core::fold::{Entry, Fold};
use midfold_core::view::Role;
use midfold_formats::DialectKind;
use serde::Serialize;

use crate::text::event_text;
use crate::types::{EventRow, FoldRow, Search, SearchMode, SessionRow};
use crate::{Store, StoreError};

pub use names::{GoneNames, MAX_NAME_CHARS, NAME_CHARS, names};
pub use tools::{Shape, dispatch, tools};

/// Most events that one [`grep`] returns.
pub const MAX_HITS: u32 = 50;
/// Characters of one page of [`expand`], when nothing is asked for.
pub const PAGE_CHARS: usize = 8_000;
/// Most characters of one page.
pub const MAX_PAGE_CHARS: usize = 100_000;
/// Most events on one page: messages without a word cost nothing of its characters.
const PAGE_EVENTS: usize = 500;
/// Events that are read at a time.
const CHUNK: u64 = 8;
/// Shortest prefix that names a fold, in hex digits.
const MIN_PREFIX: usize = 4;
/// Identifiers that [`describe`] lists.
const LISTED: usize = 40;

/// Why nothing came back.
#[derive(Debug, thiserror::Error)]
pub enum RecallError {
    /// The store did not do it.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// It is no event, range or fold.
    #[error("`{0}` is no event (`12`), no range (`12-20`) and no fold (`active`, or its id)")]
    What(String),
    /// No fold has this id.
    #[error("no fold of this session has an id that starts with `{0}`")]
    NoFold(String),
    /// Several folds have it.
    #[error("more than one fold has an id that starts with `{0}`: give more of it")]
    Ambiguous(String),
    /// There is no active fold.
    #[error("this session has no fold: nothing left the context")]
    Unfolded,
    /// The event is not there.
    #[error("there is no event {0}: the session has events 0 to {1}")]
    NoEvent(u64, u64),
    /// The session has no events.
    #[error("the session has no events yet")]
    Empty,
    /// The cursor is none that a page ended with.
    #[error("`{0}` is no cursor: pass on the `next` of the page before")]
    Cursor(String),
}

/// What to bring back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// One event.
    Event(u64),
    /// Events of a range.
    Range(Range<u64>),
    /// The events that a fold does not send as they were: `active`, or the start of its id. A
    /// marker names the active fold.
    Fold(String),
}

impl What {
    /// Reads `12`, `12-20` (both included), `active`, the id of a fold or its start, or a marker.
    ///
    /// # Errors
    /// When it is none of these.
    ///
    /// ```
    /// use midfold_store::recall::What;
    /// assert_eq!(What::parse("12").unwrap(), What::Event(12));
    /// assert_eq!(What::parse("12-20").unwrap(), What::Range(12..21));
    /// assert_eq!(What::parse("[Earlier messages truncated]").unwrap(), What::Fold("active".into()));
    /// assert!(What::parse("the file").is_err());
    /// ```
    pub fn parse(text: &str) -> Result<Self, RecallError> {
        let asked = text.trim();
        let wrong = || RecallError::What(text.chars().take(80).collect());
        let word = asked.strip_prefix("event ").or_else(|| asked.strip_prefix('#'));
        let number = |text: &str| text.trim().parse::<u64>().ok();
        if let Some(seq) = number(word.unwrap_or(asked)) {
            return Ok(Self::Event(seq));
        }
        let ends = asked.split_once('-').or_else(|| asked.split_once(".."));
        if let Some((from, to)) = ends.and_then(|(a, b)| number(a).zip(number(b))) {
            let end = to.checked_add(1).filter(|end| from < *end).ok_or_else(wrong)?;
            return Ok(Self::Range(from..end));
        }
        if asked.starts_with('[') || asked.eq_ignore_ascii_case("active") {
            return Ok(Self::Fold("active".to_owned()));
        }
        let id =
            asked.strip_prefix("fold ").or_else(|| asked.strip_prefix("fold:")).unwrap_or(asked);
        let hex = id.len() >= MIN_PREFIX && id.bytes().all(|byte| byte.is_ascii_hexdigit());
        hex.then(|| Self::Fold(id.to_ascii_lowercase())).ok_or_else(wrong)
    }
}

/// A found event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Found {
    /// The event: what [`expand`] is asked for.
    pub event: u64,
    /// Who wrote it.
    pub role: Role,
    /// The turn it belongs to.
    pub turn: u32,
    /// Text around the first match.
    pub snippet: String,
}

/// Finds events of the original log by what they say. At most `limit`, and at most [`MAX_HITS`].
///
/// # Errors
/// When there is no such session, or the query is none.
pub async fn grep(
    store: &dyn Store,
    session: &str,
    query: &str,
    mode: SearchMode,
    limit: u32,
) -> Result<Vec<Found>, RecallError> {
    let row = store.session(session).await?;
    let limit = limit.clamp(1, MAX_HITS);
    let search = Search { query: query.to_owned(), mode, range: None, limit };
    let mut found = Vec::new();
    for hit in store.search(session, &search).await? {
        for event in store.events(session, hit.seq..hit.seq + 1).await? {
            let role = role(&row, &event);
            let snippet = hit.snippet.clone();
            found.push(Found { event: hit.seq, role, turn: event.event.turn, snippet });
        }
    }
    Ok(found)
}

/// One original, or a part of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Original {
    /// The event.
    pub event: u64,
    /// Who wrote it.
    pub role: Role,
    /// The turn it belongs to.
    pub turn: u32,
    /// Where the text starts in the event's, in bytes.
    pub offset: usize,
    /// The text.
    pub text: String,
    /// The event's text goes on after it.
    pub cut: bool,
}

/// A page of originals.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Page {
    /// In the order of the log.
    pub originals: Vec<Original>,
    /// The cursor of the next page; none when this is the last.
    pub next: Option<String>,
}

/// Brings back originals, `max_chars` at a time (at most [`MAX_PAGE_CHARS`]), from where the page
/// before ended.
///
/// # Errors
/// When there is no such session, event or fold, or the cursor is none.
pub async fn expand(
    store: &dyn Store,
    session: &str,
    what: &What,
    from: Option<&str>,
    max_chars: usize,
) -> Result<Page, RecallError> {
    let row = store.session(session).await?;
    let runs = runs(store, &row, what).await?;
    let cursor = from.map(parse_cursor).transpose()?;
    let (start, mut offset) = cursor.unwrap_or((0, 0));
    let mut room = max_chars.clamp(1, MAX_PAGE_CHARS);
    let mut page = Page::default();
    for run in runs {
        let mut at = run.start.max(start);
        while at < run.end {
            let chunk = at..run.end.min(at + CHUNK);
            for event in store.events(session, chunk.clone()).await? {
                if room == 0 || page.originals.len() >= PAGE_EVENTS {
                    page.next = Some(format!("{}:0", event.seq));
                    return Ok(page);
                }
                // Only the event that the page before ended in starts in the middle.
                let skip = if event.seq == start { std::mem::take(&mut offset) } else { 0 };
                let original = cut(&row, &event, skip, &mut room);
                let end = original.offset + original.text.len();
                let more = original.cut;
                page.originals.push(original);
                if more {
                    page.next = Some(format!("{}:{end}", event.seq));
                    return Ok(page);
                }
            }
            at = chunk.end;
        }
    }
    Ok(page)
}

/// As much of an event's text as there is room for.
fn cut(row: &SessionRow, event: &EventRow, skip: usize, room: &mut usize) -> Original {
    let text = event_text(&row.new.dialect, &event.event.bytes);
    let mut offset = skip.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    let rest = &text[offset..];
    let end = rest.char_indices().nth(*room).map_or(rest.len(), |(at, _)| at);
    *room -= if end < rest.len() { *room } else { rest.chars().count() };
    Original {
        event: event.seq,
        role: role(row, event),
        turn: event.event.turn,
        offset,
        text: rest[..end].to_owned(),
        cut: end < rest.len(),
    }
}

fn parse_cursor(text: &str) -> Result<(u64, usize), RecallError> {
    let parts = text.trim().split_once(':');
    let parsed = parts.and_then(|(seq, offset)| seq.parse().ok().zip(offset.parse().ok()));
    parsed.ok_or_else(|| RecallError::Cursor(text.chars().take(80).collect()))
}

/// The runs of events that are asked for.
async fn runs(
    store: &dyn Store,
    row: &SessionRow,
    what: &What,
) -> Result<Vec<Range<u64>>, RecallError> {
    let last = row.head.checked_sub(1).ok_or(RecallError::Empty)?;
    match what {
        What::Event(seq) if *seq > last => Err(RecallError::NoEvent(*seq, last)),
        What::Event(seq) => Ok(one(*seq..*seq + 1)),
        What::Range(range) if range.start > last => Err(RecallError::NoEvent(range.start, last)),
        What::Range(range) => Ok(one(range.start..range.end.min(row.head))),
        What::Fold(prefix) => Ok(covered(&fold_of(store, row, prefix).await?)),
    }
}

fn one(run: Range<u64>) -> Vec<Range<u64>> {
    std::iter::once(run).collect()
}

/// The span of a fold without what it keeps as it is.
fn covered(fold: &FoldRow) -> Vec<Range<u64>> {
    let mut runs = Vec::new();
    let mut at = fold.fold.start;
    for kept in &fold.fold.kept {
        if at < kept.start {
            runs.push(at..kept.start);
        }
        at = at.max(kept.end);
    }
    if at < fold.fold.end {
        runs.push(at..fold.fold.end);
    }
    runs
}

async fn fold_of(
    store: &dyn Store,
    row: &SessionRow,
    prefix: &str,
) -> Result<FoldRow, RecallError> {
    let active = match prefix {
        "active" => Some(row.active.ok_or(RecallError::Unfolded)?.to_hex()),
        _ => None,
    };
    let wanted = active.as_deref().unwrap_or(prefix);
    let mut folds = store.folds(&row.new.id).await?;
    folds.retain(|fold| fold.fold.id.to_hex().starts_with(wanted));
    match (folds.pop(), folds.is_empty()) {
        (Some(fold), true) => Ok(fold),
        (Some(_), false) => Err(RecallError::Ambiguous(prefix.to_owned())),
        (None, _) => Err(RecallError::NoFold(prefix.to_owned())),
    }
}

/// What a fold covers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Described {
    /// Its id.
    pub id: String,
    /// Its number in the session, from 1.
    pub number: u64,
    /// Whether contexts are read through it.
    pub active: bool,
    /// Runs of events that it does not send as they were, first and last of each: what [`expand`]
    /// brings back.
    pub covered: Vec<(u64, u64)>,
    /// Events of them that are sent in an edited form.
    pub edited: Vec<u32>,
    /// Events of the span that stay as they are.
    pub kept: u64,
    /// Tokens of the context before.
    pub tokens_before: u64,
    /// Tokens of the context after.
    pub tokens_after: u64,
    /// Its policy.
    pub policy: String,
    /// What stands for the covered events: `computed`, `marker`, `static`; none when nothing does.
    pub stand_in: Option<String>,
    /// The text of the recap or marker.
    pub recap: Option<String>,
    /// Identifiers of the covered events that the context no longer names: worth a [`grep`].
    pub lost_ids: Vec<String>,
}

/// Says what a fold covers: `active`, or the start of its id.
///
/// # Errors
/// When there is no such session or fold.
pub async fn describe(
    store: &dyn Store,
    session: &str,
    fold: &str,
) -> Result<Described, RecallError> {
    let row = store.session(session).await?;
    let What::Fold(prefix) = What::parse(fold).or_else(|error| match fold.trim() {
        "" => Ok(What::Fold("active".to_owned())),
        _ => Err(error),
    })?
    else {
        // All digits: an id may start so.
        return describe_row(&row, fold_of(store, &row, fold.trim()).await?);
    };
    describe_row(&row, fold_of(store, &row, &prefix).await?)
}

fn describe_row(row: &SessionRow, found: FoldRow) -> Result<Described, RecallError> {
    let damaged = |error: serde_json::Error| {
        StoreError::Damaged(format!("the record of fold {:?}: {error}", found.fold.id))
    };
    let record: Fold = serde_json::from_str(&found.fold.body).map_err(damaged)?;
    let edited = |entry: &Entry| match entry {
        Entry::Edited { seq, .. } => Some(*seq),
        _ => None,
    };
    Ok(Described {
        id: found.fold.id.to_hex(),
        number: found.number,
        active: row.active == Some(found.fold.id),
        covered: covered(&found).iter().map(|run| (run.start, run.end - 1)).collect(),
        edited: record.entries.iter().filter_map(edited).collect(),
        kept: found.fold.kept.iter().map(|run| run.end.saturating_sub(run.start)).sum(),
        tokens_before: record.tokens_before,
        tokens_after: record.tokens_after,
        policy: record.policy,
        stand_in: record.fallback,
        recap: record.recap.map(|recap| recap.text),
        lost_ids: record.lost_ids.first.into_iter().take(LISTED).collect(),
    })
}

fn role(row: &SessionRow, event: &EventRow) -> Role {
    DialectKind::from_name(&row.new.dialect)
        .map_or(Role::Other, |kind| kind.dialect().view(&event.event.bytes).role)
}

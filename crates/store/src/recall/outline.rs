//! Lists the messages of a session, one line each, as an overview before anything is read in full.

use std::ops::Range;

use serde::Serialize;

use super::reading::{LogReader, MessageHeadline, first_line, line};
use super::{RecallError, readable, target};
use crate::store::Store;

/// Messages of a page where no limit is asked for.
pub const ROWS: u32 = 50;
/// Most messages of a page.
pub const MAX_ROWS: u32 = 500;
/// Characters of a message that its line shows.
const START: usize = 100;
/// Characters of a message that its line shows, where the message also makes a call.
const START_OF_CALL: usize = 60;
/// How many messages are read at a time.
const CHUNK: u64 = 64;

/// A message in an outline.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OutlineRow {
    /// The number of the message in the log, from 0.
    pub event: u64,
    /// Who wrote the message; `tool` for every message with results.
    pub role: String,
    /// Whether a client wrote it in the user's role: context, a reminder, a recap. Left out if not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub injected: bool,
    /// The turn that the message belongs to.
    pub turn: u32,
    /// The tool and the target of its calls, or of the calls that its results answer; left out if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    /// The outcome of its results: `ok`, `failed (exit 1)`; left out for other messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// The length of its text in characters.
    pub chars: usize,
    /// The first line of the text; for a result the most telling line, if there is one.
    pub text: String,
}

/// A page of an outline.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OutlinePage {
    /// The messages of the page, in the order of the log.
    pub rows: Vec<OutlineRow>,
    /// The runs of messages that the active fold took out or shortened: the first and the last message of each.
    pub folded: Vec<(u64, u64)>,
    /// The number of messages in the session.
    pub total: u64,
    /// The number of the first message of the next page; null on the last page.
    pub next: Option<u64>,
}

/// Lists at most `limit` messages (at most [`MAX_ROWS`]) from number `from` on. With `folded`, only messages that the
/// active fold removed from the context or shortened are listed.
///
/// # Errors
/// Fails where there is no such session or message, and where nothing is folded although `folded` is set.
pub async fn outline(
    store: &dyn Store,
    session: &str,
    from: u64,
    limit: u32,
    folded: bool,
) -> Result<OutlinePage, RecallError> {
    let reader = LogReader::of(store, session).await?;
    let head = reader.row.head;
    let last = head.checked_sub(1).ok_or(RecallError::Empty)?;
    if from > last {
        return Err(RecallError::NoEvent(from, last));
    }
    let folded_runs = target::folded(store, &reader.row).await?;
    if folded && folded_runs.is_empty() {
        return Err(RecallError::Unfolded);
    }
    let runs: Vec<Range<u64>> =
        if folded { folded_runs.clone() } else { std::iter::once(0..head).collect() };
    let limit = limit.clamp(1, MAX_ROWS) as usize;
    let ends = folded_runs.iter().map(|run| (run.start, run.end - 1)).collect();
    let mut page = OutlinePage { rows: Vec::new(), folded: ends, total: head, next: None };
    for run in runs {
        let mut at = run.start.max(from);
        while at < run.end {
            if page.rows.len() == limit {
                page.next = Some(at);
                return Ok(page);
            }
            // Messages behind the limit are not read, because one may have megabytes.
            let room = (limit - page.rows.len()) as u64;
            let chunk = at..run.end.min(at + CHUNK.min(room));
            at = chunk.end;
            rows(&reader, &chunk, &mut page.rows).await?;
        }
    }
    Ok(page)
}

/// Adds the lines of the messages in a chunk.
async fn rows(
    reader: &LogReader<'_>,
    chunk: &Range<u64>,
    rows: &mut Vec<OutlineRow>,
) -> Result<(), RecallError> {
    let events = reader.around(chunk).await?;
    let log = reader.paired(&events);
    for event in events.iter().filter(|event| chunk.contains(&event.seq.into())) {
        let head = log.headline(event);
        let prose = event
            .view
            .text_of(&event.bytes, |kind| matches!(kind, midfold_core::view::BlockKind::Text));
        let readable = readable::text(&log, event);
        let text = match (head.outcomes.is_empty(), head.tools.is_empty()) {
            (true, true) => line(prose.trim(), START),
            (true, false) => line(prose.trim(), START_OF_CALL),
            (false, _) if head.is_known() => line(head.telling().unwrap_or_default(), START),
            (false, _) => line(first_line(&readable), START),
        };
        let chars = readable.chars().count();
        rows.push(row(&head, chars, text));
    }
    Ok(())
}

fn row(head: &MessageHeadline, chars: usize, text: String) -> OutlineRow {
    OutlineRow {
        event: head.event,
        role: head.role.to_owned(),
        injected: head.injected,
        turn: head.turn,
        action: head.actions(),
        outcome: head.verdict(),
        chars,
        text,
    }
}

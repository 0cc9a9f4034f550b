//! The messages of a log, with the fate of each.

use std::collections::BTreeMap;
use std::ops::Range;

use midfold_core::engine::Session;
use midfold_core::fabric::FabricCell;
use midfold_core::fold::Fold;
use midfold_core::log::Event;
use midfold_store::{StoredError, StoredSession};
use serde::Serialize;

use crate::texts::{cut, role, tool, whole};

/// A page of the messages of a session.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MessagePage {
    /// The messages of the page, in the order of the log.
    pub messages: Vec<MessageView>,
    /// The number of messages in the session.
    pub total: u64,
}

/// A message, with its fate under the active fold.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MessageView {
    /// The number of the message in the log, from 0.
    pub seq: u64,
    /// Who wrote the message; `tool` for every message with results.
    pub role: String,
    /// The turn that the message belongs to.
    pub turn: u32,
    /// The steps of the session so far, this one included: one message of the model and its results are one step.
    pub step: u32,
    /// The tokens of the message.
    pub tokens: u32,
    /// The tool that it calls, or whose result it is; null if there is none.
    pub tool: Option<String>,
    /// Whether the message is pinned, so that no fold takes it.
    pub pinned: bool,
    /// The fate of the message under the active fold as a letter, as in `fates` of a fold.
    pub fate: char,
    /// The reducer and its reason; null unless a reducer edited the message.
    pub why: Option<String>,
    /// The text of the message with its calls, without secrets.
    pub text: String,
    /// Whether `text` is cut.
    pub cut: bool,
    /// The length of the whole text in characters.
    pub chars: usize,
    /// The original message as JSON. Left out unless one message is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub json: Option<String>,
}

/// The fates of messages under the active fold, and the reasons of edits.
pub(super) struct ActiveFates {
    cells: Vec<FabricCell>,
    why: BTreeMap<u32, String>,
}

impl ActiveFates {
    pub fn of(fold: Option<&Fold>) -> Self {
        let cells = fold.map(FabricCell::each_of).unwrap_or_default();
        // In reverse order, so that the first edit of a message stays in the map.
        let edits = fold.iter().flat_map(|fold| fold.edits.iter().rev());
        let why = edits.map(|edit| (edit.seq, reason(edit))).collect();
        Self { cells, why }
    }

    pub fn at(&self, seq: usize) -> char {
        self.cells.get(seq).copied().unwrap_or(FabricCell::Verbatim).letter()
    }
}

/// The reducer that edited an event, and its reason.
pub(super) fn reason(edit: &midfold_core::fold::BlockEdit) -> String {
    format!("{}: {}", edit.reducer.as_str(), edit.reason)
}

/// Reads messages of an open session. `chars` is the most characters that are shown of each text.
///
/// # Errors
/// If the store fails.
pub async fn messages(
    stored: &mut StoredSession,
    range: Range<u64>,
    chars: usize,
) -> Result<MessagePage, StoredError> {
    let session = stored.whole().await?;
    let events = session.log().events();
    let place = |seq: u64| usize::try_from(seq).unwrap_or(usize::MAX).min(events.len());
    let (from, to) = (place(range.start), place(range.end));
    let fates = ActiveFates::of(session.active());
    let some = events.get(from..to.max(from)).unwrap_or_default();
    let messages = some.iter().map(|event| one(session, event, &fates, chars)).collect();
    Ok(MessagePage { messages, total: events.len() as u64 })
}

/// Reads one message with its whole text and its JSON.
///
/// # Errors
/// If there is no message with this number, or if the store fails.
pub async fn message(stored: &mut StoredSession, seq: u64) -> Result<MessageView, StoredError> {
    let id = stored.row().new.id.clone();
    let session = stored.whole().await?;
    let events = session.log().events();
    let event = usize::try_from(seq).ok().and_then(|at| events.get(at));
    let Some(event) = event else {
        let events = events.len() as u64;
        return Err(StoredError::NoEvent { session: id, seq, events });
    };
    let fates = ActiveFates::of(session.active());
    let json = Some(String::from_utf8_lossy(&event.bytes).into_owned());
    Ok(MessageView { json, ..one(session, event, &fates, usize::MAX) })
}

/// The view of an event; `chars` is the most characters of its text.
fn one(session: &Session, event: &Event, fates: &ActiveFates, chars: usize) -> MessageView {
    let text = whole(event);
    let all = text.chars().count();
    let (text, cut) = cut(&text, chars);
    MessageView {
        seq: event.seq.into(),
        role: role(event).to_owned(),
        turn: event.turn,
        step: event.step,
        tokens: event.tokens.total,
        tool: tool(event),
        pinned: session.pins().contains(&event.seq),
        fate: fates.at(event.seq as usize),
        why: fates.why.get(&event.seq).cloned(),
        text,
        cut,
        chars: all,
        json: None,
    }
}

/// Returns what was found under a number, or an error that says how many there are.
pub(super) fn numbered<T>(
    item: Option<T>,
    what: &'static str,
    number: u64,
    count: usize,
) -> Result<T, StoredError> {
    item.ok_or(StoredError::NoNumber { what, number, count: count as u64 })
}

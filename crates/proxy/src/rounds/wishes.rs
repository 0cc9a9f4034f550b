//! The agent's tools: carries out what the model says about its own conversation, while the request is on its way.

use midfold::wishes::{compact, message, note_of, pin, says};
use midfold_core::Hash;
use midfold_core::engine::NotedHistory;
use midfold_core::log::{EventLog, measure};
use midfold_formats::recall_tool::{OwnTool, RecallCall};
use midfold_formats::request::without_marks;
use midfold_store::Millis;
use serde_json::Value;

use crate::lock::lock;
use crate::slot::ConversationSlot;
use crate::turn::MatchedRequest;

/// The answer to a call of a tool that the request was not given.
pub(super) const NOT_OFFERED: &str = "error: there is no such tool\n";
/// The answer if the request has no history, so that there is no session yet.
const BEGUN: &str = "error: the conversation has only begun; ask again with a later turn\n";

/// Carries out a call, and answers with a text for the model.
pub(super) fn carry_out(
    turn: &MatchedRequest,
    tool: OwnTool,
    call: &RecallCall,
    now: Millis,
) -> String {
    let Some(place) = &turn.place else { return BEGUN.to_owned() };
    let arguments: Value = serde_json::from_str(call.arguments.trim()).unwrap_or_default();
    let text = |name: &str| match &arguments[name] {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => String::new(),
    };
    let answer = match tool {
        OwnTool::Compact => {
            let session = &mut lock(&place.conversation).session;
            compact(session, &place.budget, &text("keep"), now)
        }
        OwnTool::Pin => keep(turn, place, &text("message"), &text("text")),
        OwnTool::Note => {
            let session = &mut lock(&place.conversation).session;
            let read = read_so_far(turn, place, session.log());
            note_of(session, &text("text"), read)
        }
        OwnTool::Recall => NOT_OFFERED.to_owned(),
    };
    turn.proxy.queue(&place.conversation);
    answer
}

/// What the model has read: the history in the log, and the messages of the request behind it. Another request may
/// share the history and go on otherwise.
fn read_so_far(turn: &MatchedRequest, place: &ConversationSlot, log: &EventLog) -> NotedHistory {
    let (history, count) = (place.newest.history_len(), own_messages(turn));
    let behind = |hash: Hash, at| hash.chain(&without_marks(&turn.request.message(at)));
    let hash = (history..count).fold(log.hash_before(history), behind);
    let events = u32::try_from(count).unwrap_or(u32::MAX);
    NotedHistory { events, hash, is_called: true }
}

/// How many messages the request has without those of the rounds, which follow the client's messages.
fn own_messages(turn: &MatchedRequest) -> usize {
    turn.request.len() - turn.recall.added.len()
}

/// Pins a message of the request. If it is not in the log yet, it will be the event with the same number.
fn keep(turn: &MatchedRequest, place: &ConversationSlot, number: &str, words: &str) -> String {
    let dialect = place.reading.kind.dialect();
    let has_words = |at: usize, words: &str| {
        let bytes = turn.request.message(at);
        says(&dialect.view(&bytes), &bytes, words)
    };
    let at = match message(own_messages(turn), number, words, has_words) {
        Ok(at) => at,
        Err(error) => return error,
    };
    let bytes = turn.request.message(at);
    let tokens = measure(&*place.reading.counter, &bytes, &dialect.view(&bytes)).total;
    let seq = u32::try_from(at).unwrap_or(u32::MAX);
    let session = &mut lock(&place.conversation).session;
    pin(session, &place.budget, seq, tokens.into())
}

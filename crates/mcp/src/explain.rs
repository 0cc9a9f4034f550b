//! `explain`: whether the model still sees a text, and if not, when it left and why.

use std::sync::Arc;

use midfold::core::explain::{Explanation, SightAnswer as Seen, event_number};
use midfold::store::{SessionRow, Store, StoredError, StoredSession, recall};
use midfold::view;
use serde_json::{Value, json};

use crate::answer::{CallAnswer, CallRefusal};
use crate::listing;
use crate::request::{SHOWN, ToolCall};
use crate::sessions::NewestSessions;

/// The most messages of a session that the JSON value lists.
const OCCURRENCES: usize = 20;

const SEND_TEXT: &str = "Send the words to look for, or `@12`.";
const TRY_LATER: &str = "Try again later; go on without it until then.";

/// Answers for one session.
pub(crate) async fn one(call: &ToolCall<'_>, row: &SessionRow) -> Result<CallAnswer, CallRefusal> {
    let text = text(call)?;
    let explanation = explained(&call.store, row, &text, call.number("call")?).await?;
    let answer_text = format!("{}{}", recall::QUOTED, explained_text(&explanation, &row.new.id));
    let value = value(recall::QUOTED, 1, 1, vec![of_session(explanation, &row.new.id)]);
    Ok(CallAnswer { text: answer_text, value: Some(value) })
}

/// Answers for the newest sessions that have the text.
pub(crate) async fn several(
    call: &ToolCall<'_>,
    newest: NewestSessions,
) -> Result<CallAnswer, CallRefusal> {
    let text = text(call)?;
    // Numbers of messages and calls only make sense within one session.
    if event_number(&text).is_some() || call.number::<u64>("call")?.is_some() {
        return Err(call.ask_for_a_session(newest).await);
    }
    let (mut answer_text, mut answers, mut looked_into) = (String::new(), Vec::new(), 0);
    for row in &newest.rows {
        if answers.len() == SHOWN {
            break;
        }
        looked_into += 1;
        if !view::has_text(&*call.store, &row.new.id, &text).await? {
            continue;
        }
        let explanation = explained(&call.store, row, &text, None).await?;
        // Only the name of a called tool has the text.
        if explanation.occurrences.is_empty() {
            continue;
        }
        answer_text += &format!("── session {}\n", listing::line(&*call.store, row).await);
        answer_text += &explained_text(&explanation, &row.new.id);
        answers.push(of_session(explanation, &row.new.id));
    }
    let total = newest.total;
    let of = format!("{looked_into} of {total} sessions, newest first");
    let answer_text = match answers.is_empty() {
        true => format!("no message of {of}, says it\n"),
        false => format!("{}{answer_text}looked into {of}\n", listing::QUOTED),
    };
    let value = value(listing::QUOTED, looked_into, total, answers);
    Ok(CallAnswer { text: answer_text, value: Some(value) })
}

fn text(call: &ToolCall<'_>) -> Result<String, CallRefusal> {
    match call.arguments.get("text").and_then(Value::as_str).map(str::trim) {
        Some(text) if !text.is_empty() => Ok(text.to_owned()),
        _ => Err(CallRefusal::new("`text` is missing", SEND_TEXT)),
    }
}

async fn explained(
    store: &Arc<dyn Store>,
    row: &SessionRow,
    text: &str,
    call: Option<u64>,
) -> Result<Explanation, CallRefusal> {
    let mut stored = StoredSession::open(Arc::clone(store), &row.new.id).await.map_err(failed)?;
    view::explained(&mut stored, text, call).await.map_err(|error| match error {
        StoredError::NoNumber { .. } => {
            CallRefusal::new(error, "Leave `call` out to ask about the session as it is.")
        }
        error => failed(error),
    })
}

fn failed(error: StoredError) -> CallRefusal {
    match error {
        StoredError::Store(error) => error.into(),
        error => CallRefusal::new(error, TRY_LATER),
    }
}

/// The answer as a text, with the call that returns the original.
fn explained_text(explanation: &Explanation, session: &str) -> String {
    let mut text = explanation.to_string();
    if let Some(next) = next(explanation, session) {
        text += &format!("next: {next}\n");
    }
    text
}

/// The call that returns the original; `None` if the model sees all of it, or if it does not exist.
fn next(explanation: &Explanation, session: &str) -> Option<String> {
    if matches!(explanation.answer, Seen::Verbatim | Seen::NeverSaid | Seen::NotYet) {
        return None;
    }
    let event = explanation.occurrences.first()?.seq;
    Some(format!("recall_show(session={}, messages=\"@{event}\")", Value::from(session)))
}

/// The answer for one session as JSON.
fn of_session(mut explanation: Explanation, session: &str) -> Value {
    let (next, occurrences) = (next(&explanation, session), explanation.occurrences.len());
    explanation.occurrences.truncate(OCCURRENCES);
    let mut value = serde_json::to_value(&explanation).unwrap_or_default();
    if let Some(members) = value.as_object_mut() {
        members.insert("session".to_owned(), session.into());
        members.insert("next".to_owned(), next.into());
        members.insert("occurrences_in_all".to_owned(), occurrences.into());
    }
    value
}

/// The answers as a JSON value. Claude Code shows a model this value and not the text, so it also has the warning about
/// quoted text. `about` sorts before all other members, so the warning comes first.
fn value(about: &str, looked_into: usize, sessions: usize, answers: Vec<Value>) -> Value {
    json!({
        "about": about.trim_end(),
        "answers": answers,
        "looked_into": looked_into,
        "sessions": sessions,
    })
}

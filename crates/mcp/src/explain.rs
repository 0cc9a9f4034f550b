//! `explain`: whether the model still sees a text, and if not, when it left and why.

use std::sync::Arc;

use midfold::core::explain::{Explanation, SightAnswer as Seen};
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
    let found = explained(&call.store, row, &text, call.number("call")?).await?;
    let said = format!("{}{}", recall::QUOTED, told(&found, &row.new.id));
    let value = value(recall::QUOTED, 1, 1, vec![of_session(found, &row.new.id)]);
    Ok(CallAnswer { text: said, value: Some(value) })
}

/// Answers for the newest sessions that have the text.
pub(crate) async fn several(
    call: &ToolCall<'_>,
    newest: NewestSessions,
) -> Result<CallAnswer, CallRefusal> {
    let text = text(call)?;
    // Numbers of messages and calls only make sense within one session.
    let is_number = text.strip_prefix('@').is_some_and(|rest| rest.parse::<u32>().is_ok());
    if is_number || call.number::<u64>("call")?.is_some() {
        return Err(call.ask_for_a_session(newest).await);
    }
    let (mut said, mut answers, mut looked_into) = (String::new(), Vec::new(), 0);
    for row in &newest.rows {
        if answers.len() == SHOWN {
            break;
        }
        looked_into += 1;
        if !view::has_text(&*call.store, &row.new.id, &text).await? {
            continue;
        }
        let found = explained(&call.store, row, &text, None).await?;
        said += &format!("── session {}\n", listing::line(&*call.store, row).await);
        said += &told(&found, &row.new.id);
        answers.push(of_session(found, &row.new.id));
    }
    let total = newest.total;
    let of = format!("{looked_into} of {total} sessions, newest first");
    let said = match answers.is_empty() {
        true => format!("no message of {of}, says it\n"),
        false => format!("{}{said}looked into {of}\n", listing::QUOTED),
    };
    let value = value(listing::QUOTED, looked_into, total, answers);
    Ok(CallAnswer { text: said, value: Some(value) })
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
fn told(found: &Explanation, session: &str) -> String {
    let mut text = found.to_string();
    if let Some(next) = next(found, session) {
        text += &format!("next: {next}\n");
    }
    text
}

/// The call that returns the original; `None` if the model sees all of it, or if it does not exist.
fn next(found: &Explanation, session: &str) -> Option<String> {
    if matches!(found.answer, Seen::Verbatim | Seen::NeverSaid | Seen::NotYet) {
        return None;
    }
    let event = found.occurrences.first()?.seq;
    Some(format!("recall_show(session={}, messages=\"@{event}\")", Value::from(session)))
}

/// The answer for one session as JSON.
fn of_session(mut found: Explanation, session: &str) -> Value {
    let (next, occurrences) = (next(&found, session), found.occurrences.len());
    found.occurrences.truncate(OCCURRENCES);
    let mut value = serde_json::to_value(&found).unwrap_or_default();
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

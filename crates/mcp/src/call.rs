//! Answers calls of tools.

use std::sync::Arc;

use midfold::store::{SessionRow, Store, recall};
use serde_json::{Map, Value};

use crate::answer::{CallAnswer, CallRefusal};
use crate::choose::{ChosenSession, choose};
use crate::explain;
use crate::listing;
use crate::request::{LISTED, MAX_LISTED, SHOWN, ToolCall};
use crate::sessions::{NewestSessions, newest};
use crate::wishes;

/// How many hits of each session a search over all sessions shows, unless the call sets a limit.
const HITS_OF_EACH: u32 = 3;

/// Answers a call.
pub(crate) async fn answer(mut call: ToolCall<'_>) -> Result<CallAnswer, CallRefusal> {
    let store = Arc::clone(&call.store);
    // Models send every argument of a schema, so null and empty values count as missing.
    call.arguments.retain(|_, value| !matches!(value, Value::Null) && *value != "");
    if call.name == "sessions" {
        return sessions(&call).await;
    }
    let chosen = choose(&*store, call.scope, &call.place, &mut call.arguments).await?;
    if let Some(request) = wishes::named(call.name) {
        return match chosen {
            ChosenSession::One(row, _) => wishes::answer(&call, request, &row).await,
            ChosenSession::Several(page) => Err(call.ask_for_a_session(page).await),
        };
    }
    match (call.name, chosen) {
        ("explain", ChosenSession::One(row, _)) => explain::one(&call, &row).await,
        ("explain", ChosenSession::Several(page)) => explain::several(&call, page).await,
        (_, ChosenSession::One(row, by_call)) => {
            let arguments = if by_call { call.arguments_for(&row) } else { call.arguments };
            let text = recall_in_session(&*store, &row, call.name, arguments).await?;
            Ok(text.into())
        }
        ("recall_find", ChosenSession::Several(page)) => find_in_all(&call, page).await,
        (_, ChosenSession::Several(page)) => Err(call.ask_for_a_session(page).await),
    }
}

async fn sessions(call: &ToolCall<'_>) -> Result<CallAnswer, CallRefusal> {
    let skip = call.number("skip")?.unwrap_or(0);
    let limit = call.number("limit")?.unwrap_or(LISTED).clamp(1, MAX_LISTED);
    let page = newest(&*call.store, call.scope, skip, limit).await?;
    if page.rows.is_empty() {
        let more = if skip > 0 { "more " } else { "" };
        return Ok(format!("no {more}session is stored{}\n", call.place).into());
    }
    Ok(listing::list(&*call.store, &page, skip).await.into())
}

/// Searches the newest sessions, and shows the first hits of those that have some.
async fn find_in_all(call: &ToolCall<'_>, page: NewestSessions) -> Result<CallAnswer, CallRefusal> {
    // Numbers of messages, lists and hits to skip only make sense within one session.
    let skips = call.arguments.get("skip").is_some_and(|skip| *skip != 0);
    let is_given = |key: &str| {
        let value = call.arguments.get(key).and_then(Value::as_str);
        value.is_some_and(|value| !value.trim().is_empty())
    };
    if skips || is_given("messages") || !is_given("query") {
        return Err(call.ask_for_a_session(page).await);
    }
    let (mut text, mut with_hits, mut looked_into) = (String::new(), 0, 0);
    let mut wrong = None;
    for row in &page.rows {
        if with_hits == SHOWN {
            break;
        }
        let mut arguments = call.arguments_for(row);
        arguments.entry("limit").or_insert_with(|| HITS_OF_EACH.into());
        looked_into += 1;
        match recall_in_session(&*call.store, row, call.name, arguments).await {
            // An answer without hits is advice and quotes nothing.
            Ok(hits) if hits.starts_with(recall::QUOTED) => {
                with_hits += 1;
                text += &format!("── session {}\n", listing::line(&*call.store, row).await);
                text += &hits[recall::QUOTED.len()..];
            }
            Ok(_) => {}
            // A tool that one session never called may be in another, so the error counts only if no session has hits.
            Err(refused) => wrong = wrong.or(Some(refused)),
        }
    }
    let of = format!("{looked_into} of {} sessions, newest first", page.total);
    match (with_hits, wrong) {
        (0, Some(refused)) => Err(refused),
        (0, None) => Ok(format!("no message matches in {of}; try other or fewer words\n").into()),
        (_, _) => Ok(format!("{}{text}looked into {of}\n", listing::QUOTED).into()),
    }
}

async fn recall_in_session(
    store: &dyn Store,
    row: &SessionRow,
    name: &str,
    arguments: Map<String, Value>,
) -> Result<String, CallRefusal> {
    let arguments = Value::from(arguments).to_string();
    recall::answer(store, &row.new.id, name, &arguments).await.map_err(CallRefusal::of_text)
}

//! Answers calls of tools.

use std::sync::Arc;

use midfold::store::{SessionRow, Store, recall};
use serde_json::{Map, Value};

use crate::answer::{Answer, Refused};
use crate::choose::{Chosen, choose};
use crate::explain;
use crate::listing;
use crate::request::{Call, LISTED, MAX_LISTED, SHOWN};
use crate::sessions::{Newest, newest};

/// Hits that a search over all sessions shows of each, when nothing is asked for.
const HITS_OF_EACH: u32 = 3;

/// The answer to a call.
pub(crate) async fn answer(mut call: Call<'_>) -> Result<Answer, Refused> {
    let store = Arc::clone(&call.store);
    // Models send all that a schema has: what is nothing was not said.
    call.arguments.retain(|_, value| !matches!(value, Value::Null) && *value != "");
    if call.name == "sessions" {
        return sessions(&call).await;
    }
    let chosen = choose(&*store, call.scope, &call.place, &mut call.arguments).await?;
    match (call.name, chosen) {
        ("explain", Chosen::One(row, _)) => explain::one(&call, &row).await,
        ("explain", Chosen::Several(found)) => explain::several(&call, found).await,
        (_, Chosen::One(row, by_call)) => {
            let arguments = if by_call { call.of_session(&row) } else { call.arguments };
            let text = recall(&*store, &row, call.name, arguments).await?;
            Ok(text.into())
        }
        ("recall_grep", Chosen::Several(found)) => grep_all(&call, found).await,
        (_, Chosen::Several(found)) => Err(call.which(found).await),
    }
}

async fn sessions(call: &Call<'_>) -> Result<Answer, Refused> {
    let skip = call.number("skip")?.unwrap_or(0);
    let limit = call.number("limit")?.unwrap_or(LISTED).clamp(1, MAX_LISTED);
    let found = newest(&*call.store, call.scope, skip, limit).await?;
    if found.rows.is_empty() {
        let more = if skip > 0 { "more " } else { "" };
        return Ok(format!("no {more}session is stored{}\n", call.place).into());
    }
    Ok(listing::list(&*call.store, &found, skip).await.into())
}

/// A search over the newest sessions: the first hits of the first that have some.
async fn grep_all(call: &Call<'_>, found: Newest) -> Result<Answer, Refused> {
    // Numbers of messages and hits are those of one session.
    let skips = call.arguments.get("skip").is_some_and(|skip| *skip != 0);
    if skips || call.arguments.contains_key("range") {
        return Err(call.which(found).await);
    }
    let (mut text, mut with_hits, mut looked_into) = (String::new(), 0, 0);
    let mut wrong = None;
    for row in &found.rows {
        if with_hits == SHOWN {
            break;
        }
        let mut arguments = call.of_session(row);
        arguments.entry("limit").or_insert_with(|| HITS_OF_EACH.into());
        looked_into += 1;
        match recall(&*call.store, row, call.name, arguments).await {
            Ok(hits) if hits.starts_with(recall::QUOTED) => {
                with_hits += 1;
                text += &format!("── session {}\n", listing::line(&*call.store, row).await);
                text += &hits[recall::QUOTED.len()..];
            }
            Ok(_) => {}
            Err(refused) => wrong = wrong.or(Some(refused)),
        }
    }
    let of = format!("{looked_into} of {} sessions, newest first", found.total);
    match (with_hits, wrong) {
        (0, Some(refused)) => Err(refused),
        (0, None) => Ok(format!(
            "no message matches in {of}; try other or fewer words, or mode `literal` with a part of \
             a name\n"
        )
        .into()),
        (_, _) => Ok(format!("{}{text}looked into {of}\n", listing::QUOTED).into()),
    }
}

async fn recall(
    store: &dyn Store,
    row: &SessionRow,
    name: &str,
    arguments: Map<String, Value>,
) -> Result<String, Refused> {
    let arguments = Value::from(arguments).to_string();
    recall::answer(store, &row.new.id, name, &arguments).await.map_err(Refused::said)
}

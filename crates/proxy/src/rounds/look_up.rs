//! Looks up what a call of the recall tool asks for in the log of its conversation.

use midfold_formats::recall_tool::RecallCall;
use midfold_store::recall::{
    ExpandTarget, GrepQuery, QUOTED, RecallError, expand, grep, hits_text, page_text,
};
use midfold_store::{SearchMode, Store};
use serde_json::Value;

/// How many messages one search returns.
const HITS: u32 = 10;

/// Answers a call with plain text for the model. Mistakes in the call are explained in the answer, too.
pub(super) async fn look_up(
    store: &dyn Store,
    session: &str,
    call: &RecallCall,
    chars: usize,
) -> String {
    let arguments: Value = match serde_json::from_str(call.arguments.trim()) {
        Ok(arguments @ (Value::Object(_) | Value::Null)) => arguments,
        _ if call.arguments.trim().is_empty() => Value::Null,
        _ => return "error: the arguments are no JSON object\n".to_owned(),
    };
    let (query, messages) = (text(&arguments["query"]), text(&arguments["messages"]));
    let found = match (query.is_empty(), messages.is_empty()) {
        (true, true) => return "error: send `query`, or the numbers of `messages`\n".to_owned(),
        (true, false) => originals(store, session, &messages, chars).await,
        (false, _) => hits(store, session, &query, &messages, chars).await,
    };
    found.unwrap_or_else(|error| format!("error: {error}\n"))
}

/// Reads an argument as text. Models also send a number or a list, so those are accepted: a list is joined with commas.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        Value::Array(all) => {
            all.iter().map(text).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(",")
        }
        _ => String::new(),
    }
}

/// One page of messages in full.
async fn originals(
    store: &dyn Store,
    session: &str,
    messages: &str,
    chars: usize,
) -> Result<String, RecallError> {
    let (which, from) = match messages.split_once(" from ") {
        Some((which, from)) => (which.trim(), Some(from.trim())),
        None => (messages, None),
    };
    let page = expand(store, session, &ExpandTarget::parse(which)?, from, chars).await?;
    let mut found = format!("{QUOTED}{}", page_text(&page));
    if let Some(next) = &page.next {
        found += &format!("next: messages=\"{which} from {next}\"\n");
    }
    Ok(found)
}

/// Searches for the words, first in the messages that left the context; only if no such message has them, in all.
async fn hits(
    store: &dyn Store,
    session: &str,
    query: &str,
    messages: &str,
    chars: usize,
) -> Result<String, RecallError> {
    let within = match messages.is_empty() {
        true => None,
        false => Some(GrepQuery::range(messages)?),
    };
    let all = [(SearchMode::Text, true), (SearchMode::Literal, true), (SearchMode::Text, false)];
    for (mode, folded) in all {
        let within = within.clone();
        let asked = GrepQuery { within, folded, limit: HITS, ..GrepQuery::new(query, mode) };
        let hits = match grep(store, session, &asked).await {
            Err(RecallError::Unfolded) => continue,
            hits => hits?,
        };
        if !hits.found.is_empty() {
            return Ok(listed(&hits_text(&hits), hits.next.is_some(), chars));
        }
    }
    Ok("no message matches; try other or fewer words\n".to_owned())
}

/// The lines of the hits, cut to `chars` characters.
fn listed(lines: &str, more: bool, chars: usize) -> String {
    let end = lines.char_indices().nth(chars).map_or(lines.len(), |(at, _)| at);
    let mut found = format!("{QUOTED}{}", &lines[..end]);
    if end < lines.len() {
        found += "…\n";
    }
    if more || end < lines.len() {
        found += "more match: other words find fewer\n";
    }
    found
}

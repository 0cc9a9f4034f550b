//! Looks up what a call of the recall tool asks for in the log of its conversation.

use midfold_formats::recall_tool::RecallCall;
use midfold_store::Store;
use midfold_store::recall::{FOUND_CHARS, FindRequest, NO_MATCH, QUOTED, RecallError, find, show};
use serde_json::Value;

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
    let outcome = match (query.is_empty(), messages.is_empty()) {
        (true, true) => return "error: send `query`, or the numbers of `messages`\n".to_owned(),
        (true, false) => originals(store, session, &messages, chars).await,
        (false, _) => hits(store, session, &query, &messages, chars).await,
    };
    outcome.unwrap_or_else(|error| format!("error: {error}\n"))
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

/// One page of messages in full, as the model's call of the recall tool gets it.
pub(super) async fn originals(
    store: &dyn Store,
    session: &str,
    messages: &str,
    chars: usize,
) -> Result<String, RecallError> {
    let page = show(store, session, messages, chars).await?;
    let mut page_text = format!("{QUOTED}{}", page.text);
    if let Some(next) = &page.next {
        page_text += &format!("next: messages=\"{next}\"\n");
    }
    Ok(page_text)
}

/// Finds messages by words.
async fn hits(
    store: &dyn Store,
    session: &str,
    query: &str,
    messages: &str,
    chars: usize,
) -> Result<String, RecallError> {
    let messages = Some(messages).filter(|range| !range.is_empty()).map(str::to_owned);
    let ask = FindRequest { query: query.to_owned(), messages, ..FindRequest::default() };
    let Some(page) = find(store, session, &ask, chars.min(FOUND_CHARS)).await? else {
        return Ok(NO_MATCH.to_owned());
    };
    let more = if page.next.is_some() { "more match: other words find fewer\n" } else { "" };
    Ok(format!("{QUOTED}{}{more}", page.text))
}

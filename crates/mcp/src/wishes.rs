//! What an agent says of its own conversation: fold it, keep a message whole, keep a line. The only tools that change
//! something, for whoever asks for them.

use midfold::core::engine::Session;
use midfold::formats::recall_tool::OwnTool as Wish;
use midfold::store::{SessionRow, StoredSession};
use midfold::wishes::{compact, message, note, pin, says};
use midfold::{AdvisedError, Door};
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Map, Value};

use crate::answer::{CallAnswer, CallRefusal};
use crate::request::ToolCall;

/// The tools, and their names here: a client puts the name of the server in front.
const ALL: [(&str, Wish); 3] =
    [("compact", Wish::Compact), ("pin", Wish::Pin), ("note", Wish::Note)];

/// The tool of this name.
pub(crate) fn named(name: &str) -> Option<Wish> {
    ALL.iter().find(|(own, _)| *own == name).map(|(_, wish)| *wish)
}

/// The tools, without what says which session is meant.
pub(crate) fn list() -> impl Iterator<Item = Tool> {
    ALL.into_iter().map(|(name, wish)| {
        let mut schema: JsonObject = serde_json::from_slice(&wish.schema()).unwrap_or_default();
        schema.insert("additionalProperties".to_owned(), false.into());
        // The text names the other tools as a proxy gives them.
        let text = wish.description().replace("midfold_", "");
        let title = match wish {
            Wish::Compact => "Have the conversation summarised now",
            Wish::Pin => "Keep a message whole",
            _ => "Keep a line in each summary",
        };
        let hints = ToolAnnotations::with_title(title).read_only(false).destructive(false);
        let hints = hints.idempotent(wish != Wish::Compact).open_world(false);
        Tool::new(name, text, schema).with_title(title).with_annotations(hints)
    })
}

/// Does what a call says to a session, and keeps it there.
pub(crate) async fn answer(
    call: &ToolCall<'_>,
    wish: Wish,
    row: &SessionRow,
) -> Result<CallAnswer, CallRefusal> {
    let failed = |error: midfold::store::StoredError| {
        let advised = error.advise(Door::Http);
        tracing::warn!(%advised, "an agent's wish could not be kept");
        CallRefusal::new(advised, "Try again later; go on without it until then.")
    };
    let mut stored = StoredSession::open(call.store.clone(), &row.new.id).await.map_err(&failed)?;
    let text = |name: &str| text(&call.arguments, name);
    let (keep, words, number) = (text("keep"), text("text"), text("message"));
    let done = stored.wish(|session, budget| {
        // Time counts from the last context on: what holds a fold back for a while is looked at again with the next.
        let now = session.gate().asked;
        match wish {
            Wish::Compact => compact(session, budget, &keep, now),
            Wish::Note => note(session, &words),
            _ => match found(session, &number, &words) {
                Ok((seq, tokens)) => pin(session, budget, seq, tokens),
                Err(error) => error,
            },
        }
    });
    let told = done.await.map_err(&failed)?;
    match told.strip_prefix("error: ") {
        Some(error) => Err(refused(error.trim_end())),
        None => Ok(told.into()),
    }
}

/// The error and the advice of an answer.
fn refused(error: &str) -> CallRefusal {
    let (error, advice) = error.split_once("; ").unwrap_or((error, "send it otherwise, or go on"));
    CallRefusal::new(error, advice)
}

/// A text of the arguments; a number is taken for one.
fn text(arguments: &Map<String, Value>, name: &str) -> String {
    match arguments.get(name) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => number.to_string(),
        _ => String::new(),
    }
}

/// The message that is meant, and its tokens.
fn found(session: &Session, number: &str, words: &str) -> Result<(u32, u64), String> {
    let events = session.log().events();
    let has_words = |at: usize, words: &str| says(&events[at].view, &events[at].bytes, words);
    let event = &events[message(events.len(), number, words, has_words)?];
    Ok((event.seq, event.tokens.total.into()))
}

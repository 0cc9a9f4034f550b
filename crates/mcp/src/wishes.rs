//! The tools by which an agent changes its own conversation: fold it, pin a message, keep a note. No other tool changes
//! anything, and a client has to ask for these.

use midfold::core::engine::Session;
use midfold::formats::recall_tool::OwnTool as Wish;
use midfold::store::{SessionRow, StoredSession};
use midfold::wishes::{compact, message, note, pin, says};
use midfold::{AdvisedError, Door};
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Map, Value};

use crate::answer::{CallAnswer, CallRefusal};
use crate::request::ToolCall;

/// The tools with their names. A client puts the name of the server in front.
const ALL: [(&str, Wish); 3] =
    [("compact", Wish::Compact), ("pin", Wish::Pin), ("note", Wish::Note)];

/// The tool with this name; `None` if it is not one of these.
pub(crate) fn named(name: &str) -> Option<Wish> {
    ALL.iter().find(|(own, _)| *own == name).map(|(_, request)| *request)
}

/// The tools, without the arguments that name a session.
pub(crate) fn list() -> impl Iterator<Item = Tool> {
    ALL.into_iter().map(|(name, request)| {
        let mut schema: JsonObject = serde_json::from_slice(&request.schema()).unwrap_or_default();
        schema.insert("additionalProperties".to_owned(), false.into());
        // The description names the other tools with the prefix that a proxy gives them.
        let text = request.description().replace("midfold_", "");
        let title = match request {
            Wish::Compact => "Have the conversation summarised now",
            Wish::Pin => "Keep a message whole",
            _ => "Keep a line in each summary",
        };
        let hints = ToolAnnotations::with_title(title).read_only(false).destructive(false);
        let hints = hints.idempotent(request != Wish::Compact).open_world(false);
        Tool::new(name, text, schema).with_title(title).with_annotations(hints)
    })
}

/// Carries out a call, and stores the change.
pub(crate) async fn answer(
    call: &ToolCall<'_>,
    request: Wish,
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
    let work = stored.carry_out(|session, budget| {
        // Some reasons hold a fold back for a time. The session's last request counts as now, so that such a reason is
        // checked again with the next request.
        let now = session.gate().asked;
        match request {
            Wish::Compact => compact(session, budget, &keep, now),
            Wish::Note => note(session, &words),
            _ => match find_message(session, &number, &words) {
                Ok((seq, tokens)) => pin(session, budget, seq, tokens),
                Err(error) => error,
            },
        }
    });
    let reply = work.await.map_err(&failed)?;
    match reply.strip_prefix("error: ") {
        Some(error) => Err(refused(error.trim_end())),
        None => Ok(reply.into()),
    }
}

/// Splits an error of the facade into the error and its advice.
fn refused(error: &str) -> CallRefusal {
    let (error, advice) = error.split_once("; ").unwrap_or((error, "send it otherwise, or go on"));
    CallRefusal::new(error, advice)
}

/// A text among the arguments; a number is accepted as text, and a missing one is empty.
fn text(arguments: &Map<String, Value>, name: &str) -> String {
    match arguments.get(name) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => number.to_string(),
        _ => String::new(),
    }
}

/// Finds the message that is meant, and its tokens.
fn find_message(session: &Session, number: &str, words: &str) -> Result<(u32, u64), String> {
    let events = session.log().events();
    let has_words = |at: usize, words: &str| says(&events[at].view, &events[at].bytes, words);
    let event = &events[message(events.len(), number, words, has_words)?];
    Ok((event.seq, event.tokens.total.into()))
}

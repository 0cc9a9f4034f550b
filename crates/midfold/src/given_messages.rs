//! Reads a conversation that a caller passes as JSON, and writes a context in the same shape.

use bytes::Bytes;
use midfold_core::project::Context;
use midfold_formats::read::{Conversation, Envelope, TranscriptFormat, read};
use midfold_formats::transcript;
use midfold_formats::{ReadProblem, role};

use crate::advice::AdvisedError;
use crate::failure::{Door, Failure, FailureArea};

/// Reads JSON that holds exactly one conversation; also returns the problems of reading it.
///
/// ```
/// use midfold::{Door, conversation};
/// let bytes = bytes::Bytes::from(r#"[{"role":"user","content":"hi"}]"#);
/// assert_eq!(conversation(&bytes, None, Door::Node)?.0.events.len(), 1);
/// # Ok::<(), midfold::Failure>(())
/// ```
///
/// # Errors
/// If there is no conversation or more than one, or if a message is not a JSON object.
pub fn conversation(
    bytes: &Bytes,
    format: Option<TranscriptFormat>,
    door: Door,
) -> Result<(Conversation, Vec<ReadProblem>), Failure> {
    let mut outcome = read(bytes, format).map_err(|error| error.advise(door))?;
    let input = |text: String| Failure::new(FailureArea::Input, text);
    if let Some(odd) = outcome.problems.iter().find(|problem| problem.code == "odd-message") {
        return Err(input(format!("a message is no JSON object: {odd}")));
    }
    match (outcome.conversations.pop(), outcome.conversations.len()) {
        (Some(conversation), 0) => {
            no_ai_sdk(&conversation, "", door)?;
            Ok((conversation, outcome.problems))
        }
        (None, _) => Err(input("there are no messages".to_owned())),
        (Some(_), more) => {
            let text = format!("there are {} conversations", more + 1);
            Err(input(text).hint("pass one at a time"))
        }
    }
}

/// Refuses messages of the AI SDK. No dialect has their calls and results, which would be lost. `place` begins the error.
pub(crate) fn no_ai_sdk(
    conversation: &Conversation,
    place: &str,
    door: Door,
) -> Result<(), Failure> {
    let messages = conversation.events.iter().map(|event| &event.bytes[..]);
    let Some(at) = role::of_ai_sdk(messages) else { return Ok(()) };
    let text = format!("{place}message {at}: these are messages of the AI SDK");
    let failure = Failure::new(FailureArea::Input, text);
    Err(match door {
        Door::Node => failure.hint(
            "`midfold/ai` takes them as they are: midfoldMiddleware() or midfoldPrepareStep()",
        ),
        Door::Command | Door::Python | Door::Http => failure.hint(
            "convert them: a call is in `tool_calls` of the assistant's message, a result is a \
             message {\"role\":\"tool\",\"tool_call_id\":\"…\",\"content\":\"…\"}",
        ),
    })
}

/// Checks the tools that a caller gives as JSON: a list of objects, or one object.
///
/// ```
/// use midfold::given_tools;
/// assert!(given_tools(br#"[{"name":"read"}]"#.to_vec()).is_ok());
/// assert_eq!(given_tools(br#"["read"]"#.to_vec()).unwrap_err().message, "tools[0] is a string, not a tool");
/// ```
///
/// # Errors
/// If an element is no object, or the value is neither.
pub fn given_tools(json: Vec<u8>) -> Result<Bytes, Failure> {
    use serde_json::Value;
    let kind = |value: &Value| match value {
        Value::Object(_) => None,
        Value::Array(_) => Some("a list"),
        Value::String(_) => Some("a string"),
        Value::Number(_) => Some("a number"),
        Value::Bool(_) => Some("true or false"),
        Value::Null => Some("null"),
    };
    let wrong = match serde_json::from_slice(&json).unwrap_or_default() {
        Value::Array(tools) => tools.iter().enumerate().find_map(|(at, tool)| {
            kind(tool).map(|kind| format!("tools[{at}] is {kind}, not a tool"))
        }),
        value => kind(&value).map(|kind| format!("tools is {kind}, not a list of tools")),
    };
    match wrong {
        None => Ok(json.into()),
        Some(text) => Err(Failure::new(FailureArea::Input, text).hint(
            "give the `tools` of the request: [{\"type\":\"function\",\"function\":{\"name\":\"read\"}}]",
        )),
    }
}

/// Writes a context in the shape of the conversation: one message a line, or a list with the JSON that was around it.
/// For a client's own file it writes a plain list.
#[must_use]
pub fn document(context: &Context, conversation: &Conversation) -> Vec<u8> {
    let messages: Vec<_> = context.pieces().map(|piece| piece.bytes.clone()).collect();
    let Envelope { system, tools, wrapper, .. } = &conversation.envelope;
    match wrapper {
        Some(wrapper) => transcript::wrapped(wrapper, &messages),
        None if system.is_none() && tools.is_none() && transcript::is_lines(conversation) => {
            transcript::lines(&messages)
        }
        None => transcript::list(&messages, b"\n"),
    }
}

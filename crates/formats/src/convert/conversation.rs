//! Converts a conversation together with its system prompt.

use std::ops::Range;

use bytes::Bytes;
use midfold_core::event::RawEvent;
use midfold_core::{Dialect, Role, jsonstr};
use serde_json::Value;

use super::convert_all;
use crate::dialect::{DialectKind, ShareGpt};
use crate::problem::ReadProblem;
use crate::read::{Conversation, Envelope};

/// Converts a conversation in place, and returns what could not be carried over.
///
/// Its [`format`](Conversation::format) still names the format that it was written in. The fields around the messages
/// and the tool definitions do not fit the new dialect and are left out.
///
/// ```
/// use bytes::Bytes;
/// use midfold_formats::{DialectKind, convert::convert_conversation, read::read};
///
/// let request = br#"{"system":"Be brief.","messages":[{"role":"user","content":"hi"}]}"#;
/// let mut found = read(&Bytes::from_static(request), None)?.conversations.remove(0);
/// let problems = convert_conversation(&mut found, DialectKind::OpenAiChat);
/// assert!(problems.is_empty());
/// assert_eq!(found.envelope.system.as_deref(), Some(&br#""Be brief.""#[..]));
/// assert_eq!(&found.events[0].bytes[..], br#"{"role":"user","content":"hi"}"#);
/// # Ok::<(), midfold_formats::read::ReadError>(())
/// ```
#[must_use]
pub fn convert_conversation(conversation: &mut Conversation, to: DialectKind) -> Vec<ReadProblem> {
    let from = conversation.format.dialect();
    if from == to {
        return Vec::new();
    }
    let Conversation { events, envelope, .. } = conversation;
    let views: Vec<_> = events.iter().map(|event| from.dialect().view(&event.bytes)).collect();
    let pairs: Vec<_> = events.iter().map(|event| &event.bytes[..]).zip(&views).collect();
    let converted = convert_all(&pairs, from, to);
    let mut problems = converted.problems;
    let beside = envelope.system.as_deref().map(plain);
    let system = [beside, converted.system].into_iter().flatten().filter(|s| !s.is_empty());
    let system = system.collect::<Vec<_>>().join("\n\n");
    let system = (!system.is_empty()).then(|| system_value(to, &system));
    if envelope.tools.is_some() {
        let detail = format!("the tool definitions are {from}'s and were left out; add {to}'s");
        problems.push(ReadProblem::new("tools-left-out", detail));
    }
    *envelope = Envelope { model: envelope.model.take(), system, ..Envelope::default() };
    // A message keeps its origin where all events that it was made of have the same one.
    let origin = |of: &Range<usize>| {
        let origin = events[of.start].origin;
        origin.filter(|_| events[of.clone()].iter().all(|event| event.origin == origin))
    };
    let raw_events = converted.messages.into_iter().zip(&converted.sources);
    // The time of a message is that of the last event that it was made of.
    let at = |of: &Range<usize>| events[of.clone()].iter().filter_map(|event| event.at).max();
    let raw_events = raw_events.map(|(bytes, of)| RawEvent {
        origin: origin(of),
        at: at(of),
        ..RawEvent::new(bytes)
    });
    *events = raw_events.collect();
    problems
}

/// Makes the system prompt the first message, where the messages are of a dialect that has it among them. A session
/// file of a client keeps it beside them.
pub fn put_system_first(conversation: &mut Conversation, kind: DialectKind) {
    let envelope = &mut conversation.envelope;
    let is_beside = envelope.wrapper.is_none();
    let system = match kind {
        DialectKind::OpenAiChat | DialectKind::Ollama if is_beside => {
            envelope.system.take().map(|text| system_message(&text))
        }
        DialectKind::ShareGpt if is_beside => {
            let text = envelope.system.take();
            text.map(|text| ShareGpt.made_message(Role::System, &plain(&text)))
        }
        _ => None,
    };
    let system = system.map(RawEvent::new);
    conversation.events.splice(0..0, system);
}

/// The value of a system prompt that the dialect keeps beside its messages. A text that is JSON of the right kind is
/// used as it is; any other text becomes the value's text.
///
/// ```
/// use midfold_formats::{DialectKind, convert::system_prompt};
/// assert_eq!(&system_prompt(DialectKind::Bedrock, "Be brief.")[..], br#"[{"text":"Be brief."}]"#);
/// assert_eq!(&system_prompt(DialectKind::OpenAiChat, "[1]")[..], b"[1]");
/// ```
#[must_use]
pub fn system_prompt(kind: DialectKind, given: &str) -> Bytes {
    let source = || Bytes::from(given.trim().to_owned());
    match (kind, serde_json::from_str(given)) {
        (DialectKind::Gemini, Ok(Value::Object(_))) => source(),
        (DialectKind::Gemini | DialectKind::Bedrock, Ok(Value::String(text))) => {
            system_value(kind, &text)
        }
        (DialectKind::Gemini, _) => system_value(kind, given.trim_end()),
        (_, Ok(Value::String(_) | Value::Array(_))) => source(),
        _ => system_value(kind, given.trim_end()),
    }
}

fn system_value(kind: DialectKind, text: &str) -> Bytes {
    let text = jsonstr::encode(text);
    let value = match kind {
        DialectKind::Gemini => format!(r#"{{"parts":[{{"text":{text}}}]}}"#),
        DialectKind::Bedrock => format!(r#"[{{"text":{text}}}]"#),
        _ => text,
    };
    value.into_bytes().into()
}

/// A system message of `openai-chat` or `ollama` with this content, which is the JSON of a string or of a list.
///
/// ```
/// use midfold_formats::convert::system_message;
/// assert_eq!(&system_message(br#""Be brief.""#)[..], br#"{"role":"system","content":"Be brief."}"#);
/// ```
#[must_use]
pub fn system_message(content: &[u8]) -> Bytes {
    [&br#"{"role":"system","content":"#[..], content, b"}"].concat().into()
}

/// The text of a system prompt that is a string, a list of text blocks, or an object with such a list.
fn plain(json: &[u8]) -> String {
    let value = serde_json::from_slice(json).unwrap_or_default();
    let blocks = match &value {
        Value::String(text) => return text.clone(),
        Value::Array(blocks) => blocks,
        holder => match &holder["parts"] {
            Value::Array(parts) => parts,
            _ => return String::new(),
        },
    };
    let texts: Vec<_> = blocks.iter().filter_map(|block| block["text"].as_str()).collect();
    texts.join("\n\n")
}

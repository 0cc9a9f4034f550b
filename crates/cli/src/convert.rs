//! A conversation in another dialect: messages through `formats`, the system prompt by hand.

use bytes::Bytes;
use midfold::RawEvent;
use midfold::core::jsonstr;
use midfold::formats::convert::convert_all;
use midfold::formats::read::{Conversation, Envelope};
use midfold::formats::{DialectKind, Problem};
use serde_json::Value;

/// A converted conversation.
pub struct Converted {
    pub events: Vec<RawEvent>,
    pub envelope: Envelope,
    pub problems: Vec<Problem>,
}

/// Converts the messages and what travels beside them. What surrounded them does not fit the new
/// dialect and is left behind.
pub fn convert(source: &Conversation, to: DialectKind) -> Converted {
    let from = source.format.dialect();
    let views: Vec<_> = source.events.iter().map(|e| from.dialect().view(&e.bytes)).collect();
    let pairs: Vec<_> = source.events.iter().map(|e| &e.bytes[..]).zip(&views).collect();
    let converted = convert_all(&pairs, from, to);
    let mut problems = converted.problems;
    let beside = source.envelope.system.as_deref().map(plain);
    let system = [beside, converted.system].into_iter().flatten().filter(|s| !s.is_empty());
    let system = system.collect::<Vec<_>>().join("\n\n");
    let system = (!system.is_empty()).then(|| jsonstr::encode(&system).into_bytes().into());
    let envelope = Envelope { model: source.envelope.model.clone(), system, ..Envelope::default() };
    if source.envelope.tools.is_some() {
        let detail = format!("the tool definitions are {from}'s and were left out; add {to}'s");
        problems.push(Problem::new("tools-left-out", detail));
    }
    let events = converted.messages.into_iter().map(RawEvent::new).collect();
    Converted { events, envelope, problems }
}

/// A system message with this JSON string.
pub fn system_message(content: &[u8]) -> Bytes {
    [&br#"{"role":"system","content":"#[..], content, b"}"].concat().into()
}

/// The text of a system prompt: a string, or a list of text blocks.
fn plain(json: &[u8]) -> String {
    match serde_json::from_slice(json) {
        Ok(Value::String(text)) => text,
        Ok(Value::Array(blocks)) => {
            let texts: Vec<_> = blocks.iter().filter_map(|block| block["text"].as_str()).collect();
            texts.join("\n\n")
        }
        _ => String::new(),
    }
}

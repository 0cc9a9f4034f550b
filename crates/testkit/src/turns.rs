//! The same conversation for Gemini and Bedrock, where everything that one side says in a turn is one message.

use crate::message::{TestCall, TestMessage, quoted};

/// The names and forms of a wire format.
struct WireNames {
    model: &'static str,
    list: &'static str,
    call: fn(&TestCall) -> String,
    result: fn(&str, &str, &str) -> String,
    thought: fn(&str) -> String,
}

const GEMINI: WireNames = WireNames {
    model: "model",
    list: "parts",
    // Neither calls nor responses have ids; they are paired by name and order.
    call: |call| {
        format!(
            r#"{{"functionCall":{{"name":{},"args":{}}},"thoughtSignature":"c2ln{:08x}"}}"#,
            quoted(&call.name),
            call.arguments,
            call.arguments.len() * 7919
        )
    },
    result: |_, name, content| {
        format!(
            r#"{{"functionResponse":{{"name":{},"response":{{"output":{}}}}}}}"#,
            quoted(name),
            quoted(content)
        )
    },
    thought: |text| format!(r#"{{"text":{},"thought":true}}"#, quoted(text)),
};

const BEDROCK: WireNames = WireNames {
    model: "assistant",
    list: "content",
    call: |call| {
        format!(
            r#"{{"toolUse":{{"toolUseId":{},"name":{},"input":{}}}}}"#,
            quoted(&call.id),
            quoted(&call.name),
            call.arguments
        )
    },
    result: |id, _, content| {
        format!(
            r#"{{"toolResult":{{"toolUseId":{},"content":[{{"text":{}}}],"status":"success"}}}}"#,
            quoted(id),
            quoted(content)
        )
    },
    thought: |text| {
        format!(
            r#"{{"reasoningContent":{{"reasoningText":{{"text":{},"signature":"sig{:08x}"}}}}}}"#,
            quoted(text),
            text.len() * 7919
        )
    },
};

/// The system prompt, and the elements of Gemini's `contents`.
#[must_use]
pub fn gemini(messages: &[TestMessage]) -> (Option<String>, Vec<String>) {
    turns(messages, &GEMINI)
}

/// A Gemini request.
#[must_use]
pub fn gemini_request(messages: &[TestMessage]) -> String {
    let (system, contents) = gemini(messages);
    let system = quoted(&system.unwrap_or_default());
    let contents = contents.join(",");
    format!(
        r#"{{"systemInstruction":{{"parts":[{{"text":{system}}}]}},"contents":[{contents}],"generationConfig":{{"temperature":0.2}}}}"#
    )
}

/// The system prompt, and the messages of Bedrock Converse.
#[must_use]
pub fn bedrock(messages: &[TestMessage]) -> (Option<String>, Vec<String>) {
    turns(messages, &BEDROCK)
}

/// A request to Bedrock Converse.
#[must_use]
pub fn bedrock_request(messages: &[TestMessage]) -> String {
    let (system, messages) = bedrock(messages);
    let system = quoted(&system.unwrap_or_default());
    let messages = messages.join(",");
    format!(
        r#"{{"modelId":"anthropic.claude-sonnet-4-5-20250929-v1:0","system":[{{"text":{system}}},{{"cachePoint":{{"type":"default"}}}}],"messages":[{messages}],"inferenceConfig":{{"maxTokens":4096}}}}"#
    )
}

/// Joins neighbouring messages of the same side into one message.
fn turns(messages: &[TestMessage], names: &WireNames) -> (Option<String>, Vec<String>) {
    let mut system = None;
    let mut turns: Vec<(&str, Vec<String>)> = Vec::new();
    for message in messages {
        let (role, parts) = match message {
            TestMessage::System(text) => {
                system = Some(text.clone());
                continue;
            }
            TestMessage::User(text) => ("user", vec![text_part(text)]),
            TestMessage::Tool { id, name, content } => {
                ("user", vec![(names.result)(id, name, content)])
            }
            TestMessage::Assistant { thought, text, calls } => {
                let thought = thought.iter().map(|text| (names.thought)(text));
                let text = Some(text).filter(|text| !text.is_empty());
                let text = text.map(|text| text_part(text));
                let calls = calls.iter().map(names.call);
                (names.model, thought.chain(text).chain(calls).collect())
            }
        };
        match turns.last_mut() {
            Some((last, before)) if *last == role => before.extend(parts),
            _ => turns.push((role, parts)),
        }
    }
    let message = |(role, parts): &(&str, Vec<String>)| {
        format!(r#"{{"role":"{role}","{}":[{}]}}"#, names.list, parts.join(","))
    };
    (system, turns.iter().map(message).collect())
}

fn text_part(text: &str) -> String {
    format!(r#"{{"text":{}}}"#, quoted(text))
}

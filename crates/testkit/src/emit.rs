//! Writes the same conversation in each wire dialect and session format.

use crate::message::{TestCall, TestMessage, quoted};
pub use crate::ollama::{ollama, ollama_request};
pub use crate::turns::{bedrock, bedrock_request, gemini, gemini_request};

/// Chat Completions messages.
#[must_use]
pub fn openai_chat(messages: &[TestMessage]) -> Vec<String> {
    messages.iter().map(chat_message).collect()
}

fn chat_message(message: &TestMessage) -> String {
    match message {
        TestMessage::System(text) => format!(r#"{{"role":"system","content":{}}}"#, quoted(text)),
        TestMessage::User(text) => format!(r#"{{"role":"user","content":{}}}"#, quoted(text)),
        TestMessage::Tool { id, name, content } => format!(
            r#"{{"role":"tool","tool_call_id":{},"name":{},"content":{}}}"#,
            quoted(id),
            quoted(name),
            quoted(content)
        ),
        TestMessage::Assistant { thought, text, calls } => {
            let text = if text.is_empty() { "null".to_owned() } else { quoted(text) };
            let thought = thought
                .as_ref()
                .map_or(String::new(), |t| format!(r#","reasoning_content":{}"#, quoted(t)));
            let calls: Vec<_> = calls.iter().map(chat_call).collect();
            let calls = match calls.len() {
                0 => String::new(),
                _ => format!(r#","tool_calls":[{}]"#, calls.join(",")),
            };
            format!(r#"{{"role":"assistant","content":{text}{thought}{calls}}}"#)
        }
    }
}

fn chat_call(call: &TestCall) -> String {
    format!(
        r#"{{"id":{},"type":"function","function":{{"name":{},"arguments":{}}}}}"#,
        quoted(&call.id),
        quoted(&call.name),
        quoted(&call.arguments)
    )
}

/// A Chat Completions request.
#[must_use]
pub fn openai_request(messages: &[String]) -> String {
    format!(r#"{{"model":"gpt-5.6","messages":[{}],"stream":false}}"#, messages.join(","))
}

/// The system prompt, and Anthropic messages. All results of a step are in one user message.
#[must_use]
pub fn anthropic(messages: &[TestMessage]) -> (Option<String>, Vec<String>) {
    let (mut system, mut out, mut results) = (None, Vec::new(), Vec::new());
    for message in messages {
        if !matches!(message, TestMessage::Tool { .. }) {
            flush(&mut results, &mut out);
        }
        match message {
            TestMessage::System(text) => system = Some(text.clone()),
            TestMessage::User(text) => {
                out.push(format!(r#"{{"role":"user","content":{}}}"#, quoted(text)));
            }
            TestMessage::Tool { id, content, .. } => results.push(tool_result(id, content)),
            TestMessage::Assistant { .. } => out.push(format!(
                r#"{{"role":"assistant","content":[{}]}}"#,
                anthropic_blocks(message).join(",")
            )),
        }
    }
    flush(&mut results, &mut out);
    (system, out)
}

fn flush(results: &mut Vec<String>, out: &mut Vec<String>) {
    if !results.is_empty() {
        let results = std::mem::take(results).join(",");
        out.push(format!(r#"{{"role":"user","content":[{results}]}}"#));
    }
}

fn tool_result(id: &str, content: &str) -> String {
    format!(
        r#"{{"type":"tool_result","tool_use_id":{},"content":{}}}"#,
        quoted(id),
        quoted(content)
    )
}

fn anthropic_blocks(message: &TestMessage) -> Vec<String> {
    let TestMessage::Assistant { thought, text, calls } = message else { return Vec::new() };
    let mut blocks = Vec::new();
    if let Some(thought) = thought {
        let signature = format!("sig{:08x}", thought.len() * 7919);
        let thought = quoted(thought);
        blocks.push(format!(
            r#"{{"type":"thinking","thinking":{thought},"signature":"{signature}"}}"#
        ));
    }
    if !text.is_empty() {
        blocks.push(format!(r#"{{"type":"text","text":{}}}"#, quoted(text)));
    }
    blocks.extend(calls.iter().map(|call| {
        format!(
            r#"{{"type":"tool_use","id":{},"name":{},"input":{}}}"#,
            quoted(&call.id),
            quoted(&call.name),
            call.arguments
        )
    }));
    blocks
}

/// An Anthropic request.
#[must_use]
pub fn anthropic_request(messages: &[TestMessage]) -> String {
    let (system, messages) = anthropic(messages);
    let system = quoted(&system.unwrap_or_default());
    let messages = messages.join(",");
    format!(
        r#"{{"model":"claude-opus-5","max_tokens":4096,"system":{system},"messages":[{messages}]}}"#
    )
}

/// Responses items. The system prompt is a developer message.
#[must_use]
pub fn responses(messages: &[TestMessage]) -> Vec<String> {
    messages.iter().flat_map(items).collect()
}

fn items(message: &TestMessage) -> Vec<String> {
    let text_item = |role: &str, kind: &str, text: &str| {
        let text = quoted(text);
        format!(
            r#"{{"type":"message","role":"{role}","content":[{{"type":"{kind}","text":{text}}}]}}"#
        )
    };
    match message {
        TestMessage::System(text) => vec![text_item("developer", "input_text", text)],
        TestMessage::User(text) => vec![text_item("user", "input_text", text)],
        TestMessage::Tool { id, content, .. } => vec![format!(
            r#"{{"type":"function_call_output","call_id":{},"output":{}}}"#,
            quoted(id),
            quoted(content)
        )],
        TestMessage::Assistant { thought, text, calls } => {
            let mut items = Vec::new();
            if let Some(thought) = thought {
                items.push(format!(
                    r#"{{"type":"reasoning","summary":[{{"type":"summary_text","text":{}}}]}}"#,
                    quoted(thought)
                ));
            }
            if !text.is_empty() {
                items.push(text_item("assistant", "output_text", text));
            }
            items.extend(calls.iter().map(|call| {
                format!(
                    r#"{{"type":"function_call","name":{},"arguments":{},"call_id":{}}}"#,
                    quoted(&call.name),
                    quoted(&call.arguments),
                    quoted(&call.id)
                )
            }));
            items
        }
    }
}

/// A Responses request.
#[must_use]
pub fn responses_request(messages: &[TestMessage]) -> String {
    format!(r#"{{"model":"gpt-5.6-codex","input":[{}]}}"#, responses(messages).join(","))
}

/// A `ShareGPT` row: thoughts, calls and results are in tags, and all results of a step are in one turn.
#[must_use]
pub fn sharegpt(id: &str, messages: &[TestMessage]) -> String {
    let mut turns: Vec<(&str, String)> = Vec::new();
    for message in messages {
        match message {
            TestMessage::System(text) => turns.push(("system", text.clone())),
            TestMessage::User(text) => turns.push(("human", text.clone())),
            TestMessage::Assistant { thought, text, calls } => {
                let thought = thought.as_deref().unwrap_or_default();
                let mut value = format!("<think>\n{thought}\n</think>\n{text}");
                for call in calls {
                    value += &format!(
                        "\n<tool_call>\n{{\"name\": {}, \"arguments\": {}}}\n</tool_call>",
                        quoted(&call.name),
                        call.arguments
                    );
                }
                turns.push(("gpt", value));
            }
            TestMessage::Tool { id, name, content } => {
                let value = format!(
                    "<tool_response>\n{{\"tool_call_id\": {}, \"name\": {}, \"content\": {}}}\n\
                     </tool_response>",
                    quoted(id),
                    quoted(name),
                    quoted(content)
                );
                match turns.last_mut() {
                    Some(("tool", before)) => *before += &format!("\n{value}"),
                    _ => turns.push(("tool", value)),
                }
            }
        }
    }
    let turn = |(from, value): &(&str, String)| {
        format!(r#"{{"from":"{from}","value":{}}}"#, quoted(value))
    };
    let turns: Vec<_> = turns.iter().map(turn).collect();
    format!(r#"{{"id":{},"conversations":[{}]}}"#, quoted(id), turns.join(","))
}

/// A session file of Claude Code: one record for each block and each result.
#[must_use]
pub fn claude_code(messages: &[TestMessage]) -> Vec<String> {
    let mut lines = Vec::new();
    let mut record = |kind: &str, message: String| {
        let uuid = |at: usize| format!("\"00000000-0000-4000-8000-{at:012x}\"");
        let at = lines.len();
        let parent = if at == 0 { "null".to_owned() } else { uuid(at - 1) };
        let uuid = uuid(at);
        lines.push(format!(
            r#"{{"parentUuid":{parent},"isSidechain":false,"sessionId":"5e551011","version":"2.1.0","type":"{kind}","message":{message},"uuid":{uuid}}}"#
        ));
    };
    let mut prompt = 2000;
    for (at, message) in messages.iter().enumerate() {
        match message {
            TestMessage::System(_) => {}
            TestMessage::User(text) => {
                record("user", format!(r#"{{"role":"user","content":{}}}"#, quoted(text)));
            }
            TestMessage::Tool { id, content, .. } => {
                let result = tool_result(id, content);
                record("user", format!(r#"{{"role":"user","content":[{result}]}}"#));
            }
            TestMessage::Assistant { .. } => {
                prompt += 500;
                for block in anthropic_blocks(message) {
                    record(
                        "assistant",
                        format!(
                            r#"{{"id":"msg_{at:06}","type":"message","role":"assistant","model":"claude-opus-5","content":[{block}],"usage":{{"input_tokens":10,"cache_creation_input_tokens":490,"cache_read_input_tokens":{prompt},"output_tokens":80}}}}"#
                        ),
                    );
                }
            }
        }
    }
    lines
}

/// A rollout file of Codex.
#[must_use]
pub fn codex(messages: &[TestMessage]) -> Vec<String> {
    const TIME: &str = r#""timestamp":"2026-03-14T09:26:53.589Z""#;
    let mut lines = Vec::new();
    let mut line = |kind: &str, payload: &str| {
        lines.push(format!(r#"{{{TIME},"type":"{kind}","payload":{payload}}}"#));
    };
    let mut used = 2000;
    for message in messages {
        if let TestMessage::System(text) = message {
            let base = quoted(text);
            line(
                "session_meta",
                &format!(
                    r#"{{"id":"5e551011","cwd":"/srv/build","base_instructions":{{"text":{base}}}}}"#
                ),
            );
            line("turn_context", r#"{"cwd":"/srv/build","model":"gpt-5.6-codex"}"#);
            continue;
        }
        for item in items(message) {
            line("response_item", &item);
        }
        if matches!(message, TestMessage::Assistant { .. }) {
            used += 500;
            line(
                "event_msg",
                &format!(
                    r#"{{"type":"token_count","info":{{"last_token_usage":{{"input_tokens":{used},"cached_input_tokens":1500,"output_tokens":80}}}}}}"#
                ),
            );
        }
    }
    lines
}

/// A session file of pi, version 3.
#[must_use]
pub fn pi(messages: &[TestMessage]) -> Vec<String> {
    const TIME: &str = r#""timestamp":"2026-03-14T09:26:53.589Z""#;
    let mut lines = vec![format!(
        r#"{{"type":"session","version":3,"id":"5e551011",{TIME},"cwd":"/srv/build"}}"#
    )];
    for message in messages {
        let message = match message {
            TestMessage::System(_) => continue,
            TestMessage::User(text) => format!(
                r#"{{"role":"user","content":[{{"type":"text","text":{}}}]}}"#,
                quoted(text)
            ),
            TestMessage::Tool { id, name, content } => format!(
                r#"{{"role":"toolResult","toolCallId":{},"toolName":{},"content":[{{"type":"text","text":{}}}],"isError":false}}"#,
                quoted(id),
                quoted(name),
                quoted(content)
            ),
            TestMessage::Assistant { .. } => format!(
                r#"{{"role":"assistant","content":[{}],"model":"claude-opus-5","usage":{{"input":10,"output":80,"cacheRead":2000,"cacheWrite":490}}}}"#,
                pi_parts(message).join(",")
            ),
        };
        let at = lines.len();
        let parent = if at == 1 { "null".to_owned() } else { format!("\"{:08x}\"", at - 1) };
        lines.push(format!(
            r#"{{"type":"message","id":"{at:08x}","parentId":{parent},{TIME},"message":{message}}}"#
        ));
    }
    lines
}

fn pi_parts(message: &TestMessage) -> Vec<String> {
    let TestMessage::Assistant { thought, text, calls } = message else { return Vec::new() };
    let mut parts = Vec::new();
    if let Some(thought) = thought {
        parts.push(format!(r#"{{"type":"thinking","thinking":{}}}"#, quoted(thought)));
    }
    if !text.is_empty() {
        parts.push(format!(r#"{{"type":"text","text":{}}}"#, quoted(text)));
    }
    parts.extend(calls.iter().map(|call| {
        format!(
            r#"{{"type":"toolCall","id":{},"name":{},"arguments":{}}}"#,
            quoted(&call.id),
            quoted(&call.name),
            call.arguments
        )
    }));
    parts
}

//! Replies of Anthropic Messages.

use serde_json::{Value, json};

use super::numbered_reply::{NumberedReply, named, pieces};
use crate::upstream::request_parts::{AskedParts, fnv, parts, unmarked};

/// The signature of a thinking block in the message with the index `at`.
///
/// With `bind` it depends on the instructions, the tools and all messages before it, but not on their thinking.
pub(crate) fn signature(request: &AskedParts, at: usize, block: &Value, bind: bool) -> String {
    let text = block["thinking"].as_str().unwrap_or_default();
    let own = fnv(text.as_bytes());
    if !bind {
        return format!("sigu{own:016x}");
    }
    let mut before = format!("{}{}", unmarked(&request.tools), system(&request.system));
    for message in &request.items[..at] {
        let mut blocks = parts(&message["content"]);
        blocks.retain(|block| block["type"] != "thinking" && block["type"] != "redacted_thinking");
        if blocks.is_empty() {
            continue;
        }
        before.push_str(message["role"].as_str().unwrap_or_default());
        for block in &blocks {
            before.push_str(&unmarked(block).to_string());
        }
    }
    format!("sigb{own:016x}{:016x}", fnv(before.as_bytes()))
}

/// The instructions as a list of blocks, because a string means the same as one block of text.
fn system(value: &Value) -> Value {
    Value::Array(parts(value).iter().map(unmarked).collect())
}

/// Whether a signature belongs to this text of thinking.
pub(crate) fn signed(signature: &str, text: &str) -> bool {
    let rest = signature.strip_prefix("sigu").or_else(|| signature.strip_prefix("sigb"));
    rest.is_some_and(|rest| rest.starts_with(&format!("{:016x}", fnv(text.as_bytes()))))
}

/// Whether a signature depends on the messages before it.
pub(crate) fn bound(signature: &str) -> bool {
    signature.starts_with("sigb")
}

pub(crate) fn content(numbered: &NumberedReply<'_>) -> Vec<Value> {
    let mut blocks = Vec::new();
    if let Some(thinking) = numbered.thinking {
        let mut block = json!({"type": "thinking", "thinking": thinking});
        let at = numbered.request.items.len();
        block["signature"] = json!(signature(numbered.request, at, &block, numbered.bind));
        blocks.push(block);
    }
    if !numbered.text.is_empty() {
        blocks.push(json!({"type": "text", "text": numbered.text}));
    }
    for (index, call) in numbered.reply.calls.iter().enumerate() {
        blocks.push(json!({"type": "tool_use", "id": format!("toolu_{}_{index}", numbered.seed),
            "name": call.name, "input": call.arguments}));
    }
    blocks
}

fn stop(numbered: &NumberedReply<'_>) -> &'static str {
    if numbered.cut {
        "max_tokens"
    } else if numbered.reply.calls.is_empty() {
        "end_turn"
    } else {
        "tool_use"
    }
}

fn usage(numbered: &NumberedReply<'_>, output: u64) -> Value {
    let written = numbered.written;
    let input = numbered.prompt - numbered.cached - written;
    json!({
        "input_tokens": input, "cache_creation_input_tokens": written,
        "cache_read_input_tokens": numbered.cached,
        "cache_creation": {"ephemeral_5m_input_tokens": written, "ephemeral_1h_input_tokens": 0},
        "output_tokens": output, "service_tier": "standard",
    })
}

/// The id of the message.
pub(crate) fn id(numbered: &NumberedReply<'_>) -> String {
    format!("msg_{}", numbered.seed)
}

pub(crate) fn whole(numbered: &NumberedReply<'_>) -> Value {
    json!({
        "id": id(numbered), "type": "message", "role": "assistant", "model": numbered.request.model,
        "content": content(numbered), "stop_reason": stop(numbered), "stop_sequence": null,
        "usage": usage(numbered, numbered.output),
    })
}

pub(crate) fn events(numbered: &NumberedReply<'_>) -> Vec<String> {
    let mut start = whole(numbered);
    start["content"] = json!([]);
    start["stop_reason"] = Value::Null;
    start["usage"] = usage(numbered, 1);
    let mut events =
        vec![json!({"type": "message_start", "message": start}), json!({"type": "ping"})];
    for (index, block) in content(numbered).into_iter().enumerate() {
        let mut empty = block.clone();
        let delta =
            |delta: Value| json!({"type": "content_block_delta", "index": index, "delta": delta});
        let deltas: Vec<Value> = match block["type"].as_str().unwrap_or_default() {
            "thinking" => {
                empty["thinking"] = json!("");
                empty["signature"] = json!("");
                let text = block["thinking"].as_str().unwrap_or_default();
                let texts = pieces(text).into_iter();
                let texts = texts.map(|p| delta(json!({"type": "thinking_delta", "thinking": p})));
                let last = json!({"type": "signature_delta", "signature": block["signature"]});
                texts.chain([delta(last)]).collect()
            }
            "text" => {
                empty["text"] = json!("");
                let text = block["text"].as_str().unwrap_or_default();
                let texts = pieces(text).into_iter();
                texts.map(|p| delta(json!({"type": "text_delta", "text": p}))).collect()
            }
            _ => {
                empty["input"] = json!({});
                let text = block["input"].to_string();
                let first = [""].into_iter().chain(pieces(&text));
                first
                    .map(|p| delta(json!({"type": "input_json_delta", "partial_json": p})))
                    .collect()
            }
        };
        events.push(json!({"type": "content_block_start", "index": index, "content_block": empty}));
        events.extend(deltas);
        events.push(json!({"type": "content_block_stop", "index": index}));
    }
    events.push(json!({"type": "message_delta",
        "delta": {"stop_reason": stop(numbered), "stop_sequence": null},
        "usage": {"output_tokens": numbered.output}}));
    events.push(json!({"type": "message_stop"}));
    events.iter().map(named).collect()
}

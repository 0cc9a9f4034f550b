//! Replies of Anthropic Messages.

use serde_json::{Value, json};

use super::numbered_reply::{NumberedReply, named, pieces};
use crate::upstream::request_parts::{AskedParts, fnv, parts, unmarked};

/// The signature of a thinking block in the message with the index `at`.
///
/// With `bind` it depends on the instructions, the tools and all messages before it, but not on their thinking.
pub(crate) fn signature(asked: &AskedParts, at: usize, block: &Value, bind: bool) -> String {
    let text = block["thinking"].as_str().unwrap_or_default();
    let own = fnv(text.as_bytes());
    if !bind {
        return format!("sigu{own:016x}");
    }
    let mut before = format!("{}{}", unmarked(&asked.tools), system(&asked.system));
    for message in &asked.items[..at] {
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

pub(crate) fn content(made: &NumberedReply<'_>) -> Vec<Value> {
    let mut blocks = Vec::new();
    if let Some(thinking) = made.thinking {
        let mut block = json!({"type": "thinking", "thinking": thinking});
        let at = made.asked.items.len();
        block["signature"] = json!(signature(made.asked, at, &block, made.bind));
        blocks.push(block);
    }
    if !made.text.is_empty() {
        blocks.push(json!({"type": "text", "text": made.text}));
    }
    for (index, call) in made.reply.calls.iter().enumerate() {
        blocks.push(json!({"type": "tool_use", "id": format!("toolu_{}_{index}", made.seed),
            "name": call.name, "input": call.arguments}));
    }
    blocks
}

fn stop(made: &NumberedReply<'_>) -> &'static str {
    if made.cut {
        "max_tokens"
    } else if made.reply.calls.is_empty() {
        "end_turn"
    } else {
        "tool_use"
    }
}

fn usage(made: &NumberedReply<'_>, output: u64) -> Value {
    let written = made.written;
    let input = made.prompt - made.cached - written;
    json!({
        "input_tokens": input, "cache_creation_input_tokens": written,
        "cache_read_input_tokens": made.cached,
        "cache_creation": {"ephemeral_5m_input_tokens": written, "ephemeral_1h_input_tokens": 0},
        "output_tokens": output, "service_tier": "standard",
    })
}

/// The id of the message.
pub(crate) fn id(made: &NumberedReply<'_>) -> String {
    format!("msg_{}", made.seed)
}

pub(crate) fn whole(made: &NumberedReply<'_>) -> Value {
    json!({
        "id": id(made), "type": "message", "role": "assistant", "model": made.asked.model,
        "content": content(made), "stop_reason": stop(made), "stop_sequence": null,
        "usage": usage(made, made.output),
    })
}

pub(crate) fn events(made: &NumberedReply<'_>) -> Vec<String> {
    let mut start = whole(made);
    start["content"] = json!([]);
    start["stop_reason"] = Value::Null;
    start["usage"] = usage(made, 1);
    let mut events =
        vec![json!({"type": "message_start", "message": start}), json!({"type": "ping"})];
    for (index, block) in content(made).into_iter().enumerate() {
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
        "delta": {"stop_reason": stop(made), "stop_sequence": null},
        "usage": {"output_tokens": made.output}}));
    events.push(json!({"type": "message_stop"}));
    events.iter().map(named).collect()
}

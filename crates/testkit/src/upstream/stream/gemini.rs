//! Replies of Gemini.

use serde_json::{Value, json};

use super::numbered_reply::{NumberedReply, data, pieces};

/// The start of every thought signature of this server. With the 16 digits after it, it is base64 that SDKs can decode.
pub(crate) const SIGNATURE: &str = "c2NyaXB0ZWQ6";

fn parts(numbered: &NumberedReply<'_>) -> Vec<Value> {
    let mut parts = Vec::new();
    if let Some(thinking) = numbered.thinking {
        parts.push(json!({"text": thinking, "thought": true}));
    }
    if !numbered.text.is_empty() {
        parts.push(json!({"text": numbered.text}));
    }
    for (index, call) in numbered.reply.calls.iter().enumerate() {
        let mut part = json!({"functionCall": {"name": call.name, "args": call.arguments,
            "id": format!("call_{}_{index}", numbered.seed)}});
        // If calls are parallel, only the first has a signature.
        if index == 0 {
            part["thoughtSignature"] = json!(format!("{SIGNATURE}{}", numbered.seed));
        }
        parts.push(part);
    }
    parts
}

fn chunk(numbered: &NumberedReply<'_>, parts: Vec<Value>, last: bool) -> Value {
    let mut candidate = json!({"content": {"role": "model", "parts": parts}, "index": 0});
    let mut usage = json!({"promptTokenCount": numbered.prompt,
        "totalTokenCount": numbered.prompt + numbered.output,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": numbered.prompt}]});
    if numbered.cached > 0 {
        usage["cachedContentTokenCount"] = json!(numbered.cached);
    }
    if last {
        candidate["finishReason"] = json!(if numbered.cut { "MAX_TOKENS" } else { "STOP" });
        usage["candidatesTokenCount"] = json!(numbered.output);
    }
    json!({"candidates": [candidate], "usageMetadata": usage, "modelVersion": numbered.request.model,
        "responseId": numbered.seed})
}

pub(crate) fn whole(numbered: &NumberedReply<'_>) -> Value {
    chunk(numbered, parts(numbered), true)
}

/// The chunks of a stream, without the framing of events.
pub(crate) fn chunks(numbered: &NumberedReply<'_>) -> Vec<Value> {
    let mut all = Vec::new();
    for part in parts(numbered) {
        match part["text"].as_str() {
            Some(text) => all.extend(pieces(text).into_iter().map(|piece| {
                let mut part = part.clone();
                part["text"] = json!(piece);
                part
            })),
            None => all.push(part),
        }
    }
    if all.is_empty() {
        return vec![chunk(numbered, Vec::new(), true)];
    }
    let count = all.len();
    let parts = all.into_iter().enumerate();
    parts.map(|(at, part)| chunk(numbered, vec![part], at + 1 == count)).collect()
}

pub(crate) fn events(numbered: &NumberedReply<'_>) -> Vec<String> {
    chunks(numbered).iter().map(data).collect()
}

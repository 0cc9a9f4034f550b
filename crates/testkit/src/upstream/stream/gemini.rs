//! Replies of Gemini.

use serde_json::{Value, json};

use super::numbered_reply::{NumberedReply, data, pieces};

/// The start of every thought signature of this server. With the 16 digits after it, it is base64 that SDKs can decode.
pub(crate) const SIGNATURE: &str = "c2NyaXB0ZWQ6";

fn parts(made: &NumberedReply<'_>) -> Vec<Value> {
    let mut parts = Vec::new();
    if let Some(thinking) = made.thinking {
        parts.push(json!({"text": thinking, "thought": true}));
    }
    if !made.text.is_empty() {
        parts.push(json!({"text": made.text}));
    }
    for (index, call) in made.reply.calls.iter().enumerate() {
        let mut part = json!({"functionCall": {"name": call.name, "args": call.arguments,
            "id": format!("call_{}_{index}", made.seed)}});
        // If calls are parallel, only the first has a signature.
        if index == 0 {
            part["thoughtSignature"] = json!(format!("{SIGNATURE}{}", made.seed));
        }
        parts.push(part);
    }
    parts
}

fn chunk(made: &NumberedReply<'_>, parts: Vec<Value>, last: bool) -> Value {
    let mut candidate = json!({"content": {"role": "model", "parts": parts}, "index": 0});
    let mut usage = json!({"promptTokenCount": made.prompt,
        "totalTokenCount": made.prompt + made.output,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": made.prompt}]});
    if made.cached > 0 {
        usage["cachedContentTokenCount"] = json!(made.cached);
    }
    if last {
        candidate["finishReason"] = json!(if made.cut { "MAX_TOKENS" } else { "STOP" });
        usage["candidatesTokenCount"] = json!(made.output);
    }
    json!({"candidates": [candidate], "usageMetadata": usage, "modelVersion": made.asked.model,
        "responseId": made.seed})
}

pub(crate) fn whole(made: &NumberedReply<'_>) -> Value {
    chunk(made, parts(made), true)
}

/// The chunks of a stream, without the framing of events.
pub(crate) fn chunks(made: &NumberedReply<'_>) -> Vec<Value> {
    let mut all = Vec::new();
    for part in parts(made) {
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
        return vec![chunk(made, Vec::new(), true)];
    }
    let count = all.len();
    let parts = all.into_iter().enumerate();
    parts.map(|(at, part)| chunk(made, vec![part], at + 1 == count)).collect()
}

pub(crate) fn events(made: &NumberedReply<'_>) -> Vec<String> {
    chunks(made).iter().map(data).collect()
}

//! Reads server-sent events.

use serde_json::Value;

/// The events of a stream, each with its name (empty where it has none) and its data. `[DONE]` is returned as a JSON
/// string. Fails where other data is not JSON.
pub(super) fn events(text: &str) -> Result<Vec<(String, Value)>, String> {
    let mut out = Vec::new();
    let text = text.replace("\r\n", "\n");
    for block in text.split("\n\n").filter(|block| !block.trim().is_empty()) {
        let mut name = String::new();
        let mut data: Vec<&str> = Vec::new();
        for line in block.lines() {
            if let Some(value) = line.strip_prefix("event:") {
                value.trim_start().clone_into(&mut name);
            } else if let Some(value) = line.strip_prefix("data:") {
                data.push(value.strip_prefix(' ').unwrap_or(value));
            }
        }
        if data.is_empty() {
            // A block without data is a comment.
            continue;
        }
        let data = data.join("\n");
        let value = if data == "[DONE]" {
            Value::String(data)
        } else {
            serde_json::from_str(&data)
                .map_err(|error| format!("no JSON in an event: {error}: {data}"))?
        };
        out.push((name, value));
    }
    Ok(out)
}

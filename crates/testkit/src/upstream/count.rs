//! How many tokens a prompt has: the provider's count.

use serde_json::Value;

use super::request_parts::{AskedParts, unmarked};

/// Bytes of compact JSON that make one token.
///
/// The prompt is what the model reads: tools, instructions and messages, as compact JSON with sorted
/// keys and without cache marks. Three bytes a token is what agents' conversations have with a
/// recent tokenizer.
pub const BYTES_PER_TOKEN: usize = 3;

/// Tokens of one picture, whatever its size; its base64 text does not count.
pub const PICTURE_TOKENS: u64 = 1_000;

/// Tokens of this many bytes, rounded up.
pub(crate) fn of_bytes(bytes: usize) -> u64 {
    bytes.div_ceil(BYTES_PER_TOKEN) as u64
}

/// Weight of one part of a prompt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PromptWeight {
    pub bytes: usize,
    pub pictures: u64,
}

impl PromptWeight {
    pub fn tokens(self) -> u64 {
        of_bytes(self.bytes) + self.pictures * PICTURE_TOKENS
    }

    pub fn and(self, other: Self) -> Self {
        Self { bytes: self.bytes + other.bytes, pictures: self.pictures + other.pictures }
    }
}

/// The parts of a prompt in the order in which providers cache them: tools, instructions, messages.
///
/// They have no cache marks; pictures are still in them.
pub(crate) fn ordered(asked: &AskedParts) -> impl Iterator<Item = Value> {
    [&asked.tools, &asked.system].into_iter().chain(&asked.items).map(unmarked)
}

/// Weight of a part whose compact JSON has so many bytes.
pub(crate) fn weigh(part: &Value, bytes: usize) -> PromptWeight {
    if part.is_null() {
        return PromptWeight::default();
    }
    let mut data = Vec::new();
    pictures(part, &mut data);
    // Base64 has nothing to escape, so its bytes are those of the JSON.
    PromptWeight { bytes: bytes - data.iter().sum::<usize>(), pictures: data.len() as u64 }
}

/// Tokens of a whole prompt.
pub(crate) fn prompt(asked: &AskedParts) -> u64 {
    let weights = ordered(asked).map(|part| weigh(&part, part.to_string().len()));
    weights.fold(PromptWeight::default(), PromptWeight::and).tokens()
}

/// The bytes of each picture's data.
fn pictures(value: &Value, found: &mut Vec<usize>) {
    match value {
        Value::Object(map) => {
            let picture = ["media_type", "mimeType", "mime_type"].iter().any(|key| {
                map.get(*key).and_then(Value::as_str).is_some_and(|kind| kind.starts_with("image/"))
            });
            for (key, value) in map {
                match value {
                    Value::String(data) if picture && key == "data" => found.push(data.len()),
                    other => pictures(other, found),
                }
            }
        }
        Value::Array(list) => list.iter().for_each(|value| pictures(value, found)),
        Value::String(text) if text.starts_with("data:image/") => found.push(text.len()),
        _ => {}
    }
}

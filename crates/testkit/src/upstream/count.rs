//! Counts the tokens of a prompt, as the provider.

use serde_json::Value;

use super::request_parts::{AskedParts, unmarked};

/// The bytes of compact JSON that make one token.
///
/// The counted text is what the model reads: tools, instructions and messages, as compact JSON with sorted keys and
/// without cache marks. A recent tokenizer also needs roughly three bytes for each token of an agent's conversation.
pub const BYTES_PER_TOKEN: usize = 3;

/// The tokens of one picture of any size. Its base64 text does not count.
pub const PICTURE_TOKENS: u64 = 1_000;

/// The tokens of this many bytes, rounded up.
pub(crate) fn of_bytes(bytes: usize) -> u64 {
    bytes.div_ceil(BYTES_PER_TOKEN) as u64
}

/// The weight of a part of a prompt: bytes of text, and pictures.
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
/// Cache marks are removed; pictures are not.
pub(crate) fn ordered(request: &AskedParts) -> impl Iterator<Item = Value> {
    [&request.tools, &request.system].into_iter().chain(&request.items).map(unmarked)
}

/// The weight of a part whose compact JSON has `bytes` bytes.
pub(crate) fn weigh(part: &Value, bytes: usize) -> PromptWeight {
    if part.is_null() {
        return PromptWeight::default();
    }
    let mut data = Vec::new();
    pictures(part, &mut data);
    // JSON does not escape base64, so the data has as many bytes in JSON.
    PromptWeight { bytes: bytes - data.iter().sum::<usize>(), pictures: data.len() as u64 }
}

/// The tokens of a whole prompt.
pub(crate) fn prompt(request: &AskedParts) -> u64 {
    let weights = ordered(request).map(|part| weigh(&part, part.to_string().len()));
    weights.fold(PromptWeight::default(), PromptWeight::and).tokens()
}

/// Collects the length in bytes of each picture's data.
fn pictures(value: &Value, sizes: &mut Vec<usize>) {
    match value {
        Value::Object(map) => {
            let picture = ["media_type", "mimeType", "mime_type"].iter().any(|key| {
                map.get(*key).and_then(Value::as_str).is_some_and(|kind| kind.starts_with("image/"))
            });
            for (key, value) in map {
                match value {
                    Value::String(data) if picture && key == "data" => sizes.push(data.len()),
                    other => pictures(other, sizes),
                }
            }
        }
        Value::Array(list) => list.iter().for_each(|value| pictures(value, sizes)),
        Value::String(text) if text.starts_with("data:image/") => sizes.push(text.len()),
        _ => {}
    }
}

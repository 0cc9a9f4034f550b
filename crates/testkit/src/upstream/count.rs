//! How many tokens a prompt has: the provider's count.

use serde_json::Value;

use super::asked::{Asked, unmarked};

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
pub(crate) struct Weight {
    pub bytes: usize,
    pub pictures: u64,
}

impl Weight {
    pub fn tokens(self) -> u64 {
        of_bytes(self.bytes) + self.pictures * PICTURE_TOKENS
    }

    pub fn and(self, other: Self) -> Self {
        Self { bytes: self.bytes + other.bytes, pictures: self.pictures + other.pictures }
    }
}

/// The parts of a prompt in the order in which providers cache them: tools, instructions, messages.
///
/// Each is compact JSON without cache marks; pictures are still in it.
pub(crate) fn ordered(asked: &Asked) -> Vec<Value> {
    let mut parts = Vec::with_capacity(asked.items.len() + 2);
    parts.push(unmarked(&asked.tools));
    parts.push(unmarked(&asked.system));
    parts.extend(asked.items.iter().map(unmarked));
    parts
}

/// Weight of a part that has no marks.
pub(crate) fn weigh(part: &Value) -> Weight {
    if part.is_null() {
        return Weight::default();
    }
    let mut light = part.clone();
    let pictures = blank(&mut light);
    Weight { bytes: light.to_string().len(), pictures }
}

/// Tokens of a whole prompt.
pub(crate) fn prompt(asked: &Asked) -> u64 {
    ordered(asked).iter().map(weigh).fold(Weight::default(), Weight::and).tokens()
}

/// Empties the data of pictures, and says how many there are.
fn blank(value: &mut Value) -> u64 {
    match value {
        Value::Object(map) => {
            let picture = ["media_type", "mimeType", "mime_type"].iter().any(|key| {
                map.get(*key).and_then(Value::as_str).is_some_and(|kind| kind.starts_with("image/"))
            });
            map.iter_mut()
                .map(|(key, value)| match value {
                    Value::String(data) if picture && key == "data" => {
                        data.clear();
                        1
                    }
                    other => blank(other),
                })
                .sum()
        }
        Value::Array(list) => list.iter_mut().map(blank).sum(),
        Value::String(text) if text.starts_with("data:image/") => {
            text.clear();
            1
        }
        _ => 0,
    }
}

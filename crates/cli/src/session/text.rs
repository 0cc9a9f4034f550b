//! Hashes and messages as text.

use bytes::Bytes;
use midfold::Context;
use midfold::core::Hash;

use crate::error::CommandError;

/// The first 12 digits of a hash, as people read and type it.
pub fn short(id: Hash) -> String {
    id.to_hex()[..12].to_owned()
}

/// The messages of a context as a JSON list, each on lines of its own.
pub fn list(context: &Context) -> Vec<u8> {
    join(context.pieces().map(|piece| &piece.bytes))
}

/// Messages as a JSON list, byte for byte, each after a line break.
pub fn join<'a>(messages: impl Iterator<Item = &'a Bytes>) -> Vec<u8> {
    let mut out = vec![b'['];
    for (at, message) in messages.enumerate() {
        out.extend_from_slice(if at == 0 { b"\n" } else { b",\n" });
        out.extend_from_slice(message);
    }
    out.extend_from_slice(if out.len() == 1 { b"]\n" } else { b"\n]\n" });
    out
}

/// A JSON object with messages as its last member, byte for byte.
pub fn object_with(about: &serde_json::Value, messages: &[u8]) -> Vec<u8> {
    let about = about.to_string();
    let open = about.strip_suffix('}').unwrap_or(&about).as_bytes();
    [open, b",\"messages\":", messages.trim_ascii_end(), b"}\n"].concat()
}

/// A value as JSON on one line, for programs.
pub fn json_line(value: &impl serde::Serialize) -> Result<String, CommandError> {
    let text = serde_json::to_string(value);
    text.map(|text| text + "\n").map_err(|error| CommandError::failed(error.to_string()))
}

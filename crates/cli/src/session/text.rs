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

/// A value as JSON on one line, for programs.
pub fn json_line(value: &impl serde::Serialize) -> Result<String, CommandError> {
    let text = serde_json::to_string(value);
    text.map(|text| text + "\n").map_err(|error| CommandError::failed(error.to_string()))
}

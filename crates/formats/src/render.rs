//! Writes the few kinds of messages that midfold makes itself. Their bytes never change.

use bytes::Bytes;
use midfold_core::{BlockKind, ByteRange, EventView, jsonstr};

/// The text in a place where a provider wants some and there is none.
pub(crate) const EMPTY: &str = "(empty)";

/// JSON while it is written.
#[derive(Default)]
pub(crate) struct Json(Vec<u8>);

impl Json {
    /// Appends JSON source as it is.
    pub(crate) fn raw(mut self, source: impl AsRef<[u8]>) -> Self {
        self.0.extend_from_slice(source.as_ref());
        self
    }

    /// Appends a text as a JSON string token.
    pub(crate) fn text(mut self, text: &str) -> Self {
        jsonstr::encode_into(text, &mut self.0);
        self
    }

    /// The JSON that was written.
    pub(crate) fn finish(self) -> Bytes {
        Bytes::from(self.0)
    }
}

/// `bytes` with these ranges replaced. The ranges are in order and do not overlap.
pub(crate) fn splice(bytes: &[u8], edits: &[(ByteRange, &[u8])]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut from = 0;
    for (range, new) in edits {
        let range = range.to_usize();
        out.extend_from_slice(bytes.get(from..range.start).unwrap_or_default());
        out.extend_from_slice(new);
        from = range.end;
    }
    out.extend_from_slice(bytes.get(from..).unwrap_or_default());
    out
}

/// For each of `len` blocks, whether its index is in `indices`.
pub(crate) fn flags(indices: &[usize], len: usize) -> Vec<bool> {
    let mut flags = vec![false; len];
    for &at in indices {
        if let Some(flag) = flags.get_mut(at) {
            *flag = true;
        }
    }
    flags
}

/// One result block as a line of plain text: `[result of bash (call_1)] …`. It is never empty.
pub(crate) fn result_text(bytes: &[u8], view: &EventView, index: usize) -> String {
    let Some(block) = view.blocks.get(index) else { return EMPTY.to_owned() };
    let (id, name) = match &block.kind {
        BlockKind::Result { id, name, .. } => (*id, *name),
        _ => (None, None),
    };
    let name = name.map(|name| name.decode(bytes));
    let id = id.map(|id| id.decode(bytes));
    let head = match (name.as_deref(), id.as_deref()) {
        (Some(name), Some(id)) => format!("[result of {name} ({id})] "),
        (Some(name), None) => format!("[result of {name}] "),
        (None, Some(id)) => format!("[result of a tool ({id})] "),
        (None, None) => "[result of a tool] ".to_owned(),
    };
    let text = block.text(bytes);
    head + if text.trim().is_empty() { EMPTY } else { &text }
}

//! The normal form of a message: all that counts of it, however its client spells it.
//!
//! Clients drop reasoning, trim the words of a reply, drop the punctuation of ids, write the JSON of arguments anew and
//! move marks for the cache. Nothing else may differ.

use super::tools::is_hidden;
use crate::json::{NumberForm, write_normal, write_without};
use crate::view::{BlockKind, BlockView, EventView, TextCoding, TextRef};

/// Members of a whole item that clients leave out.
const STATE: [&[u8]; 2] = [br#""id""#, br#""status""#];

/// The normal form of a reply: one message, or all messages of one exchange together, as the client gets them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ReplyForm {
    /// The words without white space.
    words: Vec<u8>,
    /// The calls and everything else, in order.
    rest: Vec<u8>,
}

impl ReplyForm {
    /// Reads a message of the model. Hidden calls and reasoning are left out.
    pub fn of(view: &EventView, bytes: &[u8], numbers: NumberForm) -> Self {
        let mut form = Self::default();
        for block in &view.blocks {
            match &block.kind {
                BlockKind::Text | BlockKind::Refusal => {
                    let text = block.text(bytes);
                    form.words.extend(text.bytes().filter(|byte| !byte.is_ascii_whitespace()));
                }
                BlockKind::Call { .. } if is_hidden(block, bytes) => {}
                BlockKind::Reasoning { .. } => {}
                _ => write_block(block, bytes, numbers, &mut form.rest),
            }
        }
        form
    }

    /// Whether the client may leave the message out.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty() && self.rest.is_empty()
    }

    /// Adds a later message of the same answer.
    pub fn add(&mut self, next: &Self) {
        self.words.extend_from_slice(&next.words);
        self.rest.extend_from_slice(&next.rest);
    }

    pub fn write(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.words.len() + self.rest.len() + 16);
        field(b'R', &self.words, &mut out);
        out.extend_from_slice(&self.rest);
        out
    }
}

/// The normal form of a message that is not the model's, of those blocks for which `counts` is true.
pub(super) fn message_form(
    view: &EventView,
    bytes: &[u8],
    numbers: NumberForm,
    mut counts: impl FnMut(usize, &BlockView) -> bool,
) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len() + 16);
    field(b'M', view.role.name().as_bytes(), &mut out);
    for (at, block) in view.blocks.iter().enumerate() {
        if counts(at, block) {
            write_block(block, bytes, numbers, &mut out);
        }
    }
    out
}

fn write_block(block: &BlockView, bytes: &[u8], numbers: NumberForm, out: &mut Vec<u8>) {
    let text = || block.text(bytes);
    match &block.kind {
        BlockKind::Text => field(b't', text().as_bytes(), out),
        BlockKind::Refusal => field(b'f', text().as_bytes(), out),
        BlockKind::Reasoning { .. } => field(b'h', text().as_bytes(), out),
        BlockKind::Call { id, name } => {
            call_id(b'c', *id, bytes, out);
            tool_name(*name, bytes, out);
            let mut arguments = Vec::new();
            let text = text();
            // Some clients write no arguments as an empty text, others as an empty object.
            let text = if text.trim().is_empty() { "{}" } else { &text };
            write_normal(text.as_bytes(), numbers, &mut arguments);
            field(b'a', &arguments, out);
        }
        BlockKind::Result { id, name, error } => {
            call_id(b'r', *id, bytes, out);
            tool_name(*name, bytes, out);
            field(b'e', &[u8::from(*error == Some(true))], out);
            write_result(block, bytes, numbers, out);
        }
        BlockKind::Media | BlockKind::Opaque => {
            let mut whole = Vec::new();
            write_without(block.outer.of(bytes), &STATE, numbers, &mut whole);
            field(b'o', &whole, out);
        }
    }
}

/// Writes the content of a result: its text, or its list of parts.
fn write_result(block: &BlockView, bytes: &[u8], numbers: NumberForm, out: &mut Vec<u8>) {
    let body = block.body;
    if body.coding == TextCoding::Raw && body.nested.is_none() {
        let mut parts = Vec::new();
        write_normal(body.token.of(bytes), numbers, &mut parts);
        field(b'p', &parts, out);
    } else {
        field(b't', body.decode(bytes).as_bytes(), out);
    }
    for media in &block.media {
        let mut whole = Vec::new();
        write_normal(media.outer.of(bytes), numbers, &mut whole);
        field(b'm', &whole, out);
    }
}

/// Writes the id of a call. Some clients drop the punctuation of ids, so only letters and digits count.
fn call_id(tag: u8, id: Option<TextRef>, bytes: &[u8], out: &mut Vec<u8>) {
    let Some(id) = id else { return };
    let plain: Vec<u8> = id.decode(bytes).bytes().filter(u8::is_ascii_alphanumeric).collect();
    field(tag, &plain, out);
}

fn tool_name(name: Option<TextRef>, bytes: &[u8], out: &mut Vec<u8>) {
    let Some(name) = name else { return };
    field(b'n', name.decode(bytes).as_bytes(), out);
}

/// Writes one field with its length, so that no two lists of fields have the same bytes.
fn field(tag: u8, value: &[u8], out: &mut Vec<u8>) {
    out.push(tag);
    out.extend_from_slice(&(value.len() as u64).to_le_bytes());
    out.extend_from_slice(value);
}

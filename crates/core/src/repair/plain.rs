//! Other forms of a message: without some of its blocks, or as plain text.

use std::borrow::Cow;

use bytes::Bytes;

use super::fixed_texts::{EMPTY, OF_CALL};
use crate::dialect::Dialect;
use crate::edit::{self, BlockChange};
use crate::view::{BlockKind, BlockView, EventView, Role, TextRef};

/// A message without the blocks at these indices. Where it has no others, a message with this text.
pub(crate) fn without(
    bytes: &[u8],
    view: &EventView,
    blocks: &[usize],
    text: &str,
    dialect: &dyn Dialect,
) -> Bytes {
    if blocks.len() == view.blocks.len() {
        return dialect.made_message(view.role, text);
    }
    let blocks = blocks.iter().filter_map(|at| view.blocks.get(*at));
    let changes: Vec<_> = blocks.map(|block| (block, &BlockChange::Remove)).collect();
    edit::apply(bytes, &changes)
}

/// A message as plain text with a label that says whose it was. It is sent in the user's role, and the label shows that
/// it is not the user's, even after several compactions.
pub(crate) fn labelled(label: &str, view: &EventView, bytes: &[u8]) -> String {
    format!("{label}{}", plain_text(view, bytes))
}

/// A message of the model as plain text: its texts and its calls, without its reasoning.
pub(crate) fn text_with_calls(view: &EventView, bytes: &[u8]) -> String {
    let parts =
        view.blocks.iter().filter(|block| !matches!(block.kind, BlockKind::Reasoning { .. }));
    texts_with_calls(parts, bytes, "\n\n")
}

/// A message as plain text: its readable text with its calls, or its JSON source if it holds blocks that no dialect
/// reads. In the source, line breaks become spaces. No content is lost.
pub(crate) fn plain_text<'a>(view: &EventView, bytes: &'a [u8]) -> Cow<'a, str> {
    if view.blocks.iter().any(|block| block.kind == BlockKind::Opaque) {
        return Cow::Owned(String::from_utf8_lossy(bytes).replace(['\n', '\r'], " "));
    }
    let text = match view.has_calls() {
        true => Cow::Owned(texts_with_calls(view.blocks.iter(), bytes, "\n")),
        false => view.text_of(bytes, |_| true),
    };
    if text.trim().is_empty() { Cow::Borrowed(EMPTY) } else { text }
}

/// The texts of blocks; a call is its label with the tool's name, and its arguments below. Blank texts are left out.
fn texts_with_calls<'a>(
    blocks: impl Iterator<Item = &'a BlockView>,
    bytes: &[u8],
    between: &str,
) -> String {
    let part = |block: &BlockView| match &block.kind {
        BlockKind::Call { id, name } => {
            let part =
                |part: &Option<TextRef>| part.map(|token| token.decode(bytes)).unwrap_or_default();
            // The id is named, because the result that became text names it, too.
            let (id, name) = (part(id), part(name));
            Some(format!("{OF_CALL}{name} ({id})]\n{}", block.text(bytes)))
        }
        _ => Some(block.text(bytes).into_owned()).filter(|text| !text.trim().is_empty()),
    };
    blocks.filter_map(part).collect::<Vec<_>>().join(between)
}

/// Whether a message of a known role has a shape that no provider takes, so that it is sent as text. Either it is one
/// block that no dialect reads, since a client may put a message of its own shape among the provider's. Or it calls a
/// tool although the model did not write it.
pub(crate) fn is_of_other_shape(view: &EventView, bytes: &[u8]) -> bool {
    let is_unread = matches!(&view.blocks[..], [block] if block.kind == BlockKind::Opaque
        && block.outer.len() == bytes.trim_ascii().len());
    let is_known = !matches!(view.role, Role::Assistant | Role::Other);
    is_unread || (is_known && view.has_calls())
}

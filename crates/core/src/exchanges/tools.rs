//! The calls that a proxy answers and no client knows: those of midfold's own tools, and unrun ones.

use crate::event::Hash;
use crate::log::RECALL_TOOL;
use crate::view::{BlockKind, BlockView, TextRef};

/// Asks for a fold of the older messages.
pub const COMPACT_TOOL: &str = "midfold_compact";
/// Pins a message, so that no fold takes it.
pub const PIN_TOOL: &str = "midfold_pin";
/// Keeps a line of text in each recap.
pub const NOTE_TOOL: &str = "midfold_note";

/// The beginning of the id of an unrun call: a call of a client's tool that the proxy answered, so that no client ran
/// it.
const UNRUN: &str = "midfold_unrun_";
/// Letters of the hash behind it. With them no provider's limit on ids is reached.
const UNRUN_LETTERS: usize = 24;
/// The length of Mistral's ids, which are letters and digits. Mistral refuses any other id.
const MISTRAL: usize = 9;

/// Whether an id is that of an unrun call.
#[must_use]
pub fn is_unrun(id: &str) -> bool {
    id.starts_with(UNRUN)
}

/// The id of an unrun call, which the model gave `id`. `number` tells apart calls without an id. `None` where the
/// provider would not accept another id.
#[must_use]
pub fn unrun_id(id: Option<&str>, number: usize) -> Option<String> {
    let id = id.unwrap_or_default();
    if id.len() == MISTRAL && id.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return None;
    }
    let hash = Hash::ROOT.chain(id.as_bytes()).chain(&(number as u64).to_le_bytes()).to_hex();
    Some(format!("{UNRUN}{}", &hash[..UNRUN_LETTERS]))
}

/// Whether a block is a call that no client ran, or the result of one.
pub(crate) fn is_hidden(block: &BlockView, bytes: &[u8]) -> bool {
    match block.kind {
        BlockKind::Call { id, name } | BlockKind::Result { id, name, .. } => {
            has_unrun_id(id, bytes) || own_name(name, bytes).is_some()
        }
        _ => false,
    }
}

/// Whether this is the id of an unrun call.
pub(super) fn has_unrun_id(id: Option<TextRef>, bytes: &[u8]) -> bool {
    id.is_some_and(|id| id.text_bytes(bytes).starts_with(UNRUN.as_bytes()))
}

/// The own tool of this name.
pub(super) fn own_name(name: Option<TextRef>, bytes: &[u8]) -> Option<&'static str> {
    name.and_then(|name| own_tool(&name.decode(bytes)))
}

/// The own tool of this name. `None` where the name is of no own tool.
pub(crate) fn own_tool(name: &str) -> Option<&'static str> {
    [RECALL_TOOL, COMPACT_TOOL, PIN_TOOL, NOTE_TOOL].into_iter().find(|tool| *tool == name)
}

//! The text of a message as the measures define it.

use crate::view::{BlockKind, View};

/// Text content, then for each call a line of name, space, arguments.
#[must_use]
pub fn message_text(bytes: &[u8], view: &View) -> String {
    let mut out = String::new();
    let mut line = |text: &str| {
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(text);
    };
    let is_text = |kind: &BlockKind| {
        matches!(kind, BlockKind::Text | BlockKind::Refusal | BlockKind::Result { .. })
    };
    for block in view.blocks.iter().filter(|block| is_text(&block.kind)) {
        line(&block.text(bytes));
    }
    for block in &view.blocks {
        if let BlockKind::Call { name, .. } = &block.kind {
            let name = name.map(|name| name.decode(bytes).into_owned()).unwrap_or_default();
            line(&format!("{name} {}", block.text(bytes)));
        }
    }
    out
}

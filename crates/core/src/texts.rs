//! All text of a message, calls included.

use crate::view::{BlockKind, EventView};

/// How the JSON arguments of calls are written out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ArgumentTexts {
    /// With the JSON escapes resolved: `\ttheme` is a tab and `theme`.
    #[default]
    Meant,
    /// As they were sent, so that `ttheme` counts as a name. For comparison with measures that read arguments so.
    Sent,
}

/// The text of a message: its contents, then a line for each call with name, space and arguments.
#[must_use]
pub fn message_text(bytes: &[u8], view: &EventView, arguments: ArgumentTexts) -> String {
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
            let text = match arguments {
                ArgumentTexts::Meant => block.plain(bytes),
                ArgumentTexts::Sent => block.text(bytes),
            };
            line(&format!("{name} {text}"));
        }
    }
    out
}

//! Texts of a log, for people.

use midfold_core::log::Event;
use midfold_core::redact::Redactor;
use midfold_core::texts::{ArgumentTexts, message_text};
use midfold_core::view::BlockKind;

/// Without what looks like a secret.
pub(crate) fn hidden(text: &str) -> String {
    Redactor::shared().redact(text).0.into_owned()
}

/// Who speaks, as people say it: whatever brings results is the tool.
pub(crate) fn role(event: &Event) -> &'static str {
    if event.view.has_results() { "tool" } else { event.view.role.name() }
}

/// The tool that an event calls, or whose result it is.
pub(crate) fn tool(event: &Event) -> Option<String> {
    let name = |kind: &BlockKind| match kind {
        BlockKind::Call { name, .. } | BlockKind::Result { name, .. } => {
            name.map(|name| name.decode(&event.bytes).into_owned())
        }
        _ => None,
    };
    event.view.blocks.iter().find_map(|block| name(&block.kind))
}

/// All of its text, calls included, without secrets.
#[cfg(feature = "store")]
pub(crate) fn whole(event: &Event) -> String {
    let text = message_text(&event.bytes, &event.view, ArgumentTexts::Sent);
    hidden(&text)
}

/// The first line of its text, without secrets. The line alone is looked through: a message can have a megabyte.
pub(crate) fn line(event: &Event, most: usize) -> String {
    let text = message_text(&event.bytes, &event.view, ArgumentTexts::Sent);
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    // Before it is cut: half a secret is none that is known.
    cut(&hidden(line), most).0
}

/// At most so many characters, and whether that is less than all.
pub(crate) fn cut(text: &str, most: usize) -> (String, bool) {
    match text.char_indices().nth(most) {
        Some((at, _)) => (text[..at].to_owned(), true),
        None => (text.to_owned(), false),
    }
}

/// The first line that says something: a tag by itself does not, where there is more.
#[cfg(feature = "store")]
pub(crate) fn first_line(text: &str, most: usize) -> String {
    let is_tag = |line: &&str| line.starts_with('<') && line.ends_with('>');
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    let line = lines().find(|line| !is_tag(line)).or_else(|| lines().next());
    cut(line.unwrap_or_default(), most).0
}

//! Texts of a log as people read them.

use midfold_core::log::Event;
use midfold_core::redact::Redactor;
use midfold_core::texts::{ArgumentTexts, message_text};
use midfold_core::view::BlockKind;

/// The text with everything that looks like a secret replaced.
pub(crate) fn hidden(text: &str) -> String {
    Redactor::shared().redact(text).0.into_owned()
}

/// The role as people say it: an event that brings results is the tool.
pub(crate) fn role(event: &Event) -> &'static str {
    if event.view.has_results() { "tool" } else { event.view.role.name() }
}

/// The tool that an event calls, or whose result it is; `None` for other events.
pub(crate) fn tool(event: &Event) -> Option<String> {
    let name = |kind: &BlockKind| match kind {
        BlockKind::Call { name, .. } | BlockKind::Result { name, .. } => {
            name.map(|name| name.decode(&event.bytes).into_owned())
        }
        _ => None,
    };
    event.view.blocks.iter().find_map(|block| name(&block.kind))
}

/// The whole text of an event, calls included, redacted.
#[cfg(feature = "store")]
pub(crate) fn whole(event: &Event) -> String {
    let text = message_text(&event.bytes, &event.view, ArgumentTexts::Sent);
    hidden(&text)
}

/// The first line of an event's text, redacted and cut. Only that line is redacted, because a message can have a
/// megabyte.
pub(crate) fn line(event: &Event, most: usize) -> String {
    let text = message_text(&event.bytes, &event.view, ArgumentTexts::Sent);
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    // Redact before cutting: a secret that is cut in half is not recognised.
    cut(&hidden(line), most).0
}

/// The first `most` characters, and whether there are more.
pub(crate) fn cut(text: &str, most: usize) -> (String, bool) {
    match text.char_indices().nth(most) {
        Some((at, _)) => (text[..at].to_owned(), true),
        None => (text.to_owned(), false),
    }
}

/// The first line that is not just a tag; a tag only if there is no other line. A longer one is cut between two words,
/// with `…`.
#[cfg(feature = "store")]
pub(crate) fn first_line(text: &str, most: usize) -> String {
    let is_tag = |line: &&str| line.starts_with('<') && line.ends_with('>');
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    let line = lines().find(|line| !is_tag(line)).or_else(|| lines().next());
    match cut(line.unwrap_or_default(), most) {
        (whole, false) => whole,
        (start, true) => {
            let words = start.rsplit_once(' ').map_or(start.as_str(), |(words, _)| words);
            format!("{}…", words.trim_end_matches([',', ';', ':', ' ']))
        }
    }
}

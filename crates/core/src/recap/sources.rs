//! The original events, rendered for a summariser: what was said, called and answered, without
//! secrets, without reasoning, and with both ends of what is long.

use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::log::{Event, Log};
use crate::narrate::Source;
use crate::recap::redact::Redactor;
use crate::view::{Block, BlockKind, MediaKind, Origin, Role};

/// How much of one text a summariser is shown, in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// A text or result up to this long is shown whole.
    pub text: usize,
    /// Of a longer one, so much of its start.
    pub text_head: usize,
    /// And so much of its end.
    pub text_tail: usize,
    /// Arguments of a call up to this long are shown whole.
    pub arguments: usize,
    /// Of longer ones, so much of their start.
    pub arguments_head: usize,
}

impl Default for Limits {
    /// Those of Hermes Agent's summariser.
    fn default() -> Self {
        Self {
            text: 6_000,
            text_head: 4_000,
            text_tail: 1_500,
            arguments: 1_500,
            arguments_head: 1_200,
        }
    }
}

/// The events of `range` for a summariser, in order. Only what a person wrote is shown as the
/// user's: what a client put into that role, tool results in it included, is not, so one event can
/// give two sources. Recaps of earlier compactions are left out: see [`earlier`].
#[must_use]
pub fn sources(log: &Log, range: Range<usize>, limits: &Limits) -> Vec<Source> {
    let events = log.events();
    let range = range.start.min(events.len())..range.end.min(events.len());
    let mut out = Vec::new();
    let mut names = FxHashMap::default();
    for event in events.get(range).unwrap_or_default() {
        if event.view.origin != Origin::Recap {
            render(event, limits, &mut names, &mut out);
        }
    }
    out
}

/// The recaps of earlier compactions that stand in `range`, oldest first, without secrets: they
/// are narration to be updated, not messages to be narrated. `None` where there is none.
#[must_use]
pub fn earlier(log: &Log, range: Range<usize>) -> Option<String> {
    let events = log.events();
    let range = range.start.min(events.len())..range.end.min(events.len());
    let recaps = events.get(range).unwrap_or_default().iter();
    let texts: Vec<String> = recaps
        .filter(|event| event.view.origin == Origin::Recap)
        .map(|event| Redactor::shared().redact(&event.text()).0.into_owned())
        .collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

fn render(
    event: &Event,
    limits: &Limits,
    names: &mut FxHashMap<String, String>,
    out: &mut Vec<Source>,
) {
    let own = match (event.view.role, event.view.origin) {
        (Role::User, Origin::Injected) => Role::Other,
        (_, Origin::Observation) => Role::Tool,
        (role, _) => role,
    };
    let mut parts: Vec<(Role, String)> = Vec::new();
    for block in &event.view.blocks {
        let role = if block.is_result() { Role::Tool } else { own };
        let Some(text) = block_text(event, block, limits, names) else { continue };
        match parts.last_mut() {
            Some((last, joined)) if *last == role => {
                joined.push('\n');
                joined.push_str(&text);
            }
            _ => parts.push((role, text)),
        }
    }
    out.extend(parts.into_iter().map(|(role, text)| Source { seq: event.seq, role, text }));
}

fn block_text(
    event: &Event,
    block: &Block,
    limits: &Limits,
    names: &mut FxHashMap<String, String>,
) -> Option<String> {
    let decoded = |text: &crate::view::TextRef| text.decode(&event.bytes).into_owned();
    let mut text = match &block.kind {
        BlockKind::Reasoning { .. } | BlockKind::Opaque => return None,
        BlockKind::Text => ends(event, block, limits),
        BlockKind::Refusal => format!("(refused) {}", ends(event, block, limits)),
        BlockKind::Media => String::new(),
        BlockKind::Call { id, name } => {
            let name = name.as_ref().map_or_else(|| "?".to_owned(), decoded);
            if let Some(id) = id.as_ref().map(decoded) {
                names.insert(id, name.clone());
            }
            let arguments = block.text(&event.bytes);
            let arguments = clean(&arguments, limits.arguments, limits.arguments_head, 0);
            format!("(calls {}) {arguments}", clean(&name, 200, 200, 0))
        }
        BlockKind::Result { id, name, error } => {
            let called = id.as_ref().map(decoded).and_then(|id| names.get(&id).cloned());
            let name = name.as_ref().map(decoded).or(called).unwrap_or_else(|| "a tool".to_owned());
            let failed = if *error == Some(true) { ", error" } else { "" };
            let name = clean(&name, 200, 200, 0);
            format!("(result of {name}{failed}) {}", ends(event, block, limits))
        }
    };
    for media in &block.media {
        let kind = match media.kind {
            MediaKind::Image => "image",
            MediaKind::Audio => "sound",
            MediaKind::File => "file",
        };
        let size = media.pixels.map_or_else(String::new, |(w, h)| format!(", {w} x {h}"));
        text.push_str(&format!(" (one {kind}{size}, not shown)"));
    }
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

fn ends(event: &Event, block: &Block, limits: &Limits) -> String {
    clean(&block.text(&event.bytes), limits.text, limits.text_head, limits.text_tail)
}

/// Without secrets, then both ends: cut first, half a key would pass for a word.
fn clean(text: &str, max: usize, head: usize, tail: usize) -> String {
    let (text, _) = Redactor::shared().redact(text);
    cut(text.trim(), max, head, tail)
}

/// The text where it has at most `max` characters, else its first `head` and last `tail`, with a
/// note of what is missing.
pub(crate) fn cut(text: &str, max: usize, head: usize, tail: usize) -> String {
    // A text with no more bytes than that needs no counting.
    if text.len() <= max {
        return text.to_owned();
    }
    let count = text.chars().count();
    if count <= max || head + tail >= count {
        return text.to_owned();
    }
    let front = text.char_indices().nth(head).map_or(text.len(), |(at, _)| at);
    let back = match tail {
        0 => text.len(),
        tail => text.char_indices().nth_back(tail - 1).map_or(0, |(at, _)| at),
    };
    let gone = count - head - tail;
    format!("{}\n(… {gone} characters left out …)\n{}", &text[..front], &text[back..])
        .trim_end()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::cut;

    #[test]
    fn a_cut_keeps_both_ends_and_says_how_much_is_gone() {
        let text = format!("{}ü{}", "a".repeat(50), "z".repeat(50));
        assert_eq!(cut(&text, 101, 4, 3), text);
        assert_eq!(cut(&text, 100, 4, 3), "aaaa\n(… 94 characters left out …)\nzzz");
        assert_eq!(cut(&text, 10, 2, 0), "aa\n(… 99 characters left out …)");
    }
}

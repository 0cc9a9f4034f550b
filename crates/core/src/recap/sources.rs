//! Renders events for a summariser: words, calls and results, without secrets and reasoning. Long texts keep their
//! two ends.

use std::borrow::Cow;
use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::dialect::Dialect;
use crate::log::{Event, EventLog};
use crate::narrate::SourceEvent;
use crate::passage::{Passage, Voice, passages};
use crate::policy::NarrationStyle;
use crate::redact::{KnownSecrets, REPLACEMENT};
use crate::result_words::ResultWordFinder;
use crate::tools::ToolTable;
use crate::view::{BlockKind, BlockView, MediaKind, Role, TextOrigin};

/// How much of a text a summariser is shown, in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceLimits {
    /// A text or result of at most this length is shown whole.
    pub text: usize,
    /// This much of the start of a longer text is shown.
    pub text_head: usize,
    /// This much of the end of a longer text is shown.
    pub text_tail: usize,
    /// Arguments of at most this length are shown whole.
    pub arguments: usize,
    /// This much of the start of longer arguments is shown.
    pub arguments_head: usize,
    /// Whether a connection string with a password is hidden completely, as Hermes Agent does. Otherwise only the
    /// password is hidden.
    pub whole_strings: bool,
}

impl Default for SourceLimits {
    /// The limits of Hermes Agent's summariser.
    fn default() -> Self {
        Self {
            text: 6_000,
            text_head: 4_000,
            text_tail: 1_500,
            arguments: 1_500,
            arguments_head: 1_200,
            whole_strings: false,
        }
    }
}

/// Renders the events of `range` for a summariser, in order. Only a person's own words have the user's role; texts
/// that a client put into that role have another. So one event can give several sources. Recaps of earlier compactions
/// are left out: see [`earlier`].
#[must_use]
pub fn sources(log: &EventLog, range: Range<usize>, limits: &SourceLimits) -> Vec<SourceEvent> {
    sources_of(log, log.events(), range, limits)
}

/// Renders events that reducers have changed, as [`sources`] does for a log. Secrets are found in the log, because the
/// words by which a secret is recognised may be gone from the changed events.
pub(crate) fn sources_of(
    log: &EventLog,
    events: &[Event],
    range: Range<usize>,
    limits: &SourceLimits,
) -> Vec<SourceEvent> {
    let range = range.start.min(events.len())..range.end.min(events.len());
    let mut out = Vec::new();
    let mut names = FxHashMap::default();
    // Secrets are removed before long texts are cut, because half a key would not be recognised.
    let mut secrets = KnownSecrets::of(&log.events()[..range.end]);
    let events = &events[range.start.min(range.end)..range.end];
    let clean = secrets.events(events);
    for event in clean.as_deref().unwrap_or(events) {
        if event.view.origin != TextOrigin::Recap {
            render(event, &**log.dialect(), limits, &mut names, &mut out);
        }
    }
    out
}

/// The recaps of earlier compactions in `range`, oldest first, without secrets. A narration updates them instead of
/// retelling them. `None` where there are no recaps.
#[must_use]
pub fn earlier(log: &EventLog, range: Range<usize>) -> Option<String> {
    let events = log.events();
    let range = range.start.min(events.len())..range.end.min(events.len());
    let secrets = KnownSecrets::of(&events[..range.end]);
    let recaps = events.get(range).unwrap_or_default().iter();
    let texts: Vec<String> = recaps
        .filter(|event| event.view.origin == TextOrigin::Recap)
        .map(|event| secrets.without(&event.text()).into_owned())
        .collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

/// Renders one event. Neighbouring texts of the same role become one source.
fn render(
    event: &Event,
    dialect: &dyn Dialect,
    limits: &SourceLimits,
    names: &mut FxHashMap<String, String>,
    out: &mut Vec<SourceEvent>,
) {
    let own = match (event.view.role, event.view.origin) {
        (Role::User, TextOrigin::Injected) => Role::Other,
        (_, TextOrigin::Observation) => Role::Tool,
        (role, _) => role,
    };
    let mut parts: Vec<(Role, String)> = Vec::new();
    let mut add = |role: Role, text: String| match parts.last_mut() {
        Some((last, joined)) if *last == role => {
            joined.push('\n');
            joined.push_str(&text);
        }
        _ => parts.push((role, text)),
    };
    // Where a person wrote a part of the message, each passage gets the role of its author.
    let mut passages = match event.view.is_real_user() {
        true => passages(event, dialect),
        false => Vec::new(),
    };
    let apart = !passages.is_empty();
    for block in &event.view.blocks {
        if apart && block.kind == BlockKind::Text {
            // The passages are those of all text blocks together, so the first block takes them all.
            for passage in passages.drain(..) {
                let role = speaker(passage.voice);
                let text = limits.shown(&passage.text);
                add(role, cut(text.trim(), limits.text, limits.text_head, limits.text_tail));
            }
            continue;
        }
        let role = if block.is_result() { Role::Tool } else { own };
        if let Some(text) = block_text(event, block, limits, names) {
            add(role, text);
        }
        for passage in
            user_passages(event, block, dialect, names).iter().filter(|one| one.is_said())
        {
            let text = limits.shown(&passage.text);
            add(Role::User, cut(text.trim(), limits.text, limits.text_head, limits.text_tail));
        }
    }
    out.extend(parts.into_iter().map(|(role, text)| SourceEvent { seq: event.seq, role, text }));
}

/// The passages of a result that a person wrote, such as answers to a question of the agent.
fn user_passages(
    event: &Event,
    block: &BlockView,
    dialect: &dyn Dialect,
    names: &FxHashMap<String, String>,
) -> Vec<Passage> {
    let BlockKind::Result { id, name, .. } = &block.kind else { return Vec::new() };
    let finder = ResultWordFinder { tools: ToolTable::builtin(), dialect };
    let decoded = |text: &crate::view::TextRef| text.decode(&event.bytes).into_owned();
    let called = id.as_ref().map(decoded).and_then(|id| names.get(&id).cloned());
    let tool = called.or_else(|| name.as_ref().map(decoded)).unwrap_or_default();
    let steered = finder.added_words(event, block);
    let text = block.text(&event.bytes);
    let own = steered.as_ref().and_then(|(at, _)| text.get(..*at)).unwrap_or(&text);
    let mut spoken = finder.answers(&tool, own, block);
    spoken.extend(steered.into_iter().flat_map(|(_, spoken)| spoken));
    spoken
}

fn speaker(voice: Voice) -> Role {
    match voice {
        Voice::User | Voice::Shown => Role::User,
        Voice::Client => Role::Other,
        Voice::Tool => Role::Tool,
    }
}

/// The text of a block as a summariser sees it; `None` for reasoning and empty blocks.
fn block_text(
    event: &Event,
    block: &BlockView,
    limits: &SourceLimits,
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
            let arguments = limits.shown(&arguments);
            let arguments = cut(arguments.trim(), limits.arguments, limits.arguments_head, 0);
            format!("(calls {}) {arguments}", cut(name.trim(), 200, 200, 0))
        }
        BlockKind::Result { id, name, error } => {
            let called = id.as_ref().map(decoded).and_then(|id| names.get(&id).cloned());
            let name = name.as_ref().map(decoded).or(called).unwrap_or_else(|| "a tool".to_owned());
            let failed = if *error == Some(true) { ", error" } else { "" };
            let name = cut(name.trim(), 200, 200, 0);
            format!("(result of {name}{failed}) {}", ends(event, block, limits))
        }
    };
    for media in &block.media {
        let kind = match media.kind {
            MediaKind::Image => "image",
            MediaKind::Audio => "sound",
            MediaKind::Video => "video",
            MediaKind::File => "file",
        };
        let size = media.pixels().map_or_else(String::new, |(w, h)| format!(", {w} x {h}"));
        text.push_str(&format!(" (one {kind}{size}, not shown)"));
    }
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// The text of a block, cut to its two ends where it is long.
fn ends(event: &Event, block: &BlockView, limits: &SourceLimits) -> String {
    let text = block.text(&event.bytes);
    cut(limits.shown(&text).trim(), limits.text, limits.text_head, limits.text_tail)
}

impl SourceLimits {
    /// The limits for a narration in this style. The style with headings is Hermes Agent's, which hides connection
    /// strings completely.
    #[must_use]
    pub fn of(style: NarrationStyle) -> Self {
        Self { whole_strings: style == NarrationStyle::Headings, ..Self::default() }
    }

    /// The part of a text without secrets that a summariser may see, before anything is cut.
    pub(crate) fn shown<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if self.whole_strings { without_strings(text) } else { Cow::Borrowed(text) }
    }
}

/// The text with each connection string hidden whose password was redacted.
fn without_strings(text: &str) -> Cow<'_, str> {
    let mark = format!(":{REPLACEMENT}@");
    if !text.contains(&mark) {
        return Cow::Borrowed(text);
    }
    let parts = |c: char| c.is_whitespace() || "\"'`<>\\".contains(c);
    let (mut out, mut from) = (String::with_capacity(text.len()), 0);
    for (at, _) in text.match_indices(&mark) {
        let start = text[..at].rfind(parts).map_or(0, |at| at + 1).max(from);
        let rest = at + mark.len();
        let end = text[rest..].find(parts).map_or(text.len(), |end| rest + end);
        // An assignment keeps its name: `DATABASE_URL=…`.
        let name =
            text[start..at].find("://").and_then(|scheme| text[start..start + scheme].rfind('='));
        if at >= from && text[start..at].contains("://") {
            out.push_str(&text[from..name.map_or(start, |name| start + name + 1)]);
            out.push_str(REPLACEMENT);
            from = end;
        }
    }
    out.push_str(&text[from..]);
    Cow::Owned(out)
}

/// Returns the text where it has at most `max` characters. Otherwise returns its first `head` and last `tail`
/// characters, with a note of how many are missing.
pub(crate) fn cut(text: &str, max: usize, head: usize, tail: usize) -> String {
    // A text of at most `max` bytes has no more characters than that, so they need not be counted.
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
    let omitted = count - head - tail;
    format!("{}\n(… {omitted} characters left out …)\n{}", &text[..front], &text[back..])
        .trim_end()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::{cut, without_strings};

    #[test]
    fn a_cut_keeps_both_ends_and_says_how_much_is_gone() {
        let text = format!("{}ü{}", "a".repeat(50), "z".repeat(50));
        assert_eq!(cut(&text, 101, 4, 3), text);
        assert_eq!(cut(&text, 100, 4, 3), "aaaa\n(… 94 characters left out …)\nzzz");
        assert_eq!(cut(&text, 10, 2, 0), "aa\n(… 99 characters left out …)");
    }
    #[test]
    fn nothing_is_left_of_a_connection_string() {
        for (text, wanted) in [
            ("DB=postgres://app:[REDACTED]@db:5432/x; ok", "DB=[REDACTED] ok"),
            ("a \"redis://:[REDACTED]@h/0\" b", "a \"[REDACTED]\" b"),
            ("no string: [REDACTED]@x", "no string: [REDACTED]@x"),
        ] {
            assert_eq!(without_strings(text), wanted);
        }
    }
}

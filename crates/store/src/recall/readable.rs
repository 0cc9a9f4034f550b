//! The readable form of a message: prose and results as they are, and calls with unescaped arguments.

use midfold_core::log::Event;
use midfold_core::view::{BlockKind, BlockView, MediaKind, Role};

use super::arguments;
use super::reading::PairedEvents;

/// The whole readable text of a message, with a client's reminders. Offsets, sizes and line numbers of recall refer to
/// this text.
pub(super) fn text(log: &PairedEvents<'_>, event: &Event) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut calls = log.calls_of(event.seq).map(|(_, call)| call);
    let results: Vec<_> = log.results_of(event.seq).collect();
    for (at, block) in event.view.blocks.iter().enumerate() {
        let text = block.text(&event.bytes);
        match &block.kind {
            BlockKind::Call { .. } => {
                let Some(call) = calls.next() else { continue };
                let arguments = arguments::readable(&text, &call.facts(log.tools));
                let mut part = format!("call {}", call.tool());
                if !arguments.is_empty() {
                    part += &format!("\n{arguments}");
                }
                parts.push(part);
            }
            BlockKind::Result { .. } => {
                let site = results.iter().find(|result| result.index == at);
                // Where a message has one result, its headline names the call.
                if let (Some(site), true) = (site, results.len() > 1) {
                    let (tool, _, target) = log.call_of(site);
                    let verdict = log.outcome(site).verdict;
                    let head = format!("result of {tool} {target}");
                    let colon = if verdict.is_empty() { "" } else { ": " };
                    parts.push(format!("{}{colon}{verdict}\n{text}", head.trim_end()));
                } else {
                    parts.push(text.into_owned());
                }
            }
            BlockKind::Reasoning { .. } if text.trim().is_empty() => {}
            BlockKind::Reasoning { .. } => parts.push(format!("(reasoning) {text}")),
            BlockKind::Opaque => parts.push(opaque(block, event)),
            BlockKind::Text | BlockKind::Refusal | BlockKind::Media => {
                if !text.is_empty() {
                    parts.push(text.into_owned());
                }
            }
        }
        parts.extend(block.media.iter().map(|media| {
            let size =
                media.pixels().map(|(w, h)| format!(", {w} × {h} pixels")).unwrap_or_default();
            format!("[{}{size}]", kind(media.kind))
        }));
    }
    // A message of an unknown dialect has no view, so its bytes are its text.
    if event.view.blocks.is_empty() && event.view.role == Role::Other {
        parts.push(String::from_utf8_lossy(&event.bytes).into_owned());
    }
    parts.join("\n")
}

/// The line in place of a reminder.
const REMINDER: &str = "(a reminder of the client)";

/// A part of a text.
pub(super) struct TextPart<'a> {
    pub text: &'a str,
    /// Whether it is a reminder that a client put into the text: [`REMINDER`] is shown in place of it.
    pub is_reminder: bool,
}

impl<'a> TextPart<'a> {
    fn shown(&self) -> &'a str {
        if self.is_reminder { REMINDER } else { self.text }
    }
}

/// The text in parts: its reminders, and what is between them.
pub(super) fn parts(text: &str) -> Vec<TextPart<'_>> {
    const TAGS: (&str, &str) = ("<system-reminder>", "</system-reminder>");
    let (mut parts, mut rest) = (Vec::new(), text);
    while let Some(at) = rest.find(TAGS.0)
        && let Some(end) = rest[at..].find(TAGS.1)
    {
        let (before, from) = rest.split_at(at);
        let (reminder, behind) = from.split_at(end + TAGS.1.len());
        parts.push(TextPart { text: before, is_reminder: false });
        parts.push(TextPart { text: reminder, is_reminder: true });
        rest = behind;
    }
    parts.push(TextPart { text: rest, is_reminder: false });
    parts
}

/// The text with one short line in place of each reminder that a client put into it.
pub(super) fn without_reminders(text: &str) -> String {
    parts(text).iter().map(TextPart::shown).collect()
}

/// How many characters of these parts are shown.
pub(super) fn shown_chars(parts: &[TextPart<'_>]) -> usize {
    parts.iter().map(|part| part.shown().chars().count()).sum()
}

/// Byte offsets of the place up to which `most` characters are shown, and behind the last line break before it that is
/// in no reminder. No reminder is cut, and one at the start is before the place however short that is.
pub(super) fn cut(parts: &[TextPart<'_>], most: usize) -> (usize, Option<usize>) {
    let (mut end, mut line, mut room) = (0, None, most);
    for part in parts {
        if part.is_reminder {
            if room < REMINDER.len() && end > 0 {
                break;
            }
            room = room.saturating_sub(REMINDER.len());
            end += part.text.len();
            continue;
        }
        let cut = part.text.char_indices().nth(room).map(|(at, _)| at);
        let fitting = &part.text[..cut.unwrap_or(part.text.len())];
        line = fitting.rfind('\n').map(|at| end + at + 1).or(line);
        end += fitting.len();
        if cut.is_some() {
            break;
        }
        room -= fitting.chars().count();
    }
    (end, line)
}

fn kind(kind: MediaKind) -> &'static str {
    match kind {
        MediaKind::Image => "image",
        MediaKind::Audio => "audio",
        MediaKind::Video => "video",
        MediaKind::File => "file",
    }
}

/// The text in the place of a block of an unknown kind.
fn opaque(block: &BlockView, event: &Event) -> String {
    let source = String::from_utf8_lossy(block.outer.of(&event.bytes));
    format!("[a block that is not read, {} characters]", source.chars().count())
}

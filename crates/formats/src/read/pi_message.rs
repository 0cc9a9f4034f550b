//! Converts messages of pi to Chat Completions messages, built from the recorded tokens.

use std::borrow::Cow;
use std::ops::Range;

use midfold_core::event::RawEvent;
use midfold_core::view::TextOrigin;

use super::chat::{self, ChatCall, ContentPart, inside};
use super::source::InputSource;
use crate::fields::ObjectFields;
use crate::scan;

/// The message at `at`. `None` for one that the client never sends.
pub(super) fn message(source: &mut InputSource<'_>, at: Range<usize>) -> Option<RawEvent> {
    let input = source.input;
    let fields = ObjectFields::of(input, at.clone());
    let role = fields.text("role")?;
    let mut origin = None;
    let bytes = match &*role {
        "assistant" => assistant(input, &fields),
        "toolResult" => result(input, &fields),
        "bashExecution" if fields.is_true("excludeFromContext") => return None,
        "bashExecution" => {
            origin = Some(TextOrigin::Injected);
            shell(&fields)
        }
        "branchSummary" | "compactionSummary" => {
            return fields.string("summary").map(|summary| source.recap(summary));
        }
        "custom" => {
            origin = Some(TextOrigin::Injected);
            plain(input, "user", &fields)
        }
        "system" => plain(input, "system", &fields),
        _ => plain(input, "user", &fields),
    };
    let mut event = source.built(bytes, vec![at]);
    event.origin = origin;
    Some(event)
}

/// A message that has nothing but content.
pub(super) fn plain(input: &[u8], role: &str, fields: &ObjectFields<'_>) -> Vec<u8> {
    chat::message(role, &content(input, fields))
}

fn assistant(input: &[u8], fields: &ObjectFields<'_>) -> Vec<u8> {
    let parts: Vec<_> = parts(input, fields).collect();
    let thoughts: Vec<_> = parts
        .iter()
        .filter(|part| part.is("type", "thinking"))
        .filter_map(|part| chat::text_of(part, "thinking"))
        .collect();
    let calls: Vec<_> = parts.iter().filter(|part| part.is("type", "toolCall")).map(call).collect();
    chat::reply(&content(input, fields), &thoughts, &calls)
}

fn call<'a>(part: &ObjectFields<'a>) -> ChatCall<'a> {
    let or_empty = |name| Cow::Borrowed(part.raw(name).unwrap_or(b"\"\""));
    ChatCall { id: or_empty("id"), name: or_empty("name"), arguments: part.raw("arguments") }
}

fn result(input: &[u8], fields: &ObjectFields<'_>) -> Vec<u8> {
    let id = fields.raw("toolCallId").unwrap_or(b"\"\"");
    chat::result(id, fields.raw("toolName"), &content(input, fields))
}

/// A command that the user ran: the typed line and its output.
fn shell(fields: &ObjectFields<'_>) -> Vec<u8> {
    // The insides are joined as they are escaped, so nothing is decoded and written anew.
    let mut out = br#""$ "#.to_vec();
    out.extend_from_slice(inside(fields.raw("command").unwrap_or_default()));
    out.extend_from_slice(br"\n");
    out.extend_from_slice(inside(fields.raw("output").unwrap_or_default()));
    let code = fields.raw("exitCode").filter(|code| !matches!(*code, b"0" | b"null"));
    if let Some(code) = code {
        out.extend_from_slice(&[br"\n[exit code ", code, b"]"].concat());
    }
    if fields.is_true("cancelled") {
        out.extend_from_slice(br"\n[cancelled by the user]");
    }
    out.push(b'"');
    chat::message("user", &[ContentPart::Text(Cow::Owned(out))])
}

fn parts<'a>(input: &'a [u8], fields: &ObjectFields<'a>) -> impl Iterator<Item = ObjectFields<'a>> {
    let list = fields.array("content").unwrap_or(0..0);
    scan::elements(input, list).map(|part| ObjectFields::of(input, part))
}

/// The content of a message: its one string, or its parts without reasoning and calls.
fn content<'a>(input: &'a [u8], fields: &ObjectFields<'a>) -> Vec<ContentPart<'a>> {
    if let Some(token) = fields.string("content") {
        return vec![ContentPart::Text(Cow::Borrowed(&input[token]))];
    }
    let list = fields.array("content").unwrap_or(0..0);
    let parts = scan::elements(input, list).map(|at| (at.clone(), ObjectFields::of(input, at)));
    parts
        .filter_map(|(at, part)| {
            let raw = |name| Cow::Borrowed(part.raw(name).unwrap_or(b"\"\""));
            match &*part.text("type").unwrap_or_default() {
                "thinking" | "toolCall" => None,
                "text" => Some(ContentPart::Text(raw("text"))),
                "image" => Some(ContentPart::Image { mime: raw("mimeType"), data: raw("data") }),
                _ => Some(ContentPart::unknown(&input[at])),
            }
        })
        .collect()
}

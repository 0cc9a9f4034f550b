//! Messages of pi as Chat Completions messages, put together from the recorded tokens.

use std::ops::Range;

use midfold_core::event::RawEvent;
use midfold_core::jsonstr;
use midfold_core::view::Origin;

use super::source::Source;
use crate::fields::Fields;
use crate::{scan, usage};

/// The message in `at`; `None` for one that its client never sends.
pub(super) fn message(source: &mut Source<'_>, at: Range<usize>) -> Option<RawEvent> {
    let input = source.input;
    let fields = Fields::of(input, at.clone());
    let role = fields.text("role")?;
    let mut origin = None;
    let mut used = None;
    let bytes = match &*role {
        "assistant" => {
            used = usage::pi(&fields.inner("usage"));
            assistant(input, &fields)
        }
        "toolResult" => result(input, &fields),
        "bashExecution" if fields.is_true("excludeFromContext") => return None,
        "bashExecution" => {
            origin = Some(Origin::Injected);
            shell(&fields)
        }
        "branchSummary" | "compactionSummary" => {
            return fields.string("summary").map(|summary| recap(source, summary));
        }
        "custom" => {
            origin = Some(Origin::Injected);
            plain(input, "user", &fields)
        }
        "system" => plain(input, "system", &fields),
        _ => plain(input, "user", &fields),
    };
    let mut event = source.built(bytes, vec![at]);
    event.origin = origin;
    event.usage = used;
    Some(event)
}

/// A user message of one recorded string that recaps what was compacted.
pub(super) fn recap(source: &mut Source<'_>, text: Range<usize>) -> RawEvent {
    let token = &source.input[text.clone()];
    let bytes = [br#"{"role":"user","content":"#, token, b"}"].concat();
    let mut event = source.built(bytes, vec![text]);
    event.origin = Some(Origin::Recap);
    event
}

/// A message with nothing but content.
pub(super) fn plain(input: &[u8], role: &str, fields: &Fields<'_>) -> Vec<u8> {
    let mut out = format!(r#"{{"role":"{role}","content":"#).into_bytes();
    push_content(input, fields, b"\"\"", &mut out);
    out.push(b'}');
    out
}

fn assistant(input: &[u8], fields: &Fields<'_>) -> Vec<u8> {
    let mut out = br#"{"role":"assistant","content":"#.to_vec();
    push_content(input, fields, b"null", &mut out);
    let parts: Vec<_> = parts(input, fields).collect();
    let thoughts = parts.iter().filter(|part| part.is("type", "thinking"));
    let thoughts: Vec<_> = thoughts.filter_map(|part| part.string("thinking")).collect();
    for (at, thought) in thoughts.iter().enumerate() {
        // Several strings become one: their insides, joined by an escaped line break.
        out.extend_from_slice(if at == 0 { br#","reasoning_content":""# } else { br"\n" });
        out.extend_from_slice(inside(&input[thought.clone()]));
    }
    if !thoughts.is_empty() {
        out.push(b'"');
    }
    let mut open: &[u8] = br#","tool_calls":["#;
    for call in parts.iter().filter(|part| part.is("type", "toolCall")) {
        out.extend_from_slice(open);
        push_call(call, &mut out);
        open = b",";
    }
    if open == b"," {
        out.push(b']');
    }
    out.push(b'}');
    out
}

fn push_call(call: &Fields<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(br#"{"id":"#);
    out.extend_from_slice(call.raw("id").unwrap_or(b"\"\""));
    out.extend_from_slice(br#","type":"function","function":{"name":"#);
    out.extend_from_slice(call.raw("name").unwrap_or(b"\"\""));
    out.extend_from_slice(br#","arguments":"#);
    match call.raw("arguments") {
        Some(token @ [b'"', ..]) => out.extend_from_slice(token),
        Some(object) => jsonstr::encode_into(&String::from_utf8_lossy(object), out),
        None => out.extend_from_slice(b"\"{}\""),
    }
    out.extend_from_slice(b"}}");
}

fn result(input: &[u8], fields: &Fields<'_>) -> Vec<u8> {
    let mut out = br#"{"role":"tool","tool_call_id":"#.to_vec();
    out.extend_from_slice(fields.raw("toolCallId").unwrap_or(b"\"\""));
    if let Some(name) = fields.raw("toolName") {
        out.extend_from_slice(br#","name":"#);
        out.extend_from_slice(name);
    }
    out.extend_from_slice(br#","content":"#);
    push_content(input, fields, b"\"\"", &mut out);
    out.push(b'}');
    out
}

/// A command that the user ran: what was typed and what came back.
fn shell(fields: &Fields<'_>) -> Vec<u8> {
    let mut out = br#"{"role":"user","content":"$ "#.to_vec();
    out.extend_from_slice(inside(fields.raw("command").unwrap_or_default()));
    out.extend_from_slice(br"\n");
    out.extend_from_slice(inside(fields.raw("output").unwrap_or_default()));
    if fields.number("exitCode") != 0 {
        out.extend_from_slice(format!(r"\n[exit code {}]", fields.number("exitCode")).as_bytes());
    }
    out.extend_from_slice(b"\"}");
    out
}

/// The inside of a string token; nothing for other values.
fn inside(token: &[u8]) -> &[u8] {
    match token {
        [b'"', inner @ .., b'"'] => inner,
        _ => b"",
    }
}

fn parts<'a>(input: &'a [u8], fields: &Fields<'a>) -> impl Iterator<Item = Fields<'a>> {
    let list = fields.array("content").unwrap_or(0..0);
    scan::elements(input, list).map(|part| Fields::of(input, part))
}

/// The content as one string where it is one text, as a list of parts where it is more.
fn push_content(input: &[u8], fields: &Fields<'_>, none: &[u8], out: &mut Vec<u8>) {
    if let Some(token) = fields.string("content") {
        out.extend_from_slice(&input[token]);
        return;
    }
    let is_shown = |part: &Fields<'_>| part.is("type", "text") || part.is("type", "image");
    let shown: Vec<_> = parts(input, fields).filter(is_shown).collect();
    match &shown[..] {
        [] => out.extend_from_slice(none),
        [only] if only.is("type", "text") => {
            out.extend_from_slice(only.raw("text").unwrap_or(b"\"\""));
        }
        many => {
            for (at, part) in many.iter().enumerate() {
                out.push(if at == 0 { b'[' } else { b',' });
                push_part(part, out);
            }
            out.push(b']');
        }
    }
}

fn push_part(part: &Fields<'_>, out: &mut Vec<u8>) {
    if part.is("type", "text") {
        out.extend_from_slice(br#"{"type":"text","text":"#);
        out.extend_from_slice(part.raw("text").unwrap_or(b"\"\""));
        out.push(b'}');
        return;
    }
    out.extend_from_slice(br#"{"type":"image_url","image_url":{"url":"data:"#);
    out.extend_from_slice(inside(part.raw("mimeType").unwrap_or_default()));
    out.extend_from_slice(b";base64,");
    out.extend_from_slice(inside(part.raw("data").unwrap_or_default()));
    out.extend_from_slice(b"\"}}");
}

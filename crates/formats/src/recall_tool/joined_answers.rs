//! Joins several whole answers to one, without the calls of midfold's own tools.

pub(super) mod usage;

use std::ops::Range;

use bytes::Bytes;
use midfold_core::jsonstr;

use super::calls::{is_others, is_ours, parts};
use super::signature::Signature;
use crate::DialectKind;
use crate::fields::ObjectFields;
use crate::own_tools::OwnTool;
use crate::request::without_member;
use crate::scan;
use crate::vendor::rewrite::Splices;
use crate::vendor::write::list;

/// The last of these answers, with the content of the earlier ones before its own. An answer that cannot be read stays
/// as it is.
///
/// ```
/// use midfold_formats::{DialectKind, recall_tool::joined};
/// let answer = br#"{"content":[{"type":"text","text":"a"},{"type":"tool_use","name":"midfold_recall"}],"stop_reason":"tool_use"}"#;
/// let alone = joined(DialectKind::Anthropic, &[bytes::Bytes::from_static(answer)]);
/// assert_eq!(alone, br#"{"content":[{"type":"text","text":"a"}],"stop_reason":"end_turn"}"#);
/// ```
#[must_use]
pub fn joined(kind: DialectKind, answers: &[Bytes]) -> Vec<u8> {
    let Some((last, before)) = answers.split_last() else { return Vec::new() };
    match kind {
        DialectKind::OpenAiChat => chat(last, before),
        DialectKind::OpenAiResponses => responses(last, before),
        DialectKind::Anthropic => anthropic(last, before),
        DialectKind::Gemini => gemini(last, before),
        DialectKind::Ollama => ollama(last, before),
        DialectKind::Bedrock | DialectKind::ShareGpt => last.to_vec(),
    }
}

/// The elements of an answer's list, without the calls of midfold's own tools.
fn shown(kind: DialectKind, body: &[u8], list: Option<Range<usize>>) -> Vec<&[u8]> {
    let all = scan::elements(body, list.unwrap_or(0..0));
    let all = all.filter(|at| !is_ours(kind, &ObjectFields::of(body, at.clone())));
    all.map(|at| &body[at]).collect()
}

/// Joins answers of Messages. A reply that is left with no calls ends with `end_turn`, because the client has no call
/// to answer.
fn anthropic(last: &Bytes, before: &[Bytes]) -> Vec<u8> {
    let kind = DialectKind::Anthropic;
    let fields = ObjectFields::of(last, 0..last.len());
    let Some(content) = fields.array("content") else { return last.to_vec() };
    let of = |body: &Bytes| ObjectFields::of(body, 0..body.len()).array("content");
    let mut splices = Splices::default();
    let calls = parts(kind, last).into_iter().map(|at| ObjectFields::of(last, at));
    let (mut hides, mut calls_other) = (false, false);
    for call in calls {
        hides |= is_ours(kind, &call);
        calls_other |= is_others(kind, &call);
    }
    let all = before.iter().chain([last]).flat_map(|body| shown(kind, body, of(body)));
    splices.replace(content, list(all));
    let stop = fields.get("stop_reason").filter(|_| hides && !calls_other);
    if let Some(at) = stop.filter(|_| fields.is("stop_reason", "tool_use")) {
        splices.replace(at, *b"\"end_turn\"");
    }
    let output = before.iter().map(|body| usage::written(body, "usage", "output_tokens")).sum();
    if let Some(at) = fields.object("usage") {
        splices.replace(at.clone(), usage::anthropic(&last[at], None, output));
    }
    splices.apply(last)
}

fn responses(last: &Bytes, before: &[Bytes]) -> Vec<u8> {
    let kind = DialectKind::OpenAiResponses;
    let fields = ObjectFields::of(last, 0..last.len());
    let Some(output) = fields.array("output") else { return last.to_vec() };
    let of = |body: &Bytes| ObjectFields::of(body, 0..body.len()).array("output");
    let mut splices = Splices::default();
    let all = before.iter().chain([last]).flat_map(|body| shown(kind, body, of(body)));
    splices.replace(output, list(all));
    without_tools(last, &fields, &mut splices);
    let output = before.iter().map(|body| usage::written(body, "usage", "output_tokens")).sum();
    if let Some(at) = fields.object("usage") {
        splices.replace(at.clone(), usage::responses(&last[at], output));
    }
    splices.apply(last)
}

/// Removes midfold's own tools from the list of tools that a response repeats.
pub(super) fn without_tools(data: &[u8], response: &ObjectFields<'_>, splices: &mut Splices) {
    let Some(tools) = response.array("tools") else { return };
    let all: Vec<_> = scan::elements(data, tools.clone()).collect();
    let is_other = |at: &&Range<usize>| {
        let name = ObjectFields::of(data, (*at).clone()).text("name");
        name.is_none_or(|name| OwnTool::named(&name).is_none())
    };
    let others: Vec<_> = all.iter().filter(is_other).map(|at| &data[at.clone()]).collect();
    if others.len() < all.len() {
        splices.replace(tools, list(others));
    }
}

/// The parts of an answer of Gemini, without the calls of midfold's own tools.
fn signed(body: &[u8], list: Option<Range<usize>>) -> Vec<Vec<u8>> {
    let mut signature = Signature::default();
    let all = scan::elements(body, list.unwrap_or(0..0));
    all.filter_map(|at| {
        let part = ObjectFields::of(body, at.clone());
        if is_ours(DialectKind::Gemini, &part) {
            signature.hide(&part);
            return None;
        }
        Some(signature.show(&body[at]))
    })
    .collect()
}

fn gemini(last: &Bytes, before: &[Bytes]) -> Vec<u8> {
    let Some(candidate) = first(last, "candidates") else { return last.to_vec() };
    let fields = ObjectFields::of(last, candidate);
    let Some(parts) = fields.inner("content").array("parts") else { return last.to_vec() };
    let of = |body: &Bytes| {
        let candidate = ObjectFields::of(body, first(body, "candidates")?);
        candidate.inner("content").array("parts")
    };
    let mut splices = Splices::default();
    let all: Vec<_> = before.iter().chain([last]).flat_map(|body| signed(body, of(body))).collect();
    splices.replace(parts, list(all));
    let sum = |name| before.iter().map(|body| usage::written(body, "usageMetadata", name)).sum();
    let output = (sum("candidatesTokenCount"), sum("thoughtsTokenCount"));
    if let Some(at) = ObjectFields::of(last, 0..last.len()).object("usageMetadata") {
        splices.replace(at.clone(), usage::gemini(&last[at], output));
    }
    splices.apply(last)
}

/// The first element of a list in an answer.
fn first(body: &[u8], name: &str) -> Option<Range<usize>> {
    let list = ObjectFields::of(body, 0..body.len()).array(name)?;
    scan::elements(body, list).next()
}

/// The texts of a message that are continued from one answer to the next.
const TEXTS: [&str; 4] = ["content", "reasoning_content", "reasoning", "thinking"];

fn chat(last: &Bytes, before: &[Bytes]) -> Vec<u8> {
    let kind = DialectKind::OpenAiChat;
    let Some((at, message)) = message_of(kind, last) else { return last.to_vec() };
    let cut = MessageCut::of(kind, message, before);
    let mut splices = Splices::default();
    splices.replace(at, &cut.message[..]);
    let choice = ObjectFields::of(last, first(last, "choices").unwrap_or(0..0));
    let reason = choice.get("finish_reason").filter(|_| cut.hides && !cut.calls_other);
    if let Some(at) = reason.filter(|_| choice.is("finish_reason", "tool_calls")) {
        splices.replace(at, *b"\"stop\"");
    }
    let output = before.iter().map(|body| usage::written(body, "usage", "completion_tokens")).sum();
    if let Some(at) = ObjectFields::of(last, 0..last.len()).object("usage") {
        splices.replace(at.clone(), usage::chat(&last[at], output));
    }
    splices.apply(last)
}

/// Joins Ollama's answers. Their stop reason is `stop` even with calls, so it needs no change.
fn ollama(last: &Bytes, before: &[Bytes]) -> Vec<u8> {
    let kind = DialectKind::Ollama;
    let Some((at, message)) = message_of(kind, last) else { return last.to_vec() };
    let mut splices = Splices::default();
    splices.replace(at, &MessageCut::of(kind, message, before).message[..]);
    let output = before.iter().map(|body| usage::written_beside(body, "eval_count")).sum();
    usage::ollama(&splices.apply(last), output)
}

/// The range of an answer's message, and the message.
fn message_of(kind: DialectKind, body: &Bytes) -> Option<(Range<usize>, Bytes)> {
    let holder = match kind {
        DialectKind::OpenAiChat => first(body, "choices")?,
        _ => 0..body.len(),
    };
    let at = ObjectFields::of(body, holder).object("message")?;
    Some((at.clone(), body.slice(at)))
}

/// A message without its calls of midfold's own tools.
struct MessageCut {
    message: Bytes,
    /// Whether such calls were removed.
    hides: bool,
    /// Whether other calls are left.
    calls_other: bool,
}

impl MessageCut {
    /// The message, with the texts of earlier answers before its own.
    fn of(kind: DialectKind, mut message: Bytes, before: &[Bytes]) -> Self {
        let calls = ObjectFields::of(&message, 0..message.len()).array("tool_calls");
        let shown_calls: Vec<Vec<u8>> =
            shown(kind, &message, calls.clone()).into_iter().map(<[u8]>::to_vec).collect();
        let hides = shown_calls.len() < parts(kind, &message).len();
        if let Some(calls) = calls.filter(|_| hides) {
            let mut splices = Splices::default();
            splices.replace(calls, list(&shown_calls));
            message = Bytes::from(splices.apply(&message));
            // OpenAI refuses an empty list of calls when the client sends the message back.
            if shown_calls.is_empty() {
                message = without_member(&message, "tool_calls");
            }
        }
        for name in TEXTS {
            message = with_texts(kind, &message, name, before);
        }
        Self { message, hides, calls_other: !shown_calls.is_empty() }
    }
}

/// The message with the text `name` of earlier messages before its own.
fn with_texts(kind: DialectKind, message: &Bytes, name: &str, before: &[Bytes]) -> Bytes {
    let of = |body: &Bytes| {
        let (_, message) = message_of(kind, body)?;
        ObjectFields::of(&message, 0..message.len()).text(name).map(std::borrow::Cow::into_owned)
    };
    let earlier: String = before.iter().filter_map(of).collect();
    let fields = ObjectFields::of(message, 0..message.len());
    // A text cannot be put before a list of parts.
    if earlier.is_empty() || fields.array(name).is_some() {
        return message.clone();
    }
    let text = earlier + &fields.text(name).unwrap_or_default();
    let mut splices = Splices::default();
    splices.set(message, 0..message.len(), name, jsonstr::encode(&text).as_bytes());
    Bytes::from(splices.apply(message))
}

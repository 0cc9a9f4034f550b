//! Converts messages of Gemini CLI to the contents that it sends.

use std::collections::HashSet;
use std::ops::Range;

use midfold_core::event::RawEvent;
use midfold_core::jsonstr;
use midfold_core::view::TextOrigin;

use crate::fields::ObjectFields;
use crate::read::{Conversation, InputSource, UnsentCount, chat};
use crate::{scan, usage};

/// Adds the contents as which these records are sent.
pub(super) fn fill(
    source: &mut InputSource<'_>,
    records: impl Iterator<Item = Range<usize>>,
    conversation: &mut Conversation,
) {
    let input = source.input;
    let records: Vec<_> = records.collect();
    let answered = answered(input, &records);
    let mut unsent = UnsentCount::default();
    for (at, range) in records.iter().enumerate() {
        let fields = ObjectFields::of(input, range.clone());
        // Results are written before the reply gets their calls, so at the end of a growing file they are too early.
        if at + 1 == records.len() && is_early(input, &records, &fields) {
            continue;
        }
        let events = match &*fields.text("type").unwrap_or_default() {
            "user" => {
                let next = records.get(at + 1).map(|next| ObjectFields::of(input, next.clone()));
                let is_answered = next.is_some_and(|next| next.is("type", "gemini"));
                user(source, range, &fields, is_answered)
            }
            // The images of a tool's result, which the client sends beside the result.
            "info" if has_media(input, &fields) => {
                let mut event = content(source, "user", &parts(input, &fields), range);
                event.origin = Some(TextOrigin::Observation);
                vec![event]
            }
            // The record is a content of a checkpoint.
            "" if fields.array("parts").is_some() => {
                let mut event = source.event(range.clone());
                event.origin = told_origin(input, &fields, "parts");
                vec![event]
            }
            "info" | "error" | "warning" | "" => Vec::new(),
            // The type is `gemini`, or the name that clients derived from Gemini CLI use for their model.
            _ => reply(source, range, &fields, &answered),
        };
        if events.is_empty() && !parts(input, &fields).is_empty() {
            unsent.add(range.start);
        }
        conversation.events.extend(events);
    }
    unsent.note(source, "not-sent", "{} notes, errors and commands that the client never sends");
}

/// The ids of the calls whose results have a record of their own.
fn answered(input: &[u8], records: &[Range<usize>]) -> HashSet<String> {
    let lists = records.iter().map(|at| ObjectFields::of(input, at.clone()));
    let lists = lists.filter(|fields| fields.is("type", "user"));
    let parts = lists.flat_map(|fields| fields.list("content").collect::<Vec<_>>());
    parts.filter_map(|part| response_id(input, part)).collect()
}

/// Whether a record holds only results, and no reply has their calls yet.
fn is_early(input: &[u8], records: &[Range<usize>], fields: &ObjectFields<'_>) -> bool {
    let ids: Option<Vec<String>> =
        fields.list("content").map(|at| response_id(input, at)).collect();
    let calls = records.iter().flat_map(|at| {
        ObjectFields::of(input, at.clone()).objects("toolCalls").collect::<Vec<_>>()
    });
    let called: HashSet<String> = calls.filter_map(|(_, call)| call.label("id")).collect();
    ids.is_some_and(|ids| !ids.is_empty() && ids.iter().all(|id| !called.contains(id)))
}

fn response_id(input: &[u8], part: Range<usize>) -> Option<String> {
    ObjectFields::of(input, part).inner("functionResponse").label("id")
}

/// The `content` of a record as JSON parts. It is a string, a part, or a list of both.
fn parts(input: &[u8], fields: &ObjectFields<'_>) -> Vec<Vec<u8>> {
    match fields.array("content") {
        Some(list) => scan::elements(input, list).filter_map(|at| part(&input[at])).collect(),
        None => fields.raw("content").and_then(part).into_iter().collect(),
    }
}

fn part_of(part: &[u8]) -> ObjectFields<'_> {
    ObjectFields::of(part, 0..part.len())
}

fn has_media(input: &[u8], fields: &ObjectFields<'_>) -> bool {
    let is_media = |part: &Vec<u8>| {
        let part = part_of(part);
        part.has("inlineData") || part.has("fileData")
    };
    parts(input, fields).iter().any(is_media)
}

fn content(
    source: &mut InputSource<'_>,
    role: &str,
    parts: &[Vec<u8>],
    range: &Range<usize>,
) -> RawEvent {
    let mut out = format!(r#"{{"role":"{role}","parts":["#).into_bytes();
    for (at, part) in parts.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        out.extend_from_slice(&scan::one_line(part));
    }
    out.extend_from_slice(b"]}");
    source.built(out, vec![range.clone()])
}

/// The openings of texts that the client writes in the user's role.
const INJECTED: [&str; 4] = [
    "<session_context>",
    "<hook_context>",
    "Here is the user's editor context as a JSON object",
    "Here is a summary of changes in the user's editor context",
];

fn origin_of(text: &str) -> Option<TextOrigin> {
    let text = text.trim_start();
    if text.starts_with("<state_snapshot>") {
        return Some(TextOrigin::Recap);
    }
    let is_injected = INJECTED.iter().any(|opening| text.starts_with(opening));
    (is_injected || text == "Please continue.").then_some(TextOrigin::Injected)
}

fn told_origin(input: &[u8], fields: &ObjectFields<'_>, name: &str) -> Option<TextOrigin> {
    if !fields.is("role", "user") {
        return None;
    }
    let first = scan::elements(input, fields.array(name)?).next()?;
    origin_of(&ObjectFields::of(input, first).text("text")?)
}

fn user(
    source: &mut InputSource<'_>,
    range: &Range<usize>,
    fields: &ObjectFields<'_>,
    is_answered: bool,
) -> Vec<RawEvent> {
    let parts = parts(source.input, fields);
    let Some(first) = parts.first() else { return Vec::new() };
    let text = part_of(first).text("text").unwrap_or_default();
    // What the model answered was sent, even where it looks like a command.
    let is_command = text.trim_start().starts_with(['/', '?']) && !is_answered;
    if is_command || parts.len() == 1 && part_of(first).is("text", "") {
        return Vec::new();
    }
    // The content of a mentioned file follows a heading of the client, which tells that it is the client's text.
    let mut event = content(source, "user", &parts, range);
    event.origin = origin_of(&text);
    vec![event]
}

/// A message of the model, followed by the results of its calls.
fn reply(
    source: &mut InputSource<'_>,
    range: &Range<usize>,
    fields: &ObjectFields<'_>,
    answered: &HashSet<String>,
) -> Vec<RawEvent> {
    let input = source.input;
    let spoken = parts(input, fields);
    let calls: Vec<_> = fields.list("toolCalls").map(|at| ObjectFields::of(input, at)).collect();
    // Some records hold the provider's own parts, with thoughts and calls: `thoughts` and `toolCalls` would repeat
    // them.
    let is_whole = spoken.iter().any(|part| {
        let part = part_of(part);
        part.has("functionCall") || part.has("thought")
    });
    let mut parts = Vec::new();
    if is_whole {
        parts = spoken;
    } else {
        parts.extend(thoughts(input, fields));
        parts.extend(spoken);
        parts.extend(calls.iter().map(call));
    }
    if parts.is_empty() {
        return Vec::new();
    }
    let mut event = content(source, "model", &parts, range);
    event.usage = usage::gemini_cli(&fields.inner("tokens"));
    let results = results(input, &calls, answered);
    let mut events = vec![event];
    if !results.is_empty() {
        events.push(content(source, "user", &results, range));
    }
    events
}

fn thoughts(input: &[u8], fields: &ObjectFields<'_>) -> Vec<Vec<u8>> {
    let thoughts = fields.list("thoughts").map(|at| ObjectFields::of(input, at));
    let text = |thought: ObjectFields<'_>| {
        let subject = thought.raw("subject").map(chat::inside).unwrap_or_default();
        let words = thought.raw("description").map(chat::inside).unwrap_or_default();
        let (open, close) = if subject.is_empty() { ("", "") } else { ("**", "** ") };
        let (open, close) = (open.as_bytes(), close.as_bytes());
        [br#"{"text":""#, open, subject, close, words, br#"","thought":true}"#].concat()
    };
    thoughts.map(text).collect()
}

/// The value of a member as it is, or `empty` where it is missing or `null`.
fn raw<'a>(fields: &ObjectFields<'a>, name: &str, empty: &'static [u8]) -> &'a [u8] {
    fields.raw(name).filter(|value| value != b"null").unwrap_or(empty)
}

fn call(call: &ObjectFields<'_>) -> Vec<u8> {
    let (id, name) = (raw(call, "id", br#""""#), raw(call, "name", br#""""#));
    let args = raw(call, "args", b"{}");
    [br#"{"functionCall":{"id":"#, id, br#","name":"#, name, br#","args":"#, args, b"}}"].concat()
}

/// The results of a step, which are sent in one message. The client may record the same result at each of its calls; it
/// is taken once.
fn results(input: &[u8], calls: &[ObjectFields<'_>], answered: &HashSet<String>) -> Vec<Vec<u8>> {
    let mut seen = answered.clone();
    let mut parts = Vec::new();
    for call in calls {
        if call.label("id").is_some_and(|id| answered.contains(&id)) {
            continue;
        }
        match call.raw("result") {
            Some([b'[', ..]) => {
                for at in call.list("result") {
                    let id = response_id(input, at.clone());
                    if id.is_none_or(|id| seen.insert(id)) {
                        parts.extend(part(&input[at]));
                    }
                }
            }
            Some(object @ [b'{', ..]) => parts.push(object.to_vec()),
            Some(text @ [b'"', ..]) => parts.push(response(call, "output", text)),
            // A call that was broken off has no result. The text that a person was shown takes its place.
            _ => {
                let shown = call.string("resultDisplay").map(|at| &input[at]);
                let mut status = Vec::new();
                jsonstr::encode_into(&call.text("status").unwrap_or_default(), &mut status);
                let ended = call.is("status", "cancelled") || call.is("status", "error");
                if ended || shown.is_some() {
                    parts.push(response(call, "error", shown.unwrap_or(&status)));
                }
            }
        }
    }
    parts
}

fn part(value: &[u8]) -> Option<Vec<u8>> {
    match value {
        br#""""# => None,
        [b'"', ..] => Some([br#"{"text":"#, value, b"}"].concat()),
        [b'{', ..] => Some(value.to_vec()),
        _ => None,
    }
}

fn response(call: &ObjectFields<'_>, name: &str, value: &[u8]) -> Vec<u8> {
    let (id, tool) = (raw(call, "id", br#""""#), raw(call, "name", br#""""#));
    let name = format!(r#","response":{{"{name}":"#);
    let open = br#"{"functionResponse":{"id":"#;
    [open, id, br#","name":"#, tool, name.as_bytes(), value, b"}}}"].concat()
}

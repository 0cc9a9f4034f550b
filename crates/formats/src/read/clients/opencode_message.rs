//! Converts messages of OpenCode to Chat Completions messages, as its `toModelMessages` does.

use std::borrow::Cow;
use std::ops::Range;

use midfold_core::event::RawEvent;
use midfold_core::view::TextOrigin;

use super::spoken::SpokenParts;
use super::step::ClientStep;
use crate::fields::ObjectFields;
use crate::read::{
    InputSource, UnsentCount,
    chat::{self, ChatCall, ContentPart, StringToken, token},
};
use crate::usage;

/// The text that the client sends in place of a compaction.
const COMPACTION: &str = "What did we do so far?";
/// The text that the client sends in place of a subtask.
const SUBTASK: &str = "The following tool was executed by the user";
/// The text that the client sends in place of a pruned output.
const CLEARED: &str = "[Old tool result content cleared]";
/// The text that the client sends as the result of an interrupted call.
const INTERRUPTED: &str = "[Tool execution was interrupted]";

/// What a session records and does not send.
#[derive(Default)]
pub(super) struct UnsentParts {
    /// The notes and errors that are only shown.
    shown: UnsentCount,
    /// The outputs that were pruned.
    cleared: UnsentCount,
}

impl UnsentParts {
    pub(super) fn note(self, source: &mut InputSource<'_>) {
        let detail = "{} notes and errors that the client shows and never sends";
        self.shown.note(source, "not-sent", detail);
        let detail = "{} outputs that the client cleared are read as it sends them";
        self.cleared.note(source, "cleared-outputs", detail);
    }
}

/// The messages as which one record of the client is sent.
pub(super) fn events(
    source: &mut InputSource<'_>,
    info: &Range<usize>,
    parts: &[Range<usize>],
    unsent: &mut UnsentParts,
) -> Vec<RawEvent> {
    let fields = ObjectFields::of(source.input, info.clone());
    if fields.is("role", "assistant") {
        if is_failed(source.input, &fields, parts) {
            unsent.shown.add(info.start);
            return Vec::new();
        }
        return reply(source, &fields, parts, unsent);
    }
    let mut spoken = SpokenParts::default();
    for at in parts {
        user_part(source.input, at, &mut spoken, unsent);
    }
    spoken.events(source)
}

/// Whether a reply ended in an error and is not sent again. A reply that a person broke off is sent, if it has content.
fn is_failed(input: &[u8], info: &ObjectFields<'_>, parts: &[Range<usize>]) -> bool {
    let is_said = |at: &Range<usize>| {
        let part = ObjectFields::of(input, at.clone());
        !part.is("type", "step-start") && !part.is("type", "reasoning")
    };
    let error = info.inner("error");
    let is_broken_off = error.is("name", "MessageAbortedError") && parts.iter().any(is_said);
    !error.is_empty() && !is_broken_off
}

/// Adds one part of a user message.
fn user_part<'a>(
    input: &'a [u8],
    at: &Range<usize>,
    spoken: &mut SpokenParts<'a>,
    unsent: &mut UnsentParts,
) {
    let part = ObjectFields::of(input, at.clone());
    let injected = Some(TextOrigin::Injected);
    match &*part.text("type").unwrap_or_default() {
        "text" if part.is_true("ignored") => unsent.shown.add(at.start),
        "text" => {
            let origin = injected.filter(|_| part.is_true("synthetic"));
            if let Some(text) = chat::text_of(&part, "text") {
                spoken.push(origin, ContentPart::Text(text), at.clone());
            }
        }
        // The client has put the content of such a file into a text beside it.
        "file" if part.is("mime", "text/plain") || part.is("mime", "application/x-directory") => {}
        "file" => spoken.push(None, file(&part), at.clone()),
        "compaction" => spoken.push(injected, ContentPart::Text(token(COMPACTION)), at.clone()),
        "subtask" => spoken.push(injected, ContentPart::Text(token(SUBTASK)), at.clone()),
        "agent" | "snapshot" | "patch" | "step-start" | "step-finish" => {}
        "retry" => unsent.shown.add(at.start),
        _ => spoken.push(injected, ContentPart::unknown(&input[at.clone()]), at.clone()),
    }
}

fn file<'a>(part: &ObjectFields<'a>) -> ContentPart<'a> {
    let Some(address) = chat::text_of(part, "url") else {
        return ContentPart::Text(token("[file]"));
    };
    if part.text("mime").is_some_and(|mime| mime.starts_with("image/")) {
        return ContentPart::Link(address);
    }
    ContentPart::File { name: chat::text_of(part, "filename"), data: address }
}

/// The messages of a reply: one for each step, followed by the results of its calls. Chat Completions has no place for
/// words between a call and its result, so such words become a message after the result.
fn reply(
    source: &mut InputSource<'_>,
    info: &ObjectFields<'_>,
    parts: &[Range<usize>],
    unsent: &mut UnsentParts,
) -> Vec<RawEvent> {
    let input = source.input;
    let is_recap = info.is_true("summary");
    let mut step = ClientStep::default();
    let mut events = Vec::new();
    // The counts of the whole message are those of its last finished step.
    let mut used = usage::opencode(&info.inner("tokens"));
    let mut has_finished = false;
    for at in parts {
        let part = ObjectFields::of(input, at.clone());
        let kind = part.text("type").unwrap_or_default();
        if step.has_calls() && matches!(&*kind, "text" | "reasoning" | "step-start") {
            events.extend(step.finish(source, None));
        }
        match &*kind {
            "text" => {
                if let Some(text) = chat::text_of(&part, "text") {
                    step.say(ContentPart::Text(text), at.clone());
                }
            }
            "reasoning" => {
                if let Some(text) = chat::text_of(&part, "text") {
                    step.think(text, at.clone());
                }
            }
            "tool" => tool(source, &part, at, &mut step, unsent),
            "file" => step.say(file(&part), at.clone()),
            "step-finish" => {
                let of_step = usage::opencode(&part.inner("tokens"));
                used = of_step.or(used);
                has_finished = true;
                events.extend(step.finish(source, of_step));
            }
            "step-start" | "snapshot" | "patch" | "agent" => {}
            "retry" => unsent.shown.add(at.start),
            _ => step.say(ContentPart::unknown(&input[at.clone()]), at.clone()),
        }
    }
    // A step that was broken off has no counts.
    events.extend(step.finish(source, used.filter(|_| !has_finished)));
    // No step has usage, so the counts of the whole message are used; they are those of its last request.
    if events.iter().all(|event| event.usage.is_none())
        && let Some(last) = events.iter_mut().rfind(|event| !is_result(&event.bytes))
    {
        last.usage = used;
    }
    if is_recap {
        for event in &mut events {
            event.origin = Some(TextOrigin::Recap);
        }
    }
    events
}

fn is_result(message: &[u8]) -> bool {
    message.starts_with(br#"{"role":"tool""#)
}

/// Adds a call and its result to the step.
fn tool<'a>(
    source: &InputSource<'a>,
    part: &ObjectFields<'a>,
    at: &Range<usize>,
    step: &mut ClientStep<'a>,
    unsent: &mut UnsentParts,
) {
    let input = source.input;
    let state = part.inner("state");
    let named = |name| chat::text_of(part, name).unwrap_or(Cow::Borrowed(br#""""#));
    let (id, name) = (named("callID"), named("tool"));
    let arguments = state.raw("input");
    step.call(ChatCall { id: id.clone(), name: name.clone(), arguments }, at.clone());
    let text = |name| chat::text_of(&state, name).map(ContentPart::Text);
    let parts = match &*state.text("status").unwrap_or_default() {
        "completed" if state.inner("time").has("compacted") && !source.recorded => {
            unsent.cleared.add(at.start);
            vec![ContentPart::Text(token(CLEARED))]
        }
        "completed" => text("output").into_iter().chain(attachments(input, &state)).collect(),
        "error" => vec![ContentPart::Text(failure(&state))],
        // Arguments that had not arrived completely are kept as they are.
        _ => std::iter::once(ContentPart::Text(token(INTERRUPTED)))
            .chain(text("raw").filter(|_| arguments.is_none_or(|input| input == b"{}")))
            .filter(
                |part| !matches!(part, ContentPart::Text(text) if chat::inside(text).is_empty()),
            )
            .collect(),
    };
    // The client sends a call that was broken off as an error, too.
    let failed = !state.is("status", "completed");
    step.answer((id, name), parts, at.clone(), failed);
}

/// The text of a failed call: its output so far where a person broke it off, or else its error.
fn failure<'a>(state: &ObjectFields<'a>) -> StringToken<'a> {
    let metadata = state.inner("metadata");
    let partial = metadata.string("output").filter(|_| metadata.is_true("interrupted"));
    let partial = partial.and_then(|_| chat::text_of(&metadata, "output"));
    partial.or_else(|| chat::text_of(state, "error")).unwrap_or_else(|| token("[no error text]"))
}

fn attachments<'a>(
    input: &'a [u8],
    state: &ObjectFields<'a>,
) -> impl Iterator<Item = ContentPart<'a>> {
    state.list("attachments").map(move |at| file(&ObjectFields::of(input, at)))
}

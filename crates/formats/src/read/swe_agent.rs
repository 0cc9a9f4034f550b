//! Reads `.traj` files of SWE-agent: `history`, or else the steps from which it was made.

use std::ops::Range;

use midfold_core::event::RawEvent;
use midfold_core::view::TextOrigin;

use super::holder::envelope;
use super::outline::InputDocument;
use super::source::InputSource;
use super::text::TopValue;
use super::{Conversation, TranscriptFormat};
use crate::fields::ObjectFields;
use crate::read::columns::{Column, ColumnTable};
use crate::read::description::{FormatDescription, FormatReader};
use crate::scan;

/// How the files of this client are read.
pub(in crate::read) static FORMAT: FormatDescription = FormatDescription {
    format: TranscriptFormat::SweAgent,
    mark: None,
    reader: FormatReader::Runs(read),
    columns: ColumnTable {
        error: Column::Lacks("only the text of the result says it"),
        time: Column::Lacks("steps have durations only"),
        cwd: Column::Unread("`state.working_dir` of a step"),
        mode: Column::Lacks("has no modes"),
        usage: Column::Lacks("`info.model_stats` has sums only"),
        model: Column::Unread("`agent.model.name` in `replay_config`"),
        parent: Column::Lacks("a run is one list"),
        images: Column::ByReader("parts `image_url`"),
        queued: Column::Lacks("nobody types during a run"),
        answers: Column::Lacks("has no tool that asks"),
    },
    builds_replies: false,
};

pub(super) fn read(source: &mut InputSource<'_>, records: &[TopValue]) -> Vec<Conversation> {
    let mut conversations = Vec::new();
    let doc = InputDocument { bytes: source.input, outline: None };
    for record in records {
        let fields = ObjectFields::of(source.input, record.range.clone());
        let mut conversation = Conversation::new(TranscriptFormat::SweAgent, record.line);
        conversation.id = fields.label("environment");
        let history = fields.array("history").filter(|at| !is_empty(source.input, at));
        if let Some(history) = history {
            conversation.envelope = envelope(source, doc, record.range.clone(), history.clone());
            conversation.events = messages(source, history);
        } else if let Some(steps) = fields.array("trajectory") {
            conversation.events = from_steps(source, steps);
        } else {
            source.note(record.range.start, "unrecognised-record", "left out, no history");
            continue;
        }
        conversations.push(conversation);
    }
    conversations
}

fn is_empty(input: &[u8], list: &Range<usize>) -> bool {
    scan::elements(input, list.clone()).next().is_none()
}

/// The events of a list of messages.
fn messages(source: &mut InputSource<'_>, list: Range<usize>) -> Vec<RawEvent> {
    let input = source.input;
    let all: Vec<_> = scan::elements(input, list).collect();
    let text_only = !all.iter().any(|at| {
        let fields = ObjectFields::of(input, at.clone());
        fields.array("tool_calls").is_some_and(|calls| !is_empty(input, &calls))
            || fields.is("role", "tool")
    });
    let mut events = Vec::with_capacity(all.len());
    let mut task_seen = false;
    for at in all {
        let fields = ObjectFields::of(input, at.clone());
        let mut event = with_call_id(source, at, &fields);
        if fields.is("role", "user") && !fields.is_true("is_demo") {
            // The result of a text-only tool looks like the task. Only its place tells them apart.
            if task_seen && (text_only || fields.is("message_type", "observation")) {
                event.origin = Some(TextOrigin::Observation);
            }
            task_seen = true;
        }
        events.push(event);
    }
    events
}

/// The message, with the id of its call. SWE-agent names the calls of a result in a list; the first id is added in the
/// member where the dialect expects it.
fn with_call_id(
    source: &mut InputSource<'_>,
    at: Range<usize>,
    fields: &ObjectFields<'_>,
) -> RawEvent {
    let input = source.input;
    let ids: Vec<_> = fields.list("tool_call_ids").collect();
    let Some(first) = ids.first().filter(|_| !fields.has("tool_call_id")) else {
        return source.event(at);
    };
    if ids.len() > 1 {
        let detail = format!("a result of {} calls answers the first one only", ids.len());
        source.note(at.start, "shared-result", detail);
    }
    let object = &input[at.start..at.end - 1];
    let bytes = [object, br#","tool_call_id":"#, &input[first.clone()], b"}"].concat();
    source.built(bytes, vec![at, first.clone()])
}

/// The messages of a file without a history: those that the last step sent, and then what that step returned.
fn from_steps(source: &mut InputSource<'_>, steps: Range<usize>) -> Vec<RawEvent> {
    let input = source.input;
    let steps: Vec<_> = scan::elements(input, steps).collect();
    let query = steps.last().and_then(|step| {
        let fields = ObjectFields::of(input, step.clone());
        fields.array("query").or_else(|| fields.array("messages"))
    });
    let Some(query) = query else {
        return steps.into_iter().flat_map(|step| from_step(source, step)).collect();
    };
    let mut events = messages(source, query);
    events.extend(steps.last().into_iter().flat_map(|step| from_step(source, step.clone())));
    events
}

fn from_step(source: &mut InputSource<'_>, step: Range<usize>) -> Vec<RawEvent> {
    let fields = ObjectFields::of(source.input, step);
    let mut message = |name: &str, head: &[u8]| {
        let at = fields.string(name)?;
        Some(source.built([head, &source.input[at.clone()], b"}"].concat(), vec![at]))
    };
    let reply = message("response", br#"{"role":"assistant","content":"#);
    let mut result = message("observation", br#"{"role":"user","content":"#);
    if let Some(result) = &mut result {
        result.origin = Some(TextOrigin::Observation);
    }
    reply.into_iter().chain(result).collect()
}

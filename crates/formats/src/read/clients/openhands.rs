//! Reads event logs of OpenHands: one event per line, or a list of them.
//!
//! Shapes: `openhands-sdk/openhands/sdk/event` of OpenHands/software-agent-sdk (events with `kind`, in
//! [`super::openhands_events`]); `openhands/events/serialization` and `openhands/memory/conversation_memory.py` of
//! OpenHands/OpenHands before 1.0 (events with `action` or `observation`, in [`super::openhands_old`]).

use std::ops::Range;

use super::{openhands_events, openhands_old};
use crate::fields::ObjectFields;
use crate::read::{
    Column, ColumnTable, Conversation, FailureMark, FileMark, FormatDescription, InputDocument,
    InputSource, TopValue, TranscriptFormat, entries,
};
use crate::scan;

/// How the files of this client are recognised and read.
pub(in crate::read) static FORMAT: FormatDescription = FormatDescription::client(
    TranscriptFormat::OpenHands,
    FileMark::Entry(&HOLDERS, is_of),
    read,
    ColumnTable {
        error: Column::At(&[
            FailureMark::is("observation.is_error", &["true"]),
            FailureMark::is("kind", &[r#""AgentErrorEvent""#, r#""UserRejectObservation""#]),
            FailureMark::is("observation", &[r#""error""#, r#""user_rejected""#]),
        ]),
        time: Column::At(&["timestamp"]),
        cwd: Column::Lacks("is in `base_state.json` beside the events"),
        mode: Column::Lacks("is in `base_state.json` beside the events"),
        usage: Column::ByReader("`model_response.usage` before 1.0"),
        model: Column::ByReader("`model_response.model` before 1.0"),
        parent: Column::ByReader("`parent_id`"),
        images: Column::ByReader("`image_urls`"),
        queued: Column::ByReader("a message of the user"),
        answers: Column::Lacks("asks in a message"),
    },
);

/// The members that hold the events in exports and in the rows of evaluations.
const HOLDERS: [&str; 4] = ["events", "history", "trajectory", "items"];

fn is_of(doc: InputDocument<'_>, at: Range<usize>) -> bool {
    let fields = doc.fields(at);
    openhands_events::is_event(&fields) || openhands_old::is_event(&fields)
}

/// Reads events of the newer kind and those from before 1.0. Each event shows which kind it is. A row of an evaluation
/// is one conversation.
fn read(source: &mut InputSource<'_>, records: &[TopValue]) -> Vec<Conversation> {
    let doc = InputDocument { bytes: source.input, outline: None };
    let mut out = Vec::new();
    let mut lines = Vec::new();
    for record in records {
        match entries::list(doc, record.range.clone(), &HOLDERS) {
            Some(list) => {
                let mut about = Conversation::new(TranscriptFormat::OpenHands, record.line);
                let holder = doc.fields(record.range.clone());
                let names = ["instance_id", "conversation_id", "id"];
                about.id = names.into_iter().find_map(|name| holder.label(name));
                let events = scan::elements(source.input, list).collect();
                out.extend(conversations(source, &about, events));
            }
            None => lines.push(record.range.clone()),
        }
    }
    if let Some(first) = records.first().filter(|_| !lines.is_empty()) {
        let about = Conversation::new(TranscriptFormat::OpenHands, first.line);
        out.extend(conversations(source, &about, lines));
    }
    out
}

fn conversations(
    source: &mut InputSource<'_>,
    about: &Conversation,
    events: Vec<Range<usize>>,
) -> Vec<Conversation> {
    let input = source.input;
    let is_old = events
        .iter()
        .find_map(|at| {
            let fields = ObjectFields::of(input, at.clone());
            let old = openhands_old::is_event(&fields);
            (old || openhands_events::is_event(&fields)).then_some(old)
        })
        .unwrap_or(false);
    if is_old {
        openhands_old::read(source, about, &events)
    } else {
        openhands_events::read(source, about, &events)
    }
}

//! Reads requests, rows and lists: messages in one array, or one per line.

use std::ops::Range;

use midfold_core::event::RawEvent;

use super::detect::{self, DetectedShape};
use super::holder::envelope;
use super::outline::InputDocument;
use super::source::InputSource;
use super::text::TopValue;
use super::{Conversation, MessageWrapper, TranscriptFormat};
use crate::fields::ObjectFields;
use crate::read::columns::{Column, ColumnTable, FailureMark, UsagePlace};
use crate::read::description::{FormatDescription, FormatReader};
use crate::usage;

/// How requests and rows are read.
pub(super) static REQUESTS: FormatDescription = FormatDescription {
    format: TranscriptFormat::OpenAiChat,
    mark: None,
    reader: FormatReader::Requests,
    columns: ColumnTable {
        error: Column::ByReader("`is_error`, `status` or `error` of the result"),
        time: Column::Lacks("a request has no times"),
        cwd: Column::Lacks("a request has only messages"),
        mode: Column::Lacks("a request has only messages"),
        usage: Column::Lacks("the answer has it"),
        model: Column::ByReader("`model`, `modelId`"),
        parent: Column::Lacks("messages are in one list"),
        images: Column::ByReader("the parts of the dialect"),
        queued: Column::ByReader("a message of the user"),
        answers: Column::ByReader("the result of the tool that asks"),
    },
    builds_replies: false,
};

/// How a `.traj.json` of mini-swe-agent is read: as a request, with facts beside each message.
pub(super) static MINI_SWE_AGENT: FormatDescription = FormatDescription {
    format: TranscriptFormat::MiniSweAgent,
    mark: None,
    reader: FormatReader::Requests,
    columns: ColumnTable {
        error: Column::At(&[FailureMark::any("extra.exception_info")]),
        time: Column::At(&["extra.timestamp"]),
        cwd: Column::Unread("`info.config.environment.cwd`"),
        mode: Column::Lacks("has no modes"),
        usage: Column::At(UsagePlace::new("extra.response.usage", usage::chat)),
        model: Column::ByReader("`info.config.model.model_name`"),
        parent: Column::Lacks("a run is one list"),
        images: Column::ByReader("parts `image_url`"),
        queued: Column::Lacks("nobody types during a run"),
        answers: Column::Lacks("has no tool that asks"),
    },
    builds_replies: false,
};

/// Reads every value. Bare messages, one per line, are one conversation.
pub(super) fn read(
    source: &mut InputSource<'_>,
    doc: InputDocument<'_>,
    records: &[TopValue],
    found_format: TranscriptFormat,
    forced: Option<TranscriptFormat>,
) -> Vec<Conversation> {
    let mut conversations = Vec::new();
    let mut bare: Option<Conversation> = None;
    for record in records {
        match detect::shape(doc, record.range.clone()) {
            DetectedShape::List => read_list(source, doc, record, forced, &mut conversations),
            DetectedShape::Holder { format, messages } => {
                let format = forced.unwrap_or(detect::refined(format, records.len() > 1));
                conversations.push(held_conversation(
                    source,
                    doc,
                    record.clone(),
                    messages,
                    format,
                ));
            }
            DetectedShape::Message => {
                let event = source.event(record.range.clone());
                let conversation =
                    bare.get_or_insert_with(|| Conversation::new(found_format, record.line));
                conversation.events.push(event);
            }
            DetectedShape::SessionLine(_) | DetectedShape::Unknown => {
                source.note(record.range.start, "unrecognised-record", "left out, no message");
            }
        }
    }
    conversations.extend(bare);
    conversations
}

/// Reads a list of messages, or of objects that hold messages.
fn read_list(
    source: &mut InputSource<'_>,
    doc: InputDocument<'_>,
    record: &TopValue,
    forced: Option<TranscriptFormat>,
    conversations: &mut Vec<Conversation>,
) {
    let elements: Vec<_> = doc.elements(record.range.clone()).collect();
    let rows: Vec<_> =
        elements.iter().map(|at| TopValue { range: at.clone(), line: record.line }).collect();
    // The first element decides: a list of requests has its messages one level further down.
    let first = rows.first().map(|row| detect::shape(doc, row.range.clone()));
    if !matches!(first, Some(DetectedShape::Holder { .. })) {
        let format = forced.or_else(|| detect::format(doc, std::slice::from_ref(record)));
        let Some(format) = format else { return };
        let mut conversation = Conversation::new(format, record.line);
        conversation.events = events(source, elements);
        conversation.envelope.wrapper = Some(MessageWrapper::default());
        conversations.push(conversation);
        return;
    }
    for mut row in rows {
        // Until here each row has the line of the whole list.
        row.line = source.line_of(row.range.start);
        match detect::shape(doc, row.range.clone()) {
            DetectedShape::Holder { format, messages } => {
                let format = forced.unwrap_or(detect::refined(format, true));
                if format == TranscriptFormat::SweAgent {
                    conversations.extend(super::swe_agent::read(source, &[row]));
                } else {
                    conversations.push(held_conversation(source, doc, row, messages, format));
                }
            }
            _ => source.note(row.range.start, "unrecognised-record", "left out, no messages"),
        }
    }
}

/// The conversation of an object that holds its messages at `messages`.
fn held_conversation(
    source: &mut InputSource<'_>,
    doc: InputDocument<'_>,
    record: TopValue,
    messages: Range<usize>,
    format: TranscriptFormat,
) -> Conversation {
    let mut conversation = Conversation::new(format, record.line);
    conversation.id = id_of(&doc.fields(record.range.clone()));
    conversation.envelope = envelope(source, doc, record.range, messages.clone());
    conversation.events = if source.input.get(messages.start) == Some(&b'"') {
        vec![lone_string(source, messages)]
    } else {
        let elements = doc.elements(messages).collect();
        events(source, elements)
    };
    conversation
}

/// The user message of a lone string, which Responses takes in place of a list.
fn lone_string(source: &mut InputSource<'_>, text: Range<usize>) -> RawEvent {
    let token = &source.input[text.clone()];
    let bytes = [br#"{"role":"user","content":"#, token, b"}"].concat();
    source.built(bytes, vec![text])
}

fn id_of(fields: &ObjectFields<'_>) -> Option<String> {
    ["id", "task_id", "custom_id", "conversation_id", "session_id", "instance_id"]
        .into_iter()
        .find_map(|name| fields.label(name))
}

fn events(source: &mut InputSource<'_>, elements: Vec<Range<usize>>) -> Vec<RawEvent> {
    let mut events = Vec::with_capacity(elements.len());
    for at in elements {
        if source.input.get(at.start) != Some(&b'{') {
            source.note(at.start, "odd-message", "kept as it is, but it is no object");
        }
        events.push(source.event(at));
    }
    events
}

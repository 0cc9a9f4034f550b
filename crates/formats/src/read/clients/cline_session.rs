//! Reads sessions of Cline's command line and of its newer extension: `ID.messages.json`, with `ID.compaction.json`
//! beside it where the client compacted.
//!
//! Shapes: `sdk/packages/shared/src/llms/messages.ts`, `sdk/packages/core/src/session/models/session-compaction.ts` and
//! `sdk/packages/core/src/services/session-artifacts.ts` of cline/cline.

use std::ops::Range;

use midfold_core::event::RawEvent;
use midfold_core::view::TextOrigin;

use super::cline_blocks;
use crate::fields::ObjectFields;
use crate::read::{Conversation, InputDocument, InputSource, TopValue, TranscriptFormat};

/// Whether a record is one of the two files.
pub(super) fn is_of(doc: InputDocument<'_>, at: Range<usize>) -> bool {
    let fields = doc.fields(at);
    let is_versioned = fields.count("version").is_some() && fields.has("updated_at");
    is_versioned
        && fields.array("messages").is_some()
        && (fields.has("sessionId") || is_compaction(&fields))
}

/// Whether a file holds what the client sends in place of its first messages.
fn is_compaction(file: &ObjectFields<'_>) -> bool {
    file.count("source_message_count").is_some()
}

/// Reads the files of sessions, each with its compaction after it.
pub(super) fn read(source: &mut InputSource<'_>, records: &[TopValue]) -> Vec<Conversation> {
    let input = source.input;
    let file = |record: &TopValue| ObjectFields::of(input, record.range.clone());
    let mut conversations = Vec::new();
    let mut records = records.iter().peekable();
    while let Some(record) = records.next() {
        let fields = file(record);
        let mut about = Conversation::new(TranscriptFormat::Cline, record.line);
        about.id = fields.label("sessionId").or_else(|| fields.label("conversation_id"));
        about.envelope.system = fields.string("system_prompt").map(|at| source.slice(at));
        let mut messages: Vec<_> = fields.list("messages").collect();
        if is_compaction(&fields) {
            let detail =
                "messages since the compaction are in `ID.messages.json`: name the folder of both";
            source.note(record.range.start, "missing-messages", detail);
        } else if let Some(next) = records.next_if(|next| is_compaction(&file(next))) {
            let compaction = file(next);
            let count = usize::try_from(compaction.number("source_message_count"));
            let since = messages.split_off(count.unwrap_or(usize::MAX).min(messages.len()));
            if source.recorded {
                conversations.push(conversation(source, &about, &messages));
            } else {
                source.note_compacted(next.range.start, messages.len(), "messages");
            }
            messages = compaction.list("messages").chain(since).collect();
        }
        conversations.push(conversation(source, &about, &messages));
    }
    conversations
}

fn conversation(
    source: &mut InputSource<'_>,
    about: &Conversation,
    messages: &[Range<usize>],
) -> Conversation {
    let mut conversation = about.beside();
    conversation.events = messages.iter().map(|at| event(source, at.clone())).collect();
    conversation
}

fn event(source: &mut InputSource<'_>, at: Range<usize>) -> RawEvent {
    let fields = ObjectFields::of(source.input, at.clone());
    let is_summary = fields.inner("metadata").is("kind", "compaction_summary");
    cline_blocks::note_reasoning(source, at.start, &fields);
    let mut event = match cline_blocks::rewritten(source.input, &at, &fields) {
        Some(bytes) => source.built(bytes, vec![at]),
        None => source.event(at),
    };
    event.origin = is_summary.then_some(TextOrigin::Recap);
    event
}

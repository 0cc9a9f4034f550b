//! Reads rollout files of Codex: Responses items, one per line.

use std::ops::Range;

use midfold_core::event::RawEvent;
use midfold_core::view::TextOrigin;
use midfold_core::{Voice, jsonstr};

use super::source::InputSource;
use super::text::TopValue;
use super::{Conversation, TranscriptFormat};
use crate::dialect::DialectKind;
use crate::fields::ObjectFields;
use crate::read::columns::{Column, ColumnTable};
use crate::read::description::{FormatDescription, FormatReader};
use crate::{scan, usage, voices};

/// How the files of this client are read.
pub(in crate::read) static FORMAT: FormatDescription = FormatDescription {
    format: TranscriptFormat::Codex,
    mark: None,
    reader: FormatReader::Session(read),
    columns: ColumnTable {
        error: Column::Lacks("only the text of the output says it"),
        time: Column::At(&["timestamp"]),
        cwd: Column::Unread("`turn_context.cwd`"),
        mode: Column::Unread("`turn_context.approval_policy`"),
        usage: Column::ByReader("`token_count` after the reply"),
        model: Column::ByReader("`turn_context.model`"),
        parent: Column::ByReader("`thread_rolled_back`"),
        images: Column::ByReader("`input_image`"),
        queued: Column::ByReader("a message of the user"),
        answers: Column::ByReader("the output of `request_user_input`"),
    },
    builds_replies: false,
};

fn read(source: &mut InputSource<'_>, records: &[TopValue]) -> Vec<Conversation> {
    let Some(first) = records.first() else { return Vec::new() };
    let mut compacted = Vec::new();
    let mut conversation = Conversation::new(TranscriptFormat::Codex, first.line);
    for record in records {
        take(source, record, &mut conversation, &mut compacted);
    }
    compacted.push(conversation);
    compacted
}

/// Adds one record. A compaction ends the conversation so far, and `compacted` gets it where the whole recording is
/// wanted.
fn take(
    source: &mut InputSource<'_>,
    record: &TopValue,
    conversation: &mut Conversation,
    compacted: &mut Vec<Conversation>,
) {
    let input = source.input;
    let fields = ObjectFields::of(input, record.range.clone());
    let kind = fields.text("type").unwrap_or_default();
    let payload = fields.inner("payload");
    match (&*kind, fields.object("payload")) {
        ("response_item", Some(item)) => push_item(source, item, conversation),
        ("session_meta", Some(_)) => {
            conversation.id = conversation.id.take().or_else(|| payload.label("id"));
            let base = ["base_instructions", "instructions"].into_iter().find_map(|name| {
                payload.inner(name).string("text").or_else(|| payload.string(name))
            });
            if let Some(base) = base {
                conversation.envelope.system = Some(source.slice(base));
            }
        }
        ("turn_context", Some(_)) => {
            if let Some(model) = payload.text("model") {
                conversation.envelope.model = Some(model.into_owned());
            }
        }
        ("compacted", Some(_)) => {
            if source.recorded {
                let next = conversation.beside();
                compacted.push(std::mem::replace(conversation, next));
            }
            restart(source, record, &payload, conversation);
        }
        ("event_msg", Some(_)) => take_event(source, record, &payload, conversation),
        // Older files have a header without a type, and then the items themselves.
        (_, None) if fields.has("type") || fields.has("role") => {
            push_item(source, record.range.clone(), conversation);
        }
        (_, None) => {
            if let Some(base) = fields.string("instructions") {
                conversation.envelope.system = Some(source.slice(base));
            }
            conversation.id = conversation.id.take().or_else(|| fields.label("id"));
        }
        _ => {}
    }
}

/// The most items between a reply and its recorded token counts. A few are usual; the bound keeps the work on unusual
/// files linear.
const REPLY_WITHIN: usize = 128;

/// Adds an item. Snapshots of the work tree are skipped, because they are recorded and never sent.
fn push_item(source: &mut InputSource<'_>, item: Range<usize>, conversation: &mut Conversation) {
    if ObjectFields::of(source.input, item.clone()).is("type", "ghost_snapshot") {
        return;
    }
    let event = source.event(item);
    conversation.events.push(event);
}

/// Reads an event for the interface: token counts, and turns that were taken back.
fn take_event(
    source: &mut InputSource<'_>,
    record: &TopValue,
    payload: &ObjectFields<'_>,
    conversation: &mut Conversation,
) {
    if payload.is("type", "token_count") {
        let used = usage::codex(&payload.inner("info").inner("last_token_usage"));
        let newest = conversation.events.iter_mut().rev().take(REPLY_WITHIN);
        let reply = newest.into_iter().find(|event| is_reply(&event.bytes));
        if let (Some(used), Some(reply)) = (used, reply) {
            reply.usage = Some(used);
        }
    }
    if payload.is("type", "thread_rolled_back") {
        let turns = payload.number("num_turns");
        let starts = conversation.events.iter().enumerate().rev();
        let starts = starts.filter(|(_, event)| starts_turn(&event.bytes)).map(|(at, _)| at);
        if let Some(cut) = starts.take(usize::try_from(turns).unwrap_or(usize::MAX)).last() {
            let count = conversation.events.len() - cut;
            conversation.events.truncate(cut);
            let detail =
                format!("{count} items of {turns} turns that were taken back are left out");
            source.note(record.range.start, "rolled-back", detail);
        }
    }
}

/// Whether the model made the item.
fn is_reply(item: &[u8]) -> bool {
    let fields = ObjectFields::of(item, 0..item.len());
    match fields.text("role") {
        Some(role) => role == "assistant",
        None => !fields.text("type").is_some_and(|kind| kind.ends_with("_output")),
    }
}

/// Whether the item is a message that a person typed, and not one of the client's own in the user's role. Codex puts no
/// results of tools there, so whatever is not the client's is the person's: a pasted element, an image alone.
fn starts_turn(item: &[u8]) -> bool {
    let fields = ObjectFields::of(item, 0..item.len());
    if !fields.is("role", "user") {
        return false;
    }
    let view = DialectKind::OpenAiResponses.dialect().view(item);
    let texts: Vec<_> = view.blocks.iter().map(|block| block.text(item)).collect();
    let texts: Vec<&str> = texts.iter().map(|text| &**text).collect();
    let passages = voices::passages(&texts);
    passages.is_empty() || passages.iter().any(|passage| passage.voice != Voice::Client)
}

/// Restarts the conversation after a compaction, which leaves only the replacement in the context.
fn restart(
    source: &mut InputSource<'_>,
    record: &TopValue,
    payload: &ObjectFields<'_>,
    conversation: &mut Conversation,
) {
    // In a recording, `take` has put the events so far aside already.
    if !source.recorded {
        let before = conversation.events.len();
        conversation.events.clear();
        source.note_compacted(record.range.start, before, "items");
    }
    conversation.line = record.line;
    let summary = payload.string("message").filter(|at| at.len() > r#""""#.len());
    if let Some(replacement) = payload.array("replacement_history") {
        let items: Vec<_> = scan::elements(source.input, replacement).collect();
        for item in items {
            push_item(source, item, conversation);
        }
        mark_recap(source, summary, &mut conversation.events);
    } else if let Some(summary) = summary {
        let token = &source.input[summary.clone()];
        let head = br#"{"type":"message","role":"user","content":[{"type":"input_text","text":"#;
        let mut event = source.built([&head[..], token, b"}]}"].concat(), vec![summary]);
        event.origin = Some(TextOrigin::Recap);
        conversation.events.push(event);
    }
}

/// Marks the newest item that holds the summary, possibly after a fixed opening, as a recap.
fn mark_recap(source: &InputSource<'_>, summary: Option<Range<usize>>, events: &mut [RawEvent]) {
    let Some(summary) = summary else { return };
    let token = &source.input[summary];
    let inner = &token[1..token.len() - 1];
    let holds = |event: &&mut RawEvent| {
        memchr::memmem::find(&event.bytes, inner).is_some()
            // The item may escape the same text in another way.
            || same_text(&event.bytes, &jsonstr::decode(token))
    };
    if let Some(event) = events.iter_mut().rev().find(holds) {
        event.origin = Some(TextOrigin::Recap);
    }
}

fn same_text(item: &[u8], summary: &str) -> bool {
    let parts = ObjectFields::of(item, 0..item.len()).array("content").unwrap_or(0..0);
    scan::elements(item, parts)
        .filter_map(|part| ObjectFields::of(item, part).text("text"))
        .any(|text| text.contains(summary))
}

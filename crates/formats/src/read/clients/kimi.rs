//! Reads sessions of Kimi CLI: `context.jsonl`, which holds the messages as they are sent, and `wire.jsonl`, which
//! holds what was shown.
//!
//! Shapes: `src/kimi_cli/soul/context.py`, `soul/message.py`, `wire/file.py`, `wire/types.py` and
//! `packages/kosong/src/kosong/message.py` of MoonshotAI/kimi-cli.

use std::ops::Range;

use midfold_core::event::RawEvent;
use midfold_core::view::TextOrigin;

use super::kimi_wire;
use crate::fields::ObjectFields;
use crate::read::{
    Column, ColumnTable, Conversation, FileMark, FormatDescription, InputDocument, InputSource,
    MessageParts, TopValue, TranscriptFormat,
};

/// How the files of this client are recognised and read.
pub(in crate::read) static FORMAT: FormatDescription = FormatDescription::client(
    TranscriptFormat::Kimi,
    FileMark::Record(is_of),
    read,
    ColumnTable {
        error: Column::ByReader("`return_value.is_error` of the wire"),
        time: Column::At(&["timestamp"]),
        cwd: Column::Lacks("neither file names it"),
        mode: Column::Unread("`plan_mode` of the wire"),
        usage: Column::ByReader("`token_usage` of the wire"),
        model: Column::Lacks("neither file names it"),
        parent: Column::Lacks("the client cuts the file when it goes back"),
        images: Column::ByReader("parts `image_url`"),
        queued: Column::ByReader("`SteerInput`"),
        answers: Column::ByReader("the result of the tool that asks"),
    },
)
.that_builds_replies();

/// Whether the records hold one of the client's own types, or an envelope of its wire.
fn is_of(doc: InputDocument<'_>, at: Range<usize>) -> bool {
    let fields = doc.fields(at);
    let role = fields.text("role").unwrap_or_default();
    matches!(&*role, "_system_prompt" | "_checkpoint" | "_usage") || kimi_wire::is_of(&fields)
}

fn read(source: &mut InputSource<'_>, records: &[TopValue]) -> Vec<Conversation> {
    let Some(first) = records.first() else { return Vec::new() };
    let doc = InputDocument { bytes: source.input, outline: None };
    let wire = FileMark::Record(|doc, at| kimi_wire::is_of(&doc.fields(at)));
    if wire.is_in(doc, records) {
        return kimi_wire::read(source, records);
    }
    let mut conversation = Conversation::new(TranscriptFormat::Kimi, first.line);
    for record in records {
        let fields = ObjectFields::of(source.input, record.range.clone());
        match &*fields.text("role").unwrap_or_default() {
            "" => source.note(record.range.start, "no-role", "a value without a role is left out"),
            "_system_prompt" => {
                let prompt = fields.string("content").map(|at| source.slice(at));
                conversation.envelope.system = prompt.or(conversation.envelope.system.take());
            }
            // Checkpoints and token counts are the client's own records and are never sent.
            role if role.starts_with('_') => {}
            _ => conversation.events.push(event(source, &fields, &record.range)),
        }
    }
    vec![conversation]
}

/// The message as it is, except for reasoning: Chat Completions has it beside the content.
fn event(source: &mut InputSource<'_>, fields: &ObjectFields<'_>, at: &Range<usize>) -> RawEvent {
    let parts = MessageParts::of(fields, kimi_wire::PARTS);
    let mut event = if parts.thoughts.is_empty() {
        source.event(at.clone())
    } else {
        let calls = fields.raw("tool_calls").filter(|calls| calls.starts_with(b"["));
        let bytes = with_calls(parts.reply(), calls.unwrap_or_default());
        source.built(bytes, vec![at.clone()])
    };
    if fields.is("role", "user") {
        let texts: Vec<_> = match fields.text("content") {
            Some(text) => vec![text],
            None => fields.objects("content").filter_map(|(_, part)| part.text("text")).collect(),
        };
        event.origin = origin(texts.iter().map(|text| &**text));
    }
    event
}

/// The message with its calls, which are recorded in the shape of Chat Completions.
fn with_calls(mut message: Vec<u8>, calls: &[u8]) -> Vec<u8> {
    if calls.len() > b"[]".len() {
        message.pop();
        message.extend_from_slice(br#","tool_calls":"#);
        message.extend_from_slice(calls);
        message.push(b'}');
    }
    message
}

/// The origin of a message in the user's role. The client writes its own words in tags. `None` where words of the user
/// are among them.
fn origin<'a>(mut texts: impl Iterator<Item = &'a str>) -> Option<TextOrigin> {
    const TAGS: [&str; 3] = ["<system>", "<system-reminder>", "<notification"];
    let is_client = |text: &str| TAGS.iter().any(|tag| text.trim_start().starts_with(tag));
    let first = texts.next()?;
    if first.starts_with("<system>Previous context has been compacted") {
        return Some(TextOrigin::Recap);
    }
    (is_client(first) && texts.all(is_client)).then_some(TextOrigin::Injected)
}

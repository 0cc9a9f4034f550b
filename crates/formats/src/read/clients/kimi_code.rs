//! Reads `wire.jsonl` of Kimi Code, which came after Kimi CLI: records of what changed in the context of one agent.
//!
//! Shapes: `packages/agent-core-v2/docs/wire-manifest.d.ts`, `src/agent/contextMemory/loopEventFold.ts` and
//! `compactionHandoff.ts` of MoonshotAI/kimi-code.

use std::borrow::Cow;
use std::ops::Range;

use midfold_core::event::{RawEvent, Usage};
use midfold_core::view::TextOrigin;

use super::step::ClientStep;
use crate::fields::ObjectFields;
use crate::read::{
    Column, ColumnTable, Conversation, FileMark, FormatDescription, InputDocument, InputSource,
    MessageParts, PartRule, PartTable, TopValue, TranscriptFormat, UnsentCount,
    chat::{self, ChatCall, ContentPart},
};
use crate::usage;

/// How the files of this client are recognised and read.
pub(in crate::read) static FORMAT: FormatDescription = FormatDescription::client(
    TranscriptFormat::KimiCode,
    FileMark::Record(is_of),
    read,
    ColumnTable {
        error: Column::ByReader("`isError`"),
        time: Column::At(&["time"]),
        cwd: Column::Unread("`cwd` of `config.update`"),
        mode: Column::Unread("`permission.set_mode`"),
        usage: Column::ByReader("`usage` of `step.end`"),
        model: Column::ByReader("`model` of `usage.record`"),
        parent: Column::ByReader("`context.undo`"),
        images: Column::ByReader("parts `image_url`"),
        queued: Column::ByReader("a message of the user"),
        answers: Column::ByReader("the result of the tool that asks"),
    },
)
.that_builds_replies();

const PARTS: PartTable = &[
    ("text", PartRule::Text("text")),
    ("think", PartRule::Thought("think")),
    ("image_url", PartRule::Link("imageUrl.url")),
    ("image_url", PartRule::Link("image_url.url")),
];
/// The calls of a message, and those of its first version.
const CALLS: [PartRule; 2] = [
    PartRule::Call("id", "name", "arguments"),
    PartRule::Call("id", "function.name", "function.arguments"),
];

/// Whether a record is the head of such a file, which has a time, or one that changes a context.
fn is_of(doc: InputDocument<'_>, at: Range<usize>) -> bool {
    let fields = doc.fields(at);
    let kind = fields.text("type").unwrap_or_default();
    let is_head = kind == "metadata" && fields.string("protocol_version").is_some();
    is_head && fields.count("created_at").is_some()
        || kind.starts_with("context.") && fields.count("time").is_some()
}

/// The context while it is built.
struct KimiContext<'a> {
    conversation: Conversation,
    step: ClientStep<'a>,
    /// Whether a step has begun and not ended.
    is_open: bool,
    used: Option<Usage>,
    /// Messages that came during the step. They are sent after it.
    deferred: Vec<RawEvent>,
    /// The contexts before each compaction, where the whole recording is wanted.
    before: Vec<Conversation>,
    taken_back: UnsentCount,
}

fn read(source: &mut InputSource<'_>, records: &[TopValue]) -> Vec<Conversation> {
    let Some(first) = records.first() else { return Vec::new() };
    let mut context = KimiContext {
        conversation: Conversation::new(TranscriptFormat::KimiCode, first.line),
        step: ClientStep::default(),
        is_open: false,
        used: None,
        deferred: Vec::new(),
        before: Vec::new(),
        taken_back: UnsentCount::default(),
    };
    for record in records {
        context.take(source, &record.range);
    }
    context.flush(source);
    let detail = "{} messages that the user took back are left out";
    context.taken_back.note(source, "rolled-back", detail);
    context.before.push(context.conversation);
    context.before
}

impl<'a> KimiContext<'a> {
    /// Adds one record.
    fn take(&mut self, source: &mut InputSource<'a>, at: &Range<usize>) {
        let record = ObjectFields::of(source.input, at.clone());
        let about = &mut self.conversation.envelope;
        match &*record.text("type").unwrap_or_default() {
            "config.update" | "profile.bind" => {
                let prompt = record.string("systemPrompt").map(|at| source.slice(at));
                about.system = prompt.or(about.system.take());
            }
            "usage.record" => about.model = record.label("model").or(about.model.take()),
            "context.append_message" => {
                let event = message(source, &record.inner("message"), at);
                match self.is_open {
                    true => self.deferred.extend(event),
                    false => self.conversation.events.extend(event),
                }
            }
            "context.append_loop_event" => self.step_event(source, &record, at),
            "context.apply_compaction" => self.compacted(source, &record, at),
            "context.undo" => self.undo(source, record.number("count"), at),
            "context.clear" => {
                self.flush(source);
                self.conversation.events.drain(..).for_each(|_| self.taken_back.add(at.start));
            }
            _ => {}
        }
    }

    /// Adds an event of a step.
    fn step_event(
        &mut self,
        source: &mut InputSource<'a>,
        record: &ObjectFields<'a>,
        at: &Range<usize>,
    ) {
        let event = record.inner("event");
        let token = |name| chat::text_of(&event, name).unwrap_or(Cow::Borrowed(b"\"\""));
        match &*event.text("type").unwrap_or_default() {
            "step.begin" => {
                self.flush(source);
                self.is_open = true;
            }
            "step.end" => {
                self.used = usage::kimi_code(&event.inner("usage"));
                let reason = event.text("finishReason").unwrap_or_default();
                if !matches!(&*reason, "interrupted" | "error") {
                    self.flush(source);
                }
            }
            "content.part" => {
                let mut parts = MessageParts::default();
                parts.add(&event.object("part").unwrap_or(0..0), &event.inner("part"), PARTS);
                parts.thoughts.into_iter().for_each(|thought| self.step.think(thought, at.clone()));
                parts.words.into_iter().for_each(|words| self.step.say(words, at.clone()));
            }
            "tool.call" => {
                let arguments = event.raw("args");
                let (id, name) = (token("toolCallId"), token("name"));
                self.step.call(ChatCall { id, name, arguments }, at.clone());
            }
            "tool.result" => {
                let (id, result) = (token("toolCallId"), event.inner("result"));
                let Some(name) = self.step.name_of(&id) else { return };
                let mut parts = MessageParts::default();
                for (at, part) in result.objects("output") {
                    parts.add(&at, &part, PARTS);
                }
                let whole = result.string("output").and_then(|_| chat::text_of(&result, "output"));
                parts.words.extend(whole.map(ContentPart::Text));
                parts.words.extend(chat::text_of(&result, "note").map(ContentPart::Text));
                let failed = result.is_true("isError");
                self.step.answer((id, name), parts.words, at.clone(), failed);
            }
            _ => {}
        }
    }

    /// Ends the step.
    fn flush(&mut self, source: &mut InputSource<'a>) {
        let events = self.step.finish(source, self.used.take());
        self.conversation.events.extend(events);
        self.conversation.events.append(&mut self.deferred);
        self.is_open = false;
    }

    /// Puts a summary in place of older messages. Newer releases keep some of the user's messages and put the summary
    /// behind them, older ones keep the newest messages and put it before them.
    fn compacted(
        &mut self,
        source: &mut InputSource<'a>,
        record: &ObjectFields<'a>,
        at: &Range<usize>,
    ) {
        self.flush(source);
        let Some(text) = record.string("contextSummary").or_else(|| record.string("summary"))
        else {
            return;
        };
        let all = self.conversation.events.clone();
        let count = |name| record.count(name).and_then(|number| usize::try_from(number).ok());
        let summary = RawEvent { source: vec![at.clone()], ..source.recap(text) };
        let events = match count("keptUserMessageCount") {
            Some(kept_count) => {
                let typed: Vec<_> = all.iter().filter(|event| is_typed(event)).cloned().collect();
                let head = count("keptHeadUserMessageCount").unwrap_or(0).min(typed.len());
                let newest = typed.len().saturating_sub(kept_count.saturating_sub(head)).max(head);
                [&typed[..head], &typed[newest..], &[summary]].concat()
            }
            None => {
                let dropped =
                    count("compactedCount").or_else(|| count("count")).unwrap_or(all.len());
                [&[summary], &all[dropped.min(all.len())..]].concat()
            }
        };
        if source.recorded {
            self.before.push(self.conversation.clone());
        } else {
            let dropped = (all.len() + 1).saturating_sub(events.len());
            source.note_compacted(at.start, dropped, "messages");
        }
        self.conversation.events = events;
    }

    /// Takes back the newest messages, up to this many of the user's.
    fn undo(&mut self, source: &mut InputSource<'a>, mut count: u64, at: &Range<usize>) {
        self.flush(source);
        let is_summary = |event: &RawEvent| event.origin == Some(TextOrigin::Recap);
        while count > 0
            && let Some(event) = self.conversation.events.pop_if(|event| !is_summary(event))
        {
            self.taken_back.add(at.start);
            count -= u64::from(is_typed(&event));
        }
    }
}

/// Whether a person typed the message.
fn is_typed(event: &RawEvent) -> bool {
    event.origin.is_none() && event.bytes.starts_with(br#"{"role":"user""#)
}

/// The message of a record. `None` where it has no content.
fn message(
    source: &mut InputSource<'_>,
    message: &ObjectFields<'_>,
    at: &Range<usize>,
) -> Option<RawEvent> {
    let mut parts = MessageParts::of(message, PARTS);
    parts.add_calls(message, "toolCalls", &CALLS);
    if parts.is_empty() {
        return None;
    }
    let bytes = match &*message.text("role").unwrap_or_default() {
        "assistant" => parts.reply(),
        "system" => chat::message("system", &parts.words),
        "tool" => chat::result(message.raw("toolCallId").unwrap_or(b"\"\""), None, &parts.words),
        _ => chat::message("user", &parts.words),
    };
    let is_users = bytes.starts_with(br#"{"role":"user""#);
    let kind = message.inner("origin").label("kind");
    let mut event = source.built(bytes, vec![at.clone()]);
    event.failed = message.is_true("isError");
    event.origin = match kind.as_deref().filter(|_| is_users) {
        None | Some("user") => None,
        Some("compaction_summary") => Some(TextOrigin::Recap),
        Some(_) => Some(TextOrigin::Injected),
    };
    Some(event)
}

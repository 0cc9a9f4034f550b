//! Reads the wire of Kimi CLI: the events for its interface, from which the conversation is built.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use midfold_core::event::Usage;

use super::spoken::SpokenParts;
use super::step::ClientStep;
use crate::fields::ObjectFields;
use crate::read::{
    Conversation, InputSource, MessageParts, PartRule, PartTable, TopValue, TranscriptFormat,
    chat::{self, ChatCall, ContentPart, token},
};
use crate::usage;

/// Whether an object is the header of a wire file, or one of its records.
pub(super) fn is_of(fields: &ObjectFields<'_>) -> bool {
    let message = fields.inner("message");
    fields.is("type", "metadata") && fields.string("protocol_version").is_some()
        || fields.has("timestamp")
            && message.string("type").is_some()
            && message.object("payload").is_some()
}

/// The conversation of one agent while it is built.
struct KimiTalk<'a> {
    conversation: Conversation,
    step: ClientStep<'a>,
    used: Option<Usage>,
}

/// Reads the wire: one conversation per agent.
pub(super) fn read(source: &mut InputSource<'_>, records: &[TopValue]) -> Vec<Conversation> {
    let mut talks: Vec<KimiTalk<'_>> = Vec::new();
    let mut by_agent: HashMap<Option<String>, usize> = HashMap::new();
    for record in records {
        let mut envelope = ObjectFields::of(source.input, record.range.clone()).inner("message");
        let mut agent = None;
        // The events of a subagent are wrapped in events of its parent, which may be a subagent too.
        while envelope.is("type", "SubagentEvent") {
            let payload = envelope.inner("payload");
            let names = ["agent_id", "parent_tool_call_id", "task_tool_call_id"];
            let named = names.iter().find_map(|name| payload.label(name));
            // The innermost name counts.
            agent = named.or(agent);
            envelope = payload.inner("event");
        }
        let at = *by_agent.entry(agent).or_insert_with_key(|agent| {
            let mut conversation = Conversation::new(TranscriptFormat::Kimi, record.line);
            conversation.id.clone_from(agent);
            talks.push(KimiTalk { conversation, step: ClientStep::default(), used: None });
            talks.len() - 1
        });
        talks[at].take(source, &envelope, &record.range);
    }
    for talk in &mut talks {
        talk.flush(source);
    }
    talks.into_iter().map(|talk| talk.conversation).collect()
}

impl<'a> KimiTalk<'a> {
    /// Adds one event of an agent.
    fn take(
        &mut self,
        source: &mut InputSource<'a>,
        envelope: &ObjectFields<'a>,
        at: &Range<usize>,
    ) {
        let payload = envelope.inner("payload");
        let kind = envelope.text("type").unwrap_or_default();
        match &*kind {
            "TurnBegin" | "SteerInput" => {
                self.flush(source);
                let typed = typed(&payload, at);
                self.conversation.events.extend(typed.events(source));
            }
            // The reply so far is asked for again.
            "StepRetry" => self.step = ClientStep::default(),
            "StepBegin" | "TurnEnd" | "StepInterrupted" => self.flush(source),
            "ContentPart" | "TextPart" | "ThinkPart" | "ImageURLPart" => {
                let value = envelope.object("payload").unwrap_or(0..0);
                self.part(&payload, value, at);
            }
            "ToolCall" => {
                self.step.settle();
                let function = payload.inner("function");
                let named = |fields: &ObjectFields<'a>, name| {
                    chat::text_of(fields, name).unwrap_or_else(|| token(""))
                };
                let (id, name) = (named(&payload, "id"), named(&function, "name"));
                self.step.call(ChatCall { id, name, arguments: None }, at.clone());
                let arguments = function.raw("arguments").unwrap_or_default();
                self.step.more_arguments(chat::inside(arguments));
            }
            "ToolCallPart" => {
                let more = payload.raw("arguments_part").unwrap_or_default();
                self.step.more_arguments(chat::inside(more));
            }
            "ToolResult" => self.result(&payload, at),
            "StatusUpdate" => {
                let used = usage::kimi(&payload.inner("token_usage"));
                self.used = used.or(self.used);
            }
            "CompactionEnd" => {
                let detail = "the client compacted here, and this file holds no summary: all of it is read; \
                            give the `context.jsonl` beside it for what is sent";
                source.note(at.start, "no-summary", detail);
            }
            _ => {}
        }
    }

    fn part(&mut self, payload: &ObjectFields<'a>, value: Range<usize>, at: &Range<usize>) {
        let is_thought = payload.is("type", "think");
        let text = payload.raw(if is_thought { "think" } else { "text" });
        if let Some(text) = text.filter(|_| is_thought || payload.is("type", "text")) {
            return self.step.piece(is_thought, chat::inside(text), at);
        }
        self.step.settle();
        let mut other = MessageParts::default();
        other.add(&value, payload, PARTS);
        other.words.into_iter().for_each(|word| self.step.say(word, at.clone()));
    }

    fn result(&mut self, payload: &ObjectFields<'a>, at: &Range<usize>) {
        let id = chat::text_of(payload, "tool_call_id").unwrap_or_else(|| token(""));
        let name = self.step.name_of(&id).unwrap_or_else(|| token(""));
        let value = payload.inner("return_value");
        let failed = value.is_true("is_error");
        self.step.answer((id, name), result_parts(&value), at.clone(), failed);
    }

    /// Adds the step's messages to the conversation.
    fn flush(&mut self, source: &mut InputSource<'a>) {
        let events = self.step.finish(source, self.used.take());
        self.conversation.events.extend(events);
    }
}

/// The parts of a message's content, in both files.
pub(super) const PARTS: PartTable = &[
    ("text", PartRule::Text("text")),
    ("think", PartRule::Thought("think")),
    ("image_url", PartRule::Link("image_url.url")),
];

/// The typed message: a text, or a list of parts.
fn typed<'a>(payload: &ObjectFields<'a>, at: &Range<usize>) -> SpokenParts<'a> {
    let mut spoken = SpokenParts::default();
    if payload.array("user_input").is_none()
        && let Some(text) = chat::text_of(payload, "user_input")
    {
        spoken.push(None, ContentPart::Text(text), at.clone());
    }
    for (at, part) in payload.objects("user_input") {
        let mut typed = MessageParts::default();
        typed.add(&at, &part, PARTS);
        typed.words.into_iter().for_each(|word| spoken.push(None, word, at.clone()));
    }
    spoken
}

/// The result as the client sends it: its message in a tag, then its output.
fn result_parts<'a>(value: &ObjectFields<'a>) -> Vec<ContentPart<'a>> {
    let mut parts = MessageParts::default();
    let message = chat::inside(value.raw("message").unwrap_or_default());
    let is_error = value.is_true("is_error");
    if is_error || !message.is_empty() {
        let error: &[u8] = if is_error { b"ERROR: " } else { b"" };
        let text = [b"\"<system>", error, message, b"</system>\""].concat();
        parts.words.push(ContentPart::Text(Cow::Owned(text)));
    }
    if value.array("output").is_none() {
        let text = chat::text_of(value, "output").filter(|text| !chat::inside(text).is_empty());
        parts.words.extend(text.map(ContentPart::Text));
    }
    for (at, part) in value.objects("output") {
        parts.add(&at, &part, PARTS);
    }
    parts.words
}

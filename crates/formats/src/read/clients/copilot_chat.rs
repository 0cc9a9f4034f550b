//! Reads chats of GitHub Copilot in VS Code: `chatSessions/ID.jsonl`, which is a log of changes to a chat, the older
//! `chatSessions/ID.json`, and what "Chat: Export Chat" writes.
//!
//! Shapes: `objectMutationLog.ts` and `chatSessionOperationLog.ts` in `src/vs/workbench/contrib/chat/common/model` of
//! microsoft/vscode; `src/extension/prompt/common/conversation.ts` and
//! `src/extension/prompts/node/agent/summarizedConversationHistory.tsx` of microsoft/vscode-copilot-chat.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use midfold_core::event::RawEvent;
use midfold_core::jsonstr;

use super::copilot_log::{ChatRequest, requests};
use crate::fields::ObjectFields;
use crate::read::{
    Column, ColumnTable, Conversation, FileMark, FormatDescription, InputDocument, InputSource,
    MessageParts, PartRule, PartTable, TopValue, TranscriptFormat, UnsentCount,
    chat::{self, ContentPart},
    facts,
};
use crate::{scan, usage};

/// How the files of this client are recognised and read.
pub(in crate::read) static FORMAT: FormatDescription = FormatDescription::client(
    TranscriptFormat::CopilotChat,
    FileMark::Record(is_of),
    read,
    ColumnTable {
        error: Column::Lacks("only the text of a result says it"),
        time: Column::ByReader("`timestamp`"),
        cwd: Column::Lacks("the chat names no folder"),
        mode: Column::Unread("`modeInfo`"),
        usage: Column::ByReader("`result.metadata.promptTokens` after the last reply"),
        model: Column::ByReader("`modelId`"),
        parent: Column::ByReader("`shouldBeRemovedOnSend`"),
        images: Column::ByReader("`imageUrl` of the rendered message"),
        queued: Column::ByReader("a message of the user"),
        answers: Column::ByReader("the result of the tool that asks"),
    },
)
.that_builds_replies();

/// The parts of a rendered message. Their types are numbers; the others mark places for a cache.
const RENDERED: PartTable =
    &[("", PartRule::Text("text")), ("", PartRule::Link("imageUrl.url")), ("", PartRule::Unsent)];
const CALL: PartRule = PartRule::Call("id", "name", "arguments");

/// Whether a record is a chat, or the first line of its log.
fn is_of(doc: InputDocument<'_>, at: Range<usize>) -> bool {
    let fields = doc.fields(at);
    let is_chat = |chat: &ObjectFields<'_>| {
        chat.array("requests").is_some()
            && (chat.has("responderUsername") || chat.has("creationDate"))
    };
    is_chat(&fields) || fields.count("kind") == Some(0) && is_chat(&fields.inner("v"))
}

fn read(source: &mut InputSource<'_>, records: &[TopValue]) -> Vec<Conversation> {
    let input = source.input;
    let Some(first) = records.first() else { return Vec::new() };
    let chat = requests(input, records);
    let mut about = Conversation::new(TranscriptFormat::CopilotChat, first.line);
    about.id = chat.id;
    let metadata = chat.requests.iter().map(|request| request.inner(input, "result.metadata"));
    let metadata: Vec<_> = metadata.collect();
    let summaries: HashMap<String, Range<usize>> = metadata.iter().flat_map(summaries).collect();
    let mut writer = ChatWriter { conversation: about, before: Vec::new(), summaries };
    let (mut undone, mut shown) = (UnsentCount::default(), UnsentCount::default());
    for (at, request) in chat.requests.iter().enumerate() {
        if request.get(input, "shouldBeRemovedOnSend").is_some() {
            undone.add(request.whole().start);
            continue;
        }
        let model = request.label(input, "modelId");
        let model = model.map(|id| id.rsplit('/').next().unwrap_or_default().to_owned());
        writer.conversation.envelope.model = model.or(writer.conversation.envelope.model.take());
        writer.typed(source, request, &metadata[at]);
        // A turn that met the limit of its calls has their results in the turn after it.
        let next = metadata.get(at + 1).unwrap_or(&metadata[at]);
        let mut rounds = metadata[at].objects("toolCallRounds").peekable();
        if rounds.peek().is_none() {
            writer.shown(source, request, &mut shown);
        }
        for (place, round) in rounds {
            writer.round(source, &place, &round, [&metadata[at], next]);
        }
        let usage = usage::copilot_chat(&metadata[at]);
        if let Some(reply) = writer
            .conversation
            .events
            .iter_mut()
            .rev()
            .find(|event| event.bytes.starts_with(br#"{"role":"assistant""#))
        {
            reply.usage = reply.usage.or(usage);
        }
    }
    undone.note(source, "rolled-back", "{} messages that the user took back are left out");
    let detail = "{} calls are left out: the chat holds only what it showed of them";
    shown.note(source, "no-results", detail);
    writer.before.push(writer.conversation);
    writer.before
}

/// The summaries in the metadata of a turn: each with the round after which it was made.
fn summaries(metadata: &ObjectFields<'_>) -> Vec<(String, Range<usize>)> {
    let listed = metadata.objects("summaries").map(|(_, summary)| summary);
    let named = |summary: ObjectFields<'_>| {
        Some((summary.label("toolCallRoundId")?, summary.string("text")?))
    };
    let rounds = metadata.objects("toolCallRounds");
    let own = rounds.filter_map(|(_, round)| Some((round.label("id")?, round.string("summary")?)));
    std::iter::once(metadata.inner("summary")).chain(listed).filter_map(named).chain(own).collect()
}

/// Builds the messages of a chat.
struct ChatWriter {
    conversation: Conversation,
    /// The conversations before each summary, where the whole recording is wanted.
    before: Vec<Conversation>,
    summaries: HashMap<String, Range<usize>>,
}

impl ChatWriter {
    /// Adds what the user typed: as the client rendered it, or else as it was typed.
    fn typed(
        &mut self,
        source: &mut InputSource<'_>,
        request: &ChatRequest,
        metadata: &ObjectFields<'_>,
    ) {
        let input = source.input;
        let mut parts = MessageParts::default();
        for (at, part) in metadata.objects("renderedUserMessage") {
            parts.add(&at, &part, RENDERED);
        }
        if parts.words.is_empty() {
            let text = request.get(input, "message.text").or_else(|| request.get(input, "message"));
            let text = text.map(|at| &input[at]).filter(|text| text.starts_with(b"\""));
            parts.words.extend(text.map(|text| ContentPart::Text(Cow::Borrowed(text))));
        }
        if !parts.words.is_empty() {
            let mut event =
                source.built(chat::message("user", &parts.words), vec![request.whole()]);
            event.at = request.raw(input, "timestamp").and_then(facts::moment_of);
            self.conversation.events.push(event);
        }
    }

    /// Adds one reply with the results of its calls.
    fn round<'a>(
        &mut self,
        source: &mut InputSource<'a>,
        at: &Range<usize>,
        round: &ObjectFields<'a>,
        turns: [&ObjectFields<'a>; 2],
    ) {
        let mut parts = MessageParts::default();
        let thinking = round.inner("thinking");
        let thoughts = thinking.list("text").map(|at| Cow::Borrowed(&source.input[at]));
        parts
            .thoughts
            .extend(thinking.string("text").and_then(|_| chat::text_of(&thinking, "text")));
        parts.thoughts.extend(thoughts);
        parts.thoughts.retain(|thought| !chat::inside(thought).is_empty());
        let words = round.string("response").and_then(|_| chat::text_of(round, "response"));
        parts.words.extend(words.filter(|text| text.len() > 2).map(ContentPart::Text));
        parts.add_calls(round, "toolCalls", &[CALL]);
        let mut reply = source.built(parts.reply(), vec![at.clone()]);
        reply.at = facts::moment(round, "timestamp");
        let time = reply.at;
        self.conversation.events.push(reply);
        for call in &parts.calls {
            let id = jsonstr::decode(&call.id);
            let result = turns.iter().map(|turn| turn.inner("toolCallResults").inner(&id));
            let Some(result) = result.into_iter().find(|result| !result.is_empty()) else {
                continue;
            };
            let parts: Vec<_> =
                result.objects("content").filter_map(|(_, part)| spoken_part(&part)).collect();
            let bytes = chat::result(&call.id, Some(&call.name), &parts);
            let mut event = source.built(bytes, vec![at.clone()]);
            event.at = time;
            self.conversation.events.push(event);
        }
        self.compacted(source, round.label("id"));
    }

    /// Adds the words of a turn without rounds, which a chat that only answers has, and a turn that has not ended.
    fn shown(
        &mut self,
        source: &mut InputSource<'_>,
        request: &ChatRequest,
        calls: &mut UnsentCount,
    ) {
        let input = source.input;
        let mut words = Vec::new();
        for at in request.response(input) {
            let part = ObjectFields::of(input, at.clone());
            match &*part.text("kind").unwrap_or_default() {
                "toolInvocationSerialized" => calls.add(at.start),
                "" | "markdownContent" => {
                    let text =
                        part.string("value").or_else(|| part.inner("content").string("value"));
                    words.extend(text.map(|at| chat::inside(&input[at])));
                }
                "inlineReference" => words.extend(part.raw("name").map(chat::inside)),
                _ => {}
            }
        }
        if !words.is_empty() {
            let text = [&b"\""[..], &words.concat(), b"\""].concat();
            let reply = chat::reply(&[ContentPart::Text(text.into())], &[], &[]);
            let mut event = source.built(reply, vec![request.whole()]);
            event.at = request.raw(input, "timestamp").and_then(facts::moment_of);
            self.conversation.events.push(event);
        }
        self.compacted(source, request.label(input, "requestId"));
    }

    /// Replaces all messages so far by the summary that was made after a round.
    fn compacted(&mut self, source: &mut InputSource<'_>, round: Option<String>) {
        let Some(text) = round.and_then(|id| self.summaries.get(&id)).cloned() else { return };
        if source.recorded {
            self.before.push(self.conversation.clone());
        } else {
            source.note_compacted(text.start, self.conversation.events.len(), "messages");
        }
        let at = self.conversation.events.last().and_then(|event| event.at);
        self.conversation.events = vec![RawEvent { at, ..source.recap(text) }];
    }
}

/// The text of a part of a result: a string, or the texts in the tree of a rendered prompt.
fn spoken_part<'a>(part: &ObjectFields<'a>) -> Option<ContentPart<'a>> {
    if let Some(at) = part.string("value") {
        return Some(ContentPart::Text(Cow::Borrowed(&part.bytes()[at])));
    }
    let mut text = b"\"".to_vec();
    push_texts(part.bytes(), part.inner("value").object("node")?, &mut text);
    text.push(b'"');
    Some(ContentPart::Text(text.into()))
}

/// Adds the insides of the texts in a tree, in its order.
fn push_texts(input: &[u8], node: Range<usize>, text: &mut Vec<u8>) {
    let mut open = vec![node];
    while let Some(node) = open.pop() {
        let fields = ObjectFields::of(input, node);
        if fields.is_true("lineBreakBefore") && text.len() > 1 {
            text.extend_from_slice(br"\n");
        }
        text.extend(fields.raw("text").map(chat::inside).unwrap_or_default());
        let children: Vec<_> =
            scan::elements(input, fields.array("children").unwrap_or(0..0)).collect();
        open.extend(children.into_iter().rev());
    }
}

//! Reads `conversations.json` of a ChatGPT data export, in which a conversation is a tree of messages.
//!
//! Shapes: OpenAI documents none. They are described by `docs/chatgpt-data-export-format.md` of
//! mitkury/chatgpt-export-parser and by the parsers of other viewers of exports. A message to a tool names the tool as
//! its `recipient`, a result names it as its author.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use midfold_core::TextOrigin;

use crate::fields::ObjectFields;
use crate::read::{
    Column, ColumnTable, Conversation, FailureMark, FileMark, FormatDescription, InputDocument,
    InputSource, TopValue, TranscriptFormat,
    chat::{self, ChatCall, ContentPart, StringToken},
    entries,
};
use crate::scan;

/// How the files of this client are recognised and read.
pub(in crate::read) static FORMAT: FormatDescription = FormatDescription::client(
    TranscriptFormat::ChatGpt,
    FileMark::Input(is_of),
    read,
    ColumnTable {
        error: Column::At(&[
            FailureMark::is(
                "metadata.aggregate_result.status",
                &[r#""failed_with_in_kernel_exception""#],
            ),
            FailureMark::is("content.content_type", &[r#""system_error""#]),
        ]),
        time: Column::At(&["create_time"]),
        cwd: Column::Lacks("has no folder"),
        mode: Column::Lacks("has no modes"),
        usage: Column::Lacks("the export has no counts"),
        model: Column::At(&["metadata.model_slug"]),
        parent: Column::ByReader("`parent`, `current_node`"),
        images: Column::Lacks("the export has only their names"),
        queued: Column::Lacks("a message waits for the answer"),
        answers: Column::Lacks("asks in a message"),
    },
);

/// The known content types.
const KINDS: [&str; 11] = [
    "text",
    "multimodal_text",
    "thoughts",
    "reasoning_recap",
    "code",
    "execution_output",
    "system_error",
    "tether_quote",
    "tether_browsing_display",
    "user_editable_context",
    "model_editable_context",
];

fn is_of(doc: InputDocument<'_>, records: &[TopValue]) -> bool {
    entries::all(doc, records, &["conversations"]).next().is_some_and(|at| {
        let fields = doc.fields(at);
        let mapping = fields.object("mapping");
        let first = mapping.and_then(|mapping| scan::members(doc.bytes, mapping).next());
        first.is_some_and(|node| {
            let node = doc.fields(node.value);
            node.has("message") && node.array("children").is_some()
        })
    })
}

fn read(source: &mut InputSource<'_>, records: &[TopValue]) -> Vec<Conversation> {
    let doc = InputDocument { bytes: source.input, outline: None };
    let all: Vec<Range<usize>> = entries::all(doc, records, &["conversations"]).collect();
    let mut conversations = Vec::new();
    for at in all {
        let fields = doc.fields(at.clone());
        let Some(mapping) = fields.object("mapping") else {
            source.note(at.start, "unrecognised-record", "left out, no tree of messages");
            continue;
        };
        let mut about = Conversation::new(TranscriptFormat::ChatGpt, source.line_of(at.start));
        about.id = fields.label("conversation_id").or_else(|| fields.label("id"));
        about.envelope.model = fields.label("default_model_slug");
        let messages = path(source, mapping, fields.label("current_node"));
        let mut teller = ChatgptWriter::new(about);
        for message in messages {
            teller.message(source, message);
        }
        conversations.push(teller.end(source));
    }
    conversations
}

/// The messages from the root to the node that the user saw last.
fn path(
    source: &mut InputSource<'_>,
    mapping: Range<usize>,
    current: Option<String>,
) -> Vec<Range<usize>> {
    let input = source.input;
    let mut nodes: HashMap<String, (Option<String>, Option<Range<usize>>)> = HashMap::new();
    let mut last = None;
    let at = mapping.start;
    for node in scan::members(input, mapping) {
        let name = midfold_core::jsonstr::decode(&input[node.key]).into_owned();
        let fields = ObjectFields::of(input, node.value);
        let message = fields.object("message");
        if message.is_some() {
            last = Some(name.clone());
        }
        nodes.insert(name, (fields.label("parent"), message));
    }
    let known = current.filter(|name| nodes.contains_key(name));
    if known.is_none() && last.is_some() {
        let detail = "the file does not say which message is the last one: the newest is taken";
        source.note(at, "no-current-node", detail);
    }
    let mut next = known.or(last);
    let mut seen = HashSet::new();
    let mut path = Vec::new();
    while let Some(name) = next {
        // A cycle in the tree ends where it was entered.
        if !seen.insert(name.clone()) {
            break;
        }
        let Some((parent, message)) = nodes.get(&name) else { break };
        path.extend(message.clone());
        next = parent.clone();
    }
    path.reverse();
    let off =
        nodes.iter().filter(|(name, (_, message))| message.is_some() && !seen.contains(*name));
    let off = off.count();
    if off > 0 {
        let detail = format!("{off} messages of other branches of the tree are left out");
        source.note(at, "abandoned-branch", detail);
    }
    path
}

/// A call without a result so far.
struct ChatgptCall<'a> {
    id: StringToken<'a>,
    name: StringToken<'a>,
}

/// Builds the conversation out of the export's messages.
struct ChatgptWriter<'a> {
    conversation: Conversation,
    /// Reasoning that belongs to the next reply.
    thoughts: Vec<StringToken<'a>>,
    /// The ranges of the messages with that reasoning.
    thought_at: Vec<Range<usize>>,
    open: Option<ChatgptCall<'a>>,
    /// The parts of the open call's result, as far as they were read.
    result: Vec<ContentPart<'a>>,
    /// The ranges of the messages with that result.
    result_at: Vec<Range<usize>>,
}

impl<'a> ChatgptWriter<'a> {
    fn new(conversation: Conversation) -> Self {
        let (thoughts, thought_at, result, result_at) =
            <(Vec<_>, Vec<_>, Vec<_>, Vec<_>)>::default();
        Self { conversation, thoughts, thought_at, open: None, result, result_at }
    }

    /// Adds one message of the tree.
    fn message(&mut self, source: &mut InputSource<'a>, at: Range<usize>) {
        let input = source.input;
        let fields = ObjectFields::of(input, at.clone());
        let metadata = fields.inner("metadata");
        let content = fields.inner("content");
        let role = fields.inner("author").text("role").unwrap_or_default();
        let kind = content.text("content_type").unwrap_or_default();
        let mut parts = parts(input, &kind, &content);
        if !KINDS.contains(&&*kind) {
            // Of an unknown content type, the whole content is taken.
            parts.extend(fields.raw("content").map(ContentPart::unknown));
        }
        if &*role == "tool" {
            self.result.extend(parts);
            return self.result_at.push(at);
        }
        self.answer(source);
        if &*kind == "thoughts" {
            let all = content.list("thoughts");
            let thoughts = all.map(|thought| ObjectFields::of(input, thought));
            let words = |thought: ObjectFields<'a>| {
                let content = chat::text_of(&thought, "content").filter(|text| text.len() > 2);
                content.or_else(|| chat::text_of(&thought, "summary"))
            };
            self.thoughts.extend(thoughts.filter_map(words));
            return self.thought_at.push(at);
        }
        if &*role == "assistant" && &*kind != "reasoning_recap" {
            return self.reply(source, at, &fields, &parts);
        }
        if parts.is_empty() {
            return;
        }
        let is_user = &*role == "user";
        let by_client = &*kind == "user_editable_context"
            || metadata.is_true("is_visually_hidden_from_conversation");
        let bytes = chat::message(if is_user { "user" } else { "system" }, &parts);
        let mut event = source.built(bytes, vec![at]);
        event.origin = (is_user && by_client).then_some(TextOrigin::Injected);
        self.conversation.events.push(event);
    }

    /// Adds a message of the model: words to the user, or a call where its recipient is a tool.
    fn reply(
        &mut self,
        source: &mut InputSource<'a>,
        at: Range<usize>,
        fields: &ObjectFields<'a>,
        parts: &[ContentPart<'a>],
    ) {
        let recipient =
            fields.raw("recipient").filter(|name| *name != br#""all""# && name.len() > 2);
        let thoughts = std::mem::take(&mut self.thoughts);
        let mut from = std::mem::take(&mut self.thought_at);
        if parts.is_empty() && thoughts.is_empty() && recipient.is_none() {
            return;
        }
        let bytes = match recipient.filter(|name| name.first() == Some(&b'"')) {
            Some(name) => {
                let words = arguments(parts);
                let id: StringToken<'a> = Cow::Borrowed(fields.raw("id").unwrap_or(b"\"\""));
                let name: StringToken<'a> = Cow::Borrowed(name);
                let call = ChatCall { id: id.clone(), name: name.clone(), arguments: Some(&words) };
                let bytes = chat::reply(&[], &thoughts, &[call]);
                self.open = Some(ChatgptCall { id, name });
                bytes
            }
            None => chat::reply(parts, &thoughts, &[]),
        };
        from.push(at);
        self.conversation.events.push(source.built(bytes, from));
    }

    /// Ends the result that was read. Neighbouring messages of a tool answer one call.
    fn answer(&mut self, source: &mut InputSource<'a>) {
        let parts = std::mem::take(&mut self.result);
        let from = std::mem::take(&mut self.result_at);
        if from.is_empty() {
            return;
        }
        let event = match self.open.take() {
            Some(call) => source.built(chat::result(&call.id, Some(&call.name), &parts), from),
            None if parts.is_empty() => return,
            None => {
                let mut event = source.built(chat::message("user", &parts), from);
                event.origin = Some(TextOrigin::Observation);
                event
            }
        };
        self.conversation.events.push(event);
    }

    fn end(mut self, source: &mut InputSource<'a>) -> Conversation {
        self.answer(source);
        let thoughts = std::mem::take(&mut self.thoughts);
        if !thoughts.is_empty() {
            let from = std::mem::take(&mut self.thought_at);
            self.conversation.events.push(source.built(chat::reply(&[], &thoughts, &[]), from));
        }
        self.conversation
    }
}

/// The arguments of a call: JSON as it is, any other text as the member `code`.
fn arguments(parts: &[ContentPart<'_>]) -> Vec<u8> {
    let texts = parts.iter().filter_map(|part| match part {
        ContentPart::Text(text) => Some(midfold_core::jsonstr::decode(text)),
        _ => None,
    });
    let words = texts.collect::<Vec<_>>().join("\n");
    let is_object = words.trim_start().starts_with('{')
        && serde_json::from_str::<serde::de::IgnoredAny>(&words).is_ok();
    if is_object {
        return chat::token(&words).into_owned();
    }
    let code = [br#"{"code":"#.to_vec(), chat::token(&words).into_owned(), b"}".to_vec()].concat();
    chat::token(&String::from_utf8_lossy(&code)).into_owned()
}

/// The parts of a content; empty strings are left out.
fn parts<'a>(input: &'a [u8], kind: &str, content: &ObjectFields<'a>) -> Vec<ContentPart<'a>> {
    let texts = |names: &[&str]| -> Vec<ContentPart<'a>> {
        let all = names.iter().filter_map(|name| chat::text_of(content, name));
        all.filter(|text| text.len() > 2).map(ContentPart::Text).collect()
    };
    match kind {
        "text" | "multimodal_text" => {
            let list = content.list("parts");
            list.filter_map(|at| part(input, at)).collect()
        }
        "thoughts" | "reasoning_recap" => Vec::new(),
        "code" | "execution_output" => texts(&["text"]),
        "system_error" => texts(&["name", "text"]),
        "tether_quote" => texts(&["title", "url", "text"]),
        "tether_browsing_display" => texts(&["result", "summary"]),
        "user_editable_context" => texts(&["user_profile", "user_instructions"]),
        "model_editable_context" => texts(&["model_set_context"]),
        _ => Vec::new(),
    }
}

/// One part: a text, an image that is only named, or the transcript of a sound.
fn part(input: &[u8], at: Range<usize>) -> Option<ContentPart<'_>> {
    let bytes = &input[at.clone()];
    if bytes.first() == Some(&b'"') {
        return (bytes.len() > 2).then_some(ContentPart::Text(Cow::Borrowed(bytes)));
    }
    let fields = ObjectFields::of(input, at);
    if let Some(text) = chat::text_of(&fields, "text") {
        return Some(ContentPart::Text(text));
    }
    let pointer = fields.text("asset_pointer");
    let named =
        pointer.map(|pointer| ContentPart::Text(chat::token(&format!("[image {pointer}]"))));
    Some(named.unwrap_or_else(|| ContentPart::unknown(bytes)))
}

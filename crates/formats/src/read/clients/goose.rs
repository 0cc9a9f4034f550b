//! Reads sessions of Goose: the JSON lines of older releases, and the output of `goose session export --format json`.
//!
//! Shapes: `crates/goose/src/conversation/message.rs`, `context_mgmt/mod.rs`, `session/legacy.rs` and
//! `session/export_bundle.rs` of block/goose.
//! Newer releases keep sessions in SQLite, which have to be exported.

use std::collections::HashSet;
use std::ops::Range;

use midfold_core::TextOrigin;

use crate::fields::ObjectFields;
use crate::read::{
    Column, ColumnTable, Conversation, FailureMark, FileMark, FormatDescription, InputDocument,
    InputSource, MessageParts, PartRule, PartTable, TopValue, TranscriptFormat, UnsentCount,
    chat::{self, ContentPart},
    entries, facts,
};
use crate::scan;

/// How the files of this client are recognised and read.
pub(in crate::read) static FORMAT: FormatDescription = FormatDescription::client(
    TranscriptFormat::Goose,
    FileMark::Entry(&HOLDERS, is_of),
    read,
    ColumnTable {
        error: Column::At(&[
            FailureMark::is("toolResult.status", &[r#""error""#]),
            FailureMark::is("toolResult.value.isError", &["true"]),
        ]),
        time: Column::At(&["created"]),
        cwd: Column::Unread("`working_dir`"),
        mode: Column::Lacks("is a setting of the client"),
        usage: Column::Lacks("the session has sums only"),
        model: Column::ByReader("`model_config.model_name`"),
        parent: Column::Lacks("messages are in one list"),
        images: Column::ByReader("parts `image`"),
        queued: Column::ByReader("a message of the user"),
        answers: Column::Unread("`actionRequired`"),
    },
);

/// The members that hold the messages.
const HOLDERS: [&str; 2] = ["conversation", "messages"];

/// The parts of a message and of a result. A call that could not be read is sent as its error.
const PARTS: PartTable = &[
    ("text", PartRule::Text("text")),
    ("image", PartRule::Image("mimeType", "data")),
    ("resource", PartRule::Text("resource.text")),
    ("toolRequest", PartRule::Call("id", "toolCall.value.name", "toolCall.value.arguments")),
    ("toolRequest", PartRule::Text("toolCall.error")),
    (
        "frontendToolRequest",
        PartRule::Call("id", "toolCall.value.name", "toolCall.value.arguments"),
    ),
    ("frontendToolRequest", PartRule::Text("toolCall.error")),
    ("thinking", PartRule::Thought("thinking")),
    ("reasoning", PartRule::Thought("text")),
    // These have no words, or only words for a person who watches.
    ("redactedThinking", PartRule::Unsent),
    ("toolConfirmationRequest", PartRule::Unsent),
    ("actionRequired", PartRule::Unsent),
];

/// The parts that the client only shows.
const SHOWN: [&str; 4] = [
    "systemNotification",
    "conversationCompacted",
    "contextLengthExceeded",
    "summarizationRequested",
];

fn is_of(doc: InputDocument<'_>, at: Range<usize>) -> bool {
    const OWN: [&str; 2] = ["userVisible", "agentVisible"];
    let fields = doc.fields(at);
    // The first line of an older session, whose first messages have nothing of their own.
    if fields.string("working_dir").is_some() && fields.count("message_count").is_some() {
        return true;
    }
    let metadata = fields.inner("metadata");
    let own = || {
        doc.elements(fields.array("content").unwrap_or(0..0)).any(|part| {
            let part = doc.fields(part);
            part.has("toolCall") || part.has("toolResult")
        })
    };
    fields.has("role")
        && fields.count("created").is_some()
        && fields.array("content").is_some()
        && (OWN.iter().any(|name| metadata.has(name)) || own())
}

fn read(source: &mut InputSource<'_>, records: &[TopValue]) -> Vec<Conversation> {
    let doc = InputDocument { bytes: source.input, outline: None };
    let mut out = Vec::new();
    let mut lines = Vec::new();
    for record in records {
        let Some(list) = entries::list(doc, record.range.clone(), &HOLDERS) else {
            lines.push(record.range.clone());
            continue;
        };
        let session = doc.fields(record.range.clone());
        out.extend(of_session(source, record.line, &session, list));
        // An export has the sessions of its subagents with it.
        for (at, child) in session.objects("child_sessions") {
            if let Some(list) = child.array("conversation") {
                let line = source.line_of(at.start);
                out.extend(of_session(source, line, &child, list));
            }
        }
    }
    if let Some(first) = records.first().filter(|_| !lines.is_empty()) {
        let about = Conversation::new(TranscriptFormat::Goose, first.line);
        out.extend(conversations(source, &about, lines));
    }
    out
}

/// The conversations of a session whose messages are in `list`.
fn of_session(
    source: &mut InputSource<'_>,
    line: usize,
    session: &ObjectFields<'_>,
    list: Range<usize>,
) -> Vec<Conversation> {
    let mut about = Conversation::new(TranscriptFormat::Goose, line);
    about.id = session.label("id");
    about.envelope.model = session.inner("model_config").label("model_name");
    let messages = scan::elements(source.input, list).collect();
    conversations(source, &about, messages)
}

/// Who sees a message. A compacted message is for the user alone, its summary for the model alone.
struct GooseVisibility {
    user: bool,
    /// Whether the model sees it, so that it is sent.
    agent: bool,
}

fn visibility(fields: &ObjectFields<'_>) -> GooseVisibility {
    let metadata = fields.inner("metadata");
    let sees = |name| metadata.raw(name) != Some(b"false");
    GooseVisibility { user: sees("userVisible"), agent: sees("agentVisible") }
}

/// The conversation that is sent. Where the whole recording is wanted, the conversation before each summary comes
/// first.
fn conversations(
    source: &mut InputSource<'_>,
    about: &Conversation,
    messages: Vec<Range<usize>>,
) -> Vec<Conversation> {
    let input = source.input;
    let is_message = |at: &Range<usize>| ObjectFields::of(input, at.clone()).has("role");
    let messages: Vec<_> = messages.into_iter().filter(is_message).collect();
    let starts = summaries(input, &messages);
    let mut out = Vec::new();
    if source.recorded {
        let from = std::iter::once(0).chain(starts.iter().copied());
        for (from, end) in from.zip(starts.iter().copied()) {
            out.push(conversation(source, about, &messages[from..end], &starts, from, false));
        }
    }
    if !source.recorded {
        let is_hidden =
            |at: &&Range<usize>| !visibility(&ObjectFields::of(input, (*at).clone())).agent;
        let (before, after) = messages.split_at(starts.last().copied().unwrap_or(0));
        let dropped = before.iter().filter(is_hidden).count();
        if let Some(start) = after.first().filter(|_| dropped > 0) {
            source.note_compacted(start.start, dropped, "messages");
        }
        let mut unseen = UnsentCount::default();
        after.iter().filter(is_hidden).for_each(|at| unseen.add(at.start));
        unseen.note(source, "not-sent", "{} messages that the model does not see are left out");
    }
    out.push(conversation(source, about, &messages, &starts, 0, true));
    out
}

/// The indices of the summaries: messages in the user's role that only the model sees, after messages that it no longer
/// sees.
fn summaries(input: &[u8], messages: &[Range<usize>]) -> Vec<usize> {
    let mut hidden_before = false;
    let mut starts = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let fields = ObjectFields::of(input, message.clone());
        let seen = visibility(&fields);
        if !seen.user && fields.is("role", "user") && hidden_before && is_words(input, &fields) {
            starts.push(at);
        }
        // Nobody sees a summary that was compacted again.
        hidden_before = !seen.agent && (seen.user || hidden_before);
    }
    starts
}

fn is_words(input: &[u8], fields: &ObjectFields<'_>) -> bool {
    let parts = fields.list("content");
    parts.into_iter().all(|part| ObjectFields::of(input, part).is("type", "text"))
}

/// Builds one conversation. `from` is the index of its first message among all messages. With `is_sent`, messages that
/// the model does not see are left out.
fn conversation(
    source: &mut InputSource<'_>,
    about: &Conversation,
    messages: &[Range<usize>],
    summaries: &[usize],
    from: usize,
    is_sent: bool,
) -> Conversation {
    let mut teller = GooseWriter {
        conversation: about.beside(),
        open: HashSet::new(),
        unsent: UnsentCount::default(),
    };
    for (at, message) in messages.iter().enumerate() {
        let fields = ObjectFields::of(source.input, message.clone());
        let seen = visibility(&fields);
        if is_sent && !seen.agent {
            continue;
        }
        let origin = if summaries.binary_search(&(from + at)).is_ok() {
            Some(TextOrigin::Recap)
        } else {
            (!seen.user && seen.agent).then_some(TextOrigin::Injected)
        };
        teller.message(source, message, &fields, origin);
    }
    let detail = "{} parts that the client shows and does not send are left out";
    teller.unsent.note(source, "not-sent", detail);
    teller.conversation
}

/// Builds messages from their parts.
struct GooseWriter {
    conversation: Conversation,
    /// The ids of calls without a result so far.
    open: HashSet<Vec<u8>>,
    /// The parts whose words are never sent.
    unsent: UnsentCount,
}

impl GooseWriter {
    /// Adds the message of one record, and its results as messages of their own.
    fn message<'a>(
        &mut self,
        source: &mut InputSource<'a>,
        at: &Range<usize>,
        fields: &ObjectFields<'a>,
        origin: Option<TextOrigin>,
    ) {
        let mut parts = MessageParts::default();
        for (part, content) in fields.objects("content") {
            let kind = content.text("type").unwrap_or_default();
            if kind == "toolResponse" {
                self.result(source, at, &part, &content);
            } else if SHOWN.contains(&&*kind) || is_for_user_alone(source.input, &content) {
                self.unsent.add(at.start);
            } else {
                parts.add(&part, &content, PARTS);
            }
        }
        if parts.is_empty() {
            return;
        }
        self.open.extend(parts.calls.iter().map(|call| call.id.to_vec()));
        let is_reply = fields.is("role", "assistant");
        let bytes = if is_reply { parts.reply() } else { chat::message("user", &parts.words) };
        let mut event = source.built(bytes, vec![at.clone()]);
        event.origin = origin.filter(|_| !is_reply);
        self.conversation.events.push(event);
    }

    /// Adds the result of a call. A result whose call is missing becomes a text in the user's role.
    fn result<'a>(
        &mut self,
        source: &mut InputSource<'a>,
        at: &Range<usize>,
        part: &Range<usize>,
        content: &ObjectFields<'a>,
    ) {
        let input = source.input;
        let id = content.raw("id").unwrap_or(b"\"\"");
        let result = content.inner("toolResult");
        let value = result.inner("value");
        let list = result.array("value").or_else(|| value.array("content"));
        let mut parts = MessageParts::default();
        for item in scan::elements(input, list.unwrap_or(0..0)) {
            let fields = ObjectFields::of(input, item.clone());
            if is_for_user_alone(input, &fields) {
                self.unsent.add(at.start);
            } else {
                parts.add(&item, &fields, PARTS);
            }
        }
        let mut parts = parts.words;
        parts.extend(chat::text_of(&result, "error").map(ContentPart::Text));
        let bytes = if self.open.remove(id) {
            chat::result(id, None, &parts)
        } else {
            chat::message("user", &parts)
        };
        let is_result = bytes.starts_with(br#"{"role":"tool""#);
        let mut event = source.built(bytes, vec![part.clone()]);
        event.origin = (!is_result).then_some(TextOrigin::Observation);
        // The event is a part of the message, and only the message has the time.
        event.at = facts::moment(&ObjectFields::of(input, at.clone()), "created");
        self.conversation.events.push(event);
    }
}

/// Whether the annotations say that only the user is to see the part.
fn is_for_user_alone(input: &[u8], content: &ObjectFields<'_>) -> bool {
    let audience = content.inner("annotations").array("audience");
    audience.is_some_and(|audience| {
        let names = || scan::elements(input, audience.clone()).map(|at| &input[at]);
        names().next().is_some() && names().all(|name| name != br#""assistant""#)
    })
}

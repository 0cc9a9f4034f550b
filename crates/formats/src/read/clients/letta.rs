//! Reads agent files of Letta (`.af`): agents with their messages, and the ids of those messages that are in the
//! context.
//!
//! Shapes: `letta/schemas/agent_file.py` and `letta/schemas/letta_message_content.py` of letta-ai/letta; in older
//! files, one agent at the top level with `in_context_message_indices`.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use midfold_core::TextOrigin;
use midfold_core::event::RawEvent;

use crate::fields::ObjectFields;
use crate::read::{
    Column, ColumnTable, Conversation, FileMark, FormatDescription, InputDocument, InputSource,
    MessageParts, PartRule, PartTable, TopValue, TranscriptFormat,
    chat::{self, ChatCall, ContentPart},
};
use crate::scan;

/// How the files of this client are recognised and read.
pub(in crate::read) static FORMAT: FormatDescription = FormatDescription::client(
    TranscriptFormat::Letta,
    FileMark::Input(is_of),
    read,
    ColumnTable {
        error: Column::ByReader("`status` of `tool_returns`, `approve`"),
        time: Column::At(&["created_at"]),
        cwd: Column::Lacks("an agent has no folder"),
        mode: Column::Lacks("has no modes"),
        usage: Column::Lacks("an agent file has no steps"),
        model: Column::At(&["model"]),
        parent: Column::ByReader("`in_context_message_ids`"),
        images: Column::ByReader("parts `image`"),
        queued: Column::ByReader("a message of the user"),
        answers: Column::Lacks("asks in a message"),
    },
);

/// The types of objects that Letta itself sends in the user's role.
const EVENTS: [&str; 3] = ["heartbeat", "login", "system_alert"];

fn is_of(doc: InputDocument<'_>, records: &[TopValue]) -> bool {
    records.first().is_some_and(|record| {
        let fields = doc.fields(record.range.clone());
        let first = doc.elements(fields.array("agents").unwrap_or(0..0)).next();
        first.is_some_and(|agent| doc.fields(agent).has("in_context_message_ids"))
            || fields.has("in_context_message_indices")
    })
}

/// Reads the agents of the file.
fn read(source: &mut InputSource<'_>, records: &[TopValue]) -> Vec<Conversation> {
    let input = source.input;
    let mut conversations = Vec::new();
    for record in records {
        let fields = ObjectFields::of(input, record.range.clone());
        let agents: Vec<Range<usize>> = match fields.array("agents") {
            Some(agents) => scan::elements(input, agents).collect(),
            None => vec![record.range.clone()],
        };
        for agent in agents {
            let mut about = Conversation::new(TranscriptFormat::Letta, source.line_of(agent.start));
            let fields = ObjectFields::of(input, agent);
            about.id = fields.label("id").or_else(|| fields.label("name"));
            about.envelope.model = fields.inner("llm_config").label("model");
            let (before, live) = live(source, &fields);
            for messages in [before, live] {
                let mut conversation = about.beside();
                for at in messages {
                    message(source, at, &mut conversation);
                }
                conversations.push(conversation);
            }
        }
    }
    conversations
}

/// The messages that are no longer in the context, and those that are. The first list is empty unless the whole
/// recording is wanted.
fn live(
    source: &mut InputSource<'_>,
    agent: &ObjectFields<'_>,
) -> (Vec<Range<usize>>, Vec<Range<usize>>) {
    let input = source.input;
    let list = agent.array("messages").unwrap_or(0..0);
    let all: Vec<Range<usize>> = scan::elements(input, list.clone()).collect();
    let names = agent.array("in_context_message_ids");
    let indices = agent.array("in_context_message_indices");
    let wanted: Vec<Range<usize>> =
        scan::elements(input, names.clone().or(indices).unwrap_or(0..0)).collect();
    if wanted.is_empty() {
        return (Vec::new(), all);
    }
    let by_id: HashMap<&[u8], usize> = all
        .iter()
        .enumerate()
        .filter_map(|(at, message)| Some((ObjectFields::of(input, message.clone()).raw("id")?, at)))
        .collect();
    let place = |at: Range<usize>| {
        let token = &input[at];
        match names {
            Some(_) => by_id.get(token).copied(),
            None => std::str::from_utf8(token).ok()?.parse().ok().filter(|at| *at < all.len()),
        }
    };
    let count = wanted.len();
    let live: Vec<usize> = wanted.into_iter().filter_map(place).collect();
    if live.len() < count {
        let detail = format!(
            "{} of {count} messages of the context are not in the file: Letta exports the newest ones only",
            count - live.len()
        );
        source.note(list.start, "missing-messages", detail);
    }
    let is_live: std::collections::HashSet<usize> = live.iter().copied().collect();
    let others = (0..all.len()).filter(|at| !is_live.contains(at));
    let before: Vec<Range<usize>> = others.map(|at| all[at].clone()).collect();
    let live = live.into_iter().map(|at| all[at].clone()).collect();
    if before.is_empty() || source.recorded {
        return (before, live);
    }
    let detail = format!("{} messages are no longer in the context", before.len());
    source.note(list.start, "compacted-before", detail);
    (Vec::new(), live)
}

/// The parts of a message's content.
const PARTS: PartTable = &[
    ("text", PartRule::Text("text")),
    ("image", PartRule::Link("source.url")),
    ("image", PartRule::Image("source.media_type", "source.data")),
    ("reasoning", PartRule::Thought("reasoning")),
    // Nobody but its provider can read this reasoning.
    ("redacted_reasoning", PartRule::Unsent),
    ("omitted_reasoning", PartRule::Unsent),
    ("tool_call", PartRule::Call("id", "name", "input")),
    ("tool_return", PartRule::Text("content")),
];

/// Adds the events of one message.
fn message(source: &mut InputSource<'_>, at: Range<usize>, conversation: &mut Conversation) {
    let input = source.input;
    let fields = ObjectFields::of(input, at.clone());
    let content = content(&fields);
    let role = fields.text("role").unwrap_or_default();
    let mut messages = Vec::new();
    let mut origin = None;
    match &*role {
        "assistant" => messages.push(content.reply()),
        // An approval with a call asks a person; an approval without one is the answer.
        "approval" if !content.calls.is_empty() => {
            messages.push(content.reply());
        }
        "tool" | "approval" => {
            for (bytes, failed) in results(input, &fields, &content.words) {
                let event = source.built(bytes, vec![at.clone()]);
                conversation.events.push(RawEvent { failed, ..event });
            }
        }
        "system" => messages.push(chat::message("system", &content.words)),
        role => {
            origin =
                if role == "summary" { Some(TextOrigin::Recap) } else { spoken(&content.words) };
            messages.push(chat::message("user", &content.words));
        }
    }
    for bytes in messages {
        let mut event = source.built(bytes, vec![at.clone()]);
        event.origin = origin;
        conversation.events.push(event);
    }
}

/// The parts of a message, with the calls that are listed beside its content.
fn content<'a>(message: &ObjectFields<'a>) -> MessageParts<'a> {
    let mut parts = MessageParts::of(message, PARTS);
    // Older files have the text in a member of its own.
    parts.words.extend(
        message.string("text").and_then(|_| chat::text_of(message, "text")).map(ContentPart::Text),
    );
    for (_, call) in message.objects("tool_calls") {
        let function = call.inner("function");
        let raw =
            |fields: &ObjectFields<'a>, name| Cow::Borrowed(fields.raw(name).unwrap_or(b"\"\""));
        let (id, name) = (raw(&call, "id"), raw(&function, "name"));
        // The content and the list of calls may hold the same call.
        if parts.calls.iter().all(|known| known.id != id) {
            parts.calls.push(ChatCall { id, name, arguments: function.raw("arguments") });
        }
    }
    parts
}

/// The results of a message, each with whether its call failed. Results of several calls are in a list; the result of a single call is the message's
/// content.
fn results(
    input: &[u8],
    message: &ObjectFields<'_>,
    parts: &[ContentPart<'_>],
) -> Vec<(Vec<u8>, bool)> {
    let is_full = |list: &Range<usize>| scan::elements(input, list.clone()).next().is_some();
    let list =
        ["tool_returns", "approvals"].iter().find_map(|name| message.array(name).filter(is_full));
    let returns: Vec<ObjectFields<'_>> =
        scan::elements(input, list.unwrap_or(0..0)).map(|at| ObjectFields::of(input, at)).collect();
    let own = message.raw("tool_call_id").filter(|id| id.first() == Some(&b'"'));
    if let Some(id) = own.filter(|_| returns.len() < 2) {
        let bytes = chat::result(id, message.raw("name").filter(|name| *name != b"null"), parts);
        let failed = returns.iter().any(|result| result.is("status", "error"));
        return vec![(bytes, failed)];
    }
    let named = |fields: &ObjectFields<'_>| fields.string("tool_call_id").is_some();
    if returns.is_empty() || !returns.iter().all(named) {
        return vec![(chat::message("user", parts), false)];
    }
    let words = ["func_response", "tool_return", "reason", "stdout", "stderr"];
    returns
        .iter()
        .map(|result| {
            let texts = words.iter().filter_map(|name| match result.raw(name)? {
                b"[]" => None,
                _ => chat::text_of(result, name).map(ContentPart::Text),
            });
            let is_denied = result.raw("approve") == Some(b"false");
            let denied =
                is_denied.then(|| ContentPart::Text(chat::token("The user denied this call.")));
            let id = result.raw("tool_call_id").unwrap_or(b"\"\"");
            let parts: Vec<_> = denied.into_iter().chain(texts).collect();
            (chat::result(id, None, &parts), is_denied || result.is("status", "error"))
        })
        .collect()
}

/// The origin of a message in the user's role. Letta wraps its own words in an object with a `type`. `None` for words
/// of the user.
fn spoken(parts: &[ContentPart<'_>]) -> Option<TextOrigin> {
    let [ContentPart::Text(token)] = parts else { return None };
    let text = midfold_core::jsonstr::decode(token);
    let text = text.trim();
    let fields = ObjectFields::of(text.as_bytes(), 0..text.len());
    let kind = fields.text("type")?;
    let is_recap =
        fields.text("message").is_some_and(|words| words.starts_with("Note: prior messages"));
    let is_event = EVENTS.contains(&&*kind);
    is_event.then_some(if is_recap { TextOrigin::Recap } else { TextOrigin::Injected })
}

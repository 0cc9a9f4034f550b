//! Reads sessions of Continue: `~/.continue/sessions/ID.json`, of the editor and of the command line `cn`.
//!
//! Shapes: `Session` and `ChatHistoryItem` in `core/index.d.ts`, and `gui/src/redux/util/constructMessages.ts` (what is
//! sent of them), of continuedev/continue.

use std::borrow::Cow;
use std::ops::Range;

use midfold_core::event::RawEvent;
use midfold_core::view::TextOrigin;

use super::spoken::SpokenParts;
use crate::fields::ObjectFields;
use crate::read::{
    Column, ColumnTable, Conversation, FileMark, FormatDescription, InputDocument, InputSource,
    MessageParts, PartRule, PartTable, TopValue, TranscriptFormat, UsagePlace,
    chat::{self, ContentPart, StringToken},
};
use crate::usage;

/// How the files of this client are recognised and read.
pub(in crate::read) static FORMAT: FormatDescription = FormatDescription::client(
    TranscriptFormat::Continue,
    FileMark::Record(is_of),
    read,
    ColumnTable {
        error: Column::ByReader("`toolCallStates.status: \"errored\"` or `\"canceled\"`"),
        time: Column::Lacks("only the list of all sessions has a time"),
        cwd: Column::Unread("`workspaceDirectory`"),
        mode: Column::Unread("`mode`"),
        usage: Column::At(UsagePlace::new("usage", usage::continue_dev)),
        model: Column::ByReader("`chatModelTitle`"),
        parent: Column::Lacks("the client cuts the list when it goes back"),
        images: Column::ByReader("parts `imageUrl`"),
        queued: Column::ByReader("a message of the user"),
        answers: Column::ByReader("the result of the tool that asks"),
    },
);

const PARTS: PartTable =
    &[("text", PartRule::Text("text")), ("imageUrl", PartRule::Link("imageUrl.url"))];
const CALL: PartRule = PartRule::Call("id", "function.name", "function.arguments");

fn is_of(doc: InputDocument<'_>, at: Range<usize>) -> bool {
    let fields = doc.fields(at);
    let is_item = |at: Range<usize>| doc.fields(at).object("message").is_some();
    fields.string("sessionId").is_some()
        && fields.string("workspaceDirectory").is_some()
        && fields.array("history").is_some_and(|list| doc.elements(list).all(is_item))
}

fn read(source: &mut InputSource<'_>, records: &[TopValue]) -> Vec<Conversation> {
    records.iter().flat_map(|record| session(source, record)).collect()
}

/// The conversation of a session. Where the whole recording is wanted, the conversation before each summary comes first.
fn session(source: &mut InputSource<'_>, record: &TopValue) -> Vec<Conversation> {
    let fields = ObjectFields::of(source.input, record.range.clone());
    let mut talk = Conversation::new(TranscriptFormat::Continue, record.line);
    talk.id = fields.label("sessionId");
    talk.envelope.model = fields.label("chatModelTitle");
    let mut conversations = Vec::new();
    let mut thoughts = Vec::new();
    for (_, item) in fields.objects("history") {
        item_of(source, &item, &mut thoughts, &mut talk);
        let Some(summary) = item.string("conversationSummary") else { continue };
        if source.recorded {
            conversations.push(talk.clone());
        } else {
            source.note_compacted(summary.start, talk.events.len(), "messages");
        }
        talk.events = vec![source.recap(summary)];
    }
    conversations.push(talk);
    conversations
}

/// Adds the messages of one item. `thoughts` wait for the reply after them.
fn item_of<'a>(
    source: &mut InputSource<'a>,
    item: &ObjectFields<'a>,
    thoughts: &mut Vec<StringToken<'a>>,
    talk: &mut Conversation,
) {
    let Some(at) = item.object("message") else { return };
    let message = item.inner("message");
    let mut parts = MessageParts::of(&message, PARTS);
    match &*message.text("role").unwrap_or_default() {
        // The client sends the prompt of the moment, and the results that are beside their calls.
        "system" | "tool" => {}
        "thinking" => thoughts.extend(chat::text_of(&message, "content")),
        "assistant" => {
            parts.thoughts.append(thoughts);
            parts.add_calls(&message, "toolCalls", &[CALL]);
            talk.events.push(source.built(parts.reply(), vec![at]));
            for (at, state) in item.objects("toolCallStates") {
                talk.events.extend(result(source, at, &state));
            }
        }
        _ => {
            let mut spoken = SpokenParts::default();
            for (at, context) in item.objects("contextItems") {
                let text = chat::text_of(&context, "content").map(ContentPart::Text);
                text.into_iter().for_each(|text| {
                    spoken.push(Some(TextOrigin::Injected), text, at.clone());
                });
            }
            parts.words.into_iter().for_each(|word| spoken.push(None, word, at.clone()));
            talk.events.extend(spoken.events(source));
        }
    }
}

/// The result of a call. `None` where the call has not ended.
fn result(
    source: &mut InputSource<'_>,
    at: Range<usize>,
    state: &ObjectFields<'_>,
) -> Option<RawEvent> {
    let status = state.text("status").unwrap_or_default();
    let failed = matches!(&*status, "errored" | "canceled");
    let outputs =
        state.objects("output").filter_map(|(_, output)| chat::text_of(&output, "content"));
    let outputs: Vec<_> = outputs.map(ContentPart::Text).collect();
    if outputs.is_empty() && !failed && status != "done" {
        return None;
    }
    let id = chat::text_of(state, "toolCallId").unwrap_or(Cow::Borrowed(b"\"\""));
    let event = source.built(chat::result(&id, None, &outputs), vec![at]);
    Some(RawEvent { failed, ..event })
}

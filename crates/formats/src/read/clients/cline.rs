//! Reads `api_conversation_history.json` of Cline and Roo Code: a list of Anthropic messages. Newer releases of Cline
//! write sessions instead, which [`cline_session`] reads.
//!
//! Shapes: `src/core/task-persistence/apiMessages.ts` and `src/core/condense/index.ts` of RooCodeInc/Roo-Code (the
//! messages that it sends after its own compaction), `src/core/task` of cline/cline. Messages are copied as they are,
//! with one exception: where a call has an id and its result is a text with a label, `[read_file for 'a'] Result:`,
//! that text becomes the result of the call.

use std::collections::HashSet;
use std::ops::Range;

use midfold_core::event::RawEvent;
use midfold_core::{TextOrigin, Voice};

use super::cline_blocks::{self, LeftOutReasoning};
use super::cline_session;
use crate::fields::ObjectFields;
use crate::read::{
    Column, ColumnTable, Conversation, FileMark, FormatDescription, InputDocument, InputSource,
    MessageWrapper, TopValue, TranscriptFormat, UsagePlace, entries,
};
use crate::usage;
use crate::voices::{call_label, split};

/// How the files of this client are recognised and read.
pub(in crate::read) static FORMAT: FormatDescription = FormatDescription::client(
    TranscriptFormat::Cline,
    FileMark::Input(is_history),
    read,
    ColumnTable {
        error: Column::ByReader("`is_error` of the block"),
        time: Column::At(&["ts"]),
        cwd: Column::Unread("`<environment_details>`"),
        mode: Column::Unread("`modelInfo.mode`"),
        usage: Column::At(UsagePlace::new("metrics", usage::cline)),
        model: Column::At(&["modelInfo.modelId", "modelInfo.id"]),
        parent: Column::Lacks("messages are in one list"),
        images: Column::ByReader("blocks `image`"),
        queued: Column::ByReader("text beside the results"),
        answers: Column::ByReader("the result of `ask_followup_question`"),
    },
);

/// Members that only these two clients write beside role and content.
const MARKS: [&str; 7] = [
    "isSummary",
    "condenseId",
    "condenseParent",
    "truncationId",
    "truncationParent",
    "isTruncationMarker",
    "modelInfo",
];

/// The starts of texts that the client adds beside a result. `\u{44}` is a D.
const BESIDE: [&str; 3] = ["<environment_details>", "# task_progress", "# TO\u{44}O LIST"];

fn is_history(doc: InputDocument<'_>, records: &[TopValue]) -> bool {
    FileMark::Record(cline_session::is_of).is_in(doc, records)
        || FileMark::Entry(&[], is_of).is_in(doc, records)
}

fn is_of(doc: InputDocument<'_>, at: Range<usize>) -> bool {
    let fields = doc.fields(at);
    let is_message = fields.is("role", "user") || fields.is("role", "assistant");
    is_message && (MARKS.iter().any(|name| fields.has(name)) || is_labelled(doc, &fields))
}

/// Whether a message has the client's text about its environment, or a result with a label.
fn is_labelled(doc: InputDocument<'_>, message: &ObjectFields<'_>) -> bool {
    message.is("role", "user")
        && doc.elements(message.array("content").unwrap_or(0..0)).any(|block| {
            let text = doc.fields(block).text("text").unwrap_or_default();
            let text = text.trim();
            label(text).is_some()
                || text.starts_with(BESIDE[0]) && text.ends_with("</environment_details>")
        })
}

/// Whether this is `ui_messages.json`, which holds what the client shows and not what it sends.
pub(super) fn is_shown(doc: InputDocument<'_>, records: &[TopValue]) -> bool {
    entries::all(doc, records, &[]).next().is_some_and(|at| {
        let fields = doc.fields(at);
        let kind = fields.text("type").unwrap_or_default();
        fields.has("ts") && matches!(&*kind, "say" | "ask") && fields.has(&kind)
    })
}

fn read(source: &mut InputSource<'_>, records: &[TopValue]) -> Vec<Conversation> {
    let Some(first) = records.first() else { return Vec::new() };
    let doc = InputDocument { bytes: source.input, outline: None };
    if cline_session::is_of(doc, first.range.clone()) {
        return cline_session::read(source, records);
    }
    let all: Vec<Range<usize>> = entries::all(doc, records, &[]).collect();
    let mut about = Conversation::new(TranscriptFormat::Cline, first.line);
    if doc.bytes.get(first.range.start) == Some(&b'[') {
        about.envelope.wrapper = Some(MessageWrapper::default());
    }
    let mut conversations = Vec::new();
    if source.recorded {
        for before in before(source.input, &all) {
            conversations.push(conversation(source, &about, before.into_iter().cloned()));
        }
    }
    let messages = sent_messages(source, &all);
    note_reasoning(source, if source.recorded { all.iter().collect() } else { messages.clone() });
    conversations.push(conversation(source, &about, messages.into_iter().cloned()));
    conversations
}

/// The messages that were sent before each summary or truncation, oldest first.
fn before<'m>(input: &[u8], all: &'m [Range<usize>]) -> Vec<Vec<&'m Range<usize>>> {
    let fields = |at: &Range<usize>| ObjectFields::of(input, at.clone());
    let mut from = 0;
    let mut markers = HashSet::new();
    let mut contexts = Vec::new();
    for (end, at) in all.iter().enumerate() {
        let message = fields(at);
        if message.is_true("isSummary") {
            let shown = |at: &&Range<usize>| !is_hidden(&fields(at), &markers);
            contexts.push(all[from..end].iter().filter(shown).collect());
            // A summary replaces all before it.
            from = end;
        } else if message.is_true("isTruncationMarker") {
            let id = message.label("truncationId").unwrap_or_default();
            contexts.push(before_truncation(input, &all[from..], end - from, &markers, &id));
            markers.insert(id);
        }
    }
    contexts
}

/// The messages that were sent before a truncation. It hides the older half, and its marker is put behind that half. As
/// many messages as it hides, or a few more, were there behind the marker already; how many came later is not recorded.
fn before_truncation<'m>(
    input: &[u8],
    all: &'m [Range<usize>],
    marker: usize,
    markers: &HashSet<String>,
    id: &str,
) -> Vec<&'m Range<usize>> {
    let fields = |at: &Range<usize>| ObjectFields::of(input, at.clone());
    let is_older = |at: &&Range<usize>| {
        fields(at).label("truncationParent").is_some_and(|parent| parent == id)
    };
    let older = all[..marker].iter().filter(is_older).count();
    let newer = all[marker + 1..].iter().take_while(|at| !fields(at).is_true("isSummary"));
    let newer = newer.filter(|at| !fields(at).is_true("isTruncationMarker")).take(older);
    let shown = |at: &&Range<usize>| !is_hidden(&fields(at), markers);
    all[..marker].iter().filter(shown).chain(newer).collect()
}

/// Whether one of these truncations hides a message.
fn is_hidden(message: &ObjectFields<'_>, truncations: &HashSet<String>) -> bool {
    message.label("truncationParent").is_some_and(|id| truncations.contains(&id))
}

/// The messages that are left after the client's own compactions: all from the newest summary on, without those that a
/// truncation marker hides. A summary or marker that was undone hides nothing.
fn sent_messages<'m>(
    source: &mut InputSource<'_>,
    all: &'m [Range<usize>],
) -> Vec<&'m Range<usize>> {
    let input = source.input;
    let fields = |at: &Range<usize>| ObjectFields::of(input, at.clone());
    let from = all.iter().rposition(|at| fields(at).is_true("isSummary")).unwrap_or(0);
    let markers: HashSet<String> = all[from..]
        .iter()
        .map(fields)
        .filter(|message| message.is_true("isTruncationMarker"))
        .filter_map(|message| message.label("truncationId"))
        .collect();
    let shown = |at: &&Range<usize>| !is_hidden(&fields(at), &markers);
    let messages: Vec<_> = all[from..].iter().filter(shown).collect();
    let dropped = all.len() - messages.len();
    if dropped > 0 && !source.recorded {
        let at = all.get(from).map_or(0, |at| at.start);
        source.note_compacted(at, dropped, "messages");
    }
    messages
}

fn conversation(
    source: &mut InputSource<'_>,
    about: &Conversation,
    messages: impl Iterator<Item = Range<usize>>,
) -> Conversation {
    let mut conversation = about.beside();
    let mut open = Vec::new();
    for at in messages {
        let fields = ObjectFields::of(source.input, at.clone());
        if is_encrypted(&fields) {
            continue;
        }
        conversation.events.push(event(source, at, &fields, &mut open));
    }
    conversation
}

/// Whether a message is reasoning that only its own provider reads.
fn is_encrypted(message: &ObjectFields<'_>) -> bool {
    message.is("type", "reasoning") && !message.has("content")
}

fn note_reasoning(source: &mut InputSource<'_>, messages: Vec<&Range<usize>>) {
    for at in messages {
        let message = ObjectFields::of(source.input, at.clone());
        if is_encrypted(&message) {
            LeftOutReasoning::Encrypted.note(source, at.start);
        }
        cline_blocks::note_reasoning(source, at.start, &message);
    }
}

/// A call without a result so far: its name, and the token of its id.
struct ClineCall<'a> {
    name: String,
    id: &'a [u8],
}

/// The event of a message. `open` are the calls without a result so far.
fn event<'a>(
    source: &mut InputSource<'a>,
    at: Range<usize>,
    fields: &ObjectFields<'a>,
    open: &mut Vec<ClineCall<'a>>,
) -> RawEvent {
    let input = source.input;
    let blocks: Vec<Range<usize>> = fields.list("content").collect();
    if fields.is("role", "assistant") {
        // Only the newest reply can have open calls: the provider wants their results in the next message.
        *open = blocks.iter().filter_map(|block| call(input, block.clone())).collect();
        return own_event(source, at, fields);
    }
    let answered = |id: &[u8]| {
        blocks
            .iter()
            .any(|block| ObjectFields::of(input, block.clone()).raw("tool_use_id") == Some(id))
    };
    open.retain(|call| !answered(call.id));
    let (content, beside) = with_results(input, fields, &blocks, open);
    let mut event = match content {
        Some(content) => {
            let list = fields.array("content").unwrap_or(at.end..at.end);
            let before = &input[at.start..list.start];
            let bytes = [before, &content, &input[list.end..at.end]].concat();
            source.built(bytes, vec![at])
        }
        None => own_event(source, at, fields),
    };
    if fields.is_true("isSummary") {
        event.origin = Some(TextOrigin::Recap);
    } else if fields.is_true("isTruncationMarker") {
        event.origin = Some(TextOrigin::Injected);
    } else {
        event.origin = spoken(input, fields, &beside);
    }
    event
}

/// The message as it is, but for blocks that Anthropic does not have.
fn own_event(
    source: &mut InputSource<'_>,
    at: Range<usize>,
    fields: &ObjectFields<'_>,
) -> RawEvent {
    match cline_blocks::rewritten(source.input, &at, fields) {
        Some(bytes) => source.built(bytes, vec![at]),
        None => source.event(at),
    }
}

fn call(input: &[u8], block: Range<usize>) -> Option<ClineCall<'_>> {
    let fields = ObjectFields::of(input, block);
    let is_call = fields.is("type", "tool_use");
    let id = fields.raw("id").filter(|id| is_call && id.len() > 2)?;
    Some(ClineCall { name: fields.label("name").unwrap_or_default(), id })
}

/// The tool name in the label of a result, and whether the result follows in the same text. `None` for a text without a
/// label.
fn label(text: &str) -> Option<(&str, bool)> {
    call_label(text).map(|label| (label.name, !label.result.trim().is_empty()))
}

/// The origin of the words beside the results. `None` where words of the user are among them.
fn spoken(input: &[u8], fields: &ObjectFields<'_>, blocks: &[Range<usize>]) -> Option<TextOrigin> {
    let blocks: Vec<ObjectFields<'_>> =
        blocks.iter().map(|block| ObjectFields::of(input, block.clone())).collect();
    if blocks.iter().any(|block| !block.is("type", "text") && !block.is("type", "tool_result")) {
        return None;
    }
    let texts: Vec<_> = blocks.iter().filter_map(|block| block.text("text")).collect();
    let whole = fields.text("content");
    let texts: Vec<&str> = texts.iter().chain(&whole).map(|text| &**text).collect();
    let passages = split(&texts);
    let has = |wanted: Voice| passages.iter().any(|part| part.voice == wanted);
    match (has(Voice::User) || has(Voice::Shown), has(Voice::Tool), has(Voice::Client)) {
        (true, ..) | (_, false, false) => None,
        (_, true, _) => Some(TextOrigin::Observation),
        (_, _, true) => Some(TextOrigin::Injected),
    }
}

/// The content with the labelled texts as results of the open calls, and the blocks beside the results. The content is
/// `None` where there are no such texts.
fn with_results(
    input: &[u8],
    fields: &ObjectFields<'_>,
    blocks: &[Range<usize>],
    open: &mut Vec<ClineCall<'_>>,
) -> (Option<Vec<u8>>, Vec<Range<usize>>) {
    let mut results: Vec<(&[u8], Vec<&[u8]>)> = Vec::new();
    let mut beside: Vec<Range<usize>> = Vec::new();
    let mut goes_on = false;
    for at in blocks {
        let block = ObjectFields::of(input, at.clone());
        let text = block.text("text").unwrap_or_default();
        let text = text.trim();
        if let Some((name, whole)) = label(text)
            && let Some(call) = answered_by(open, name)
        {
            results.push((open.remove(call).id, vec![&input[at.clone()]]));
            // A text that ends with its label has the result in the blocks after it.
            goes_on = !whole;
            continue;
        }
        let is_result = block.is("type", "text") || block.is("type", "image");
        let is_clients =
            label(text).is_some() || BESIDE.iter().any(|start| text.starts_with(start));
        match results.last_mut() {
            Some((_, parts)) if goes_on && is_result && !is_clients => {
                parts.push(&input[at.clone()]);
            }
            _ => {
                goes_on = false;
                beside.push(at.clone());
            }
        }
    }
    if results.is_empty() || !fields.is("role", "user") {
        return (None, beside);
    }
    // The provider wants results before all other blocks.
    let results = results.iter().map(|(id, parts)| {
        let head = [br#"{"type":"tool_result","tool_use_id":"#, *id, br#","content":["#].concat();
        [head, parts.join(&b','), b"]}".to_vec()].concat()
    });
    let others = beside.iter().map(|at| input[at.clone()].to_vec());
    let all: Vec<Vec<u8>> = results.chain(others).collect();
    (Some([b"[".to_vec(), all.join(&b','), b"]".to_vec()].concat()), beside)
}

/// The index of the first open call of this name, or of the only open call. The label names a tool of a server
/// otherwise than its call does.
fn answered_by(open: &[ClineCall<'_>], name: &str) -> Option<usize> {
    open.iter().position(|call| call.name == name).or_else(|| (open.len() == 1).then_some(0))
}

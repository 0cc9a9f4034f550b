//! Reads sessions of Factory Droid: a list of records, one per line, whose messages are Anthropic's.
//!
//! Droid is closed source. The shape is the one on which its readers agree: the `factory` converters of public session
//! viewers (`session_start`, `message` with `parentId`, `compaction_state` with `summaryText` and `anchorMessage`).

use std::collections::HashMap;
use std::ops::Range;

use midfold_core::event::RawEvent;
use midfold_core::view::TextOrigin;

use crate::fields::ObjectFields;
use crate::read::{
    Column, ColumnTable, Conversation, FileMark, FormatDescription, InputDocument, InputSource,
    TopValue, TranscriptFormat, UsagePlace, tree,
};
use crate::scan;
use crate::usage;

/// How the files of this client are recognised and read.
pub(in crate::read) static FORMAT: FormatDescription = FormatDescription::client(
    TranscriptFormat::Droid,
    FileMark::Record(is_of),
    read,
    ColumnTable {
        error: Column::ByReader("`is_error` of the block"),
        time: Column::At(&["timestamp"]),
        cwd: Column::Unread("`session_start.cwd`"),
        mode: Column::Lacks("no known record has it"),
        usage: Column::At(UsagePlace::new("usage", usage::anthropic)),
        model: Column::InRecord(&["message.model", "model"]),
        parent: Column::ByReader("`parentId`"),
        images: Column::ByReader("blocks `image`"),
        queued: Column::ByReader("a message of the user"),
        answers: Column::ByReader("the result of the tool that asks"),
    },
);

/// Whether the records hold the start of a session of Droid, or a record that only Droid writes.
fn is_of(doc: InputDocument<'_>, at: Range<usize>) -> bool {
    let fields = doc.fields(at);
    match &*fields.text("type").unwrap_or_default() {
        "session_start" => {
            let named = ["cwd", "owner", "title", "sessionTitle"];
            fields.string("id").is_some() && named.iter().any(|name| fields.has(name))
        }
        "compaction_state" => fields.string("summaryText").is_some(),
        // Records of pi have this shape too, but not these blocks.
        "message" if fields.string("id").is_some() && !fields.has("uuid") => {
            let blocks = fields.inner("message").array("content").unwrap_or(0..0);
            doc.elements(blocks).any(|block| is_call(&doc.fields(block)))
        }
        _ => false,
    }
}

fn is_call(block: &ObjectFields<'_>) -> bool {
    block.is("type", "tool_use") || block.is("type", "tool_result")
}

/// A message, with its place in the tree.
struct DroidMessage {
    range: Range<usize>,
    line: usize,
    id: Option<String>,
    /// The index of its parent among the messages. `None` for the first one.
    parent: Option<usize>,
}

/// A compaction of the client.
struct DroidCompaction {
    /// The range of the record.
    record: Range<usize>,
    /// The range of the summary's string token.
    summary: Range<usize>,
    /// The index of the first message that it keeps.
    kept_from: usize,
    /// The number of messages before it.
    end: usize,
}

/// Reads the records. A file may hold several sessions, one after the other.
fn read(source: &mut InputSource<'_>, records: &[TopValue]) -> Vec<Conversation> {
    let input = source.input;
    let Some(first) = records.first() else { return Vec::new() };
    let mut about = Conversation::new(TranscriptFormat::Droid, first.line);
    let mut messages: Vec<DroidMessage> = Vec::new();
    let mut by_id: HashMap<String, usize> = HashMap::new();
    let mut compactions = Vec::new();
    let mut out = Vec::new();
    for record in records {
        let fields = ObjectFields::of(input, record.range.clone());
        match &*fields.text("type").unwrap_or_default() {
            "session_start" => {
                let before = std::mem::take(&mut messages);
                out.extend(conversations(source, before, std::mem::take(&mut compactions), &about));
                by_id.clear();
                about = Conversation::new(TranscriptFormat::Droid, record.line);
                about.id = fields.label("id");
            }
            "message" => {
                let at = fields.object("message").unwrap_or_else(|| record.range.clone());
                let named = fields.label("parentId");
                let known = named.as_ref().and_then(|id| by_id.get(id).copied());
                // Older files name no parents: the message before is the parent.
                let parent = known.or_else(|| messages.len().checked_sub(1));
                let id = fields.label("id");
                if let Some(id) = &id {
                    by_id.insert(id.clone(), messages.len());
                }
                messages.push(DroidMessage { range: at, line: record.line, id, parent });
            }
            "compaction_state" => {
                let Some(summary) = fields.string("summaryText") else { continue };
                let kept_from = first_kept(&fields, &by_id).unwrap_or(messages.len());
                let (record, end) = (record.range.clone(), messages.len());
                compactions.push(DroidCompaction { record, summary, kept_from, end });
            }
            _ => {}
        }
    }
    out.extend(conversations(source, messages, compactions, &about));
    out
}

/// The index of the first message after those that a summary replaces. The anchor is the last replaced message. It is
/// the first kept one where its index is not below the number of removed messages. `None` where the anchor is unknown.
fn first_kept(fields: &ObjectFields<'_>, by_id: &HashMap<String, usize>) -> Option<usize> {
    let anchor = fields.inner("anchorMessage");
    let at = anchor.label("id").and_then(|id| by_id.get(&id).copied())?;
    let counts = (anchor.count("index"), fields.count("removedCount"));
    let is_kept = matches!(counts, (Some(index), Some(removed)) if index >= removed);
    Some(if is_kept { at } else { at + 1 })
}

/// The conversation of a session. Where the whole recording is wanted, the conversation before each compaction comes
/// first.
fn conversations(
    source: &mut InputSource<'_>,
    messages: Vec<DroidMessage>,
    mut compactions: Vec<DroidCompaction>,
    about: &Conversation,
) -> Vec<Conversation> {
    let path = path(source, &messages);
    let mut out = Vec::new();
    let mut shown = (0, None);
    // A summary of an abandoned branch is no longer sent.
    compactions.retain(|compaction| {
        // The path may hold the last replaced message or only the first kept one.
        let around = compaction.kept_from.saturating_sub(1)..=compaction.kept_from;
        path.iter().any(|at| around.contains(at)) || path.is_empty()
    });
    let first = if source.recorded { 0 } else { compactions.len() };
    for until in first..=compactions.len() {
        let last = until.checked_sub(1).and_then(|at| compactions.get(at));
        let end = compactions.get(until).map_or(messages.len(), |next| next.end);
        let mut conversation = about.beside();
        if let Some(last) = last {
            if !source.recorded {
                let dropped = path.iter().filter(|at| **at < last.kept_from).count();
                source.note_compacted(last.record.start, dropped, "messages");
            }
            conversation.events.push(source.recap(last.summary.clone()));
        }
        let kept_from = last.map_or(0, |last| last.kept_from);
        for at in path.iter().filter(|at| (kept_from..end).contains(at)) {
            match event(source, &messages[*at]) {
                Some(event) => conversation.events.push(event),
                // Each message is counted once, for the last conversation.
                None if until == compactions.len() => {
                    count(source, &messages[*at], &mut shown);
                }
                None => {}
            }
        }
        out.push(conversation);
    }
    if let (count, Some(line)) = shown {
        let detail = format!("{count} messages that only a person is shown are left out");
        source.problems.push(crate::problem::ReadProblem::new("not-sent", detail).at(line));
    }
    out
}

fn count(source: &InputSource<'_>, message: &DroidMessage, shown: &mut (usize, Option<usize>)) {
    let fields = ObjectFields::of(source.input, message.range.clone());
    let has_words = fields
        .array("content")
        .is_some_and(|list| scan::elements(source.input, list).next().is_some());
    if has_words || fields.string("content").is_some_and(|text| text.len() > 2) {
        *shown = (shown.0 + 1, shown.1.or(Some(message.line)));
    }
}

/// The indices of the messages from the root to the newest one.
fn path(source: &mut InputSource<'_>, messages: &[DroidMessage]) -> Vec<usize> {
    let path = tree::path(messages.len().checked_sub(1), |at| messages[at].parent);
    let off = messages.len() - path.len();
    let mut on_path = path.iter().copied().peekable();
    let first_off = (0..messages.len()).find(|at| on_path.next_if_eq(at).is_none());
    if let Some(first) = first_off {
        let detail =
            format!("{off} messages of branches that the user went back from are left out");
        let id = messages[first].id.as_deref().unwrap_or("?");
        let detail = format!("{detail}, the first is `{id}`");
        source.note(messages[first].range.start, "abandoned-branch", detail);
    }
    path
}

/// The message as it is sent. `None` for one that is only shown to a person.
fn event(source: &mut InputSource<'_>, message: &DroidMessage) -> Option<RawEvent> {
    let input = source.input;
    let fields = ObjectFields::of(input, message.range.clone());
    let visible = fields.text("visibility").unwrap_or_default();
    if !fields.has("content")
        || fields.has("hookEventName")
        || matches!(&*visible, "user_only" | "none")
    {
        return None;
    }
    let mut event = source.event(message.range.clone());
    let blocks: Vec<_> = fields.list("content").map(|at| ObjectFields::of(input, at)).collect();
    let is_reminder = |block: &ObjectFields<'_>| {
        block.text("text").is_some_and(|text| text.trim_start().starts_with("<system-reminder>"))
    };
    let is_injected = visible == "llm_only" && !blocks.iter().any(is_call)
        || !blocks.is_empty() && blocks.iter().all(is_reminder);
    event.origin = (fields.is("role", "user") && is_injected).then_some(TextOrigin::Injected);
    Some(event)
}

//! Reads session files of pi, versions 1 to 3: a list of entries, in newer versions a tree.

use std::collections::HashMap;
use std::ops::Range;

use midfold_core::event::RawEvent;
use midfold_core::view::TextOrigin;

use super::source::InputSource;
use super::text::TopValue;
use super::{Conversation, TranscriptFormat, pi_message, tree};
use crate::fields::ObjectFields;
use crate::read::columns::{Column, ColumnTable, FailureMark, UsagePlace};
use crate::read::description::{FormatDescription, FormatReader};
use crate::usage;

/// How the files of this client are read.
pub(in crate::read) static FORMAT: FormatDescription = FormatDescription {
    format: TranscriptFormat::Pi,
    mark: None,
    reader: FormatReader::Session(read),
    columns: ColumnTable {
        error: Column::At(&[FailureMark::is("isError", &["true"])]),
        time: Column::At(&["timestamp"]),
        cwd: Column::Unread("`session.cwd`"),
        mode: Column::Lacks("has no modes"),
        usage: Column::At(UsagePlace::new("usage", usage::pi)),
        model: Column::ByReader("`model`, `model_change`"),
        parent: Column::ByReader("`parentId`"),
        images: Column::ByReader("parts `image`"),
        queued: Column::ByReader("a message of the user"),
        answers: Column::Lacks("has no tool that asks"),
    },
    builds_replies: false,
};

/// One line of the file.
struct PiEntry {
    range: Range<usize>,
    kind: String,
    id: Option<String>,
    /// The index of the parent among the entries. `None` for a root.
    parent: Option<usize>,
}

/// Reads the entries. Where the whole recording is wanted, the conversation before each compaction comes first.
fn read(source: &mut InputSource<'_>, records: &[TopValue]) -> Vec<Conversation> {
    let Some(first) = records.first() else { return Vec::new() };
    let entries = entries(source.input, records);
    let path = path(source, &entries);
    let mut about = Conversation::new(TranscriptFormat::Pi, first.line);
    describe(source, &entries, &mut about);
    let is_compaction = |at: &usize| entries[path[*at]].kind == "compaction";
    let compactions = (0..path.len()).filter(is_compaction).filter(|_| source.recorded);
    let ends: Vec<usize> = compactions.chain([path.len()]).collect();
    let mut conversations = Vec::new();
    for end in ends {
        let mut conversation = about.beside();
        // An edit counts only from where it was made.
        let edits = edits(source.input, &entries, &path[..end]);
        let (recap, context) = after_compaction(source, &entries, &path[..end]);
        if let Some(summary) = recap {
            conversation.events.push(source.recap(summary));
        }
        for at in context {
            let event = event(source, &entries[at], &edits);
            conversation.events.extend(event);
        }
        conversations.push(conversation);
    }
    conversations
}

fn entries(input: &[u8], records: &[TopValue]) -> Vec<PiEntry> {
    let mut by_id: HashMap<String, usize> = HashMap::new();
    let mut entries = Vec::with_capacity(records.len());
    for record in records {
        let fields = ObjectFields::of(input, record.range.clone());
        let kind = fields.text("type").unwrap_or_default().into_owned();
        // The header's id is that of the session and no node of the tree.
        let id = fields.label("id").filter(|_| kind != "session");
        let parent = fields.label("parentId").and_then(|id| by_id.get(&id).copied());
        if let Some(id) = &id {
            by_id.insert(id.clone(), entries.len());
        }
        entries.push(PiEntry { range: record.range.clone(), kind, id, parent });
    }
    entries
}

/// The indices of the entries from the root to the newest leaf. All entries, where they have no ids.
fn path(source: &mut InputSource<'_>, entries: &[PiEntry]) -> Vec<usize> {
    let newest = entries.iter().rposition(|entry| entry.id.is_some());
    let Some(newest) = newest else { return (0..entries.len()).collect() };
    let path = tree::path(Some(newest), |at| entries[at].parent);
    let messages = |entry: &&PiEntry| entry.kind == "message";
    let on_path = path.iter().map(|at| &entries[*at]).filter(messages).count();
    let off = entries.iter().filter(messages).count() - on_path;
    if off > 0 {
        let detail = format!("{off} messages of other branches of the tree are left out");
        source.note(entries[newest].range.start, "abandoned-branch", detail);
    }
    path
}

fn describe(source: &mut InputSource<'_>, entries: &[PiEntry], conversation: &mut Conversation) {
    for entry in entries {
        let fields = ObjectFields::of(source.input, entry.range.clone());
        let model = match &*entry.kind {
            "session" => {
                conversation.id = fields.label("id");
                if let Some(prompt) = fields.string("systemPrompt") {
                    conversation.envelope.system = Some(source.slice(prompt));
                }
                fields.label("modelId")
            }
            "model_change" => fields.label("modelId"),
            "message" => fields.inner("message").label("model"),
            _ => None,
        };
        if model.is_some() {
            conversation.envelope.model = model;
        }
    }
}

/// Later edits of entries, by the entry's id: the message that replaces it, or `None` where it is removed.
fn edits(
    input: &[u8],
    entries: &[PiEntry],
    path: &[usize],
) -> HashMap<String, Option<Range<usize>>> {
    let edits = path.iter().map(|at| &entries[*at]).filter(|entry| entry.kind == "context_edit");
    edits
        .filter_map(|entry| {
            let fields = ObjectFields::of(input, entry.range.clone());
            Some((fields.label("targetId")?, fields.object("replacement")))
        })
        .collect()
}

/// The summary of the last compaction, and the entries of the path that are still sent.
fn after_compaction(
    source: &mut InputSource<'_>,
    entries: &[PiEntry],
    path: &[usize],
) -> (Option<Range<usize>>, Vec<usize>) {
    let Some(last) = path.iter().rposition(|at| entries[*at].kind == "compaction") else {
        return (None, path.to_vec());
    };
    let compaction = &entries[path[last]];
    let fields = ObjectFields::of(source.input, compaction.range.clone());
    let kept_from = if let Some(id) = fields.label("firstKeptEntryId") {
        path[..last].iter().position(|at| entries[*at].id.as_ref() == Some(&id))
    } else if fields.has("firstKeptEntryIndex") {
        // Older files have no ids, so they name the entry by its index.
        let index = usize::try_from(fields.number("firstKeptEntryIndex")).unwrap_or(usize::MAX);
        path[..last].iter().position(|at| *at >= index)
    } else {
        None
    };
    let kept_from = kept_from.unwrap_or(last);
    if !source.recorded {
        let dropped = path[..kept_from].iter().filter(|at| entries[**at].kind == "message").count();
        source.note_compacted(compaction.range.start, dropped, "messages");
    }
    let live = path[kept_from..last].iter().chain(&path[last + 1..]).copied().collect();
    (fields.string("summary"), live)
}

/// The event of an entry after later edits. `None` for an entry that is not sent.
fn event(
    source: &mut InputSource<'_>,
    entry: &PiEntry,
    edits: &HashMap<String, Option<Range<usize>>>,
) -> Option<RawEvent> {
    let input = source.input;
    let fields = ObjectFields::of(input, entry.range.clone());
    match entry.id.as_ref().and_then(|id| edits.get(id)) {
        Some(Some(replacement)) => return pi_message::message(source, replacement.clone()),
        Some(None) => return None,
        None => {}
    }
    match &*entry.kind {
        "message" => pi_message::message(source, fields.object("message")?),
        "branch_summary" => fields.string("summary").map(|text| source.recap(text)),
        "custom_message" => {
            let event = pi_message::SHAPE.message(source, entry.range.clone(), &fields);
            Some(RawEvent { origin: Some(TextOrigin::Injected), ..event })
        }
        _ => None,
    }
}

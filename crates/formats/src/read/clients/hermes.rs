//! Reads sessions of Hermes Agent: `hermes sessions export` (one session per line), its session files, and lists of its
//! messages.
//!
//! Shapes: `hermes_state.py` (`export_session`, `export_session_lineage`) and `hermes_cli/session_export.py` of the
//! package hermes-agent 0.19.0. Messages are Chat Completions messages with some columns more, and are copied as they
//! are.

use std::borrow::Cow;
use std::ops::Range;

use midfold_core::TextOrigin;
use midfold_core::event::RawEvent;

use crate::fields::ObjectFields;
use crate::read::{
    Column, ColumnTable, Conversation, FileMark, FormatDescription, InputDocument, InputSource,
    TopValue, TranscriptFormat,
    chat::{self, ContentPart},
    entries,
};
use crate::recaps::is_recap;

/// How the files of this client are recognised and read.
pub(in crate::read) static FORMAT: FormatDescription = FormatDescription::client(
    TranscriptFormat::Hermes,
    FileMark::Input(is_of),
    read,
    ColumnTable {
        error: Column::Lacks("only the text of the result says it"),
        time: Column::At(&["timestamp"]),
        cwd: Column::Lacks("the export does not name it"),
        mode: Column::Lacks("has no modes"),
        usage: Column::Lacks("the session has sums only"),
        model: Column::ByReader("`model`"),
        parent: Column::ByReader("`active`, `compacted`"),
        images: Column::ByReader("parts `image_url`"),
        queued: Column::ByReader("text in a result"),
        answers: Column::ByReader("the result of the tool that asks"),
    },
);

/// The first messages that are read to identify the format.
const LOOK: usize = 8;

fn is_of(doc: InputDocument<'_>, records: &[TopValue]) -> bool {
    let Some(first) = records.first() else { return false };
    let is_list = doc.bytes.get(first.range.start) == Some(&b'[');
    if !is_list && is_session(&doc.fields(first.range.clone())) {
        return true;
    }
    entries::all(doc, records, &[]).take(LOOK).any(|at| {
        let fields = doc.fields(at);
        is_session(&fields)
            || fields.has("role")
                && (fields.has("_db_persisted") || fields.is("role", "session_meta"))
    })
}

fn is_session(fields: &ObjectFields<'_>) -> bool {
    let exported = ["source", "started_at", "message_count", "tool_call_count"];
    let logged = ["session_id", "session_start", "last_updated"];
    let has = |names: &[&str]| names.iter().all(|name| fields.has(name));
    fields.array("messages").is_some() && (has(&exported) || has(&logged))
}

fn read(source: &mut InputSource<'_>, records: &[TopValue]) -> Vec<Conversation> {
    let doc = InputDocument { bytes: source.input, outline: None };
    let mut out = Vec::new();
    let mut rows = Vec::new();
    for at in entries::all(doc, records, &[]).collect::<Vec<_>>() {
        let fields = doc.fields(at.clone());
        if fields.has("messages") {
            session(source, at, &fields, &mut out);
        } else {
            rows.push(at);
        }
    }
    if let Some(first) = rows.first().cloned() {
        let about = Conversation::new(TranscriptFormat::Hermes, source.line_of(first.start));
        out.extend(conversations(source, &about, rows));
    }
    out
}

/// Reads one session. Where a lineage was compacted into new sessions, only the newest session is sent.
fn session(
    source: &mut InputSource<'_>,
    at: Range<usize>,
    fields: &ObjectFields<'_>,
    out: &mut Vec<Conversation>,
) {
    let input = source.input;
    let segments: Vec<Range<usize>> = fields.list("segments").collect();
    let Some((newest, before)) = segments.split_last() else {
        return own(source, at, fields, out);
    };
    if source.recorded {
        for segment in before {
            own(source, segment.clone(), &ObjectFields::of(input, segment.clone()), out);
        }
    } else if !before.is_empty() {
        source.note_compacted(newest.start, before.len(), "sessions");
    }
    own(source, newest.clone(), &ObjectFields::of(input, newest.clone()), out);
}

/// Reads the messages of one session, without the sessions before it.
fn own(
    source: &mut InputSource<'_>,
    at: Range<usize>,
    fields: &ObjectFields<'_>,
    out: &mut Vec<Conversation>,
) {
    let input = source.input;
    let mut about = Conversation::new(TranscriptFormat::Hermes, source.line_of(at.start));
    about.id = fields.label("id").or_else(|| fields.label("session_id"));
    about.envelope.model = fields.label("model");
    let tools = fields.array("tools");
    about.envelope.tools = tools.map(|tools| source.slice(tools));
    let rows: Vec<Range<usize>> = fields.list("messages").collect();
    let has_system =
        rows.first().is_some_and(|row| ObjectFields::of(input, row.clone()).is("role", "system"));
    let prompt = fields.string("system_prompt").filter(|prompt| !has_system && prompt.len() > 2);
    for mut conversation in conversations(source, &about, rows) {
        if let Some(prompt) = prompt.clone() {
            let words = ContentPart::Text(Cow::Borrowed(&input[prompt.clone()]));
            let system = source.built(chat::message("system", &[words]), vec![prompt]);
            conversation.events.insert(0, system);
        }
        out.push(conversation);
    }
}

/// The conversation of the live rows. Where the whole recording is wanted, the rows that were compacted in place come
/// first.
fn conversations(
    source: &mut InputSource<'_>,
    about: &Conversation,
    rows: Vec<Range<usize>>,
) -> Vec<Conversation> {
    let input = source.input;
    // Exports from SQLite write flags as numbers, session files as booleans.
    let is_set =
        |fields: &ObjectFields<'_>, name: &str| matches!(fields.raw(name), Some(b"1" | b"true"));
    let (mut live, mut compacted, mut rewound) = (Vec::new(), Vec::new(), 0_usize);
    for row in rows {
        let fields = ObjectFields::of(input, row.clone());
        let is_gone = matches!(fields.raw("active"), Some(b"0" | b"false"));
        if is_set(&fields, "compacted") && is_gone {
            compacted.push(row);
        } else if is_gone {
            rewound += 1;
        } else if !fields.is("role", "session_meta") {
            live.push(row);
        }
    }
    let first = live.first().or(compacted.first()).map_or(0, |row| row.start);
    if rewound > 0 {
        let detail = format!("{rewound} messages that were taken back are left out");
        source.note(first, "abandoned-branch", detail);
    }
    if !compacted.is_empty() && !source.recorded {
        source.note_compacted(first, compacted.len(), "messages");
        compacted.clear();
    }
    let mut out = Vec::new();
    for rows in [compacted, live] {
        let mut conversation = about.beside();
        conversation.events = rows.into_iter().map(|row| event(source, row)).collect();
        // Mostly nothing was compacted, and a prompt alone is no conversation.
        if !conversation.events.is_empty() {
            out.push(conversation);
        }
    }
    out
}

fn event(source: &mut InputSource<'_>, row: Range<usize>) -> RawEvent {
    let content = ObjectFields::of(source.input, row.clone()).text("content");
    let mut event = source.event(row);
    event.origin = content.filter(|text| is_recap(text)).map(|_| TextOrigin::Recap);
    event
}

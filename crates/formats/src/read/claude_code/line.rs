//! Reads the lines of a session file: what each one is, and which line is its parent.

use std::borrow::Cow;
use std::collections::HashMap;

use midfold_core::view::TextOrigin;

use super::after_compaction;
use super::attachment;
use super::queue::Queue;
use super::record::{RecordGroup, RecordKind, RecordLine, RecordMessage, is_clients};
use crate::fields::ObjectFields;
use crate::read::source::InputSource;
use crate::read::text::TopValue;

/// The lines that were read so far, with indices to look them up.
#[derive(Default)]
struct LineReading {
    lines: Vec<RecordLine>,
    /// The index of each line by its `uuid`.
    by_uuid: HashMap<String, usize>,
    groups: Vec<RecordGroup>,
    /// The index of each group by the name of its agent; "" is the main conversation.
    by_agent: HashMap<String, usize>,
}

/// The lines of the file, and the conversations to which they belong.
pub(super) fn lines(
    source: &mut InputSource<'_>,
    records: &[TopValue],
) -> (Vec<RecordLine>, Vec<RecordGroup>) {
    let mut read =
        LineReading { lines: Vec::with_capacity(records.len()), ..LineReading::default() };
    let mut queue = Queue::of(source.input, records);
    for record in records {
        let fields = ObjectFields::of(source.input, record.range.clone());
        let uuid = fields.text("uuid").map(Cow::into_owned);
        if uuid.as_ref().is_some_and(|uuid| read.by_uuid.contains_key(uuid)) {
            continue;
        }
        let mut parent = fields.text("parentUuid").and_then(|at| read.by_uuid.get(&*at).copied());
        let group = read.group(&fields, parent, record.line);
        let (kind, message) = match queue.take_sent(source.input, record, &fields) {
            Some(message) => {
                // The message has no parent in the tree. It belongs after the newest line of its conversation.
                let hangs = |line: &RecordLine| line.parent.is_some() || line.is_root;
                let mut newest = read.lines.iter();
                parent = newest.rposition(|line| line.group == group && hangs(line));
                (RecordKind::Beside(None), message)
            }
            None => kind_of(source, record, &fields),
        };
        let kept_lines = match kind {
            RecordKind::Boundary => {
                after_compaction::lines(source.input, &fields, &read.lines, &read.by_uuid)
            }
            _ => Vec::new(),
        };
        if let Some(uuid) = uuid {
            read.by_uuid.insert(uuid, read.lines.len());
        }
        read.lines.push(RecordLine {
            is_echo: kind == RecordKind::RealUser && message.is_echo(source.input),
            kind,
            message,
            line: record.line,
            parent,
            is_root: fields.raw("parentUuid") == Some(b"null"),
            group,
            dropped: false,
            kept_lines,
        });
    }
    (read.lines, read.groups)
}

impl LineReading {
    /// The index of the conversation that a record belongs to.
    fn group(&mut self, fields: &ObjectFields<'_>, parent: Option<usize>, line: usize) -> usize {
        let is_sidechain = fields.is_true("isSidechain");
        let agent = fields.text("agentId").filter(|_| is_sidechain);
        // A chain that hangs on a line of the main conversation is a conversation of its own.
        let parent = parent.map(|at| self.lines[at].group).filter(|at| !self.groups[*at].is_main);
        let group = match (agent, parent) {
            // Older files name no agent. A record then belongs to the conversation of its parent.
            (None, Some(group)) if is_sidechain => group,
            (agent, _) => {
                let name = match agent {
                    Some(agent) => agent.into_owned(),
                    None if is_sidechain => format!("chain {line}"),
                    None => String::new(),
                };
                let groups = &mut self.groups;
                *self.by_agent.entry(name).or_insert_with_key(|name| {
                    let id = is_sidechain.then(|| name.clone());
                    groups.push(RecordGroup { id, is_main: !is_sidechain });
                    groups.len() - 1
                })
            }
        };
        if self.groups[group].id.is_none() {
            self.groups[group].id =
                fields.label("sessionId").or_else(|| fields.label("session_id"));
        }
        group
    }
}

/// The kind of a record and its message. Reports what the reader leaves out.
fn kind_of(
    source: &mut InputSource<'_>,
    record: &TopValue,
    fields: &ObjectFields<'_>,
) -> (RecordKind, RecordMessage) {
    let nothing = RecordMessage::default();
    let kind = fields.text("type").unwrap_or_default();
    match &*kind {
        "system" if fields.is("subtype", "compact_boundary") => {
            return (RecordKind::Boundary, nothing);
        }
        "system" if fields.is("subtype", "microcompact_boundary") => {
            after_compaction::note_cleared(source, record, fields);
            return (RecordKind::Link, nothing);
        }
        "attachment" => {
            let attached = attachment::read(source.input, fields);
            return attached.map_or((RecordKind::Link, nothing), |(who, message)| {
                (RecordKind::Beside(who), message)
            });
        }
        _ => {}
    }
    let Some(range) = fields.object("message") else { return (RecordKind::Link, nothing) };
    let message = match &*kind {
        "assistant" if fields.is_true("isApiErrorMessage") => {
            let detail = "an error that the client showed as a reply is left out";
            source.note(record.range.start, "api-error", detail);
            return (RecordKind::Link, nothing);
        }
        "assistant" | "user" => RecordMessage::of(source.input, range),
        _ => return (RecordKind::Link, nothing),
    };
    let kind = match &*kind {
        "assistant" => RecordKind::Assistant,
        _ if fields.is_true("isCompactSummary") => RecordKind::User(Some(TextOrigin::Recap)),
        _ if message.has_results(source.input) => RecordKind::User(None),
        _ if is_clients(fields) => RecordKind::User(Some(TextOrigin::Injected)),
        _ => RecordKind::RealUser,
    };
    (kind, message)
}

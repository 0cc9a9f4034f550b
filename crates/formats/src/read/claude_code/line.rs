//! The lines of a session file, read one by one: what each is, and what it hangs on.

use std::borrow::Cow;
use std::collections::HashMap;

use midfold_core::view::Origin;

use super::attachment;
use super::kept;
use super::queue::Queue;
use super::record::{Group, Kind, Line, Message, is_clients};
use crate::fields::Fields;
use crate::read::source::Source;
use crate::read::text::Record;

/// What is known of the lines that were read.
#[derive(Default)]
struct Reading {
    lines: Vec<Line>,
    by_uuid: HashMap<String, usize>,
    groups: Vec<Group>,
    by_agent: HashMap<String, usize>,
}

/// The lines of the file, and the conversations that they are of.
pub(super) fn lines(source: &mut Source<'_>, records: &[Record]) -> (Vec<Line>, Vec<Group>) {
    let mut read = Reading { lines: Vec::with_capacity(records.len()), ..Reading::default() };
    let mut queue = Queue::of(source.input, records);
    for record in records {
        let fields = Fields::of(source.input, record.range.clone());
        let uuid = fields.text("uuid").map(Cow::into_owned);
        if uuid.as_ref().is_some_and(|uuid| read.by_uuid.contains_key(uuid)) {
            continue;
        }
        let mut parent = fields.text("parentUuid").and_then(|at| read.by_uuid.get(&*at).copied());
        let group = read.group(&fields, parent, record.line);
        let (kind, message) = match queue.taken(source.input, record, &fields) {
            Some(said) => {
                // It hangs nowhere: it belongs to what was newest then.
                let hangs = |line: &Line| line.parent.is_some() || line.is_root;
                let mut newest = read.lines.iter();
                parent = newest.rposition(|line| line.group == group && hangs(line));
                (Kind::Beside(None), said)
            }
            None => kind_of(source, record, &fields),
        };
        let kept = match kind {
            Kind::Boundary => kept::lines(source.input, &fields, &read.lines, &read.by_uuid),
            _ => Vec::new(),
        };
        if let Some(uuid) = uuid {
            read.by_uuid.insert(uuid, read.lines.len());
        }
        read.lines.push(Line {
            is_echo: kind == Kind::RealUser && message.is_echo(source.input),
            kind,
            message,
            line: record.line,
            parent,
            is_root: fields.raw("parentUuid") == Some(b"null"),
            group,
            dropped: false,
            kept,
        });
    }
    (read.lines, read.groups)
}

impl Reading {
    /// The conversation of a record.
    fn group(&mut self, fields: &Fields<'_>, parent: Option<usize>, line: usize) -> usize {
        let is_sidechain = fields.is_true("isSidechain");
        let agent = fields.text("agentId").filter(|_| is_sidechain);
        let parent = parent.map(|at| self.lines[at].group).filter(|at| !self.groups[*at].is_main);
        let group = match (agent, parent) {
            // Older files name no agent: a chain is as good as a name.
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
                    groups.push(Group { id, is_main: !is_sidechain });
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

fn kind_of(source: &mut Source<'_>, record: &Record, fields: &Fields<'_>) -> (Kind, Message) {
    let nothing = Message::default();
    let kind = fields.text("type").unwrap_or_default();
    match &*kind {
        "system" if fields.is("subtype", "compact_boundary") => return (Kind::Boundary, nothing),
        "system" if fields.is("subtype", "microcompact_boundary") => {
            kept::note_cleared(source, record, fields);
            return (Kind::Link, nothing);
        }
        "attachment" => {
            let sent = attachment::read(source.input, fields);
            return sent.map_or((Kind::Link, nothing), |(who, said)| (Kind::Beside(who), said));
        }
        _ => {}
    }
    let Some(range) = fields.object("message") else { return (Kind::Link, nothing) };
    let message = match &*kind {
        "assistant" if fields.is_true("isApiErrorMessage") => {
            let told = "an error that the client showed as a reply is left out";
            source.note(record.range.start, "api-error", told);
            return (Kind::Link, nothing);
        }
        "assistant" | "user" => Message::of(source.input, range),
        _ => return (Kind::Link, nothing),
    };
    let kind = match &*kind {
        "assistant" => Kind::Assistant,
        _ if fields.is_true("isCompactSummary") => Kind::User(Some(Origin::Recap)),
        _ if message.has_results(source.input) => Kind::User(None),
        _ if is_clients(fields) => Kind::User(Some(Origin::Injected)),
        _ => Kind::RealUser,
    };
    (kind, message)
}

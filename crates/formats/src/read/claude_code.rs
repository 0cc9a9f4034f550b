//! Session and subagent files of Claude Code: a tree of records, one a line.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use midfold_core::event::{RawEvent, Usage};
use midfold_core::view::Origin;

use super::source::Source;
use super::text::Record;
use super::{Conversation, Format};
use crate::fields::Fields;
use crate::problem::Problem;
use crate::{scan, usage};

/// What a record is for the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Something that a person typed.
    RealUser,
    /// Anything else that is sent in the user's role.
    User(Option<Origin>),
    Assistant,
    /// Where the client compacted.
    Boundary,
    /// Only a link of the tree.
    Link,
}

/// What is asked about a `message` object, found in one walk over it.
#[derive(Clone, Default)]
struct Message {
    range: Range<usize>,
    /// Its list of blocks.
    blocks: Option<Range<usize>>,
    id: Option<String>,
    model: Option<String>,
    usage: Option<Usage>,
}

impl Message {
    fn of(input: &[u8], range: Range<usize>) -> Self {
        let fields = Fields::of(input, range.clone());
        Self {
            range,
            blocks: fields.array("content"),
            id: fields.text("id").map(Cow::into_owned),
            model: fields.text("model").filter(|m| *m != "<synthetic>").map(Cow::into_owned),
            usage: usage::anthropic(&fields.inner("usage")),
        }
    }

    fn is_empty(&self) -> bool {
        self.range.is_empty()
    }

    /// Results are before everything else in a message, so the first block tells.
    fn has_results(&self, input: &[u8]) -> bool {
        let Some(blocks) = &self.blocks else { return false };
        // The block's end is of no interest: what is behind its type is not walked.
        let kind = scan::members(input, blocks.start + 1..blocks.end).find(|m| m.is(input, "type"));
        kind.is_some_and(|kind| input.get(kind.value) == Some(br#""tool_result""#))
    }
}

/// One line of the file.
struct Line {
    kind: Kind,
    /// The `message` object; empty for lines without one.
    message: Message,
    line: usize,
    /// Index of the parent among the lines of the file.
    parent: Option<usize>,
    /// The parent is `null` (and not merely missing in the file).
    is_root: bool,
    /// Which conversation: 0 is the main one.
    group: usize,
    dropped: bool,
}

pub(super) fn read(source: &mut Source<'_>, records: &[Record]) -> Vec<Conversation> {
    let (mut lines, groups) = lines(source, records);
    drop_abandoned(source, &mut lines);
    drop_session_before(source, &mut lines);
    let mut by_group: Vec<Vec<Line>> = groups.iter().map(|_| Vec::new()).collect();
    for line in lines.into_iter().filter(|line| !line.dropped) {
        by_group[line.group].push(line);
    }
    let mut found: Vec<_> = groups
        .iter()
        .zip(&by_group)
        .flat_map(|(about, lines)| conversations(source, lines, about))
        .collect();
    // The main conversation first, subagents in the order of the file.
    found.sort_by_key(|conversation| conversation.0);
    found.into_iter().map(|(_, conversation)| conversation).collect()
}

/// Id and place of a conversation of the file.
struct Group {
    id: Option<String>,
    is_main: bool,
}

fn lines(source: &mut Source<'_>, records: &[Record]) -> (Vec<Line>, Vec<Group>) {
    let mut lines: Vec<Line> = Vec::with_capacity(records.len());
    let mut by_uuid: HashMap<String, usize> = HashMap::new();
    let mut groups: Vec<Group> = Vec::new();
    let mut by_agent: HashMap<String, usize> = HashMap::new();
    for record in records {
        let fields = Fields::of(source.input, record.range.clone());
        let uuid = fields.text("uuid").map(Cow::into_owned);
        if uuid.as_ref().is_some_and(|uuid| by_uuid.contains_key(uuid)) {
            continue;
        }
        let parent = fields.text("parentUuid").and_then(|parent| by_uuid.get(&*parent).copied());
        let is_sidechain = fields.is_true("isSidechain");
        let agent = fields.text("agentId").filter(|_| is_sidechain);
        let parent_group = parent.map(|at| lines[at].group).filter(|at| !groups[*at].is_main);
        let group = match (agent, parent_group) {
            // Older files name no agent: a chain is as good as a name.
            (None, Some(group)) if is_sidechain => group,
            (agent, _) => {
                let name = match agent {
                    Some(agent) => agent.into_owned(),
                    None if is_sidechain => format!("chain {}", record.line),
                    None => String::new(),
                };
                *by_agent.entry(name).or_insert_with_key(|name| {
                    let id = is_sidechain.then(|| name.clone());
                    groups.push(Group { id, is_main: !is_sidechain });
                    groups.len() - 1
                })
            }
        };
        if groups[group].id.is_none() {
            groups[group].id = fields.label("sessionId").or_else(|| fields.label("session_id"));
        }
        let (kind, message) = kind_of(source, record, &fields);
        if let Some(uuid) = uuid {
            by_uuid.insert(uuid, lines.len());
        }
        let is_root = fields.raw("parentUuid") == Some(b"null");
        let line = record.line;
        lines.push(Line { kind, message, line, parent, is_root, group, dropped: false });
    }
    (lines, groups)
}

fn kind_of(source: &mut Source<'_>, record: &Record, fields: &Fields<'_>) -> (Kind, Message) {
    let nothing = Message::default();
    let kind = fields.text("type").unwrap_or_default();
    if kind == "system" && fields.is("subtype", "compact_boundary") {
        return (Kind::Boundary, nothing);
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
        _ if fields.is_true("isMeta") => Kind::User(Some(Origin::Injected)),
        _ if message.has_results(source.input) => Kind::User(None),
        _ => Kind::RealUser,
    };
    (kind, message)
}

/// A person who goes back and asks anew leaves a branch behind: of user messages with the same
/// parent only the one with the newest end is in the context. Records of tools branch, too, and
/// all of those stay.
fn drop_abandoned(source: &mut Source<'_>, lines: &mut [Line]) {
    let mut newest: Vec<usize> = (0..lines.len()).collect();
    for at in (0..lines.len()).rev() {
        if let Some(parent) = lines[at].parent {
            newest[parent] = newest[parent].max(newest[at]);
        }
    }
    // Of the real users below one parent (or at the root of one conversation): the newest.
    let mut kept: HashMap<(Option<usize>, usize), usize> = HashMap::new();
    let place = |line: &Line| (line.parent, line.group);
    let asks = |line: &Line| line.kind == Kind::RealUser && (line.parent.is_some() || line.is_root);
    for (at, line) in lines.iter().enumerate().filter(|(_, line)| asks(line)) {
        let best = kept.entry(place(line)).or_insert(at);
        if newest[at] > newest[*best] {
            *best = at;
        }
    }
    let mut count = 0;
    let mut first = None;
    for at in 0..lines.len() {
        let line = &lines[at];
        let lost = asks(line) && kept.get(&place(line)) != Some(&at);
        if lost || line.parent.is_some_and(|parent| lines[parent].dropped) {
            lines[at].dropped = true;
            if !lines[at].message.is_empty() {
                count += 1;
                first = first.or(Some(lines[at].message.range.start));
            }
        }
    }
    if let Some(first) = first {
        let told = format!("{count} records of branches that the user went back from are left out");
        source.note(first, "abandoned-branch", told);
    }
}

/// A session that begins with an accepted plan, or goes on in a new file, may begin with records of the
/// one before: their chain starts at a record that is in another file. Where the newest chain starts
/// here, at a root, nothing before that root is sent.
fn drop_session_before(source: &mut Source<'_>, lines: &mut [Line]) {
    // Parents are before their children.
    let mut starts: Vec<usize> = (0..lines.len()).collect();
    for at in 0..lines.len() {
        if let Some(parent) = lines[at].parent {
            starts[at] = starts[parent];
        }
    }
    // Of each conversation the newest record, up to where the client compacted.
    let mut newest: HashMap<usize, usize> = HashMap::new();
    let mut compacted: HashMap<usize, usize> = HashMap::new();
    for (at, line) in lines.iter().enumerate() {
        if line.kind == Kind::Boundary {
            compacted.entry(line.group).or_insert(at);
        } else if !line.message.is_empty() && !line.dropped && !compacted.contains_key(&line.group)
        {
            newest.insert(line.group, at);
        }
    }
    let (mut count, mut first) = (0, None);
    for at in 0..lines.len() {
        let Some(root) = newest.get(&lines[at].group).map(|newest| starts[*newest]) else {
            continue;
        };
        let is_foreign = !lines[starts[at]].is_root && at < root && lines[root].is_root;
        if is_foreign && !lines[at].dropped && !lines[at].message.is_empty() {
            lines[at].dropped = true;
            count += 1;
            first = first.or(Some(lines[at].message.range.start));
        }
    }
    if let Some(first) = first {
        let told = format!("{count} records of the session before are left out");
        source.note(first, "session-before", told);
    }
}

/// What is sent since the client compacted; where the record is asked for, what was sent up to
/// each compaction before it, too. With each whether it is a subagent's.
fn conversations(
    source: &mut Source<'_>,
    lines: &[Line],
    about: &Group,
) -> Vec<(bool, Conversation)> {
    let all = |wanted: Kind| {
        let found = lines.iter().enumerate().filter(move |(_, line)| line.kind == wanted);
        found.map(|(at, _)| at).collect::<Vec<_>>()
    };
    let mut restarts = all(Kind::Boundary);
    if restarts.is_empty() {
        restarts = all(Kind::User(Some(Origin::Recap)));
    }
    let has_message = |line: &&Line| !line.message.is_empty();
    if source.recorded {
        restarts.insert(0, 0);
    } else {
        let last = restarts.last().copied().unwrap_or(0);
        restarts = vec![last];
        let before = lines[..last].iter().filter(has_message).count();
        if before > 0 {
            let told = format!("{before} records before it are no longer in the context");
            source.problems.push(Problem::new("compacted-before", told).at(lines[last].line));
        }
    }
    let ends = restarts.iter().skip(1).copied().chain([lines.len()]);
    let mut found = Vec::new();
    for (start, end) in restarts.iter().zip(ends) {
        let live: Vec<&Line> = lines[*start..end].iter().filter(has_message).collect();
        let Some(first) = live.first() else { continue };
        let mut conversation = Conversation::new(Format::ClaudeCode, first.line);
        conversation.id.clone_from(&about.id);
        add_events(source, &live, &mut conversation);
        found.push((!about.is_main, conversation));
    }
    found
}

/// Records of one message id are one message, at the place of the first.
fn add_events(source: &mut Source<'_>, live: &[&Line], conversation: &mut Conversation) {
    let mut parts: Vec<(Kind, Vec<&Message>)> = Vec::with_capacity(live.len());
    let mut by_id: HashMap<&str, usize> = HashMap::new();
    for line in live {
        let message = &line.message;
        if line.kind == Kind::Assistant {
            if message.model.is_some() {
                conversation.envelope.model.clone_from(&message.model);
            }
            if let Some(id) = message.id.as_deref().filter(|_| message.blocks.is_some()) {
                if let Some(at) = by_id.get(id) {
                    parts[*at].1.push(message);
                    continue;
                }
                by_id.insert(id, parts.len());
            }
        }
        parts.push((line.kind, vec![message]));
    }
    for (kind, messages) in parts {
        let mut event = joined(source, &messages);
        event.origin = if let Kind::User(origin) = kind { origin } else { None };
        if kind == Kind::Assistant {
            event.usage = messages.last().and_then(|message| message.usage);
        }
        conversation.events.push(event);
    }
}

/// The first message with the blocks of the others behind its own.
fn joined(source: &mut Source<'_>, messages: &[&Message]) -> RawEvent {
    let [first, others @ ..] = messages else { return source.built(Vec::new(), Vec::new()) };
    let input = source.input;
    let (whole, own) = match &first.blocks {
        Some(own) if !others.is_empty() => (first.range.clone(), own.clone()),
        _ => return source.event(first.range.clone()),
    };
    let mut bytes = input[whole.start..own.end - 1].to_vec();
    let mut is_empty = scan::elements(input, own.clone()).next().is_none();
    let mut ranges = vec![whole.clone()];
    for other in others {
        let list = other.blocks.clone().unwrap_or(0..0);
        let blocks: Vec<_> = scan::elements(input, list).collect();
        let (Some(from), Some(to)) = (blocks.first(), blocks.last()) else { continue };
        if !std::mem::take(&mut is_empty) {
            bytes.push(b',');
        }
        bytes.extend_from_slice(&input[from.start..to.end]);
        ranges.push(from.start..to.end);
    }
    bytes.extend_from_slice(&input[own.end - 1..whole.end]);
    source.built(bytes, ranges)
}

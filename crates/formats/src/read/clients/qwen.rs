//! Reads session and subagent files of Qwen Code: a tree of records, one per line, whose messages are Gemini contents.
//!
//! Shapes: `packages/core/src/services/chatRecordingService.ts`, `session-api-history.ts`,
//! `utils/transcript-records.ts` and `agents/agent-transcript.ts` of QwenLM/qwen-code.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use midfold_core::view::TextOrigin;

use super::qwen_turns::QwenTurns;
use crate::fields::ObjectFields;
use crate::read::{
    Column, ColumnTable, Conversation, FailureMark, FileMark, FormatDescription, InputDocument,
    InputSource, TopValue, TranscriptFormat, UnsentCount, UsagePlace, tree,
};
use crate::usage;

/// How the files of this client are recognised and read.
pub(in crate::read) static FORMAT: FormatDescription = FormatDescription::client(
    TranscriptFormat::Qwen,
    FileMark::Record(is_of),
    read,
    ColumnTable {
        error: Column::InRecord(&[FailureMark::is(
            "toolCallResult.status",
            &[r#""error""#, r#""cancelled""#],
        )]),
        time: Column::At(&["timestamp"]),
        cwd: Column::Unread("`cwd`"),
        mode: Column::Unread("`session_approval_mode`"),
        usage: Column::InRecord(UsagePlace::new("usageMetadata", usage::gemini)),
        model: Column::InRecord(&["model"]),
        parent: Column::ByReader("`parentUuid`"),
        images: Column::ByReader("`inlineData`"),
        queued: Column::ByReader("`mid_turn_user_message`"),
        answers: Column::ByReader("the result of the tool that asks"),
    },
)
.that_builds_replies();

/// Whether a record of the tree holds a Gemini content, or is of the client's own type.
fn is_of(doc: InputDocument<'_>, at: Range<usize>) -> bool {
    let fields = doc.fields(at);
    let is_node = fields.string("uuid").is_some() && fields.string("sessionId").is_some();
    is_node
        && (fields.inner("message").array("parts").is_some()
            || fields.is("type", "system") && fields.object("systemPayload").is_some())
}

/// One line of the file.
struct QwenLine {
    range: Range<usize>,
    line: usize,
    uuid: String,
    /// The index of the parent among the lines. `None` for a root.
    parent: Option<usize>,
    /// Whether the record names a parent that is not in the file.
    is_cut: bool,
    /// The index of the conversation to which it belongs.
    group: usize,
}

/// The session and the agent to which a conversation belongs.
#[derive(Clone, PartialEq, Eq, Hash)]
struct QwenGroup {
    session: Option<String>,
    agent: Option<String>,
}

fn read(source: &mut InputSource<'_>, records: &[TopValue]) -> Vec<Conversation> {
    let (lines, mut groups) = lines(source.input, records);
    let mut out: Vec<(bool, Conversation)> = Vec::new();
    for (at, group) in groups.drain(..).enumerate() {
        let path = path(source, &lines, at);
        let Some(first) = path.first() else { continue };
        let mut about = Conversation::new(TranscriptFormat::Qwen, lines[*first].line);
        let is_agent = group.agent.is_some();
        about.id = group.agent.or(group.session);
        let group_conversations = conversations(source, &lines, &path, about);
        out.extend(group_conversations.into_iter().map(|conversation| (is_agent, conversation)));
    }
    // The main conversation comes first, then the subagents in the order of the file.
    out.sort_by_key(|entry| entry.0);
    out.into_iter().map(|entry| entry.1).collect()
}

/// The subtypes of records that are no node of the tree: no conversation continues from them.
const ASIDE: [&str; 6] = [
    "session_artifact_event",
    "session_artifact_snapshot",
    "session_sources_snapshot",
    "managed_session_header_v1",
    "managed_session_event_v1",
    "managed_session_commit_v1",
];

/// The lines of the file, and the groups to which they belong.
fn lines(input: &[u8], records: &[TopValue]) -> (Vec<QwenLine>, Vec<QwenGroup>) {
    let mut lines: Vec<QwenLine> = Vec::with_capacity(records.len());
    let mut by_uuid: HashMap<String, usize> = HashMap::new();
    let mut groups: Vec<QwenGroup> = Vec::new();
    let mut by_group: HashMap<QwenGroup, usize> = HashMap::new();
    for record in records {
        let fields = ObjectFields::of(input, record.range.clone());
        let subtype = fields.text("subtype").unwrap_or_default();
        let Some(uuid) = fields.label("uuid").filter(|_| !ASIDE.contains(&&*subtype)) else {
            continue;
        };
        let named = fields.label("parentUuid");
        let known = named.as_ref().and_then(|id| by_uuid.get(id).copied());
        // Parts of one message may be in several records with the same id. Each is the child of the one before it.
        let parent = by_uuid.get(&uuid).copied().or(known);
        let agent = fields.label("agentId").filter(|_| fields.is_true("isSidechain"));
        let group = QwenGroup { session: fields.label("sessionId"), agent };
        let group = *by_group.entry(group).or_insert_with_key(|group| {
            groups.push(group.clone());
            groups.len() - 1
        });
        by_uuid.insert(uuid.clone(), lines.len());
        let is_cut = named.is_some() && parent.is_none();
        let (range, line) = (record.range.clone(), record.line);
        lines.push(QwenLine { range, line, uuid, parent, is_cut, group });
    }
    (lines, groups)
}

/// The indices of the lines from the root to the newest line of a conversation. The parent of a rewind is the line to
/// which the person went back.
fn path(source: &mut InputSource<'_>, lines: &[QwenLine], group: usize) -> Vec<usize> {
    let newest = lines.iter().rposition(|line| line.group == group);
    let path = tree::path(newest, |at| lines[at].parent);
    let Some(first) = path.first().map(|at| &lines[*at]) else { return path };
    if first.is_cut {
        let detail = format!("what was before `{}` is not in this file", first.uuid);
        source.note(first.range.start, "missing-parent", detail);
    }
    let on_path: HashSet<usize> = path.iter().copied().collect();
    let input = source.input;
    let is_off = |(at, line): &(usize, &QwenLine)| {
        line.group == group
            && !on_path.contains(at)
            && ObjectFields::of(input, line.range.clone()).has("message")
    };
    let off: Vec<_> = lines.iter().enumerate().filter(is_off).map(|(_, line)| line).collect();
    if let Some(first) = off.first() {
        let detail = format!("{} messages of branches that the user went back from", off.len());
        source.note(first.range.start, "abandoned-branch", format!("{detail} are left out"));
    }
    path
}

/// The conversation of a path. Where the whole recording is wanted, the conversation before each compression comes
/// first.
fn conversations(
    source: &mut InputSource<'_>,
    lines: &[QwenLine],
    path: &[usize],
    mut about: Conversation,
) -> Vec<Conversation> {
    let input = source.input;
    let mut turns = QwenTurns::default();
    let mut out = Vec::new();
    let mut local = UnsentCount::default();
    for line in path.iter().map(|at| &lines[*at]) {
        let fields = ObjectFields::of(input, line.range.clone());
        if !fields.is("type", "system") {
            add_message(input, &fields, &mut turns);
            continue;
        }
        let payload = fields.inner("systemPayload");
        match &*fields.text("subtype").unwrap_or_default() {
            "chat_compression" => {
                let Some(history) = payload.array("compressedHistory") else { continue };
                if source.recorded {
                    let mut snapshot = about.beside();
                    snapshot.events = turns.events(source);
                    out.push(snapshot);
                } else {
                    source.note_compacted(line.range.start, turns.len(), "messages");
                }
                turns.restart(input, history);
            }
            // The history of the parent, for an agent that continues from there.
            "agent_bootstrap" => {
                for content in payload.list("history") {
                    turns.push(input, content, None);
                }
            }
            "slash_command" if turns.is_local(input, &payload) => {
                turns.take_back();
                local.add(line.range.start);
            }
            _ => {}
        }
    }
    about.events = turns.events(source);
    out.push(about);
    let detail = "{} commands that the client itself answered are left out";
    local.note(source, "not-sent", detail);
    out
}

/// The subtypes of records in the user's role that no person typed.
const INJECTED: [&str; 4] = ["notification", "cron", "goal_runtime", "background_task_completed"];

/// The subtypes of records that the client does not send: messages of a voice call, and results of calls that the code
/// of another call made.
const UNSENT: [&str; 2] = ["realtime_message", "code_mode_tool_result"];

fn add_message(input: &[u8], fields: &ObjectFields<'_>, turns: &mut QwenTurns) {
    let subtype = fields.text("subtype").unwrap_or_default();
    let is_sent = !UNSENT.contains(&&*subtype);
    let Some(message) = fields.object("message").filter(|_| is_sent) else { return };
    let is_injected =
        INJECTED.contains(&&*subtype) || fields.is("externalInputKind", "notification");
    let origin = is_injected.then_some(TextOrigin::Injected);
    if subtype == "mid_turn_user_message" {
        turns.push_beside(input, message);
        return;
    }
    turns.push(input, message, origin);
    if fields.is("type", "user") {
        turns.typed();
    }
}

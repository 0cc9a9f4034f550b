//! Reads sessions of Copilot CLI: `session-state/ID/events.jsonl`, and the single JSON value of older versions
//! (`history-session-state/session_*.json`), whose messages are those of Chat Completions.
//!
//! Shapes: `nodejs/src/generated/session-events.ts` of github/copilot-sdk.

use std::collections::HashMap;
use std::ops::Range;

use midfold_core::view::TextOrigin;

use super::copilot_message::{self, CopilotFacts};
use crate::fields::ObjectFields;
use crate::read::{
    Column, ColumnTable, Conversation, FailureMark, FileMark, FormatDescription, InputDocument,
    InputSource, TopValue, TranscriptFormat, UnsentCount,
};
use crate::scan;

/// How the files of this client are recognised and read.
pub(in crate::read) static FORMAT: FormatDescription = FormatDescription::client(
    TranscriptFormat::Copilot,
    FileMark::Record(is_of),
    read,
    ColumnTable {
        error: Column::At(&[FailureMark::is("success", &["false"])]),
        time: Column::At(&["timestamp"]),
        cwd: Column::Unread("`context.cwd` of `session.start`"),
        mode: Column::Unread("`session.mode_changed`"),
        usage: Column::ByReader("`assistant.usage`"),
        model: Column::ByReader("`model`, `session.model_change`"),
        parent: Column::ByReader("`session.snapshot_rewind`"),
        images: Column::ByReader("`attachments`, `binaryResultsForLlm`"),
        queued: Column::ByReader("a message of the user"),
        answers: Column::ByReader("the result of `ask_user`"),
    },
)
.that_builds_replies();

/// Whether the records are events of a session, or a session of an older version.
fn is_of(doc: InputDocument<'_>, at: Range<usize>) -> bool {
    const KINDS: [&str; 8] = [
        "session.start",
        "session.resume",
        "system.message",
        "user.message",
        "assistant.message",
        "assistant.turn_start",
        "tool.execution_start",
        "tool.execution_complete",
    ];
    let fields = doc.fields(at);
    let is_event = fields.object("data").is_some()
        && fields.string("id").is_some()
        && fields.text("type").is_some_and(|kind| KINDS.contains(&&*kind));
    is_event || fields.array("chatMessages").is_some() && fields.has("sessionId")
}

/// One event of a session that no rewind removed.
struct CopilotEvent<'a> {
    record: &'a TopValue,
    kind: String,
}

/// The main conversation, or that of a subagent.
struct CopilotGroup {
    conversation: Conversation,
    /// The number of messages when a compaction began. Later messages stay beside the summary.
    mark: usize,
    /// The conversation before each compaction, where the whole recording is wanted.
    before: Vec<Conversation>,
}

fn read(source: &mut InputSource<'_>, records: &[TopValue]) -> Vec<Conversation> {
    let input = source.input;
    let events = events(source, records);
    let facts =
        CopilotFacts::of(input, events.iter().map(|event| (&*event.kind, &event.record.range)));
    let mut session = CopilotSession {
        groups: Vec::new(),
        by_agent: HashMap::new(),
        shown: UnsentCount::default(),
    };
    for event in &events {
        session.take(source, event, &facts);
    }
    let CopilotSession { groups, shown, .. } = session;
    shown.note(source, "not-sent", "{} notes and errors that the client shows and never sends");
    let (main, agents): (Vec<_>, Vec<_>) =
        groups.into_iter().partition(|(agent, _)| agent.is_none());
    let all = main.into_iter().chain(agents);
    all.flat_map(|(_, group)| group.before.into_iter().chain([group.conversation])).collect()
}

/// The events, without those that a rewind removed.
fn events<'a>(source: &mut InputSource<'_>, records: &'a [TopValue]) -> Vec<CopilotEvent<'a>> {
    let mut events: Vec<CopilotEvent<'a>> = Vec::with_capacity(records.len());
    let mut by_id: HashMap<String, usize> = HashMap::new();
    for record in records {
        let fields = ObjectFields::of(source.input, record.range.clone());
        let kind = fields.text("type").unwrap_or_default().into_owned();
        if kind == "session.snapshot_rewind" {
            let to = fields.inner("data").label("upToEventId");
            let Some(from) = to.and_then(|id| by_id.get(&id).copied()) else { continue };
            let rewound = events.drain(from..).filter(|event| event.kind.ends_with(".message"));
            let detail = format!("{} messages that the user went back from", rewound.count());
            // The removed events take their ids with them, so that no later rewind finds them.
            by_id.retain(|_, at| *at < from);
            source.note(record.range.start, "abandoned-branch", format!("{detail} are left out"));
            continue;
        }
        if let Some(id) = fields.label("id") {
            by_id.insert(id, events.len());
        }
        events.push(CopilotEvent { record, kind });
    }
    events
}

/// A session while it is read.
struct CopilotSession {
    /// Each group with its agent's name; `None` for the main conversation.
    groups: Vec<(Option<String>, CopilotGroup)>,
    /// The index of each group by its agent.
    by_agent: HashMap<Option<String>, usize>,
    /// The notes and errors that the client only shows.
    shown: UnsentCount,
}

impl CopilotSession {
    fn group(&mut self, agent: Option<String>, line: usize) -> &mut CopilotGroup {
        let at = *self.by_agent.entry(agent).or_insert_with_key(|agent| {
            let mut conversation = Conversation::new(TranscriptFormat::Copilot, line);
            conversation.id.clone_from(agent);
            let group = CopilotGroup { conversation, mark: 0, before: Vec::new() };
            self.groups.push((agent.clone(), group));
            self.groups.len() - 1
        });
        &mut self.groups[at].1
    }

    /// Adds one event of the session to the conversation of its agent.
    fn take<'a>(
        &mut self,
        source: &mut InputSource<'a>,
        event: &CopilotEvent<'_>,
        facts: &CopilotFacts<'a>,
    ) {
        let input = source.input;
        let at = event.record.range.clone();
        let fields = ObjectFields::of(input, at.clone());
        let data = fields.inner("data");
        let agent = fields.label("agentId").or_else(|| data.label("parentToolCallId"));
        let line = event.record.line;
        match &*event.kind {
            "session.start" | "session.resume" => {
                let about = &mut self.group(agent, line).conversation;
                about.id = about.id.take().or_else(|| data.label("sessionId"));
                let model = data.label("selectedModel");
                about.envelope.model = model.or(about.envelope.model.take());
            }
            "session.model_change" => {
                let envelope = &mut self.group(agent, line).conversation.envelope;
                envelope.model = data.label("newModel").or(envelope.model.take());
            }
            "system.message" => {
                let prompt = data.string("content").map(|at| source.slice(at));
                let envelope = &mut self.group(agent, line).conversation.envelope;
                envelope.system = prompt.or(envelope.system.take());
            }
            "user.message" => {
                let messages = copilot_message::user(source, &data, &at, facts);
                self.group(agent, line).conversation.events.extend(messages);
            }
            "system.notification" => {
                let messages = copilot_message::words(source, &data, &at, TextOrigin::Injected);
                self.group(agent, line).conversation.events.extend(messages);
            }
            "assistant.message" => {
                let messages = copilot_message::reply(source, &data, &at, facts);
                let conversation = &mut self.group(agent, line).conversation;
                let model = data.label("model");
                conversation.envelope.model = model.or(conversation.envelope.model.take());
                conversation.events.extend(messages);
            }
            "assistant.usage" => {
                let used = crate::usage::copilot(&data);
                let events = &mut self.group(agent, line).conversation.events;
                // The results of the reply's calls may follow it already.
                let reply = events.iter_mut().rev().find(|event| copilot_message::is_reply(event));
                if let (Some(used), Some(reply)) = (used, reply) {
                    reply.usage = Some(used);
                }
            }
            "tool.execution_complete" if !facts.is_asked(&data) => {
                let messages = copilot_message::by_hand(source, &data, &at, facts);
                self.group(agent, line).conversation.events.extend(messages);
            }
            "session.compaction_start" => {
                let group = self.group(agent, line);
                group.mark = group.conversation.events.len();
            }
            "session.compaction_complete" => self.compact(source, &data, &at, agent, line),
            "session.error" | "session.warning" | "session.info" => {
                self.shown.add(at.start);
            }
            _ if fields.array("chatMessages").is_some() => {
                let about = &mut self.group(None, line).conversation;
                about.id = fields.label("sessionId");
                let model = fields.label("selectedModel").or_else(|| fields.label("model"));
                about.envelope.model = model.or(about.envelope.model.take());
                let list = fields.array("chatMessages").unwrap_or(0..0);
                about.events.extend(scan::elements(input, list).map(|at| source.event(at)));
            }
            _ => {}
        }
    }

    /// Replaces the messages from before a compaction by its summary.
    fn compact(
        &mut self,
        source: &mut InputSource<'_>,
        data: &ObjectFields<'_>,
        at: &Range<usize>,
        agent: Option<String>,
        line: usize,
    ) {
        let Some(summary) = data.string("summaryContent").filter(|_| data.is_true("success"))
        else {
            return;
        };
        let recap = source.recap(summary);
        let group = self.group(agent, line);
        let events = &mut group.conversation.events;
        let mark = std::mem::take(&mut group.mark);
        // Without the event that starts a compaction, all messages so far count as summarised.
        let mark = if mark == 0 { events.len() } else { mark.min(events.len()) };
        if source.recorded {
            let mut snapshot = group.conversation.beside();
            snapshot.events.extend_from_slice(&group.conversation.events);
            group.before.push(snapshot);
        } else {
            source.note_compacted(at.start, mark, "messages");
        }
        group.conversation.events.splice(..mark, [recap]);
    }
}

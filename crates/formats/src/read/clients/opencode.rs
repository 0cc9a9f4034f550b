//! Reads sessions of OpenCode (opencode.ai): the output of `opencode export` and of its `/session/ID/message`, and the
//! files of its `storage` folder, one after the other. Newer versions keep a session in SQLite, which has to be
//! exported.
//!
//! Shapes: `packages/opencode/src/session/message-v2.ts` and `cli/cmd/export.ts` of anomalyco/opencode.

use std::collections::HashMap;
use std::ops::Range;

use super::opencode_message::{self, UnsentParts};
use crate::fields::ObjectFields;
use crate::read::{
    Column, ColumnTable, Conversation, FileMark, FormatDescription, InputDocument, InputSource,
    TopValue, TranscriptFormat, facts,
};
use crate::scan;

/// How the files of this client are recognised and read.
pub(in crate::read) static FORMAT: FormatDescription = FormatDescription::client(
    TranscriptFormat::OpenCode,
    FileMark::Record(is_of),
    read,
    ColumnTable {
        error: Column::ByReader("`state.status` of the part"),
        time: Column::ByReader("`time.completed`, `time.created`"),
        cwd: Column::Unread("`path.cwd`"),
        mode: Column::Unread("`mode`"),
        usage: Column::ByReader("`tokens` of the step"),
        model: Column::ByReader("`modelID`"),
        parent: Column::ByReader("`revert`, `parentID`"),
        images: Column::ByReader("parts `file`"),
        queued: Column::ByReader("a message of the user"),
        answers: Column::ByReader("the output of `question`"),
    },
)
.that_builds_replies();

/// A message with its parts.
struct OpencodeMessage {
    /// The range of the message's own record, without its parts.
    info: Range<usize>,
    parts: Vec<Range<usize>>,
    id: Option<String>,
    parent: Option<String>,
    /// Whether it is a summary that was completed.
    is_summary: bool,
    /// Whether the client compacts here; the inner value is the id of the first older message that it then keeps.
    compaction: Option<Option<String>>,
}

/// A session while it is read.
struct OpencodeSession {
    id: Option<String>,
    /// The range of the session's own record; empty where there is none.
    info: Range<usize>,
    line: usize,
    messages: Vec<OpencodeMessage>,
}

/// The kind of a value of the input.
enum OpencodeValue {
    /// A whole session.
    Export {
        info: Range<usize>,
        messages: Range<usize>,
    },
    /// A message with its parts.
    Message {
        info: Range<usize>,
        parts: Range<usize>,
    },
    /// A file of `storage/message`.
    StoredMessage,
    /// A file of `storage/part`.
    StoredPart,
    /// A file of `storage/session`.
    StoredSession,
    Other,
}

/// Whether the records are messages of OpenCode with their parts, or files of its storage.
fn is_of(doc: InputDocument<'_>, at: Range<usize>) -> bool {
    match value(doc.bytes, &doc.fields(at.clone())) {
        OpencodeValue::Export { messages, .. } => {
            doc.elements(messages).next().is_some_and(|first| {
                matches!(value(doc.bytes, &doc.fields(first)), OpencodeValue::Message { .. })
            })
        }
        OpencodeValue::Other => {
            let first = doc.elements(at).next();
            let fields = first.map(|first| doc.fields(first));
            fields.is_some_and(|fields| {
                matches!(value(doc.bytes, &fields), OpencodeValue::Message { .. })
            })
        }
        _ => true,
    }
}

/// The kind of a value, by its members.
fn value(bytes: &[u8], fields: &ObjectFields<'_>) -> OpencodeValue {
    if let Some(info) = fields.object("info") {
        if let Some(messages) = fields.array("messages") {
            return OpencodeValue::Export { info, messages };
        }
        let Some(parts) = fields.array("parts") else { return OpencodeValue::Other };
        let known = ObjectFields::of(bytes, info.clone());
        let is_message = known.has("role") && (known.has("sessionID") || known.has("time"));
        return if is_message {
            OpencodeValue::Message { info, parts }
        } else {
            OpencodeValue::Other
        };
    }
    let stored = fields.string("id").is_some();
    if stored && fields.string("sessionID").is_some() {
        if fields.string("messageID").is_some() && fields.has("type") {
            return OpencodeValue::StoredPart;
        }
        if fields.string("role").is_some() && fields.object("time").is_some() {
            return OpencodeValue::StoredMessage;
        }
    }
    let named = fields.text("id").is_some_and(|id| id.starts_with("ses"));
    let is_session = named && fields.object("time").is_some();
    if is_session && (fields.has("projectID") || fields.has("directory")) {
        return OpencodeValue::StoredSession;
    }
    OpencodeValue::Other
}

fn read(source: &mut InputSource<'_>, records: &[TopValue]) -> Vec<Conversation> {
    let mut sessions = sessions(source, records);
    let is_child = |session: &OpencodeSession| {
        ObjectFields::of(source.input, session.info.clone()).has("parentID")
    };
    // The main conversation comes first, then the subagents in the order of the file.
    sessions.sort_by_key(is_child);
    sessions.iter_mut().flat_map(|session| conversations(source, session)).collect()
}

/// The sessions while they are collected from the values of an input.
#[derive(Default)]
struct OpencodeSessions {
    sessions: Vec<OpencodeSession>,
    by_id: HashMap<String, usize>,
    /// The part files, by the id of their message.
    parts: HashMap<String, Vec<Range<usize>>>,
    /// Whether there are files of `storage`, which have no order of their own.
    stored: bool,
}

impl OpencodeSessions {
    fn session(&mut self, id: Option<String>, line: usize) -> &mut OpencodeSession {
        let at = *self.by_id.entry(id.clone().unwrap_or_default()).or_insert_with(|| {
            let (info, messages) = (0..0, Vec::new());
            self.sessions.push(OpencodeSession { id, info, line, messages });
            self.sessions.len() - 1
        });
        &mut self.sessions[at]
    }

    /// Adds one value to the session to which it belongs.
    fn take(&mut self, input: &[u8], at: Range<usize>, line: usize) {
        let fields = ObjectFields::of(input, at.clone());
        let message = |info: Range<usize>, parts: Range<usize>| {
            message(input, info, scan::elements(input, parts).collect())
        };
        match value(input, &fields) {
            OpencodeValue::Export { info, messages } => {
                let id = ObjectFields::of(input, info.clone()).label("id");
                let session = self.session(id, line);
                session.info = info;
                for at in scan::elements(input, messages) {
                    let fields = ObjectFields::of(input, at);
                    let parts = fields.array("parts").unwrap_or(0..0);
                    session.messages.extend(fields.object("info").map(|info| message(info, parts)));
                }
            }
            OpencodeValue::Message { info, parts } => {
                let id = ObjectFields::of(input, info.clone()).label("sessionID");
                self.session(id, line).messages.push(message(info, parts));
            }
            OpencodeValue::StoredMessage => {
                self.stored = true;
                self.session(fields.label("sessionID"), line).messages.push(message(at, 0..0));
            }
            OpencodeValue::StoredPart => {
                let of = fields.label("messageID").unwrap_or_default();
                self.parts.entry(of).or_default().push(at);
            }
            OpencodeValue::StoredSession => self.session(fields.label("id"), line).info = at,
            OpencodeValue::Other => {
                for at in scan::elements(input, at) {
                    self.take_of_list(input, at, line);
                }
            }
        }
    }

    /// Reads an element of a list, which is a message or an export. Other values are skipped.
    fn take_of_list(&mut self, input: &[u8], at: Range<usize>, line: usize) {
        let known = value(input, &ObjectFields::of(input, at.clone()));
        // A list in a list is not followed, so the input cannot make this recurse deeply.
        if matches!(known, OpencodeValue::Export { .. } | OpencodeValue::Message { .. }) {
            self.take(input, at, line);
        }
    }
}

/// The sessions of an input. Files of `storage` come in any order, so parts and messages are joined by id and sorted by
/// time.
fn sessions(source: &mut InputSource<'_>, records: &[TopValue]) -> Vec<OpencodeSession> {
    let input = source.input;
    let mut gathered = OpencodeSessions::default();
    for record in records {
        gathered.take(input, record.range.clone(), record.line);
    }
    let OpencodeSessions { mut sessions, mut parts, stored, .. } = gathered;
    // An export is in order already, and its messages may share a time.
    for session in sessions.iter_mut().filter(|_| stored) {
        for message in &mut session.messages {
            let own = message.id.as_ref().and_then(|id| parts.remove(id));
            if let Some(mut own) = own {
                // Ids of parts rise with time.
                own.sort_by_cached_key(|at| ObjectFields::of(input, at.clone()).label("id"));
                *message = self::message(input, message.info.clone(), own);
            }
        }
        session.messages.sort_by_cached_key(|message| {
            let time =
                ObjectFields::of(input, message.info.clone()).inner("time").number("created");
            (time, message.id.clone())
        });
    }
    if let Some(first) = parts.values().flatten().map(|at| at.start).min() {
        let count: usize = parts.values().map(Vec::len).sum();
        let detail = format!(
            "{count} parts are of messages that are not there: give the files of \
             `storage/message` with those of `storage/part`, or an export"
        );
        source.note(first, "missing-message", detail);
    }
    sessions.retain(|session| !session.messages.is_empty());
    sessions
}

fn message(input: &[u8], info: Range<usize>, parts: Vec<Range<usize>>) -> OpencodeMessage {
    let fields = ObjectFields::of(input, info.clone());
    // Older versions record no `finish`.
    let is_finished = fields.has("finish") || fields.inner("time").has("completed");
    let is_summary = fields.is_true("summary") && is_finished && !fields.has("error");
    let compaction = parts.iter().find_map(|at| {
        let part = ObjectFields::of(input, at.clone());
        part.is("type", "compaction").then(|| part.label("tail_start_id"))
    });
    let (id, parent) = (fields.label("id"), fields.label("parentID"));
    OpencodeMessage { info, parts, id, parent, is_summary, compaction }
}

/// The conversation that is sent. Where the whole recording is wanted, the conversation before each summary comes
/// first.
fn conversations(source: &mut InputSource<'_>, session: &mut OpencodeSession) -> Vec<Conversation> {
    take_back(source, session);
    let messages = &session.messages;
    let mut about = Conversation::new(TranscriptFormat::OpenCode, session.line);
    about.id.clone_from(&session.id);
    describe(source, messages, &mut about);
    let mut ends: Vec<usize> = (0..messages.len()).filter(|_| source.recorded).collect();
    ends.retain(|at| messages[*at].is_summary);
    let ends =
        ends.into_iter().map(|summary| compaction_request(messages, summary).unwrap_or(summary));
    let ends: Vec<usize> = ends.chain([messages.len()]).collect();
    let mut unsent = UnsentParts::default();
    let mut out = Vec::new();
    for end in ends {
        let live = live(&messages[..end]);
        let dropped = end - live.len();
        if let Some(first) = live.first().filter(|_| dropped > 0 && !source.recorded) {
            source.note_compacted(messages[*first].info.start, dropped, "messages");
        }
        let mut conversation = about.beside();
        for at in live {
            let OpencodeMessage { info, parts, .. } = &messages[at];
            let mut events = opencode_message::events(source, info, parts, &mut unsent);
            let time = ObjectFields::of(source.input, info.clone()).inner("time");
            let at = ["completed", "created"].iter().find_map(|name| facts::moment(&time, name));
            events.iter_mut().for_each(|event| event.at = at);
            conversation.events.extend(events);
        }
        out.push(conversation);
    }
    unsent.note(source);
    out
}

/// Removes the messages that a person went back from. The client drops them before it sends the next message.
fn take_back(source: &mut InputSource<'_>, session: &mut OpencodeSession) {
    let input = source.input;
    let revert = ObjectFields::of(input, session.info.clone()).inner("revert");
    let Some(from) = revert.label("messageID") else { return };
    let at = session.messages.iter().position(|message| message.id.as_ref() == Some(&from));
    let Some(at) = at else { return };
    let first = session.messages[at].info.start;
    let part = revert.label("partID");
    let kept_parts = part.and_then(|part| {
        let is_it = |at: &Range<usize>| {
            ObjectFields::of(input, at.clone()).label("id").as_ref() == Some(&part)
        };
        session.messages[at].parts.iter().position(is_it)
    });
    // A message that keeps no part is removed whole.
    let keeps = kept_parts.filter(|kept_parts| *kept_parts > 0);
    let count = session.messages.len() - at;
    session.messages.truncate(at + usize::from(keeps.is_some()));
    if let (Some(kept_parts), Some(last)) = (keeps, session.messages.last_mut()) {
        last.parts.truncate(kept_parts);
    }
    let detail = format!("{count} messages from where the user went back to are left out");
    source.note(first, "abandoned-branch", detail);
}

fn describe(
    source: &mut InputSource<'_>,
    messages: &[OpencodeMessage],
    conversation: &mut Conversation,
) {
    for message in messages {
        let fields = ObjectFields::of(source.input, message.info.clone());
        let model = fields.label("modelID").or_else(|| fields.inner("model").label("modelID"));
        conversation.envelope.model = model.or(conversation.envelope.model.take());
        if let Some(system) = fields.string("system").or_else(|| fields.array("system")) {
            conversation.envelope.system = Some(source.slice(system));
        }
    }
}

/// The index of the message that requested a summary. `None` where it is missing.
fn compaction_request(messages: &[OpencodeMessage], summary: usize) -> Option<usize> {
    let parent = messages[summary].parent.as_ref()?;
    let is_it = |message: &OpencodeMessage| message.id.as_ref() == Some(parent);
    messages[..summary].iter().rposition(is_it).filter(|at| messages[*at].compaction.is_some())
}

/// The indices of the messages that are sent: the newest summary after its request, then the older messages that it
/// kept, then all that followed.
fn live(messages: &[OpencodeMessage]) -> Vec<usize> {
    let Some(summary) = messages.iter().rposition(|message| message.is_summary) else {
        return (0..messages.len()).collect();
    };
    let Some(request) = compaction_request(messages, summary) else {
        return (summary..messages.len()).collect();
    };
    let tail = messages[request].compaction.as_ref().and_then(Option::as_ref);
    let tail = tail.and_then(|id| {
        messages[..request].iter().position(|message| message.id.as_ref() == Some(id))
    });
    let kept_tail = tail.unwrap_or(request)..request;
    (request..=summary).chain(kept_tail).chain(summary + 1..messages.len()).collect()
}

//! Reads sessions of Gemini CLI: `chats/session-*.json`, the `.jsonl` of newer versions with its rewinds and
//! replacements, and checkpoints, which hold the contents as they are sent.
//!
//! Shapes: `packages/core/src/services/chatRecordingTypes.ts`, `chatRecordingService.ts`, `utils/sessionUtils.ts` and
//! `utils/checkpointUtils.ts` of google-gemini/gemini-cli.

use std::collections::HashMap;
use std::ops::Range;

use super::gemini_cli_message;
use crate::fields::ObjectFields;
use crate::read::{
    Column, ColumnTable, Conversation, FileMark, FormatDescription, InputDocument, InputSource,
    TopValue, TranscriptFormat,
};
use crate::scan;

/// How the files of this client are recognised and read.
pub(in crate::read) static FORMAT: FormatDescription = FormatDescription::client(
    TranscriptFormat::GeminiCli,
    FileMark::Record(is_of),
    read,
    ColumnTable {
        error: Column::ByReader("`response.error`"),
        time: Column::At(&["timestamp"]),
        cwd: Column::Lacks("only a hash of it is there"),
        mode: Column::Lacks("is a setting of the client"),
        usage: Column::ByReader("`tokens`"),
        model: Column::At(&["model"]),
        parent: Column::ByReader("`$rewindTo`"),
        images: Column::ByReader("`inlineData`"),
        queued: Column::ByReader("a message of the user"),
        answers: Column::ByReader("the result of `ask_user`"),
    },
)
.that_builds_replies();

/// Whether the records are a session, a checkpoint, or the list of typed lines.
fn is_of(doc: InputDocument<'_>, at: Range<usize>) -> bool {
    let fields = doc.fields(at.clone());
    is_header(&fields)
        || fields.string("$rewindTo").is_some()
        || fields.object("$set").is_some() && fields.len() == 1
        || fields.is("type", "gemini") && fields.has("content") && fields.has("timestamp")
        || checkpoint(&fields)
            .and_then(|list| doc.elements(list).next())
            .is_some_and(|first| doc.fields(first).array("parts").is_some())
        || doc.elements(at).next().is_some_and(|first| is_typed(&doc.fields(first)))
}

fn is_header(fields: &ObjectFields<'_>) -> bool {
    fields.string("sessionId").is_some() && fields.string("projectHash").is_some()
}

/// The list of contents in a checkpoint. `None` for any other record.
fn checkpoint(fields: &ObjectFields<'_>) -> Option<Range<usize>> {
    fields.array("clientHistory").or_else(|| fields.array("history"))
}

/// Whether an object is an entry of `logs.json`: a line that a person typed, without an answer.
fn is_typed(fields: &ObjectFields<'_>) -> bool {
    fields.string("sessionId").is_some()
        && fields.count("messageId").is_some()
        && fields.string("message").is_some()
}

/// A session while it is read: its messages, with their places by id.
struct GeminiCliSession {
    about: Conversation,
    /// The messages in order. `None` is the place of a message that was removed.
    messages: Vec<Option<Range<usize>>>,
    by_id: HashMap<String, usize>,
    /// The conversation before each replacement.
    before: Vec<Conversation>,
}

fn read(source: &mut InputSource<'_>, records: &[TopValue]) -> Vec<Conversation> {
    let Some(first) = records.first() else { return Vec::new() };
    let mut session = GeminiCliSession::new(first.line);
    let mut conversations = Vec::new();
    for record in records {
        let fields = ObjectFields::of(source.input, record.range.clone());
        // A file may repeat the header of its own session; only another id begins another one.
        let starts = is_header(&fields)
            && !session.messages.is_empty()
            && fields.label("sessionId") != session.about.id;
        if starts {
            let before = std::mem::replace(&mut session, GeminiCliSession::new(record.line));
            conversations.extend(before.finish(source));
        }
        session.take(source, record, &fields);
    }
    conversations.extend(session.finish(source));
    conversations
}

impl GeminiCliSession {
    fn new(line: usize) -> Self {
        let about = Conversation::new(TranscriptFormat::GeminiCli, line);
        Self { about, messages: Vec::new(), by_id: HashMap::new(), before: Vec::new() }
    }

    /// Applies one record to the session.
    fn take(&mut self, source: &mut InputSource<'_>, record: &TopValue, fields: &ObjectFields<'_>) {
        let input = source.input;
        if let Some(id) = fields.text("$rewindTo") {
            self.rewind(source, record, &id);
        } else if let Some(set) = fields.object("$set") {
            let set = ObjectFields::of(input, set);
            self.about.id = set.label("sessionId").or(self.about.id.take());
            if let Some(messages) = set.array("messages") {
                self.replace(source, record, messages);
            }
        } else if is_header(fields) {
            self.about.id = fields.label("sessionId");
            for at in fields.list("messages") {
                self.put(input, at);
            }
        } else if let Some(contents) = checkpoint(fields) {
            for at in scan::elements(input, contents) {
                self.put(input, at);
            }
        } else if input.get(record.range.start) == Some(&b'[') {
            self.take_list(source, record);
        } else if fields.string("id").is_some() || fields.has("type") {
            self.put(input, record.range.clone());
        }
    }

    /// Reads a list of messages, or of typed lines.
    fn take_list(&mut self, source: &mut InputSource<'_>, record: &TopValue) {
        let input = source.input;
        let is_typed = |at| is_typed(&ObjectFields::of(input, at));
        let count = scan::elements(input, record.range.clone()).filter(|at| is_typed(at.clone()));
        let count = count.count();
        if count > 0 {
            let detail = format!(
                "{count} lines of a `logs.json` hold what was typed and no answers: give \
                 `chats/session-*` of the same project"
            );
            source.note(record.range.start, "no-answers", detail);
            return;
        }
        for at in scan::elements(input, record.range.clone()) {
            self.put(input, at);
        }
    }

    /// Puts a message in the place of the one with the same id, or after all others.
    fn put(&mut self, input: &[u8], at: Range<usize>) {
        let Some(id) = ObjectFields::of(input, at.clone()).label("id") else {
            self.messages.push(Some(at));
            return;
        };
        match self.by_id.get(&id) {
            Some(place) => self.messages[*place] = Some(at),
            None => {
                self.by_id.insert(id, self.messages.len());
                self.messages.push(Some(at));
            }
        }
    }

    /// Removes the message with this id and all after it. Removes all messages where none has the id.
    fn rewind(&mut self, source: &mut InputSource<'_>, record: &TopValue, id: &str) {
        // The client's own loader, too, removes all messages where it does not know the id.
        let from = self.by_id.get(id).copied().unwrap_or(0);
        let count = self.messages.drain(from..).flatten().count();
        self.by_id.retain(|_, place| *place < from);
        if count > 0 {
            let detail = format!("{count} messages from where the user went back to are left out");
            source.note(record.range.start, "abandoned-branch", detail);
        }
    }

    /// Replaces the context by the messages of a compaction. Each of them also is the newest version of the message
    /// with its id.
    fn replace(&mut self, source: &mut InputSource<'_>, record: &TopValue, messages: Range<usize>) {
        let input = source.input;
        let before: Vec<_> = std::mem::take(&mut self.messages);
        let ids = std::mem::take(&mut self.by_id);
        for at in scan::elements(input, messages) {
            self.put(input, at);
        }
        let dropped = ids.iter().filter(|(id, _)| !self.by_id.contains_key(*id)).count();
        if dropped == 0 {
            return;
        }
        if source.recorded {
            let mut snapshot = self.about.beside();
            gemini_cli_message::fill(source, before.into_iter().flatten(), &mut snapshot);
            self.before.push(snapshot);
        } else {
            source.note_compacted(record.range.start, dropped, "messages");
        }
    }

    fn finish(self, source: &mut InputSource<'_>) -> Vec<Conversation> {
        let Self { mut about, messages, before, .. } = self;
        gemini_cli_message::fill(source, messages.into_iter().flatten(), &mut about);
        before.into_iter().chain([about]).collect()
    }
}

//! Reads `.aider.chat.history.md` of aider, which is Markdown and no JSON.
//!
//! Shapes: `aider/io.py` (`user_input`, `ai_output`, `append_chat_history`) and `aider/utils.py`
//! (`split_chat_history_markdown`) of the package aider-chat 0.86.2. Lines with `#### ` are the user's, lines with `> `
//! are aider's own, all others are the model's. aider ends lines of the first two kinds with two spaces.

use std::ops::Range;

use midfold_core::TextOrigin;

use crate::read::{
    Column, ColumnTable, Conversation, FileMark, FormatDescription, InputDocument, InputSource,
    TopValue, TranscriptFormat,
    chat::{self, ContentPart},
};

/// How the files of this client are recognised and read.
pub(in crate::read) static FORMAT: FormatDescription = FormatDescription::client(
    TranscriptFormat::Aider,
    FileMark::Input(is_of),
    read,
    ColumnTable {
        error: Column::Lacks("only the text of its lines says it"),
        time: Column::Lacks("only the start of a session has one"),
        cwd: Column::Lacks("its lines do not name it"),
        mode: Column::Lacks("only commands show it"),
        usage: Column::Lacks("its lines have rounded counts"),
        model: Column::ByReader("`Main model:`"),
        parent: Column::ByReader("`/clear`, `/reset`"),
        images: Column::Lacks("its lines have only their names"),
        queued: Column::Lacks("takes no words while it works"),
        answers: Column::ByReader("the line of the question"),
    },
);

/// The start of a session's first line.
const START: &str = "# aider chat started at ";
/// The mark of the user's lines.
const USER: &str = "#### ";
/// The mark of aider's own lines.
const OWN: &str = "> ";

/// Commands of aider whose text goes to the model.
const ASKING: [&str; 5] = ["/ask", "/code", "/architect", "/context", "/help"];

/// Commands after which nothing older is sent.
const CLEARING: [&str; 2] = ["/clear", "/reset"];

/// Whether the text is a history of aider.
pub(super) fn is_history(bytes: &[u8]) -> bool {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    bytes.trim_ascii_start().starts_with(START.as_bytes())
}

fn is_of(doc: InputDocument<'_>, _: &[TopValue]) -> bool {
    is_history(doc.bytes)
}

/// The writer of a line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AiderVoice {
    User,
    Own,
    Model,
}

/// Neighbouring lines of one voice, without their marks.
struct AiderPassage {
    voice: AiderVoice,
    text: String,
    /// The range of the lines in the file.
    at: Range<usize>,
}

/// Reads the lines of the history. Where the file ends marked lines with two spaces, a line without them is the
/// model's: it only looks marked.
fn read(source: &mut InputSource<'_>, _: &[TopValue]) -> Vec<Conversation> {
    let text = String::from_utf8_lossy(source.input).into_owned();
    // Positions are those of the file if it is UTF-8, and nearly those if it is not.
    let size = source.input.len();
    let is_marked = text.lines().any(|line| line.starts_with(USER) && line.ends_with("  "));
    let mut conversations = Vec::new();
    let mut session = AiderSession::default();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let range = at.min(size)..(at + line.len()).min(size);
        at += line.len();
        let bare = line.trim_end_matches(['\n', '\r']);
        if let Some(time) = bare.strip_prefix(START) {
            conversations.extend(std::mem::take(&mut session).end(source));
            session.id = Some(time.trim().to_owned());
            session.start = range.start;
            continue;
        }
        let marked = |mark| bare.strip_prefix(mark).filter(|_| !is_marked || bare.ends_with("  "));
        match (marked(USER), marked(OWN)) {
            (Some(words), _) => session.line(AiderVoice::User, words.trim_end(), range),
            (None, Some(words)) => session.line(AiderVoice::Own, words.trim_end(), range),
            (None, None) => session.line(AiderVoice::Model, bare, range),
        }
    }
    conversations.extend(session.end(source));
    conversations
}

/// One start of aider. It knows nothing of the starts before it.
#[derive(Default)]
struct AiderSession {
    id: Option<String>,
    /// The position of the session's first line.
    start: usize,
    passages: Vec<AiderPassage>,
    /// Whether a blank line followed the last passage: the next line of the user is then a new message.
    is_apart: bool,
}

impl AiderSession {
    fn line(&mut self, voice: AiderVoice, words: &str, at: Range<usize>) {
        match self.passages.last_mut() {
            Some(last) if last.voice == voice && !(voice == AiderVoice::User && self.is_apart) => {
                last.text.push('\n');
                last.text.push_str(words);
                last.at.end = at.end;
            }
            // Blank lines between two voices belong to neither.
            _ if voice == AiderVoice::Model && words.trim().is_empty() => self.is_apart = true,
            _ => {
                self.is_apart = false;
                self.passages.push(AiderPassage { voice, text: words.to_owned(), at });
            }
        }
    }

    /// The conversations of the session: a command that clears the history ends one and starts the next.
    fn end(self, source: &mut InputSource<'_>) -> Vec<Conversation> {
        let mut about = Conversation::new(TranscriptFormat::Aider, source.line_of(self.start));
        about.id = self.id;
        let mut conversations = Vec::new();
        let mut conversation = about.beside();
        for passage in self.passages {
            if passage.voice == AiderVoice::User && CLEARING.contains(&passage.text.trim()) {
                let fresh = conversation.beside();
                let before = std::mem::replace(&mut conversation, fresh);
                if source.recorded {
                    conversations.push(before);
                } else if !before.events.is_empty() {
                    source.note_compacted(passage.at.start, before.events.len(), "messages");
                }
            }
            if passage.voice == AiderVoice::Own {
                let model = model(&passage.text);
                conversation.envelope.model = model.or(conversation.envelope.model);
            }
            event(source, &mut conversation, passage);
        }
        conversations.push(conversation);
        conversations
    }
}

fn event(source: &mut InputSource<'_>, conversation: &mut Conversation, passage: AiderPassage) {
    let text = passage.text.trim();
    let parts = [ContentPart::Text(chat::token(text))];
    let (bytes, origin) = match passage.voice {
        AiderVoice::Model => (chat::reply(&parts, &[], &[]), None),
        AiderVoice::Own => {
            // Before the first message these lines are aider's setup, later they are results.
            let is_first = conversation.events.is_empty();
            let origin = if is_first { TextOrigin::Injected } else { TextOrigin::Observation };
            (chat::message("user", &parts), Some(origin))
        }
        AiderVoice::User => {
            let command = text.split_whitespace().next().filter(|word| word.starts_with('/'));
            let words = command.map_or("", |command| text[command.len()..].trim());
            let is_asked = command.is_none_or(|name| ASKING.contains(&name) && !words.is_empty());
            (chat::message("user", &parts), (!is_asked).then_some(TextOrigin::Injected))
        }
    };
    let mut event = source.built(bytes, vec![passage.at]);
    event.origin = origin;
    conversation.events.push(event);
}

/// The model that aider names in its own lines.
fn model(text: &str) -> Option<String> {
    let line = |line: &str| {
        let name = line.strip_prefix("Main model: ").or_else(|| line.strip_prefix("Model: "))?;
        name.split_whitespace().next().map(str::to_owned)
    };
    text.lines().find_map(line)
}

//! Reads agent transcripts of Cursor, which hold words and calls, and the output of `cursor-agent --output-format
//! stream-json`, which also holds results. Exports of the editor are Markdown, and its own store is SQLite: neither is
//! read.
//!
//! Shapes: <https://cursor.com/docs/cli/reference/output-format>, and what public readers of
//! `~/.cursor/projects/*/agent-transcripts/*.jsonl` agree on.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use midfold_core::view::TextOrigin;
use midfold_core::{Voice, jsonstr};

use super::spoken::SpokenParts;
use super::step::ClientStep;
use crate::fields::ObjectFields;
use crate::read::{
    Column, ColumnTable, Conversation, FileMark, FormatDescription, InputDocument, InputSource,
    TopValue, TranscriptFormat, UnsentCount,
    chat::{self, ChatCall, ContentPart, StringToken, token},
};
use crate::scan;
use crate::voices::{VoicedText, split};

/// How the files of this client are recognised and read.
pub(in crate::read) static FORMAT: FormatDescription = FormatDescription::client(
    TranscriptFormat::Cursor,
    FileMark::Record(is_of),
    read,
    ColumnTable {
        error: Column::ByReader("`result` without `success`, in a stream"),
        time: Column::At(&["timestamp_ms"]),
        cwd: Column::Unread("`cwd` of the stream"),
        mode: Column::Unread("`permissionMode` of the stream"),
        usage: Column::Lacks("neither file has counts"),
        model: Column::ByReader("`model` of the stream"),
        parent: Column::Lacks("messages are in one list"),
        images: Column::ByReader("blocks `image`"),
        queued: Column::ByReader("a message of the user"),
        answers: Column::Lacks("a transcript has no results"),
    },
)
.that_builds_replies();

/// Whether a line is of a transcript, or of a kind that only the stream has.
fn is_of(doc: InputDocument<'_>, at: Range<usize>) -> bool {
    let fields = doc.fields(at);
    match fields.text("type").as_deref() {
        None => {
            let is_line = fields.string("role").is_some() && fields.len() <= 4;
            is_line && fields.inner("message").has("content") && !fields.has("content")
        }
        Some("tool_call") => fields.has("subtype") && fields.object("tool_call").is_some(),
        Some("thinking") => fields.has("subtype") && fields.string("session_id").is_some(),
        Some("turn_ended") => fields.has("status"),
        _ => false,
    }
}

/// The way in which a line of the model holds its words.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CursorLine {
    /// A transcript has each text once.
    Once,
    /// A piece of a text, in a stream of pieces.
    Piece,
    /// A whole text of a stream. It repeats the pieces before it, if there are any.
    Whole,
}

impl CursorLine {
    fn of(fields: &ObjectFields<'_>) -> Self {
        match fields.has("type") {
            false => Self::Once,
            true if fields.has("timestamp_ms") && !fields.has("model_call_id") => Self::Piece,
            true => Self::Whole,
        }
    }
}

/// The state of the reader.
struct CursorReading<'a> {
    input: &'a [u8],
    conversation: Conversation,
    step: ClientStep<'a>,
    /// Words of the model since its last call. Some streams send them in pieces, and then once more as a whole.
    pieces: Vec<(StringToken<'a>, Range<usize>)>,
    /// Whether they are marked as pieces. Older streams mark none.
    has_marks: bool,
    /// The length of all pieces together, in bytes.
    length: usize,
    /// The results of the stream's calls, by call id.
    results: HashMap<String, Range<usize>>,
    /// The number of a transcript's calls, which have no ids.
    calls: usize,
    /// The calls without a result.
    unanswered: UnsentCount,
    /// The errors that the client only shows.
    shown: UnsentCount,
}

/// Reads the lines of a transcript or of a stream.
fn read(source: &mut InputSource<'_>, records: &[TopValue]) -> Vec<Conversation> {
    let input = source.input;
    let Some(first) = records.first() else { return Vec::new() };
    let mut reading = CursorReading {
        input,
        conversation: Conversation::new(TranscriptFormat::Cursor, first.line),
        step: ClientStep::default(),
        pieces: Vec::new(),
        has_marks: false,
        length: 0,
        results: results(input, records),
        calls: 0,
        unanswered: UnsentCount::default(),
        shown: UnsentCount::default(),
    };
    for record in records {
        reading.take(source, record);
    }
    reading.flush(source);
    let CursorReading { conversation, unanswered, shown, .. } = reading;
    let detail = "the results of {} calls are not in a transcript of Cursor's";
    unanswered.note(source, "no-results", detail);
    shown.note(source, "not-sent", "{} errors that the client shows are left out");
    vec![conversation]
}

/// The events that end calls. A stream has one event at the start of a call and one at its end.
fn results(input: &[u8], records: &[TopValue]) -> HashMap<String, Range<usize>> {
    let completed = records.iter().filter_map(|record| {
        let fields = ObjectFields::of(input, record.range.clone());
        let is_done = fields.is("type", "tool_call") && fields.is("subtype", "completed");
        Some((fields.label("call_id").filter(|_| is_done)?, fields.object("tool_call")?))
    });
    completed.collect()
}

impl<'a> CursorReading<'a> {
    /// Adds one line.
    fn take(&mut self, source: &mut InputSource<'a>, record: &TopValue) {
        let at = record.range.clone();
        let fields = ObjectFields::of(self.input, at.clone());
        let about = &mut self.conversation;
        about.id = about.id.take().or_else(|| fields.label("session_id"));
        let message = fields.inner("message");
        let kind = fields.text("type").or_else(|| fields.text("role")).unwrap_or_default();
        match &*kind {
            "system" => {
                about.envelope.model = fields.label("model").or(about.envelope.model.take());
            }
            "user" => {
                self.flush(source);
                let typed = spoken_parts(self.input, &message);
                self.conversation.events.extend(typed.events(source));
            }
            "assistant" => self.reply(source, &message, CursorLine::of(&fields), &at),
            "thinking" => {
                // Reasoning after calls begins the next step.
                if self.step.has_calls() {
                    self.flush(source);
                }
                let text = fields.raw("text").unwrap_or_default();
                self.step.piece(true, chat::inside(text), &at);
            }
            "tool_call" => self.call_of_stream(&fields, &at),
            "turn_ended" | "result" if fields.has("error") || fields.is_true("is_error") => {
                self.shown.add(at.start);
            }
            _ => {}
        }
    }

    /// Adds the words and calls of one line of the model.
    fn reply(
        &mut self,
        source: &mut InputSource<'a>,
        message: &ObjectFields<'a>,
        line: CursorLine,
        at: &Range<usize>,
    ) {
        if self.step.has_calls() {
            self.flush(source);
        }
        if let Some(text) = message.string("content").map(|at| &self.input[at]) {
            self.say(Cow::Borrowed(text), line, at);
        }
        for at in message.list("content") {
            let block = ObjectFields::of(self.input, at.clone());
            let named = |name| chat::text_of(&block, name);
            match &*block.text("type").unwrap_or_default() {
                "text" => self.say(named("text").unwrap_or_else(|| token("")), line, &at),
                "thinking" => {
                    self.step.think(named("thinking").unwrap_or_else(|| token("")), at);
                }
                "tool_use" => {
                    self.calls += 1;
                    let next_id = || token(&format!("call_{}", self.calls));
                    let id = named("id").unwrap_or_else(next_id);
                    let name = named("name").unwrap_or_else(|| token(""));
                    self.settle();
                    self.unanswered.add(at.start);
                    let arguments = block.raw("input");
                    self.step.call(ChatCall { id, name, arguments }, at);
                }
                _ => {
                    // The texts and the reasoning so far wait in `pieces` and in the step, and come before this block.
                    self.settle();
                    self.step.say(ContentPart::unknown(&self.input[at.clone()]), at);
                }
            }
        }
    }

    /// Adds words of the model. A whole text replaces the pieces that it repeats.
    fn say(&mut self, text: StringToken<'a>, line: CursorLine, at: &Range<usize>) {
        let text = match line {
            CursorLine::Whole if self.has_marks => self.joined(text),
            CursorLine::Whole if self.is_told(chat::inside(&text)) => {
                self.pieces.clear();
                self.length = 0;
                text
            }
            _ => text,
        };
        self.has_marks |= line == CursorLine::Piece;
        self.length += chat::inside(&text).len();
        self.pieces.push((text, at.clone()));
    }

    /// Whether the pieces, which have no marks, make up this text.
    fn is_told(&self, whole: &[u8]) -> bool {
        // The lengths are compared first, since an answer may have many thousand pieces.
        !self.pieces.is_empty()
            && whole.len() == self.length
            && self.pieces.iter().flat_map(|(piece, _)| chat::inside(piece)).eq(whole)
    }

    /// Takes the pieces out and returns the text in place of them. The text at the end of a turn also repeats what was
    /// said before the turn's calls.
    fn joined(&mut self, whole: StringToken<'a>) -> StringToken<'a> {
        (self.has_marks, self.length) = (false, 0);
        let pieces = std::mem::take(&mut self.pieces);
        let streamed: Vec<u8> =
            pieces.iter().flat_map(|(piece, _)| chat::inside(piece)).copied().collect();
        match chat::inside(&whole).ends_with(&streamed) {
            true => Cow::Owned([&b"\""[..], &streamed, b"\""].concat()),
            false => whole,
        }
    }

    /// Moves the reasoning and words so far into the step.
    fn settle(&mut self) {
        self.step.settle();
        (self.has_marks, self.length) = (false, 0);
        for (text, at) in self.pieces.drain(..) {
            self.step.say(ContentPart::Text(text), at);
        }
    }

    fn flush(&mut self, source: &mut InputSource<'a>) {
        self.settle();
        let events = self.step.finish(source, None);
        self.conversation.events.extend(events);
    }

    /// Adds a call of the stream with its result, at the place where the call starts.
    fn call_of_stream(&mut self, fields: &ObjectFields<'a>, at: &Range<usize>) {
        let key = fields.label("call_id").unwrap_or_default();
        let is_start = fields.is("subtype", "started");
        // The result is taken out, so that the event at the end of the call adds no second call.
        let completed = self.results.remove(&key);
        // The event ends a call whose start was read already.
        if !is_start && completed.is_none() {
            return;
        }
        self.settle();
        let started = fields.object("tool_call").unwrap_or(0..0);
        let (name, call) = tool(self.input, started);
        let id = chat::text_of(fields, "call_id").unwrap_or_else(|| token(""));
        let arguments = call.raw("args").or_else(|| call.raw("arguments"));
        self.step.call(ChatCall { id: id.clone(), name: name.clone(), arguments }, at.clone());
        let Some(completed) = completed else {
            self.unanswered.add(at.start);
            return;
        };
        let (_, call) = tool(self.input, completed.clone());
        let result = call.inner("result");
        let text = chat::text_of(&result.inner("success"), "content");
        let text = text.or_else(|| chat::text_of(&call, "result"));
        let parts = text.map(ContentPart::Text).into_iter().collect();
        let failed = !result.is_empty() && !result.has("success");
        self.step.answer((id, name), parts, completed, failed);
    }
}

/// The tool's name and the members of its call: `{"readToolCall": {…}}`, or `{"function": {"name": …}}`.
fn tool<'a>(input: &'a [u8], call: Range<usize>) -> (StringToken<'a>, ObjectFields<'a>) {
    let fields = ObjectFields::of(input, call.clone());
    let function = fields.inner("function");
    if let Some(name) = chat::text_of(&function, "name") {
        return (name, function);
    }
    let is_tool = |member: &scan::Member| {
        input[member.key.clone()].ends_with(b"ToolCall\"")
            && input.get(member.value.start) == Some(&b'{')
    };
    let Some(member) = scan::members(input, call).find(is_tool) else { return (token(""), fields) };
    let name = chat::inside(&input[member.key]);
    let name = name.strip_suffix(b"ToolCall").unwrap_or(name);
    (token(&String::from_utf8_lossy(name)), ObjectFields::of(input, member.value))
}

/// The parts of a line in the user's role. Text in tags is the client's, unless words of the person are in or beside
/// them.
fn spoken_parts<'a>(input: &'a [u8], message: &ObjectFields<'a>) -> SpokenParts<'a> {
    let mut spoken = SpokenParts::default();
    let origin = |text: &StringToken<'_>| {
        let text = jsonstr::decode(text);
        let is_persons = |part: &VoicedText<'_>| part.voice == Voice::User;
        let is_client = text.starts_with('<') && !split(&[&text]).iter().any(is_persons);
        is_client.then_some(TextOrigin::Injected)
    };
    if let Some(at) = message.string("content") {
        let text = Cow::Borrowed(&input[at.clone()]);
        spoken.push(origin(&text), ContentPart::Text(text), at);
    }
    for (at, block) in message.objects("content") {
        match chat::text_of(&block, "text").filter(|_| block.is("type", "text")) {
            Some(text) => spoken.push(origin(&text), ContentPart::Text(text), at),
            None => match image(&block) {
                Some(image) => spoken.push(None, image, at),
                None => spoken.push(
                    Some(TextOrigin::Injected),
                    ContentPart::unknown(&input[at.clone()]),
                    at,
                ),
            },
        }
    }
    spoken
}

fn image<'a>(block: &ObjectFields<'a>) -> Option<ContentPart<'a>> {
    let source = block.inner("source");
    let data = chat::text_of(&source, "data").filter(|_| block.is("type", "image"))?;
    Some(ContentPart::Image { mime: chat::text_of(&source, "media_type")?, data })
}

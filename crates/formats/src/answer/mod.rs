//! Reads a provider's answer while it passes.
//!
//! A proxy forwards bytes and gives a copy of each chunk to an [`AnswerTee`]. The tee collects the reported tokens, how
//! the answer ended, and the reply in the form in which the client will send it back. A tee never fails and never holds
//! more than its limits: an answer that it cannot read is forwarded all the same.

mod anthropic;
mod chat;
mod facts;
mod framing;
mod gemini;
mod merge;
mod notes;
mod responses;
mod sse;
mod units;

use crate::dialect::DialectKind;
use crate::fields::ObjectFields;
use crate::{overflow, scan, usage};

pub use facts::{AnswerFacts, PassVerdict};
pub use framing::{AnswerFraming, DeclaredFraming, is_media_type};

use notes::{AnswerNotes, has_error, is_json, lossy};
use sse::{EVENT_LIMIT, SseSplitter, StreamPiece};
use units::{DocumentRow, DocumentSplitter};

/// The most bytes of a body that is one JSON document. A larger body is forwarded and not read.
const BODY_LIMIT: usize = 32 * 1024 * 1024;

/// The most bytes of an event that is read as a refusal. Errors are sentences, even with an echo in them.
const REFUSAL_LIMIT: usize = 64 * 1024;

/// Reads an answer while it passes, in chunks of any size.
///
/// ```
/// use midfold_formats::DialectKind;
/// use midfold_formats::answer::{AnswerFraming, AnswerTee, PassVerdict};
/// let mut tee = AnswerTee::new(DialectKind::OpenAiChat, AnswerFraming::Sse);
/// tee.push(b"data: {\"id\":\"c1\",\"choices\":[{\"delta\":{\"role\":\"assistant\"}}]}\n\n");
/// assert_eq!(tee.verdict(), PassVerdict::Undecided);
/// tee.push(b"data: {\"choices\":[{\"delta\":{\"content\":\"hi\"}}]}\n\ndata: [DO");
/// assert_eq!(tee.verdict(), PassVerdict::Fine);
/// tee.push(b"NE]\n\n");
/// let seen = tee.finish();
/// assert!(seen.is_complete);
/// assert_eq!(seen.output, [&br#"{"role":"assistant","content":"hi"}"#[..]]);
/// ```
#[derive(Clone, Debug)]
pub struct AnswerTee {
    framing: DeclaredFraming,
    splitter: AnswerSplitter,
    reader: AnswerReader,
}

/// Divides the bytes of an answer into events or documents.
#[derive(Clone, Debug)]
enum AnswerSplitter {
    /// The first byte is still to come: it may decide between events and JSON.
    Unknown,
    Sse(SseSplitter),
    Units(DocumentSplitter),
}

impl AnswerSplitter {
    fn of(framing: AnswerFraming, first: u8) -> Self {
        let row = match framing {
            AnswerFraming::Sse if !matches!(first, b'{' | b'[') => {
                return Self::Sse(SseSplitter::default());
            }
            AnswerFraming::Sse | AnswerFraming::Json => DocumentRow::One,
            AnswerFraming::JsonArray => DocumentRow::Array,
            AnswerFraming::NdJson => {
                return Self::Units(DocumentSplitter::new(DocumentRow::Many, EVENT_LIMIT));
            }
        };
        Self::Units(DocumentSplitter::new(row, BODY_LIMIT))
    }
}

impl AnswerTee {
    /// A tee for answers of this dialect. Rows of training data (`sharegpt`) are no answers, and Bedrock's event stream
    /// is binary: for those two, only a JSON document is read.
    #[must_use]
    pub fn new(kind: DialectKind, framing: impl Into<DeclaredFraming>) -> Self {
        let notes = AnswerNotes { collects: true, ..AnswerNotes::default() };
        let reader = AnswerReader { body: AnswerBody::of(kind), notes };
        Self { framing: framing.into(), splitter: AnswerSplitter::Unknown, reader }
    }

    /// How the body is divided. Where the content type does not say it, the answer may change with the first byte.
    #[must_use]
    pub fn framing(&self) -> AnswerFraming {
        self.framing.likely()
    }

    /// The same tee without [`AnswerFacts::output`]: it skips the parts of the reply, which saves most of the work.
    #[must_use]
    pub fn without_output(mut self) -> Self {
        self.reader.notes.collects = false;
        self
    }

    /// Reads the next chunk.
    pub fn push(&mut self, chunk: &[u8]) {
        let mut chunk = chunk;
        if let AnswerSplitter::Unknown = self.splitter {
            chunk = &chunk[scan::skip_space(chunk, 0)..];
            let Some(first) = chunk.first() else { return };
            let framing = self.framing.starting_with(*first);
            self.framing = framing.into();
            self.splitter = AnswerSplitter::of(framing, *first);
        }
        let mut sink = |piece: StreamPiece<'_>| self.reader.read(piece);
        match &mut self.splitter {
            AnswerSplitter::Unknown => {}
            AnswerSplitter::Sse(sse) => sse.push(chunk, &mut sink),
            AnswerSplitter::Units(units) => units.push(chunk, &mut sink),
        }
    }

    /// The facts that are known so far.
    #[must_use]
    pub fn seen(&self) -> &AnswerFacts {
        &self.reader.notes.seen
    }

    /// Whether the bytes that have arrived can go to the client. The verdict changes once, from
    /// [`PassVerdict::Undecided`], and then never again.
    #[must_use]
    pub fn verdict(&self) -> PassVerdict {
        self.reader.notes.verdict
    }

    /// Ends the answer and returns what is known about it, with its reply.
    #[must_use]
    pub fn finish(self) -> AnswerFacts {
        let Self { splitter, mut reader, .. } = self;
        let mut sink = |piece: StreamPiece<'_>| reader.read(piece);
        match splitter {
            AnswerSplitter::Unknown => {}
            AnswerSplitter::Sse(sse) => sse.finish(&mut sink),
            AnswerSplitter::Units(units) => units.finish(&mut sink),
        }
        match reader.body {
            AnswerBody::Chat(chat) => chat.finish(&mut reader.notes),
            AnswerBody::Anthropic(anthropic) => anthropic.finish(&mut reader.notes),
            AnswerBody::Gemini(gemini) => gemini.finish(&mut reader.notes),
            AnswerBody::Responses(_) | AnswerBody::Plain => {}
        }
        reader.notes.seen
    }
}

/// Reads the events or documents of an answer.
#[derive(Clone, Debug)]
struct AnswerReader {
    body: AnswerBody,
    notes: AnswerNotes,
}

/// The state of the reply, by dialect.
#[derive(Clone, Debug)]
enum AnswerBody {
    Chat(chat::ChatAnswer),
    Responses(responses::ResponsesAnswer),
    Anthropic(anthropic::AnthropicAnswer),
    Gemini(gemini::GeminiAnswer),
    /// Bedrock's whole answers, and dialects that have no answers.
    Plain,
}

impl AnswerBody {
    fn of(kind: DialectKind) -> Self {
        match kind {
            DialectKind::OpenAiChat | DialectKind::Ollama => {
                Self::Chat(chat::ChatAnswer::default())
            }
            DialectKind::OpenAiResponses => Self::Responses(responses::ResponsesAnswer::default()),
            DialectKind::Anthropic => Self::Anthropic(anthropic::AnthropicAnswer::default()),
            DialectKind::Gemini => Self::Gemini(gemini::GeminiAnswer::default()),
            DialectKind::Bedrock | DialectKind::ShareGpt => Self::Plain,
        }
    }
}

impl AnswerReader {
    fn read(&mut self, piece: StreamPiece<'_>) {
        self.notes.seen.events += 1;
        match piece {
            StreamPiece::Event { name, data } => self.read_event(name, &lossy(data)),
            StreamPiece::TooLarge => {
                self.notes.note_overrun();
                // No refusal is that large, so nothing is held back any more.
                self.notes.note_fine();
            }
        }
    }

    fn read_event(&mut self, name: &[u8], data: &[u8]) {
        if data.first() == Some(&b'[') && data != b"[DONE]" {
            // Gemini sends errors in an array, even where a stream of events was asked for.
            for element in scan::elements(data, 0..data.len()) {
                self.read_document(b"", &data[element]);
            }
            self.notes.note_fine();
        } else {
            self.read_document(name, data);
        }
    }

    fn read_document(&mut self, name: &[u8], data: &[u8]) {
        let notes = &mut self.notes;
        // Any server may answer in the shape of another dialect when it refuses, so this is read for all of them.
        if notes.verdict == PassVerdict::Undecided && data.len() <= REFUSAL_LIMIT {
            notes.note_fault(overflow::reported_error(data));
        }
        let error = notes.seen.error;
        match &mut self.body {
            AnswerBody::Chat(chat) => chat.read_event(data, notes),
            AnswerBody::Gemini(gemini) => gemini.read_event(data, notes),
            AnswerBody::Responses(responses) => {
                responses.read_event(&kind(name, data), data, notes)
            }
            AnswerBody::Anthropic(anthropic) => {
                anthropic.read_event(&kind(name, data), data, notes)
            }
            AnswerBody::Plain => plain(data, notes),
        }
        // The name alone makes it an error, whatever its data is. An error that was read from the data is not noted
        // twice.
        if name == b"error" && notes.seen.error == error {
            notes.note_error(data);
        }
    }
}

/// The type of an event: the `type` in its data, which clients of Responses go by, or else the event's name. The type
/// mostly comes first in the data, so that place is tried before the data is parsed.
fn kind<'a>(name: &'a [u8], data: &'a [u8]) -> std::borrow::Cow<'a, [u8]> {
    if let Some(rest) = data.strip_prefix(b"{\"type\":\"")
        && let Some(end) = memchr::memchr2(b'"', b'\\', rest)
        && rest[end] == b'"'
    {
        return rest[..end].into();
    }
    match ObjectFields::of(data, 0..data.len()).text("type") {
        Some(kind) => kind.into_owned().into_bytes().into(),
        None => name.into(),
    }
}

/// Reads an answer of Bedrock's `Converse`, or only the usage of another document.
fn plain(data: &[u8], notes: &mut AnswerNotes) {
    let answer = ObjectFields::of(data, 0..data.len());
    if has_error(&answer) {
        notes.note_error(data);
    }
    notes.note_usage(usage::reported(data));
    let message = answer.inner("output").object("message");
    // Blocks are a reply, even where the window stopped it. A provider refuses a message without them.
    let message =
        message.filter(|at| ObjectFields::of(data, at.clone()).list("content").next().is_some());
    if message.is_some() {
        notes.note_fine();
    }
    if let Some(reason) = answer.text("stopReason") {
        notes.finish(reason);
    }
    notes.seen.is_complete = !has_error(&answer) && is_json(data);
    notes.note_fine();
    if notes.collects
        && let Some(message) = message
    {
        notes.reply(0, &data[message]);
    }
}

//! Reads exports of Langfuse: observations as JSON or JSON Lines, from its pages, its API, or a blob store.
//!
//! Shapes: <https://langfuse.com/docs/api-and-data-platform/features/blob-storage-export-fields>, and `Observation` and
//! `TraceWithFullDetails` of its API. Names are in camelCase or snake_case.

use std::ops::Range;

use bytes::Bytes;
use midfold_core::event::RawEvent;

use super::traces::{self, TracedCall};
use crate::fields::ObjectFields;
use crate::read::{
    Column, ColumnTable, Conversation, Envelope, FileMark, FormatDescription, InputDocument,
    InputSource, MessageParts, PartRule, PartTable, TopValue, TranscriptFormat,
    chat::{self, ContentPart},
    detect::{self, DetectedShape},
    entries, facts,
};
use crate::usage;

/// How the files are recognised and read.
pub(in crate::read) static FORMAT: FormatDescription = FormatDescription::client(
    TranscriptFormat::Langfuse,
    FileMark::Entry(&HOLDERS, is_of),
    read,
    ColumnTable {
        error: Column::Lacks("only the text of a result says it"),
        time: Column::ByReader("`startTime`, `endTime`"),
        cwd: Column::Lacks("an observation names no folder"),
        mode: Column::Lacks("an observation names no mode"),
        usage: Column::ByReader("`usageDetails`, `usage`"),
        model: Column::ByReader("`model`, `providedModelName`"),
        parent: Column::Lacks("a generation holds one list of messages"),
        images: Column::ByReader("the parts of the dialect"),
        queued: Column::ByReader("a message of the user"),
        answers: Column::ByReader("the result of the tool that asks"),
    },
);

/// The members that hold the observations: of a trace, and of an answer of the API.
const HOLDERS: [&str; 2] = ["observations", "data"];

/// The parts of a reply that has calls of LangChain.
const PARTS: PartTable = &[("text", PartRule::Text("text"))];

/// The calls of LangChain, which it writes beside the content.
const CALL: PartRule = PartRule::Call("id", "name", "args");

fn is_of(doc: InputDocument<'_>, at: Range<usize>) -> bool {
    let fields = doc.fields(at);
    let has = |names: [&str; 2]| names.into_iter().any(|name| fields.has(name));
    let is_observation = has(["traceId", "trace_id"]) && fields.string("type").is_some();
    let is_trace = has(["projectId", "project_id"]) && fields.string("timestamp").is_some();
    (is_observation || is_trace) && fields.has("input") && fields.has("output")
}

fn read(source: &mut InputSource<'_>, records: &[TopValue]) -> Vec<Conversation> {
    let doc = InputDocument { bytes: source.input, outline: None };
    let all: Vec<_> = entries::all(doc, records, &HOLDERS).collect();
    let calls: Vec<_> = all.iter().filter_map(|at| call(source, at)).collect();
    if let (true, Some(first)) = (calls.is_empty(), all.first()) {
        let why = "it holds no observation of type GENERATION with messages: export the \
                   observations, and not the traces";
        source.note(first.start, "no-answers", why);
    }
    traces::conversations(source, calls)
}

/// The call of a model in an observation. `None` for any other observation.
fn call(source: &mut InputSource<'_>, at: &Range<usize>) -> Option<TracedCall> {
    let input = source.input;
    let fields = ObjectFields::of(input, at.clone());
    let label = |names: &[&str]| names.iter().find_map(|name| fields.label(name));
    if !fields.is("type", "GENERATION") {
        return None;
    }
    let prompt = fields.get("input")?;
    let request = TracedPayload::of(source, prompt)?;
    let mut envelope = Envelope::default();
    let body = ObjectFields::of(&request.bytes, traces::whole(&request.bytes));
    envelope.tools = body.get("tools").map(|at| request.bytes.slice(at));
    envelope.system = body.get("system").map(|at| request.bytes.slice(at));
    envelope.model = label(&["model", "providedModelName", "provided_model_name"]);
    let answered = fields.get("output");
    let reply = answered.and_then(|at| TracedPayload::of(source, at));
    let usages = ["usageDetails", "usage_details", "usage"];
    let moment = |names: [&str; 2]| names.iter().find_map(|name| facts::moment(&fields, name));
    Some(TracedCall {
        group: label(&["sessionId", "session_id", "traceId", "trace_id"]).unwrap_or_default(),
        format: request.format,
        envelope,
        inputs: request.messages(source, "user"),
        replies: reply.map_or_else(Vec::new, |reply| reply.messages(source, "assistant")),
        times: (moment(["startTime", "start_time"]), moment(["endTime", "end_time"])),
        usage: usages.iter().find_map(|name| usage::langfuse(&fields.inner(name))),
        place: at.start,
    })
}

/// What a model was sent or said: messages, or a text.
struct TracedPayload {
    bytes: Bytes,
    /// The messages in it. Empty where it is a text.
    messages: Vec<Range<usize>>,
    format: TranscriptFormat,
    /// Where it is in the input.
    at: Range<usize>,
}

impl TracedPayload {
    /// `None` where there is nothing.
    fn of(source: &InputSource<'_>, at: Range<usize>) -> Option<Self> {
        let text = || Bytes::copy_from_slice(&source.input[at.clone()]);
        let bytes = traces::decoded(source.input, at.clone()).unwrap_or_else(text);
        let doc = InputDocument { bytes: &bytes, outline: None };
        let whole = traces::whole(&bytes);
        let fields = doc.fields(whole.clone());
        let (format, messages) = match detect::shape(doc, whole.clone()) {
            DetectedShape::Holder { format, messages } => {
                (Some(format), doc.elements(messages).collect())
            }
            DetectedShape::List => {
                let value = TopValue { range: whole.clone(), line: 1 };
                (detect::format(doc, &[value]), doc.elements(whole).collect())
            }
            _ if fields.has("content") || fields.has("tool_calls") => (None, vec![whole]),
            _ if fields.array("choices").is_some() => {
                let choices = fields.objects("choices");
                (None, choices.filter_map(|(_, choice)| choice.object("message")).collect())
            }
            _ if !fields.is_empty() || bytes.starts_with(b"null") => return None,
            _ => (None, Vec::new()),
        };
        let dialect = format.unwrap_or(TranscriptFormat::OpenAiChat).dialect();
        let format = match TranscriptFormat::from(dialect) {
            TranscriptFormat::OpenAiChat => TranscriptFormat::Langfuse,
            format => format,
        };
        Some(Self { messages, format, at, bytes })
    }

    /// The messages. A text, and a message without a role, get this role.
    fn messages(&self, source: &mut InputSource<'_>, role: &str) -> Vec<RawEvent> {
        if self.messages.is_empty() {
            let text = match self.bytes.first() {
                Some(b'"') => self.bytes.to_vec().into(),
                _ => chat::json_as_text(&self.bytes),
            };
            let bytes = chat::message(role, &[ContentPart::Text(text)]);
            return vec![source.built(bytes, vec![self.at.clone()])];
        }
        let event = |at: &Range<usize>| source.built(self.message(at, role), vec![self.at.clone()]);
        self.messages.iter().map(event).collect()
    }

    /// A message as it is, but for calls in the shape of LangChain and a role that is missing.
    fn message(&self, at: &Range<usize>, role: &str) -> Vec<u8> {
        let fields = ObjectFields::of(&self.bytes, at.clone());
        let mut parts = MessageParts::of(&fields, PARTS);
        parts.add_calls(&fields, "tool_calls", &[CALL]);
        let written = &self.bytes[at.clone()];
        if !parts.calls.is_empty() {
            return parts.reply();
        }
        let is_bare = !fields.has("role") && !fields.is_empty();
        match written {
            [b'{', rest @ ..] if is_bare => {
                [br#"{"role":""#, role.as_bytes(), br#"","#, rest].concat()
            }
            _ => written.to_vec(),
        }
    }
}

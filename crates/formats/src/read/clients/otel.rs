//! Reads spans and log records of OpenTelemetry that hold the messages of a model: OTLP as JSON, and what exporters of
//! the SDKs write to a file or a console.
//!
//! Shapes: `docs/gen-ai/gen-ai-input-messages.json` and `gen-ai-output-messages.json` of open-telemetry/semantic-conventions,
//! whose value is a JSON text in an attribute. Attributes for each member of a message are in [`otel_flat`].

use std::borrow::Cow;
use std::ops::Range;

use midfold_core::calendar::{self, Millis};
use midfold_core::event::RawEvent;

use super::otel_flat;
use super::otel_span::SpanAttributes;
use super::traces::{self, TracedCall};
use crate::fields::ObjectFields;
use crate::read::{
    Column, ColumnTable, Conversation, Envelope, FileMark, FormatDescription, InputDocument,
    InputSource, MessageParts, PartRule, PartTable, TopValue, TranscriptFormat,
    chat::{self, ContentPart},
};
use crate::scan;

/// How the files are recognised and read.
pub(in crate::read) static FORMAT: FormatDescription = FormatDescription::client(
    TranscriptFormat::Otel,
    FileMark::Record(is_of),
    read,
    ColumnTable {
        error: Column::Lacks("only the text of a result says it"),
        time: Column::ByReader("`startTimeUnixNano`, `start_time`, `startTime`"),
        cwd: Column::Lacks("a span names no folder"),
        mode: Column::Lacks("a span names no mode"),
        usage: Column::ByReader("`gen_ai.usage.input_tokens`, `llm.token_count.prompt`"),
        model: Column::ByReader(
            "`gen_ai.response.model`, `gen_ai.request.model`, `llm.model_name`",
        ),
        parent: Column::Lacks("a call holds one list of messages"),
        images: Column::ByReader("parts `blob`, `uri`"),
        queued: Column::ByReader("a message of the user"),
        answers: Column::ByReader("the result of the tool that asks"),
    },
);

/// The parts of a message. Results are read apart, because a message may hold several.
const PARTS: PartTable = &[
    ("text", PartRule::Text("content")),
    ("reasoning", PartRule::Thought("content")),
    ("tool_call", PartRule::Call("id", "name", "arguments")),
    ("blob", PartRule::Image("mime_type", "content")),
    ("uri", PartRule::Link("uri")),
];

/// The lists in which OTLP nests its spans and log records.
const NESTS: [[&str; 3]; 2] =
    [["resourceSpans", "scopeSpans", "spans"], ["resourceLogs", "scopeLogs", "logRecords"]];

fn is_of(doc: InputDocument<'_>, at: Range<usize>) -> bool {
    let fields = doc.fields(at);
    let is_nest = NESTS.iter().any(|[outer, ..]| fields.array(outer).is_some());
    is_nest || fields.has("attributes") && trace_of(&fields).is_some()
}

/// The trace of a span, in the names of OTLP and of the SDKs for Python and JavaScript.
fn trace_of(span: &ObjectFields<'_>) -> Option<String> {
    let paths = ["traceId", "context.trace_id", "_spanContext.traceId", "spanContext.traceId"];
    paths.into_iter().find_map(|path| span.at_path(path, ObjectFields::label))
}

fn read(source: &mut InputSource<'_>, records: &[TopValue]) -> Vec<Conversation> {
    let input = source.input;
    let mut calls = Vec::new();
    for record in records {
        let fields = ObjectFields::of(input, record.range.clone());
        let mut spans: Vec<_> = NESTS.iter().flat_map(|nest| nested(&fields, nest)).collect();
        if spans.is_empty() {
            spans.push((record.range.clone(), fields));
        }
        calls.extend(spans.into_iter().filter_map(|(at, span)| call(source, at.start, &span)));
    }
    if let (true, Some(first)) = (calls.is_empty(), records.first()) {
        let why = "no span in it has the messages of a model (`gen_ai.input.messages`): let the \
                   instrumentation capture the content of messages, and export again";
        source.note(first.range.start, "no-answers", why);
    }
    traces::conversations(source, calls)
}

fn nested<'a>(
    fields: &ObjectFields<'a>,
    [outer, middle, inner]: &[&'static str; 3],
) -> Vec<(Range<usize>, ObjectFields<'a>)> {
    let scopes = fields.objects(outer).flat_map(|(_, resource)| resource.objects(middle));
    scopes.flat_map(|(_, scope)| scope.objects(inner)).collect()
}

/// The call of a model that a span tells of. `None` where it holds no messages.
fn call(source: &mut InputSource<'_>, place: usize, span: &ObjectFields<'_>) -> Option<TracedCall> {
    let attributes = SpanAttributes::of(span);
    let mut inputs = messages(source, &attributes, "gen_ai.input.messages");
    let mut replies = messages(source, &attributes, "gen_ai.output.messages");
    if inputs.is_empty() {
        (inputs, replies) = otel_flat::messages(source, &attributes)?;
    }
    let group = attributes.label(&["gen_ai.conversation.id", "session.id"]);
    let models = ["gen_ai.response.model", "gen_ai.request.model", "llm.model_name"];
    let tools = attributes.get("gen_ai.tool.definitions");
    Some(TracedCall {
        group: group.map(Cow::into_owned).or_else(|| trace_of(span)).unwrap_or_default(),
        format: TranscriptFormat::Otel,
        envelope: Envelope {
            system: attributes.get("gen_ai.system_instructions").and_then(|at| system(source, at)),
            tools: tools.and_then(|at| traces::decoded(source.input, at)),
            model: attributes.label(&models).map(Cow::into_owned),
            wrapper: None,
        },
        inputs,
        replies,
        times: (time(span, STARTS), time(span, ENDS)),
        usage: attributes.usage(),
        place,
    })
}

/// The names of a time in OTLP and in the SDKs for Python and JavaScript.
const STARTS: [&str; 3] = ["startTimeUnixNano", "start_time", "startTime"];
const ENDS: [&str; 3] = ["endTimeUnixNano", "end_time", "endTime"];

/// A time as nanoseconds, as ISO 8601, or as seconds and nanoseconds.
fn time(span: &ObjectFields<'_>, [nanos, text, pair]: [&str; 3]) -> Option<Millis> {
    let millis = |nanos: f64| (nanos / 1e6).round() as Millis;
    if let Some(nanos) = span.label(nanos).or_else(|| span.label("timeUnixNano")) {
        return nanos.parse().ok().map(millis);
    }
    if let Some(text) = span.text(text) {
        return calendar::moment(&text);
    }
    let numbers: Vec<f64> = span
        .list(pair)
        .filter_map(|at| std::str::from_utf8(&span.bytes()[at]).ok()?.parse().ok())
        .collect();
    let [seconds, nanos] = numbers[..] else { return None };
    Some(millis(seconds * 1e9 + nanos))
}

/// The system prompt as one text.
fn system(source: &mut InputSource<'_>, at: Range<usize>) -> Option<bytes::Bytes> {
    let value = traces::decoded(source.input, at)?;
    let parts = scan::elements(&value, traces::whole(&value));
    let texts = parts.filter_map(|at| ObjectFields::of(&value, at).raw("content"));
    let texts: Vec<_> = texts.map(chat::inside).collect();
    Some([&b"\""[..], &texts.join(&br"\n\n"[..]), b"\""].concat().into())
}

/// The messages that an attribute holds.
fn messages(
    source: &mut InputSource<'_>,
    attributes: &SpanAttributes<'_>,
    name: &str,
) -> Vec<RawEvent> {
    let Some(at) = attributes.get(name) else { return Vec::new() };
    let Some(value) = traces::decoded(source.input, at.clone()) else {
        let why = format!(
            "`{name}` is no whole JSON and left out: raise the exporter's limit for the length of \
             an attribute"
        );
        source.note(at.start, "bad-json", why);
        return Vec::new();
    };
    let mut events = Vec::new();
    for message in scan::elements(&value, traces::whole(&value)) {
        let message = ObjectFields::of(&value, message);
        let mut parts = MessageParts::default();
        for (part, fields) in message.objects("parts") {
            if !fields.is("type", "tool_call_response") {
                parts.add(&part, &fields, PARTS);
                continue;
            }
            let names = ["response", "result", "content"];
            let text = names.iter().find_map(|name| chat::text_of(&fields, name));
            let text: Vec<_> = text.map(ContentPart::Text).into_iter().collect();
            let id = fields.raw("id").unwrap_or(b"\"\"");
            events.push(source.built(chat::result(id, None, &text), vec![at.clone()]));
        }
        if parts.is_empty() {
            continue;
        }
        let bytes = match &*message.text("role").unwrap_or_default() {
            "assistant" => parts.reply(),
            role @ ("system" | "developer") => chat::message(role, &parts.words),
            _ => chat::message("user", &parts.words),
        };
        events.push(source.built(bytes, vec![at.clone()]));
    }
    events
}

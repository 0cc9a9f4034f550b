//! The tool in a request.

use std::ops::Range;

use bytes::Bytes;
use midfold_core::log::RECALL_TOOL as NAME;

use crate::DialectKind;
use crate::fields::ObjectFields;
use crate::request::Request;
use crate::scan;
use crate::vendor::rewrite::Splices;
use crate::vendor::write::{ObjectWriter, list};

/// What a model reads of it.
const DESCRIPTION: &str = "Looks up the earlier part of this conversation, which a summary stands for by now. Use it \
    when you need a detail that the summary lacks: an exact value, a name, an error, a line, a decision. `query` \
    finds the messages that have these words; `messages` gives messages in full by their numbers, as the summary and \
    the results of a query print them.";
const QUERY: &str = "words to look for; with `messages`, only among those";
const MESSAGES: &str =
    "numbers of messages: `@12`, `12-20`, `12,15`; `12-20 from 15:4000` reads on";

/// Why a request is not given the tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoOffer {
    /// The client has a tool of that name.
    Taken,
    /// The answer is to be a value of a form that the request gives, and nothing else.
    Value,
    /// A tool has to be called: the model has no say in whether it looks something up.
    Forced,
    /// Several answers are asked for.
    Several,
    /// The provider keeps a part of the request, and says what is beside it.
    Kept,
    /// Its other tools allow none beside them, or the format has none that could be hidden.
    Tools,
}

impl NoOffer {
    /// Why, in a log.
    #[must_use]
    pub fn reason(self) -> &'static str {
        match self {
            Self::Taken => "the client has a tool of that name",
            Self::Value => "the answer is to be a value",
            Self::Forced => "a tool has to be called",
            Self::Several => "several answers are asked for",
            Self::Kept => "the provider keeps a part of the request",
            Self::Tools => "the request's tools allow none beside them",
        }
    }
}

/// Whether a request can be given the tool.
///
/// # Errors
/// Why it cannot.
pub fn check(request: &Request) -> Result<(), NoOffer> {
    let body = request.body();
    let fields = ObjectFields::of(body, 0..body.len());
    let number = |fields: &ObjectFields<'_>, name: &str| fields.count(name).unwrap_or(1);
    let config = fields.inner("generationConfig");
    if request.tool_names().iter().any(|name| name == NAME) {
        return Err(NoOffer::Taken);
    }
    if request.asks_for_a_value() {
        return Err(NoOffer::Value);
    }
    if request.has_to_call() {
        return Err(NoOffer::Forced);
    }
    if number(&fields, "n") > 1 || number(&config, "candidateCount") > 1 {
        return Err(NoOffer::Several);
    }
    let kept = ["cachedContent", "conversation", "prompt"];
    let is_kept = kept.iter().any(|name| fields.raw(name).is_some_and(|raw| raw != b"null"));
    if is_kept
        || request.previous_response.is_some()
        || request.continues_thread
        || fields.is_true("background")
    {
        return Err(NoOffer::Kept);
    }
    // A call in a stream of lines cannot be taken out.
    let is_lines = request.kind() == DialectKind::Ollama && request.stream;
    match !is_lines && takes_another(request.kind(), &fields) {
        true => Ok(()),
        false => Err(NoOffer::Tools),
    }
}

/// Whether another tool may stand beside those of the request.
fn takes_another(kind: DialectKind, fields: &ObjectFields<'_>) -> bool {
    match kind {
        // The tools of before: both at once are refused.
        DialectKind::OpenAiChat => !fields.has("functions"),
        DialectKind::OpenAiResponses | DialectKind::Anthropic | DialectKind::Ollama => true,
        // Google's own tools stand alone.
        DialectKind::Gemini => {
            let tools = fields.array("tools").unwrap_or(0..0);
            scan::elements(fields.bytes(), tools)
                .all(|tool| declared(fields.bytes(), tool).is_some())
        }
        DialectKind::Bedrock | DialectKind::ShareGpt => false,
    }
}

/// The functions of one of Gemini's tools, where it has no other ones.
fn declared(body: &[u8], tool: Range<usize>) -> Option<Range<usize>> {
    let tool = ObjectFields::of(body, tool);
    let names = ["functionDeclarations", "function_declarations"];
    names.iter().find_map(|name| tool.array(name)).filter(|_| tool.len() == 1)
}

/// The tool as this dialect spells it; nothing where it has no such thing.
#[must_use]
pub fn tool(kind: DialectKind) -> Vec<u8> {
    let text = |description| ObjectWriter::of("string").text("description", description).done();
    let properties =
        ObjectWriter::new().raw("query", &text(QUERY)).raw("messages", &text(MESSAGES));
    let schema = ObjectWriter::of("object").raw("properties", &properties.done()).done();
    let named = |object: ObjectWriter| object.text("name", NAME).text("description", DESCRIPTION);
    match kind {
        DialectKind::OpenAiChat | DialectKind::Ollama => {
            let function = named(ObjectWriter::new()).raw("parameters", &schema).done();
            ObjectWriter::of("function").raw("function", &function).done()
        }
        // Strict where nothing is said: then each argument would have to be given.
        DialectKind::OpenAiResponses => {
            let tool = named(ObjectWriter::of("function")).raw("parameters", &schema);
            tool.raw("strict", b"false").done()
        }
        DialectKind::Gemini => named(ObjectWriter::new()).raw("parameters", &schema).done(),
        _ => named(ObjectWriter::new()).raw("input_schema", &schema).done(),
    }
}

/// The body of a request with the tool behind its own; all else is as it was, byte for byte.
///
/// ```
/// use midfold_formats::{DialectKind, recall_tool::offered};
/// let body = br#"{"tools":[{"name":"a","input_schema":{}}],"messages":[]}"#;
/// let with = offered(DialectKind::Anthropic, &bytes::Bytes::from_static(body));
/// assert!(with.starts_with(br#"{"tools":[{"name":"a","input_schema":{}},{"name":"midfold_recall","#));
/// assert!(with.ends_with(br#"],"messages":[]}"#));
/// ```
#[must_use]
pub fn offered(kind: DialectKind, body: &Bytes) -> Bytes {
    let fields = ObjectFields::of(body, 0..body.len());
    let Some(whole) = scan::value(body, 0) else { return body.clone() };
    let tool = tool(kind);
    let mut splices = Splices::default();
    let tools = fields.array("tools");
    let functions = tools.clone().filter(|_| kind == DialectKind::Gemini).and_then(|tools| {
        scan::elements(body, tools).filter_map(|tool| declared(body, tool)).last()
    });
    let wrapped = match kind {
        DialectKind::Gemini => {
            ObjectWriter::new().raw("functionDeclarations", &list([&tool])).done()
        }
        _ => tool.clone(),
    };
    match (functions, tools) {
        (Some(functions), _) => splices.append(body, &functions, &tool),
        (None, Some(tools)) => splices.append(body, &tools, &wrapped),
        (None, None) => splices.set(body, whole, "tools", &list([&wrapped])),
    }
    Bytes::from(splices.apply(body))
}

/// The body of a request that was given the tool, so that the model cannot call it any more: without the tool, where
/// the client has others, else with word that nothing may be called. A history with calls and no tool is refused, but
/// by Ollama, which has no such word.
#[must_use]
pub fn withheld(request: &Request, body: &Bytes) -> Bytes {
    match request.has_tools() || request.kind() == DialectKind::Ollama {
        true => request_without(request.kind(), body),
        false => forbidden(request.kind(), body),
    }
}

/// The body without the tool.
fn request_without(kind: DialectKind, body: &Bytes) -> Bytes {
    // It is where it was put: what is the same in both is the rest.
    let tool = tool(kind);
    let Some(at) = memchr::memmem::rfind(body, &tool) else { return body.clone() };
    let start = at - usize::from(body.get(at.wrapping_sub(1)) == Some(&b','));
    Bytes::from([&body[..start], &body[at + tool.len()..]].concat())
}

/// The body with word that no tool may be called, where the format has such a word.
#[must_use]
pub fn forbidden(kind: DialectKind, body: &Bytes) -> Bytes {
    if kind == DialectKind::Ollama {
        return body.clone();
    }
    let Some(whole) = scan::value(body, 0) else { return body.clone() };
    let (name, value): (_, &[u8]) = match kind {
        DialectKind::Gemini => ("toolConfig", br#"{"functionCallingConfig":{"mode":"NONE"}}"#),
        DialectKind::Anthropic => ("tool_choice", br#"{"type":"none"}"#),
        _ => ("tool_choice", br#""none""#),
    };
    let mut splices = Splices::default();
    splices.set(body, whole, name, value);
    Bytes::from(splices.apply(body))
}

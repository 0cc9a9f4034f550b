//! The tools in a request.

use std::ops::Range;

use bytes::Bytes;

use super::tool::{ToolOffer, tools};
use crate::DialectKind;
use crate::fields::ObjectFields;
use crate::own_tools::OwnTool;
use crate::request::Request;
use crate::scan;
use crate::vendor::rewrite::Splices;
use crate::vendor::write::ObjectWriter;

/// Why a request is not given the tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoOffer {
    /// The client has a tool of such a name.
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
            Self::Taken => "the client has a tool of such a name",
            Self::Value => "the answer is to be a value",
            Self::Forced => "a tool has to be called",
            Self::Several => "several answers are asked for",
            Self::Kept => "the provider keeps a part of the request",
            Self::Tools => "the request's tools allow none beside them",
        }
    }
}

/// Whether a request can be given the tools.
///
/// # Errors
/// Why it cannot.
pub fn check(request: &Request) -> Result<(), NoOffer> {
    let body = request.body();
    let fields = ObjectFields::of(body, 0..body.len());
    let number = |fields: &ObjectFields<'_>, name: &str| fields.count(name).unwrap_or(1);
    let config = fields.inner("generationConfig");
    if request.tool_names().iter().any(|name| OwnTool::named(name).is_some()) {
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

/// The body of a request with the tools behind its own; all else is as it was, byte for byte.
///
/// ```
/// use midfold_formats::DialectKind;
/// use midfold_formats::recall_tool::{ToolOffer, offered};
/// let body = br#"{"tools":[{"name":"a","input_schema":{}}],"messages":[]}"#;
/// let offer = ToolOffer { recall: true, agent: false };
/// let with = offered(DialectKind::Anthropic, &bytes::Bytes::from_static(body), offer);
/// assert!(with.starts_with(br#"{"tools":[{"name":"a","input_schema":{}},{"name":"midfold_recall","#));
/// assert!(with.ends_with(br#"],"messages":[]}"#));
/// ```
#[must_use]
pub fn offered(kind: DialectKind, body: &Bytes, offer: ToolOffer) -> Bytes {
    let fields = ObjectFields::of(body, 0..body.len());
    let Some(whole) = scan::value(body, 0) else { return body.clone() };
    let ours = written(kind, offer);
    if ours.is_empty() {
        return body.clone();
    }
    let mut splices = Splices::default();
    let tools = fields.array("tools");
    let functions = tools.clone().filter(|_| kind == DialectKind::Gemini).and_then(|tools| {
        scan::elements(body, tools).filter_map(|tool| declared(body, tool)).last()
    });
    let listed = [b"[", &ours[..], b"]"].concat();
    let wrapped = match kind {
        DialectKind::Gemini => ObjectWriter::new().raw("functionDeclarations", &listed).done(),
        _ => ours.clone(),
    };
    match (functions, tools) {
        (Some(functions), _) => splices.append(body, &functions, &ours),
        (None, Some(tools)) => splices.append(body, &tools, &wrapped),
        (None, None) => {
            splices.set(body, whole, "tools", &[b"[", &wrapped[..], b"]"].concat());
        }
    }
    Bytes::from(splices.apply(body))
}

/// The tools as they stand in a list.
fn written(kind: DialectKind, offer: ToolOffer) -> Vec<u8> {
    tools(kind, offer).join(&b',')
}

/// The body of a request that was given the tools, so that the model cannot call them any more: without the tools, where
/// the client has others, else with word that nothing may be called. A history with calls and no tool is refused, but
/// by Ollama, which has no such word.
#[must_use]
pub fn withheld(request: &Request, body: &Bytes, offer: ToolOffer) -> Bytes {
    match request.has_tools() || request.kind() == DialectKind::Ollama {
        true => without(&written(request.kind(), offer), body),
        false => forbidden(request.kind(), body),
    }
}

/// The body without the tools.
fn without(ours: &[u8], body: &Bytes) -> Bytes {
    // They are where they were put: what is the same in both is the rest.
    let Some(at) = memchr::memmem::rfind(body, ours) else { return body.clone() };
    let start = at - usize::from(body.get(at.wrapping_sub(1)) == Some(&b','));
    Bytes::from([&body[..start], &body[at + ours.len()..]].concat())
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

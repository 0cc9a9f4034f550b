//! Puts the tools into a request.

use std::borrow::Cow;
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

/// The reason why a request is not given the tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoOffer {
    /// The client has a tool with the name of an own tool.
    Taken,
    /// The answer has to be a value in a form that the request names.
    Value,
    /// The request forces a call, so the model cannot choose whether to recall.
    Forced,
    /// The request asks for several answers.
    Several,
    /// The provider keeps a part of the conversation, so the request does not hold all of it.
    Kept,
    /// The request's tools allow none beside them, or the format has no calls that could be hidden.
    Tools,
}

impl NoOffer {
    /// The reason, for a log.
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

/// Checks whether a request can be given the tools.
///
/// # Errors
/// The reason why it cannot.
pub fn check(request: &Request) -> Result<(), NoOffer> {
    let body = request.body();
    let fields = ObjectFields::of(body, 0..body.len()).in_either_spelling();
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
    let provider_state = ["cachedContent", "conversation", "prompt"];
    let is_kept =
        provider_state.iter().any(|name| fields.raw(name).is_some_and(|raw| raw != b"null"));
    if is_kept
        || request.previous_response.is_some()
        || request.continues_thread
        || fields.is_true("background")
    {
        return Err(NoOffer::Kept);
    }
    // A call cannot be removed from a stream of lines.
    let is_lines = request.kind() == DialectKind::Ollama && request.stream;
    match !is_lines && takes_another(request.kind(), &fields) {
        true => Ok(()),
        false => Err(NoOffer::Tools),
    }
}

/// Whether the request may have one more tool beside its own.
fn takes_another(kind: DialectKind, fields: &ObjectFields<'_>) -> bool {
    match kind {
        // The older `functions` and `tools` together are refused.
        DialectKind::OpenAiChat => !fields.has("functions"),
        DialectKind::OpenAiResponses | DialectKind::Anthropic | DialectKind::Ollama => true,
        // Google's own tools allow no others beside them.
        DialectKind::Gemini => {
            let tools = fields.array("tools").unwrap_or(0..0);
            scan::elements(fields.bytes(), tools)
                .all(|tool| declared(fields.bytes(), tool).is_some())
        }
        DialectKind::Bedrock | DialectKind::ShareGpt => false,
    }
}

/// The functions of one of Gemini's tools. `None` where the tool has anything else.
fn declared(body: &[u8], tool: Range<usize>) -> Option<Range<usize>> {
    let tool = ObjectFields::of(body, tool).in_either_spelling();
    tool.array("functionDeclarations").filter(|_| tool.len() == 1)
}

/// The body of a request with the tools after its own. All other bytes are unchanged.
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
    let tool_list = written(kind, offer);
    if tool_list.is_empty() {
        return body.clone();
    }
    let mut splices = Splices::default();
    let tools = fields.array("tools");
    let functions = tools.clone().filter(|_| kind == DialectKind::Gemini).and_then(|tools| {
        scan::elements(body, tools).filter_map(|tool| declared(body, tool)).last()
    });
    let listed = [b"[", &tool_list[..], b"]"].concat();
    let wrapped = match kind {
        DialectKind::Gemini => ObjectWriter::new().raw("functionDeclarations", &listed).finish(),
        _ => tool_list.clone(),
    };
    match (functions, tools) {
        (Some(functions), _) => splices.append(body, &functions, &tool_list),
        (None, Some(tools)) => splices.append(body, &tools, &wrapped),
        (None, None) => {
            splices.set(body, whole, "tools", &[b"[", &wrapped[..], b"]"].concat());
        }
    }
    Bytes::from(splices.apply(body))
}

/// The tools in the form of a list's elements.
fn written(kind: DialectKind, offer: ToolOffer) -> Vec<u8> {
    tools(kind, offer).join(&b',')
}

/// The body of a request that was given the tools, changed so that the model can no longer call them. The tools are
/// removed where the client has others; where it has none, the request forbids calls, because providers refuse a
/// history with calls and no tools. Ollama takes such a history and cannot forbid calls.
#[must_use]
pub fn withheld(request: &Request, body: &Bytes, offer: ToolOffer) -> Bytes {
    match request.has_tools() || request.kind() == DialectKind::Ollama {
        true => without(&written(request.kind(), offer), body),
        false => forbidden(request.kind(), body),
    }
}

/// The body without the tools.
fn without(tool_list: &[u8], body: &Bytes) -> Bytes {
    // The tools are the same bytes that were added, so they are found by search.
    let Some(at) = memchr::memmem::rfind(body, tool_list) else { return body.clone() };
    let start = at - usize::from(body.get(at.wrapping_sub(1)) == Some(&b','));
    Bytes::from([&body[..start], &body[at + tool_list.len()..]].concat())
}

/// The body with a member that forbids calls. Unchanged for a format that cannot forbid them.
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
    // A request with both spellings of a member would be refused.
    let fields = ObjectFields::of(body, whole.clone()).in_either_spelling();
    let name = fields.written(name).unwrap_or(Cow::Borrowed(name));
    let mut splices = Splices::default();
    splices.set(body, whole, &name, value);
    Bytes::from(splices.apply(body))
}

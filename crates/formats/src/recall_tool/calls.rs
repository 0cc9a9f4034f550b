//! Finds the calls of midfold's own tools in a reply.

use std::borrow::Cow;
use std::ops::Range;

use bytes::Bytes;

use crate::DialectKind;
use crate::fields::ObjectFields;
use crate::own_tools::OwnTool;
use crate::scan;

/// A call of one of midfold's own tools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecallCall {
    /// The tool.
    pub tool: OwnTool,
    /// The call's id, where the format has one.
    pub id: Option<String>,
    /// The arguments: JSON text, as the model wrote it.
    pub arguments: String,
}

/// The calls of a reply.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecallCalls {
    /// The calls of midfold's own tools, in order.
    pub ours: Vec<RecallCall>,
    /// The number of calls that the client has to answer.
    pub others: usize,
}

/// The types of Responses items that the provider answers itself.
const HOSTED: [&str; 6] = [
    "web_search_call",
    "file_search_call",
    "code_interpreter_call",
    "image_generation_call",
    "mcp_call",
    "mcp_approval_request",
];

/// The calls of a reply, given in the form in which a client sends it back.
///
/// ```
/// use midfold_formats::{DialectKind, recall_tool::calls};
/// let reply = br#"{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"midfold_recall","input":{"query":"port"}}]}"#;
/// let found = calls(DialectKind::Anthropic, &[bytes::Bytes::from_static(reply)]);
/// assert_eq!((found.ours[0].arguments.as_str(), found.others), (r#"{"query":"port"}"#, 0));
/// ```
#[must_use]
pub fn calls(kind: DialectKind, reply: &[Bytes]) -> RecallCalls {
    let mut calls = RecallCalls::default();
    for message in reply {
        for part in parts(kind, message) {
            let part = ObjectFields::of(message, part);
            let Some(call) = called(kind, &part) else { continue };
            match tool(&call) {
                Some(tool) => calls.ours.push(read(kind, tool, &part, &call)),
                None => calls.others += 1,
            }
        }
    }
    calls
}

/// The own tool that a call names. `None` for any other tool.
fn tool(call: &ObjectFields<'_>) -> Option<OwnTool> {
    call.text("name").and_then(|name| OwnTool::named(&name))
}

fn read(
    kind: DialectKind,
    tool: OwnTool,
    part: &ObjectFields<'_>,
    call: &ObjectFields<'_>,
) -> RecallCall {
    let (id, arguments) = match kind {
        DialectKind::OpenAiChat | DialectKind::Ollama => (part.text("id"), call.raw("arguments")),
        DialectKind::OpenAiResponses => (call.text("call_id"), call.raw("arguments")),
        DialectKind::Gemini => (call.text("id"), call.raw("args")),
        _ => (call.text("id"), call.raw("input")),
    };
    let arguments = arguments.unwrap_or(b"{}");
    // The arguments are a string with JSON in it, or the JSON itself.
    let arguments = match arguments.first() {
        Some(b'"') => midfold_core::jsonstr::decode(arguments),
        _ => String::from_utf8_lossy(arguments),
    };
    RecallCall { tool, id: id.map(Cow::into_owned), arguments: arguments.into_owned() }
}

/// The ranges of those parts of a reply that may be calls.
pub(super) fn parts(kind: DialectKind, message: &[u8]) -> Vec<Range<usize>> {
    let fields = ObjectFields::of(message, 0..message.len());
    let list = match kind {
        DialectKind::OpenAiResponses => return std::iter::once(0..message.len()).collect(),
        DialectKind::OpenAiChat | DialectKind::Ollama => fields.array("tool_calls"),
        DialectKind::Gemini => fields.array("parts"),
        _ => fields.array("content"),
    };
    list.into_iter().flat_map(|list| scan::elements(message, list)).collect()
}

/// The object of a part that has the name of the call. `None` for a part that is no call which somebody has to answer.
fn called<'a>(kind: DialectKind, part: &ObjectFields<'a>) -> Option<ObjectFields<'a>> {
    let at = |name: &str| part.object(name).map(|at| ObjectFields::of(part.bytes(), at));
    match kind {
        DialectKind::OpenAiChat | DialectKind::Ollama => at("function").or_else(|| at("custom")),
        DialectKind::Gemini => at("functionCall"),
        DialectKind::OpenAiResponses => {
            let kind = part.text("type")?;
            let is_call = kind.ends_with("_call") && !HOSTED.contains(&&*kind);
            is_call.then(|| part.same())
        }
        _ => part.is("type", "tool_use").then(|| part.same()),
    }
}

/// Whether a message may be the model's. Nothing but its role is read.
#[must_use]
pub fn may_be_models(kind: DialectKind, message: &[u8]) -> bool {
    let role = scan::members(message, 0..message.len()).find(|member| member.is(message, "role"));
    let is_named =
        |role: scan::Member| matches!(&message[role.value], br#""assistant""# | br#""model""#);
    // Items that are no messages have no role.
    role.map_or(kind == DialectKind::OpenAiResponses, is_named)
}

/// Whether a part of a reply is a call of one of midfold's own tools.
pub(super) fn is_ours(kind: DialectKind, part: &ObjectFields<'_>) -> bool {
    called(kind, part).is_some_and(|call| tool(&call).is_some())
}

/// Whether a part of a reply is a call that the client has to answer.
pub(super) fn is_others(kind: DialectKind, part: &ObjectFields<'_>) -> bool {
    called(kind, part).is_some_and(|call| tool(&call).is_none())
}

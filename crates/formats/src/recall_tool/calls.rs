//! Finds the calls of midfold's own tools in a reply.

use std::borrow::Cow;
use std::ops::Range;

use bytes::Bytes;
use midfold_core::exchanges::is_unrun;

use crate::DialectKind;
use crate::fields::ObjectFields;
use crate::own_tools::OwnTool;
use crate::scan;

/// The tool of a call that the client never sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HiddenTool {
    /// One of midfold's own tools.
    Own(OwnTool),
    /// A tool of the client, whose call was not run.
    Unrun {
        /// The name of the tool.
        name: String,
        /// Whether the tool takes a text in the place of JSON (`custom_tool_call` of Responses).
        is_custom: bool,
    },
}

impl HiddenTool {
    /// The name of the tool.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Own(tool) => tool.name(),
            Self::Unrun { name, .. } => name,
        }
    }
}

/// A call that the client never sees: of one of midfold's own tools, or an unrun one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecallCall {
    /// The tool.
    pub tool: HiddenTool,
    /// The call's id, where the format has one.
    pub id: Option<String>,
    /// The arguments: JSON text, as the model wrote it.
    pub arguments: String,
}

/// The calls of a reply.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecallCalls {
    /// The calls of midfold's own tools and the unrun ones, in order.
    pub own: Vec<RecallCall>,
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
            match tool(kind, &part, &call) {
                Some(tool) => calls.own.push(read(kind, tool, &part, &call)),
                None => calls.others += 1,
            }
        }
    }
    calls
}

/// The tool of a hidden call. `None` for a call that the client has to answer.
fn tool(kind: DialectKind, part: &ObjectFields<'_>, call: &ObjectFields<'_>) -> Option<HiddenTool> {
    let name = call.text("name");
    if let Some(tool) = name.as_deref().and_then(OwnTool::named) {
        return Some(HiddenTool::Own(tool));
    }
    call_id(kind, part, call).filter(|id| is_unrun(id))?;
    let is_custom = part.is("type", "custom_tool_call");
    Some(HiddenTool::Unrun { name: name.unwrap_or_default().into_owned(), is_custom })
}

/// The id of a call.
pub(super) fn call_id<'a>(
    kind: DialectKind,
    part: &ObjectFields<'a>,
    call: &ObjectFields<'a>,
) -> Option<Cow<'a, str>> {
    match kind {
        DialectKind::OpenAiChat | DialectKind::Ollama => part.text("id"),
        DialectKind::OpenAiResponses => call.text("call_id"),
        _ => call.text("id"),
    }
}

/// The arguments of a call: JSON text, or the text of a tool that takes one.
pub(super) fn arguments(kind: DialectKind, call: &ObjectFields<'_>) -> String {
    let arguments = match kind {
        DialectKind::OpenAiChat | DialectKind::OpenAiResponses | DialectKind::Ollama => {
            call.raw("arguments").or_else(|| call.raw("input"))
        }
        DialectKind::Gemini => call.raw("args"),
        _ => call.raw("input"),
    };
    let arguments = arguments.unwrap_or(b"{}");
    // The arguments are a string with JSON in it, or the JSON itself.
    match arguments.first() {
        Some(b'"') => midfold_core::jsonstr::decode(arguments).into_owned(),
        _ => String::from_utf8_lossy(arguments).into_owned(),
    }
}

fn read(
    kind: DialectKind,
    tool: HiddenTool,
    part: &ObjectFields<'_>,
    call: &ObjectFields<'_>,
) -> RecallCall {
    let id = call_id(kind, part, call).map(Cow::into_owned);
    RecallCall { tool, id, arguments: arguments(kind, call) }
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
pub(super) fn called<'a>(kind: DialectKind, part: &ObjectFields<'a>) -> Option<ObjectFields<'a>> {
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

/// Whether a part of a reply is a call that the client never sees.
pub(super) fn is_ours(kind: DialectKind, part: &ObjectFields<'_>) -> bool {
    called(kind, part).is_some_and(|call| tool(kind, part, &call).is_some())
}

/// Whether a part of a reply is a call that the client has to answer.
pub(super) fn is_others(kind: DialectKind, part: &ObjectFields<'_>) -> bool {
    called(kind, part).is_some_and(|call| tool(kind, part, &call).is_none())
}

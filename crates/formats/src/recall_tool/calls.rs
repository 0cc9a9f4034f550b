//! Finds the calls of midfold's own tools in a reply.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use bytes::Bytes;
use midfold_core::exchanges::is_unrun;

use crate::DialectKind;
use crate::dialect::{CallAnswerer, answerer, is_output};
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

/// The calls of a reply, given in the form in which a client sends it back.
///
/// ```
/// use midfold_formats::{DialectKind, recall_tool::calls};
/// let reply = br#"{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"midfold_recall","input":{"query":"port"}}]}"#;
/// let found = calls(DialectKind::Anthropic, &[bytes::Bytes::from_static(reply)]);
/// assert_eq!((found.own[0].arguments.as_str(), found.others), (r#"{"query":"port"}"#, 0));
/// ```
#[must_use]
pub fn calls(kind: DialectKind, reply: &[Bytes]) -> RecallCalls {
    let mut calls = RecallCalls::default();
    let answered = answered_ids(kind, reply);
    for message in reply {
        for part in parts(kind, message) {
            let part = ObjectFields::of(message, part);
            let Some(call) = ReplyCall::of(kind, &part) else { continue };
            match call.hidden_tool() {
                Some(tool) => {
                    let (id, arguments) = (call.id().map(Cow::into_owned), call.arguments());
                    calls.own.push(RecallCall { tool, id, arguments });
                }
                None if call.id().is_some_and(|id| answered.contains(&id)) => {}
                None => calls.others += 1,
            }
        }
    }
    calls
}

/// The ids of the calls whose outputs are in the reply: those of a shell that the provider runs.
fn answered_ids(kind: DialectKind, reply: &[Bytes]) -> HashSet<Cow<'_, str>> {
    let items = reply.iter().filter(|_| kind == DialectKind::OpenAiResponses);
    let id = |item| {
        let item = ObjectFields::of(item, 0..item.len());
        item.text("type").filter(|kind| is_output(kind.as_bytes()))?;
        item.text("call_id")
    };
    items.filter_map(|item: &Bytes| id(item)).collect()
}

/// A call in a reply that the provider does not answer itself.
pub(super) struct ReplyCall<'a> {
    kind: DialectKind,
    part: ObjectFields<'a>,
    /// The object that has the name of the call: the part, or an object in it.
    fields: ObjectFields<'a>,
}

impl<'a> ReplyCall<'a> {
    /// The call of a part; `None` for a part that is no such call.
    pub fn of(kind: DialectKind, part: &ObjectFields<'a>) -> Option<Self> {
        let at = |name: &str| part.object(name).map(|at| ObjectFields::of(part.bytes(), at));
        let fields = match kind {
            DialectKind::OpenAiChat | DialectKind::Ollama => {
                at("function").or_else(|| at("custom"))?
            }
            DialectKind::Gemini => at("functionCall")?,
            DialectKind::OpenAiResponses => {
                let answerer =
                    answerer(part.text("type")?.as_bytes(), part.is("execution", "server"));
                (answerer == Some(CallAnswerer::Client)).then(|| part.same())?
            }
            _ => part.is("type", "tool_use").then(|| part.same())?,
        };
        Some(Self { kind, part: part.same(), fields })
    }

    /// The name of the tool; empty where the call has none.
    pub fn name(&self) -> Cow<'a, str> {
        self.fields.text("name").unwrap_or_default()
    }

    /// The id of the call.
    pub fn id(&self) -> Option<Cow<'a, str>> {
        match self.kind {
            DialectKind::OpenAiChat | DialectKind::Ollama => self.part.text("id"),
            DialectKind::OpenAiResponses => self.fields.text("call_id"),
            _ => self.fields.text("id"),
        }
    }

    /// The arguments: JSON text, or the text of a tool that takes one.
    pub fn arguments(&self) -> String {
        let arguments = match self.kind {
            DialectKind::OpenAiChat | DialectKind::OpenAiResponses | DialectKind::Ollama => {
                self.fields.raw("arguments").or_else(|| self.fields.raw("input"))
            }
            DialectKind::Gemini => self.fields.raw("args"),
            _ => self.fields.raw("input"),
        };
        let arguments = arguments.unwrap_or(b"{}");
        // The arguments are a string with JSON in it, or the JSON itself.
        match arguments.first() {
            Some(b'"') => midfold_core::jsonstr::decode(arguments).into_owned(),
            _ => String::from_utf8_lossy(arguments).into_owned(),
        }
    }

    /// Its tool, if the client never sees the call. `None` for a call that the client has to answer.
    pub fn hidden_tool(&self) -> Option<HiddenTool> {
        let name = self.name();
        if let Some(tool) = OwnTool::named(&name) {
            return Some(HiddenTool::Own(tool));
        }
        self.id().filter(|id| is_unrun(id))?;
        let is_custom = self.part.is("type", "custom_tool_call");
        Some(HiddenTool::Unrun { name: name.into_owned(), is_custom })
    }

    /// Whether the proxy can answer the call in the client's place: it is of a function, or of a tool that takes a text.
    pub fn is_answerable(&self) -> bool {
        self.kind != DialectKind::OpenAiResponses
            || self.part.is("type", "function_call")
            || self.part.is("type", "custom_tool_call")
    }
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
    ReplyCall::of(kind, part).is_some_and(|call| call.hidden_tool().is_some())
}

/// Whether a part of a reply is a call that the client has to answer.
pub(super) fn is_others(kind: DialectKind, part: &ObjectFields<'_>) -> bool {
    ReplyCall::of(kind, part).is_some_and(|call| call.hidden_tool().is_none())
}

//! Calls of a client's tools that the proxy answers in the client's place. The client never sees such a call; the model
//! has it with an id that says so, by which later requests are read.

use std::ops::Range;

use bytes::Bytes;
use midfold_core::exchanges::unrun_id;
use midfold_core::jsonstr;

use super::calls::{ReplyCall, parts};
use crate::DialectKind;
use crate::fields::ObjectFields;
use crate::scan;
use crate::vendor::rewrite::Splices;

/// A call that the client would have to answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientCall {
    /// Its number among such calls of the reply, from 0.
    pub number: usize,
    /// The name of the tool.
    pub tool: String,
    /// The arguments: JSON, or the text of a tool that takes a text.
    pub arguments: String,
}

/// The calls of a reply that the client would have to answer and the proxy could answer in its place: functions and
/// tools that take a text, whose ids may be changed.
///
/// ```
/// use midfold_formats::{DialectKind, recall_tool::{client_calls, with_unrun, calls}};
/// let reply = br#"{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"write","input":{"a":1}}]}"#;
/// let reply = [bytes::Bytes::from_static(reply)];
/// let found = client_calls(DialectKind::Anthropic, &reply);
/// assert_eq!((&*found[0].tool, &*found[0].arguments), ("write", r#"{"a":1}"#));
/// let reply = with_unrun(DialectKind::Anthropic, &reply, &[0], 0);
/// assert_eq!(calls(DialectKind::Anthropic, &reply).others, 0);
/// ```
#[must_use]
pub fn client_calls(kind: DialectKind, reply: &[Bytes]) -> Vec<ClientCall> {
    let mut unrun_calls = Vec::new();
    let mut number = 0;
    for message in reply {
        for at in parts(kind, message) {
            let part = ObjectFields::of(message, at);
            let call = ReplyCall::of(kind, &part).filter(|call| call.hidden_tool().is_none());
            let Some(call) = call else { continue };
            if new_id(&call, number).is_some() {
                let tool = call.name().into_owned();
                unrun_calls.push(ClientCall { number, tool, arguments: call.arguments() });
            }
            number += 1;
        }
    }
    unrun_calls
}

/// The messages of a reply in which the calls with these [numbers](ClientCall::number) are unrun. `before` is the number
/// of messages in front of the reply, so that calls without an id get different ones.
#[must_use]
pub fn with_unrun(
    kind: DialectKind,
    reply: &[Bytes],
    numbers: &[usize],
    before: usize,
) -> Vec<Bytes> {
    let mut next = 0;
    let message = |message: &Bytes| {
        let all = parts(kind, message);
        marked(kind, message, all, numbers, &mut next, before)
    };
    reply.iter().map(message).collect()
}

/// A whole answer in which the calls with these numbers are unrun, so that [`joined`](super::joined) leaves them out.
#[must_use]
pub fn answer_with_unrun(kind: DialectKind, body: &Bytes, numbers: &[usize]) -> Bytes {
    if numbers.is_empty() {
        return body.clone();
    }
    let whole = ObjectFields::of(body, 0..body.len());
    let first = |name: &str| {
        let first = scan::elements(body, whole.array(name)?).next()?;
        Some(ObjectFields::of(body, first))
    };
    let list = match kind {
        DialectKind::OpenAiChat => {
            first("choices").and_then(|choice| choice.inner("message").array("tool_calls"))
        }
        DialectKind::Ollama => whole.inner("message").array("tool_calls"),
        DialectKind::OpenAiResponses => whole.array("output"),
        DialectKind::Gemini => {
            first("candidates").and_then(|candidate| candidate.inner("content").array("parts"))
        }
        _ => whole.array("content"),
    };
    let all = list.into_iter().flat_map(|list| scan::elements(body, list)).collect();
    marked(kind, body, all, numbers, &mut 0, 0)
}

/// The document with new ids in its unrun calls. `next` is the number of the next call.
fn marked(
    kind: DialectKind,
    document: &Bytes,
    parts: Vec<Range<usize>>,
    numbers: &[usize],
    next: &mut usize,
    before: usize,
) -> Bytes {
    let mut splices = Splices::default();
    let mut is_changed = false;
    for at in parts {
        let part = ObjectFields::of(document, at.clone());
        let call = ReplyCall::of(kind, &part).filter(|call| call.hidden_tool().is_none());
        let Some(call) = call else { continue };
        let number = std::mem::replace(next, *next + 1);
        let id = numbers.contains(&number).then(|| new_id(&call, before + number)).flatten();
        let Some(id) = id else { continue };
        let holder = if kind == DialectKind::Gemini { part.object("functionCall") } else { None };
        let name = if kind == DialectKind::OpenAiResponses { "call_id" } else { "id" };
        splices.set(document, holder.unwrap_or(at), name, jsonstr::encode(&id).as_bytes());
        is_changed = true;
    }
    if is_changed { Bytes::from(splices.apply(document)) } else { document.clone() }
}

/// The id by which a call is known as unrun. `None` where the proxy cannot answer it.
fn new_id(call: &ReplyCall<'_>, number: usize) -> Option<String> {
    call.is_answerable().then(|| unrun_id(call.id().as_deref(), number)).flatten()
}

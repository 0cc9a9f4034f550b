//! Writes the results of calls of midfold's own tools.

use bytes::Bytes;

use super::calls::{HiddenTool, RecallCall};
use crate::DialectKind;
use crate::dialect::ollama;
use crate::fields::ObjectFields;
use crate::vendor::rewrite::Splices;
use crate::vendor::write::{ObjectWriter, list};

/// A call, and its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnsweredCall {
    /// The call.
    pub call: RecallCall,
    /// The answer, for the model.
    pub text: String,
}

impl AnsweredCall {
    /// The result as a part of a message, for formats that have one message for all results.
    fn part(&self, kind: DialectKind) -> Vec<u8> {
        let id = self.call.id.as_deref();
        if kind == DialectKind::Gemini {
            let response = ObjectWriter::new().text("output", &self.text).finish();
            let answer = ObjectWriter::new().text_if("id", id).text("name", self.call.tool.name());
            let answer = answer.raw("response", &response).finish();
            return ObjectWriter::new().raw("functionResponse", &answer).finish();
        }
        let id = id.unwrap_or_default();
        ObjectWriter::of("tool_result").text("tool_use_id", id).text("content", &self.text).finish()
    }

    /// The result as a message of its own.
    fn message(&self, kind: DialectKind) -> Vec<u8> {
        let id = self.call.id.as_deref().unwrap_or_default();
        if kind == DialectKind::OpenAiResponses {
            let is_custom = matches!(self.call.tool, HiddenTool::Unrun { is_custom: true, .. });
            let kind = if is_custom { "custom_tool_call_output" } else { "function_call_output" };
            let item = ObjectWriter::of(kind);
            return item.text("call_id", id).text("output", &self.text).finish();
        }
        if kind == DialectKind::Ollama {
            return ollama::result(id, self.call.tool.name(), &self.text)
                .raw("}")
                .finish()
                .to_vec();
        }
        let message = ObjectWriter::new().text("role", "tool").text("tool_call_id", id);
        message.text("content", &self.text).finish()
    }
}

/// The results as messages, which follow the reply with the calls.
#[must_use]
pub fn results(kind: DialectKind, answered: &[AnsweredCall]) -> Vec<Bytes> {
    let Some(name) = parts_of(kind) else {
        return answered.iter().map(|call| Bytes::from(call.message(kind))).collect();
    };
    let parts = list(answered.iter().map(|call| call.part(kind)));
    Vec::from([Bytes::from(ObjectWriter::new().text("role", "user").raw(name, &parts).finish())])
}

/// The client's own message after the reply, with the results at its front: some formats want all results of a reply in
/// one message. `None` where each result is a message of its own, or where the message is not in the user's role.
#[must_use]
pub fn in_front_of(kind: DialectKind, message: &Bytes, answered: &[AnsweredCall]) -> Option<Bytes> {
    let name = parts_of(kind)?;
    let fields = ObjectFields::of(message, 0..message.len());
    let is_users = match fields.text("role") {
        Some(role) => matches!(&*role, "user" | "function"),
        None => kind == DialectKind::Gemini,
    };
    let mut splices = Splices::default();
    let parts = answered.iter().map(|call| call.part(kind));
    if let Some(array) = fields.array(name) {
        splices.prepend(message, &array, &parts.collect::<Vec<_>>().join(&b','));
    } else {
        let text = ObjectWriter::of("text").raw("text", &message[fields.string(name)?]).finish();
        splices.replace(fields.get(name)?, list(parts.chain([text])));
    }
    is_users.then(|| Bytes::from(splices.apply(message)))
}

/// The list in a message of results. `None` for a format in which each result is a message.
fn parts_of(kind: DialectKind) -> Option<&'static str> {
    match kind {
        DialectKind::Anthropic => Some("content"),
        DialectKind::Gemini => Some("parts"),
        _ => None,
    }
}

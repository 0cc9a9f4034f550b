//! A scripted model that makes one call, whatever the prompt says.

use serde_json::Value;

use super::reply::{ReplyCall, ReplyKind, ScriptedReply};
use super::request_parts::{AskedParts, OfferedTool};

/// One call of one tool, and then the final answer.
#[derive(Clone, Debug)]
pub struct OneCall {
    /// The name of the tool as the client offers it.
    pub tool: String,
    /// The arguments: a JSON object.
    pub arguments: Value,
}

impl OneCall {
    /// Calls the tool, unless the request holds such a call already: then the reply is final. If the client does not
    /// offer the tool, the reply says so.
    pub(crate) fn next(&self, request: &AskedParts, tools: &[OfferedTool]) -> ScriptedReply {
        let name = &self.tool;
        // The name is searched with its quotes. In a text message they would be escaped, so that only a call matches.
        let call = format!("\"name\":{}", Value::from(name.as_str()));
        if request.items.iter().any(|item| item.to_string().contains(&call)) {
            let text = format!("{name} has answered.");
            return ScriptedReply { done: true, ..ScriptedReply::of_text(ReplyKind::Turn, text) };
        }
        if !tools.iter().any(|tool| tool.name == *name) {
            return ScriptedReply::of_text(ReplyKind::Turn, format!("There is no tool {name}."));
        }
        let calls = vec![ReplyCall {
            name: name.clone(),
            arguments: self.arguments.clone(),
            custom: false,
        }];
        ScriptedReply { calls, ..ScriptedReply::of_text(ReplyKind::Turn, format!("I ask {name}.")) }
    }
}

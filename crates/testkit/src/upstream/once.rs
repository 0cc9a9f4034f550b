//! A model that makes one call, whatever it is asked.

use serde_json::Value;

use super::reply::{ReplyCall, ReplyKind, ScriptedReply};
use super::request_parts::{AskedParts, OfferedTool};

/// One call of one tool, then the end.
#[derive(Clone, Debug)]
pub struct OneCall {
    /// The tool, as the client offers it.
    pub tool: String,
    /// Its arguments: an object.
    pub arguments: Value,
}

impl OneCall {
    /// Calls the tool where no message of the request has such a call; says so where it is not offered.
    pub(crate) fn next(&self, asked: &AskedParts, tools: &[OfferedTool]) -> ScriptedReply {
        let name = &self.tool;
        // In a text the quotation marks would be escaped.
        let call = format!("\"name\":{}", Value::from(name.as_str()));
        if asked.items.iter().any(|item| item.to_string().contains(&call)) {
            let text = format!("{name} has answered.");
            return ScriptedReply { done: true, ..ScriptedReply::said(ReplyKind::Turn, text) };
        }
        if !tools.iter().any(|tool| tool.name == *name) {
            return ScriptedReply::said(ReplyKind::Turn, format!("There is no tool {name}."));
        }
        let calls = vec![ReplyCall {
            name: name.clone(),
            arguments: self.arguments.clone(),
            custom: false,
        }];
        ScriptedReply { calls, ..ScriptedReply::said(ReplyKind::Turn, format!("I ask {name}.")) }
    }
}

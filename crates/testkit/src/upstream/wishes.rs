//! A model that says by tools what should become of its conversation, where it was given them and no client knows them.

use serde_json::Value;

use super::reply::ReplyCall;
use super::request_parts::{AskedParts, OfferedTool};

/// One call of such a tool.
#[derive(Clone, Debug)]
pub struct AgentWish {
    /// The step with which it is said.
    pub step: u32,
    /// The tool.
    pub tool: String,
    /// The arguments: other ones than those of other wishes, because it is known by them that it was said.
    pub arguments: Value,
    /// It is said beside the call of the step, and not before it.
    pub beside: bool,
}

impl AgentWish {
    /// The call, where it is due and was not made yet.
    pub(super) fn call(
        &self,
        step: u32,
        asked: &AskedParts,
        tools: &[OfferedTool],
    ) -> Option<ReplyCall> {
        let is_due = self.step == step && tools.iter().any(|tool| tool.name == self.tool);
        let call = || ReplyCall {
            name: self.tool.clone(),
            arguments: self.arguments.clone(),
            custom: false,
        };
        (is_due && !self.is_said(asked)).then(call)
    }

    fn is_said(&self, asked: &AskedParts) -> bool {
        // Some formats have arguments as a text, whose quotes are escaped.
        let plain = |text: &str| text.replace('\\', "");
        let arguments = plain(&self.arguments.to_string());
        asked.items.iter().any(|item| {
            let text = plain(&item.to_string());
            text.contains(&self.tool) && text.contains(&arguments)
        })
    }
}

//! A scripted model that calls tools to say what should become of its conversation. It does so if a request has these
//! tools, which no client knows.

use serde_json::Value;

use super::reply::ReplyCall;
use super::request_parts::{AskedParts, OfferedTool};

/// One call of such a tool.
#[derive(Clone, Debug)]
pub struct AgentWish {
    /// The step with which the call is made.
    pub step: u32,
    /// The name of the tool.
    pub tool: String,
    /// The arguments. They differ from those of all other wishes, because a wish counts as said if a call with its
    /// arguments is in the request.
    pub arguments: Value,
    /// Whether the call is in the same reply as the call of the step. Otherwise it comes in a reply before it.
    pub beside: bool,
}

impl AgentWish {
    /// The call, if it is due and not in the request yet.
    pub(super) fn call(
        &self,
        step: u32,
        request: &AskedParts,
        tools: &[OfferedTool],
    ) -> Option<ReplyCall> {
        let is_due = self.step == step && tools.iter().any(|tool| tool.name == self.tool);
        let call = || ReplyCall {
            name: self.tool.clone(),
            arguments: self.arguments.clone(),
            custom: false,
        };
        (is_due && !self.is_said(request)).then(call)
    }

    fn is_said(&self, request: &AskedParts) -> bool {
        // Some formats hold arguments as text with escaped quotes, so backslashes are removed before comparing.
        let plain = |text: &str| text.replace('\\', "");
        let arguments = plain(&self.arguments.to_string());
        request.items.iter().any(|item| {
            let text = plain(&item.to_string());
            text.contains(&self.tool) && text.contains(&arguments)
        })
    }
}

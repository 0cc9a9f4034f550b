//! Recall: the tools by which an agent reads folded messages again from the log.

use midfold::store::recall::{self, ToolListShape};
use napi_derive::napi;

use crate::errors::Failure;

/// The tools that an agent is given, as JSON: in the shape of `openai` or `anthropic`.
#[napi]
pub fn recall_tools(shape: String) -> napi::Result<String> {
    let shape = match shape.as_str() {
        "openai" => ToolListShape::OpenAi,
        "anthropic" => ToolListShape::Anthropic,
        _ => {
            return Err(Failure::input(format!("there is no shape `{shape}`"))
                .hint("there are: openai, anthropic")
                .into());
        }
    };
    Ok(recall::tools(shape))
}

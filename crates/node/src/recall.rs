//! Recall: the tools by which an agent reads folded messages again from the log.

use midfold::store::recall::{self, ToolListShape};
use napi_derive::napi;

use crate::errors::Failure;

/// The tools that an agent is given, as JSON, in the shape of a provider.
#[napi]
pub fn recall_tools(shape: String) -> napi::Result<String> {
    let unknown = || {
        let known = ToolListShape::names().join(", ");
        Failure::input(format!("there is no shape `{shape}`")).hint(format!("there are: {known}"))
    };
    Ok(recall::tools(ToolListShape::named(&shape).ok_or_else(unknown)?))
}

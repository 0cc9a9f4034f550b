//! Tools that Anthropic runs itself: web search, code execution, advisor, MCP, tool search.

use midfold_core::dialect::ServerTool;
use midfold_core::{BlockKind, BlockView};

use crate::fields::ObjectFields;

/// The side of a call that a block is; `None` for other blocks.
pub(crate) fn side(bytes: &[u8], block: &BlockView) -> Option<ServerTool> {
    if block.kind != BlockKind::Opaque {
        return None;
    }
    let fields = ObjectFields::of(bytes, block.outer.to_usize());
    match &*fields.text("type")? {
        "server_tool_use" | "mcp_tool_use" => Some(ServerTool::Call(fields.text("id")?.into())),
        kind if kind.ends_with("_tool_result") => {
            Some(ServerTool::Result(fields.text("tool_use_id")?.into()))
        }
        _ => None,
    }
}

//! Anthropic: context editing, compaction at a threshold, and compaction on demand.

mod answer;
mod clear;
mod edits;
mod insert;
mod refusal;
mod request;
mod stream;

pub use answer::{
    AppliedEdit, CompactionBlock, Iteration, IterationKind, MessageHead, SummaryMessage,
    applied_edits, counted, iterations,
};
pub use clear::{ClearedMessages, ConversationMeasure, clear};
pub use edits::{
    ClearInputs, ClearThinking, ClearToolUses, CompactEdit, ContextEdit, EditTrigger, KeepThinking,
};
pub use insert::{BlockInsertion, insert};
pub use refusal::{AnthropicRefusal, ErrorCode};
pub use request::{
    AnthropicRequest, INSTRUCTIONS_LIMIT, PlacedBlock, SummarizeOption, check_placement,
    compaction_blocks, message_behind, read_request, without_asked,
};
pub use stream::{StreamStyle, block_events};

/// The beta of `clear_tool_uses_20250919` and `clear_thinking_20251015`.
pub const EDITING_BETA: &str = "context-management-2025-06-27";
/// The beta of `compact_20260112`.
pub const THRESHOLD_BETA: &str = "compact-2026-01-12";
/// The beta of the top-level `compaction`.
pub const ON_DEMAND_BETA: &str = "compact-2026-09-04";

/// The members of an `anthropic-beta` header, without the betas that midfold implements.
///
/// ```
/// use midfold_formats::vendor::anthropic::without_betas;
/// assert_eq!(without_betas("files-api-2025-04-14, compact-2026-01-12"), "files-api-2025-04-14");
/// ```
#[must_use]
pub fn without_betas(header: &str) -> String {
    let own_betas = [EDITING_BETA, THRESHOLD_BETA, ON_DEMAND_BETA];
    let members = header.split(',').map(str::trim);
    members.filter(|member| !own_betas.contains(member)).collect::<Vec<_>>().join(",")
}

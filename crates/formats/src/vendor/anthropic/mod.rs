//! Anthropic: context editing, compaction at a threshold, and compaction on demand.

mod answer;
mod edits;
mod insert;
mod refusal;
mod request;
mod stream;

pub use answer::{
    AppliedEdit, Block, Head, Iteration, IterationKind, applied_edits, iterations, message,
};
pub use edits::{ClearInputs, ClearThinking, ClearToolUses, Compact, Edit, KeepThinking, Trigger};
pub use insert::{Insertion, insert};
pub use refusal::{ErrorCode, Refusal};
pub use request::{
    Asked, INSTRUCTIONS_LIMIT, PlacedBlock, Summarize, asked, check_placement, compaction_blocks,
};
pub use stream::{Style, block_events, message_events};

/// The beta of `clear_tool_uses_20250919` and `clear_thinking_20251015`.
pub const EDITING_BETA: &str = "context-management-2025-06-27";
/// The beta of `compact_20260112`.
pub const THRESHOLD_BETA: &str = "compact-2026-01-12";
/// The beta of the top-level `compaction`.
pub const ON_DEMAND_BETA: &str = "compact-2026-09-04";

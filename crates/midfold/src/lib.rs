//! Context compaction for LLM agents. *Keep the ends, fold the middle.*
//!
//! The facade: everything a Rust user needs, re-exported from the crates below it.

pub use midfold_core as core;
pub use midfold_formats as formats;
pub use midfold_tokens as tokens;

pub use midfold_core::budget::Budget;
pub use midfold_core::engine::Session;
pub use midfold_core::fold::Fold;
pub use midfold_core::log::Log;
pub use midfold_core::meter::Meter;
pub use midfold_core::plan::{NoOp, Outcome, PlanError};
pub use midfold_core::policy::Policy;
pub use midfold_core::project::{Context, Fate, Piece};
pub use midfold_core::{Content, Counter, Dialect, Profile, RawEvent, Violation};
pub use midfold_formats::DialectKind;

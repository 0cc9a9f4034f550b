//! Measures midfold: what a strategy makes of recorded conversations, what the requests would have cost, and what the
//! contexts still hold.
//!
//! [`replay`] runs an engine through a recording, request by request; [`prices`] says what requests cost. The doors
//! share the rest: a strategy by its name ([`strategy`]), a run of it ([`ReplayContender`], [`ReplayOptions`]), and the
//! comparison as JSON ([`StrategyComparison`]). [`exam`] measures without a model what contexts still hold.
//! Definitions: docs/MEASURES.md.
//!
//! Nothing that folds depends on this crate.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod contender;
mod document;
pub mod exam;
mod named_prices;
pub mod prices;
pub mod replay;

pub use contender::{
    ReplayContender, ReplayForm, ReplayOptions, measures, strategy, strategy_names,
};
pub use document::{ConversationFacts, StrategyComparison, StrategyResult};
pub use named_prices::named_prices;

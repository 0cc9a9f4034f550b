//! Measuring midfold: what a strategy makes of recorded conversations, what that would have cost, and what is left of
//! them.
//!
//! [`replay`] drives an engine through a recording, request by request; [`prices`] says what requests cost. Around them
//! is what doors share: a strategy by its name ([`strategy`]), how it is run ([`ReplayContender`], [`ReplayOptions`]),
//! and the comparison as JSON ([`StrategyComparison`]). [`exam`] asks what is left without a model. Definitions: docs/MEASURES.md.
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
    ReplayContender, ReplayForm, ReplayOptions, arguments, measures, strategy, strategy_names,
};
pub use document::{ConversationFacts, StrategyComparison, StrategyResult};
pub use named_prices::named_prices;

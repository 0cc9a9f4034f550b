//! The ledger and what answers from it: calls, injections, explanations, audits. All folds here
//! are made by the engine.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod audit;
mod calls;
mod explain;
mod inject;
mod talk;

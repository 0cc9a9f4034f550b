//! The tests of the measures, in one binary: it links once.

#[path = "../../../midfold/tests/it/common.rs"]
#[expect(clippy::unwrap_used, reason = "shared with tests: a broken corpus may fail loudly")]
mod common;
mod corpus;
mod exam;
mod pooled;
#[path = "../../../core/tests/it/quarter.rs"]
mod quarter;
mod replay;

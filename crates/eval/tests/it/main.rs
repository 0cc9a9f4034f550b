//! The tests of the measures, in one binary: it links once.

#[path = "../../../midfold/tests/it/common.rs"]
mod common;
mod corpus;
mod pooled;
#[path = "../../../core/tests/it/quarter.rs"]
mod quarter;
mod replay;

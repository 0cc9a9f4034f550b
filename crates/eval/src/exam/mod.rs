//! What is left of a conversation after compaction, counted without a model: could an agent carry on?
//!
//! | measure | module |
//! |---|---|
//! | the reading exam: recorded conversations with questions | [`sitting`], [`score`], [`table`]; [`folder`], [`sheets`] |
//! | suites: standing instructions, small cases, rules under attack | [`suites`] |
//!
//! [`paper`] is all of it, as `midfold exam` runs it. Both are walked by a preset, a policy file, a baseline or an engine outside ([`engine`]). What counts as held is told
//! by probes, lists of groups of patterns that have to match within one passage ([`passages`]).
//! Definitions: docs/MEASURES.md.

pub mod engine;
pub mod error;
pub mod folder;
pub mod narrator;
pub mod paper;
pub mod passages;
pub mod process;
pub mod reading;
pub mod score;
pub mod sheets;
pub mod sitting;
pub mod suites;
pub mod table;

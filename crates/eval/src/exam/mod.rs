//! Measures without a model what a context still holds after compaction: could an agent continue its work?
//!
//! | measure | module |
//! |---|---|
//! | the reading exam: recorded conversations with questions | [`sitting`], [`score`], [`table`]; [`folder`], [`sheets`] |
//! | suites: standing instructions, small cases, rules under attack | [`suites`] |
//!
//! [`paper`] runs all of it, as `midfold measure exam` does. A preset, a policy file, a baseline or an engine outside
//! ([`engine`]) goes through both parts. Probes decide what is held: lists of groups of patterns, all of which have to
//! match within one passage ([`passages`]). Definitions: docs/MEASURES.md.

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

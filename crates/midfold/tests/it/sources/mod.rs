//! The five sources (docs/SOURCES.md), each held against what midfold does: constants, rules and
//! texts, and literal ports of the functions that a source prints.
#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod ports;
mod recorded;

mod head_middle_tail;
mod hermes;
mod nucleic;
mod projection;
mod summarizing;
mod table;
mod words;

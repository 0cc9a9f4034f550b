//! The model half as a whole: what a summariser is told, what comes back, and what is believed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod client;
mod config;
mod faults;
mod injection;
mod prompt;
mod retry;
mod support;
mod verdict;
mod wire;

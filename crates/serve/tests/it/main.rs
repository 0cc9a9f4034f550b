//! The server between a real client and a real (scripted) provider, over loopback.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod api;
mod faults;
mod hard;
mod keys;
mod listening;
mod loops;
mod narration;
mod nodes;
mod passing;
mod raw;
mod reach;
mod refusals;
mod restart;
mod setting;
mod state;
mod vendor;
mod vendor_anthropic;
mod vendor_openai;

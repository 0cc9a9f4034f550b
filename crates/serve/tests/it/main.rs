//! The server between a real client and a real (scripted) provider, over loopback.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod api;
mod broken;
mod config;
mod faults;
mod hard;
mod headers;
mod keys;
mod keys_bucket;
mod keys_entry;
mod keys_places;
mod listening;
mod loops;
mod memory;
mod narration;
mod nodes;
mod origin;
mod passing;
mod provider;
mod raw;
mod reach;
mod recall;
mod refusals;
mod restart;
mod room;
mod route;
mod setting;
mod sound;
mod state;
mod tls;
mod unpack;
mod vendor;
mod vendor_anthropic;
mod vendor_openai;
mod wire;

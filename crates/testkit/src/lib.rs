//! Conversation generators: deterministic, seeded, in every dialect.
//!
//! Nothing here depends on another crate of midfold, so every one of them can use it in tests.

mod big;
pub mod emit;
mod fixtures;
mod hostile;
pub mod injections;
mod message;
#[cfg(feature = "server")]
pub mod model_server;
pub mod postgres;
mod rng;
mod session;
pub mod strategies;
mod world;

pub use self::big::{big_messages, big_openai};
pub use self::fixtures::{Fixture, fixtures};
pub use self::hostile::hostile;
pub use self::message::{Call, Message, quoted};
pub use self::rng::Rng;
pub use self::session::{CONSTRAINT, session};

/// A realistic coding session as Chat Completions messages: about two dozen a turn.
#[must_use]
pub fn coding_session(seed: u64, turns: usize) -> Vec<String> {
    emit::openai_chat(&session(seed, turns))
}

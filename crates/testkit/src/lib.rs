//! Generators of conversations in every dialect. They are deterministic: the same seed gives the same conversation.
//!
//! Nothing here depends on another crate of midfold, so every one of them can use it in tests.

mod big;
mod dialogue;
pub mod emit;
mod fixtures;
mod hostile;
pub mod injections;
mod message;
#[cfg(feature = "server")]
pub mod model_server;
mod ollama;
pub mod postgres;
mod rng;
pub mod secrets;
mod session;
pub mod strategies;
pub mod turns;
#[cfg(feature = "server")]
pub mod upstream;
mod world;

pub use self::big::{big_messages, big_openai};
pub use self::dialogue::{SAID, dialogue};
pub use self::fixtures::{Fixture, fixtures};
pub use self::hostile::hostile;
pub use self::message::{TestCall, TestMessage, quoted};
pub use self::rng::Rng;
pub use self::session::{CONSTRAINT, coding_session, session};

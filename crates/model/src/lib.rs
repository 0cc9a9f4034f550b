//! The summariser client. It sends the engine's requests to a model over HTTP, and no failure of the model makes a
//! session wait.
//!
//! The engine says what it wants to have written ([`midfold_core::narrate::SummaryRequest`]), a [`ModelClient`] asks a
//! model for it, and [`midfold_core::recap::ground::judge`] decides which part of the answer may be used. Nothing here
//! blocks a turn: a driver runs the client beside the session and reports the result to it.
//!
//! ```
//! use std::sync::Arc;
//! use midfold_model::{ModelClient, ModelConfig, Secret};
//!
//! let counter = Arc::new(midfold_tokens::CharsCounter::new("3")?);
//! let mut config = ModelConfig::new("http://127.0.0.1:8080", "small", counter);
//! config.key = Some(Secret::new("sk-of-the-service"));
//! config.window_tokens = Some(8_192);
//! let client = ModelClient::new(config)?;
//! assert!(!format!("{client:?}").contains("sk-of"));
//! // let reply = client.summarise(&request).await?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

mod client;
mod config;
mod http;
mod retry;
mod wire;

pub use client::{ModelClient, RetryPause};
pub use config::{AttemptLimits, ConfigError, ModelConfig, Secret};
pub use wire::WireProtocol;

/// The parts that the tests of this crate use. They are no part of the interface and may change.
#[doc(hidden)]
pub mod inside {
    use reqwest::Url;

    use crate::wire::{CallRefusal, WireProtocol};

    pub use crate::config::{is_loopback, masked};
    pub use crate::retry::{pause, retry_after};

    // These are methods of a public type; as functions in here they are hidden.

    /// The address of the endpoint.
    pub fn endpoint(wire: WireProtocol, base: &Url) -> Url {
        wire.endpoint(base)
    }

    /// Reads a refusal.
    pub fn refusal(wire: WireProtocol, status: u16, body: &[u8]) -> CallRefusal {
        wire.refusal(status, body)
    }
}

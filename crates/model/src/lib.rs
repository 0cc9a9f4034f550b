//! The summariser client: executes the engine's requests over HTTP, and never lets a failure
//! become anybody's wait.
//!
//! The engine says what it wants written ([`midfold_core::narrate::SummaryRequest`]), a [`ModelClient`]
//! has it written by a model, [`midfold_core::recap::ground::judge`] decides what of it may be
//! used. Nothing here blocks a turn: a driver runs it beside the session and tells the session
//! what came of it.
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

/// What the tests of this crate reach, and nobody else: no part of the interface, and free to change.
#[doc(hidden)]
pub mod inside {
    use reqwest::Url;

    use crate::wire::{CallRefusal, WireProtocol};

    pub use crate::config::{is_loopback, masked};
    pub use crate::retry::{pause, retry_after};

    // Methods of a type that everybody sees: as functions here, so that nobody else sees them.

    /// The address that is posted to.
    pub fn endpoint(wire: WireProtocol, base: &Url) -> Url {
        wire.endpoint(base)
    }

    /// Reads a refusal.
    pub fn refusal(wire: WireProtocol, status: u16, body: &[u8]) -> CallRefusal {
        wire.refusal(status, body)
    }
}

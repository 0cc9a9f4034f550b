//! Counts tokens for midfold. Pure: no IO, no clock, no environment.
//!
//! There are four ways to count, with one trait ([`Counter`]):
//!
//! | name | what it is |
//! |---|---|
//! | `o200k`, `cl100k`, … | the exact count of an embedded vocabulary (features) |
//! | `chars:R` | characters / R, rounded up, in integers: `chars:3.2`, `chars:4` |
//! | `estimate:openai`, `estimate:claude`, `estimate:claude-old`, `estimate:gemini`, `estimate:gemini-old` | one fast pass over the text |
//! | a path to a `tokenizer.json` | through `hf_from_bytes` (feature `hf`); the caller reads the file |
//!
//! ```
//! use midfold_core::{TextKind, Counter};
//! let counter = midfold_tokens::by_name("chars:3.2")?;
//! assert_eq!(counter.count(&"x".repeat(10_000), TextKind::Prose), 3125);
//! # Ok::<(), midfold_tokens::CounterError>(())
//! ```
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

#[cfg(feature = "_tables")]
mod bpe;
mod chars;
mod estimate;
#[cfg(feature = "_exact")]
mod exact;
#[cfg(feature = "hf")]
mod hf;
mod media;
mod memo;
mod models;
mod name;
#[cfg(any(feature = "_exact", feature = "hf"))]
mod parts;
mod scan;
mod windows;

pub use chars::CharsCounter;
pub use estimate::EstimateCounter;
#[cfg(feature = "_exact")]
pub use exact::ExactCounter;
#[cfg(feature = "hf")]
pub use hf::{HfTokenizer, hf_from_bytes};
pub use media::{ProviderFamily, in_tiles};
pub use memo::MemoCounter;
pub use midfold_core::{Counter, TextKind};
pub use models::for_model;
pub use name::{by_name, names};
pub use windows::window_of;

/// Items for the tests of this crate only. They are no part of its interface, and may change.
#[doc(hidden)]
pub mod inside {
    #[cfg(feature = "cl100k")]
    pub use crate::bpe::CL100K;
    #[cfg(feature = "o200k")]
    pub use crate::bpe::O200K;
    #[cfg(any(feature = "_exact", feature = "hf"))]
    pub use crate::parts::{CAP, PART, sum};

    /// The prefixes of model names in the table of windows.
    #[must_use]
    pub fn window_prefixes() -> Vec<(&'static str, String)> {
        crate::windows::prefixes()
    }
}

/// Why a counter could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CounterError {
    /// No counter has this name.
    #[error("unknown tokenizer `{name}`; valid names: {valid}")]
    Unknown {
        /// The name that was asked for.
        name: String,
        /// The names that this build knows, separated by commas.
        valid: String,
    },
    /// The ratio of `chars:R` is not a positive decimal.
    #[error(
        "`{0}` is not a positive number of characters per token; write `chars:4` or `chars:3.2`"
    )]
    Ratio(String),
    /// A `tokenizer.json` could not be loaded.
    #[error("tokenizer `{name}` does not load: {reason}")]
    Load {
        /// The name that the caller gave, usually the path of the file.
        name: String,
        /// The loader's message.
        reason: String,
    },
}

/// Converts a count to the trait's type. A larger count becomes the maximum, 4 billion, which is more than any window.
pub(crate) fn clamp(tokens: u64) -> u32 {
    u32::try_from(tokens).unwrap_or(u32::MAX)
}

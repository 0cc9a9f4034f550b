//! A run of events of one log, and of no other.

use serde::{Deserialize, Serialize};

use crate::event::Hash;

/// The events that a fold replaces. The chain hashes at their ends identify them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Span {
    /// The first event.
    pub start: u32,
    /// One past the last event.
    pub end: u32,
    /// The chain hash of all events before `start`.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub before: Hash,
    /// The chain hash of all events before `end`.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub through: Hash,
}

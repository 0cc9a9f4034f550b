//! A run of events of one log, and of no other.

use serde::{Deserialize, Serialize};

use crate::event::Hash;

/// The events that a fold replaces, named by the chain hashes at their ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Span {
    /// First event.
    pub start: u32,
    /// One past the last event.
    pub end: u32,
    /// Chain hash of everything before `start`.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub before: Hash,
    /// Chain hash of everything before `end`: names the whole prefix.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub through: Hash,
}

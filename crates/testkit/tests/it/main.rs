//! The generators, and the scripted provider and its client against each other.

mod fixtures;
#[cfg(feature = "server")]
mod upstream;
#[cfg(feature = "server")]
mod upstream_faults;
#[cfg(feature = "server")]
mod upstream_once;
#[cfg(feature = "server")]
mod upstream_rules;

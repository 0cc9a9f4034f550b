//! Clients that midfold is not in front of, but is called by: hooks of Claude Code.

pub mod claude;
pub mod settings;

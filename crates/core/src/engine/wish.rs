//! The wishes that a session keeps for its agent, and those that one fold is to respect.

use serde::{Deserialize, Serialize};

use crate::put_back::PutBack;

/// The wishes of an agent for its session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentWishes {
    /// Lines that each recap repeats, in the order in which they were noted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// A fold is to be made with the next context.
    #[serde(skip_serializing_if = "is_false")]
    pub wants_fold: bool,
    /// Words that tell how it goes on: that fold weighs the lines that have them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep: Option<String>,
}

fn is_false(is: &bool) -> bool {
    !is
}

impl AgentWishes {
    /// Whether it asked for nothing.
    #[must_use]
    pub fn is_silent(&self) -> bool {
        self.notes.is_empty() && !self.wants_fold
    }
}

/// The wishes that one fold is to respect.
#[derive(Default)]
pub(super) struct FoldWishes {
    /// Events that hooks keep.
    pub pins: Vec<u32>,
    /// The recap of the host's own.
    pub recap: Option<String>,
    /// Notes of the agent, and texts of the host.
    pub put_back: PutBack,
    /// How an agent that asked for the fold goes on.
    pub keep: Option<String>,
}

//! The wishes that a session keeps for its agent, and those for one fold.

use serde::{Deserialize, Serialize};

use crate::put_back::PutBack;

/// The wishes of an agent for its session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentWishes {
    /// Notes that each recap repeats, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Whether a fold is to be made with the next context.
    #[serde(skip_serializing_if = "is_false")]
    pub wants_fold: bool,
    /// Text that says how the agent goes on. In that fold, statements with its words weigh more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep: Option<String>,
}

fn is_false(is: &bool) -> bool {
    !is
}

impl AgentWishes {
    /// Whether the agent asked for nothing.
    #[must_use]
    pub fn is_silent(&self) -> bool {
        self.notes.is_empty() && !self.wants_fold
    }
}

/// The wishes that one fold has to respect.
#[derive(Default)]
pub(super) struct FoldWishes {
    /// Events that hooks keep.
    pub pins: Vec<u32>,
    /// A recap that the host wrote in place of ours.
    pub recap: Option<String>,
    /// Notes of the agent and texts of the host that end the recap.
    pub put_back: PutBack,
    /// How the agent goes on, where it asked for this fold.
    pub keep: Option<String>,
}

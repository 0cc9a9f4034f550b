//! What the model answers, before a dialect writes it.

use serde_json::Value;

/// What a request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A turn of the agent.
    Turn,
    /// A request without tools beside the conversation: a title, a probe.
    Side,
    /// The client's own compaction.
    Summary,
    /// A count of tokens.
    Count,
}

impl Kind {
    /// Its name in statistics.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Turn => "turn",
            Self::Side => "side",
            Self::Summary => "summary",
            Self::Count => "count",
        }
    }
}

/// A call of a tool.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub name: String,
    pub arguments: Value,
    /// Free text instead of arguments.
    pub custom: bool,
}

/// A fact that was needed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Use {
    /// Where: the step, one more than the last for the final answer.
    pub step: u32,
    pub part: u32,
    pub found: bool,
}

/// What the model answers.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    pub kind: Kind,
    pub text: String,
    pub calls: Vec<Call>,
    pub uses: Vec<Use>,
    /// The highest step that it starts or has seen.
    pub step: Option<u32>,
    pub done: bool,
}

impl Reply {
    pub fn said(kind: Kind, text: String) -> Self {
        Self { kind, text, calls: Vec::new(), uses: Vec::new(), step: None, done: false }
    }
}

//! What the model answers, before a dialect writes it.

use serde_json::Value;

/// What a request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplyKind {
    /// A turn of the agent.
    Turn,
    /// A request without tools beside the conversation: a title, a probe.
    Side,
    /// The client's own compaction.
    Summary,
    /// A count of tokens.
    Count,
}

impl ReplyKind {
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
pub(crate) struct ReplyCall {
    pub name: String,
    pub arguments: Value,
    /// Free text instead of arguments.
    pub custom: bool,
}

/// A fact that was needed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FactUse {
    /// Where: the step, one more than the last for the final answer.
    pub step: u32,
    pub part: u32,
    pub found: bool,
}

/// What the model answers.
#[derive(Clone, Debug)]
pub(crate) struct ScriptedReply {
    pub kind: ReplyKind,
    pub text: String,
    pub calls: Vec<ReplyCall>,
    pub uses: Vec<FactUse>,
    /// The highest step that it starts or has seen.
    pub step: Option<u32>,
    pub done: bool,
}

impl ScriptedReply {
    pub fn said(kind: ReplyKind, text: String) -> Self {
        Self { kind, text, calls: Vec::new(), uses: Vec::new(), step: None, done: false }
    }
}

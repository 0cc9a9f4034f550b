//! The model's reply, before a dialect writes it.

use serde_json::Value;

/// The purpose of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplyKind {
    /// A turn of the agent.
    Turn,
    /// A request without tools beside the conversation, such as a title or a probe.
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
    /// Whether the argument is free text instead of JSON.
    pub custom: bool,
}

/// A fact that the model needed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FactUse {
    /// The step that needed it. The final answer counts as the step after the last.
    pub step: u32,
    /// The number of the part that held the fact.
    pub part: u32,
    /// Whether the request still had the fact.
    pub is_found: bool,
}

/// The model's reply.
#[derive(Clone, Debug)]
pub(crate) struct ScriptedReply {
    pub kind: ReplyKind,
    pub text: String,
    pub calls: Vec<ReplyCall>,
    /// The facts that the reply needed.
    pub uses: Vec<FactUse>,
    /// The highest step number so far: of the step that this reply starts, or else of the last one in the request.
    pub step: Option<u32>,
    /// Whether this is the last reply of the script.
    pub done: bool,
}

impl ScriptedReply {
    pub fn of_text(kind: ReplyKind, text: String) -> Self {
        Self { kind, text, calls: Vec::new(), uses: Vec::new(), step: None, done: false }
    }
}

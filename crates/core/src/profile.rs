//! The validity rules of one provider, as data. The crate `formats` has those of real providers.

use serde::{Deserialize, Serialize};

use crate::view::{EventView, Role};

/// Where the results of a call have to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairingRule {
    /// In the messages right after the call.
    Adjacent,
    /// Anywhere after the call.
    Anywhere,
}

/// The most pictures of a request, whatever their tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PictureCount {
    /// For a model with a window of at most 200,000 tokens.
    pub most: usize,
    /// For a model with a larger window.
    pub in_large: usize,
}

impl PictureCount {
    /// The largest window, in tokens, of models with the smaller number.
    const LARGE: u64 = 200_000;

    /// The number for a model with this window.
    #[must_use]
    pub fn in_window(self, window: u64) -> usize {
        if window > Self::LARGE { self.in_large } else { self.most }
    }
}

/// Whether messages of the model need their reasoning as text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReasoningText {
    /// They need none.
    #[default]
    Free,
    /// All need some from the first one on that has it (DeepSeek, Kimi and `MiMo` while they think).
    Kept,
    /// All need some: the provider has refused one without.
    Demanded,
}

/// What a provider takes as the arguments of a call in the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgumentForm {
    /// Any text: nobody reads it as JSON.
    Text,
    /// A text that is JSON. The chat templates of most models read it.
    JsonText,
    /// A JSON object.
    Object,
}

/// The part of a context that signed reasoning is bound to. It decides which reasoning stays valid after a fold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReasoningBinding {
    /// Nothing: the reasoning stays valid whatever comes before it.
    #[default]
    Free,
    /// Everything before it: when any of that changes, the reasoning is void and has to be removed.
    Prefix,
    /// As `Prefix`. In addition the newest message of the model has to start with reasoning if it calls a tool
    /// (Anthropic, `thinking.type = "enabled"`). Where that reasoning is void, its calls are sent as text.
    OpenRound,
}

/// Signed reasoning that its model would refuse, because what it is bound to has changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct VoidReasoning {
    /// All signed reasoning in events before this one is void.
    pub before: u32,
    /// The first message of the round that was the newest then, if the calls of that round are sent as text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub told_round: Option<u32>,
}

impl VoidReasoning {
    /// The one of the two that reaches further; all that the other makes void is void by this one, too.
    #[must_use]
    pub fn or(self, other: Option<Self>) -> Self {
        other.filter(|other| other.before > self.before).unwrap_or(self)
    }
}

/// The validity rules of one provider for one dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProviderProfile {
    /// The provider: `openai`, `responses`, `anthropic`, `gemini`, `bedrock`, `ollama`, `strict`, `deepseek`.
    pub name: &'static str,
    /// The dialect that these rules belong to.
    pub dialect: &'static str,
    /// Where results have to be.
    pub pairing: PairingRule,
    /// Whether consecutive messages of one role are one turn for the provider (Anthropic).
    pub merges_roles: bool,
    /// Whether an event is one item of a response (text, reasoning, call, output) and not a whole message.
    pub has_items: bool,
    /// Whether user and assistant have to take turns (templates of Mistral and Gemma).
    pub alternates: bool,
    /// Whether a user message may follow a tool result.
    pub user_after_tool: bool,
    /// Whether the first message after the system messages has to be the user's.
    pub user_first: bool,
    /// Whether system messages are allowed only at the start.
    pub system_leading: bool,
    /// Whether empty text is allowed.
    pub empty_text: bool,
    /// Whether a turn is one message. The results of a message's calls are then together in the next message, and roles
    /// alternate (Gemini, Bedrock).
    pub whole_turns: bool,
    /// Whether the id of a call may be empty. Calls and results are then paired by name and order.
    pub empty_ids: bool,
    /// Whether the ids of calls are unique over the whole request, and not only within a step.
    pub unique_ids: bool,
    /// The longest id of a call, in bytes.
    pub longest_id: usize,
    /// The most pictures of a request; `None` where the provider names no number.
    pub pictures: Option<PictureCount>,
    /// What the arguments of a call have to be.
    pub arguments: ArgumentForm,
    /// The part of a context that signed reasoning is bound to.
    pub reasoning: ReasoningBinding,
    /// Whether messages of the model need their reasoning as text.
    pub reasoning_text: ReasoningText,
    /// The role of a recap where the policy's role is not allowed.
    pub recap_role: Role,
}

impl ProviderProfile {
    /// Whether consecutive events of the assistant are one step, because the provider merges them or because each is an
    /// item of one response.
    #[must_use]
    pub fn joins_assistant(&self) -> bool {
        self.merges_roles || self.has_items
    }

    /// Whether a result without an id answers by name and order, even if the calls have ids.
    #[must_use]
    pub fn pairs_by_order(&self) -> bool {
        self.whole_turns || self.empty_ids
    }
}

/// A rule that a context breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Short name of the rule: `orphan-result`, `unanswered-call`, `empty-text`, …
    pub rule: &'static str,
    /// Index of the offending message in the context.
    pub index: usize,
    /// The fault in our words, with the ids or roles involved.
    pub detail: String,
    /// The provider's own error text for this fault; empty where none is known.
    pub provider_text: &'static str,
}

impl std::fmt::Display for Violation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "message {}: {}: {}", self.index, self.rule, self.detail)?;
        if !self.provider_text.is_empty() {
            write!(f, " (provider: {})", self.provider_text)?;
        }
        Ok(())
    }
}

/// A provider's rules, applied to a context message by message. A context that only grows is thus read once.
pub trait ProviderRules {
    /// Takes in the next message.
    fn push(&mut self, bytes: &[u8], view: &EventView);

    /// The number of rules that the context up to here breaks.
    fn violations(&self) -> usize;

    /// A copy of the state, which goes on from here independently.
    fn fork(&self) -> Box<dyn ProviderRules>;
}

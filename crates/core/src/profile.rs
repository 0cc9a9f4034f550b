//! What one provider accepts, as data. Constants for real providers live in `formats`.

use serde::{Deserialize, Serialize};

use crate::view::{EventView, Role};

/// Where the results of a call have to stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairingRule {
    /// In the messages right after the call, nothing between.
    Adjacent,
    /// Anywhere after the call.
    Anywhere,
}

/// What signed reasoning is bound to, and so what a fold leaves of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReasoningBinding {
    /// To nothing: it may stay, whatever stands before it.
    #[default]
    Free,
    /// To all that stands before it: once anything of that changed, it is void and has to go.
    Prefix,
    /// The same; and the model's newest message has to start with reasoning where it calls a tool
    /// (Anthropic, `thinking.type = "enabled"`): where that is void, its calls are told as text.
    OpenRound,
}

/// Signed reasoning that its model refuses: what it is bound to is not there any more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct VoidReasoning {
    /// It is void in events before this one.
    pub before: u32,
    /// The first message of the round that was the newest then, where its calls are told as text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub told_round: Option<u32>,
}

impl VoidReasoning {
    /// Of both what reaches further: it holds for all that the other one does.
    #[must_use]
    pub fn or(self, other: Option<Self>) -> Self {
        other.filter(|other| other.before > self.before).unwrap_or(self)
    }
}

/// The validity rules of one provider for one dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProviderProfile {
    /// `openai`, `responses`, `anthropic`, `gemini`, `bedrock`, `ollama`, `strict`, `deepseek`.
    pub name: &'static str,
    /// The dialect that it belongs to.
    pub dialect: &'static str,
    /// Where results have to stand.
    pub pairing: PairingRule,
    /// Consecutive messages of one role are one turn for the provider (Anthropic).
    pub merges_roles: bool,
    /// One event is one item of a response (text, reasoning, call, output), not a whole message.
    pub has_items: bool,
    /// User and assistant have to alternate (Mistral, Gemma templates).
    pub alternates: bool,
    /// A user message may follow a tool result.
    pub user_after_tool: bool,
    /// The first message after the system messages has to be the user's.
    pub user_first: bool,
    /// System messages are only legal at the start.
    pub system_leading: bool,
    /// Empty text is legal.
    pub empty_text: bool,
    /// A turn is one message: results are together in the one right after their calls, and every
    /// message alternates with the next (Gemini, Bedrock).
    pub whole_turns: bool,
    /// The id of a call may be empty: calls and results pair by name and order then.
    pub empty_ids: bool,
    /// The longest id of a call, in bytes.
    pub longest_id: usize,
    /// What signed reasoning is bound to.
    pub reasoning: ReasoningBinding,
    /// The role that a recap takes when the policy's role is not legal in its place.
    pub recap_role: Role,
}

impl ProviderProfile {
    /// Whether consecutive events of the assistant are one step: the provider merges them, or one
    /// event is only an item of a response.
    #[must_use]
    pub fn joins_assistant(&self) -> bool {
        self.merges_roles || self.has_items
    }

    /// Whether a result without an id answers by name and order, whatever ids the calls have.
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
    /// What is wrong, in our words, with the ids or roles involved.
    pub detail: String,
    /// The provider's own error text for it.
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

/// The rules of a provider, asked about a context message by message: one that only grows is read
/// once.
pub trait ProviderRules {
    /// Takes in the next message.
    fn push(&mut self, bytes: &[u8], view: &EventView);

    /// How many rules a context that ends here breaks.
    fn violations(&self) -> usize;

    /// The same walk once more, to go on from here on its own.
    fn fork(&self) -> Box<dyn ProviderRules>;
}

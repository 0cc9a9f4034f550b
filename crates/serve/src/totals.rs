//! What a server did, in figures for people.

use midfold::core::spending::PromptCost;

/// What a server did since its start. Tokens are of requests with a history.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ServerTotals {
    /// Requests that went on to a provider.
    pub requests: u64,
    /// Of these, requests whose history was looked at.
    pub with_history: u64,
    /// Of these, requests that were read through a fold.
    pub folded: u64,
    /// Folds that were made.
    pub folds: u64,
    /// Requests that went on as they came although midfold should have looked at them.
    pub faults: u64,
    /// Requests that a provider refused as too long.
    pub overflows: u64,
    /// Of these, requests that were folded and sent again.
    pub recovered: u64,
    /// Prompts of which a server dropped a part, and said nothing.
    pub truncated: u64,
    /// Requests that got no answer.
    pub unanswered: u64,
    /// Answers to requests with a history that broke off.
    pub broken: u64,
    /// What the prompts cost; none where no provider reported what it counted.
    pub cost: Option<PromptCost>,
    /// Tokens of requests as they came.
    pub tokens_before: u64,
    /// Tokens of what was sent.
    pub tokens_after: u64,
    /// Prompt tokens that providers counted.
    pub prompt_tokens: u64,
    /// Of these, read from the provider's cache.
    pub cache_read_tokens: u64,
}

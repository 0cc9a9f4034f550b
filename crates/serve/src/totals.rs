//! The totals of a server, for people.

use midfold::core::spending::PromptCost;

/// The totals of a server since its start. Tokens are those of requests with a history.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ServerTotals {
    /// Requests that were sent to a provider.
    pub requests: u64,
    /// Of these, requests whose history was read.
    pub with_history: u64,
    /// Of these, requests that were read through a fold.
    pub folded: u64,
    /// Folds that were made for requests.
    pub folds: u64,
    /// Times that a model looked up what was folded.
    pub look_ups: u64,
    /// Requests that were sent unchanged although midfold should have read them.
    pub faults: u64,
    /// The most common cause of these, in words; `None` if there were none.
    pub fault_reason: Option<&'static str>,
    /// Requests that a provider refused as too long.
    pub overflows: u64,
    /// Of these, requests that were folded and sent again.
    pub recovered: u64,
    /// Prompts of which a server silently dropped a part.
    pub truncated: u64,
    /// Requests that got no answer.
    pub unanswered: u64,
    /// Answers to requests with a history that broke off.
    pub broken: u64,
    /// The cost of the prompts; `None` if no provider reported any usage.
    pub cost: Option<PromptCost>,
    /// Tokens of the requests as clients sent them.
    pub tokens_before: u64,
    /// Tokens of the requests as midfold sent them.
    pub tokens_after: u64,
    /// Tokens of the prompts, as providers counted them.
    pub prompt_tokens: u64,
    /// Of these, tokens that were read from the provider's cache.
    pub cache_read_tokens: u64,
}

//! The cost of the prompts of all conversations, and the size of a client's requests.

use midfold_core::spending::PromptCost;

use super::conversation::ProxyConversation;

/// The summed cost of the prompts of all conversations since the process started.
#[derive(Default)]
pub(super) struct PromptCosts(Option<PromptCost>);

impl PromptCosts {
    /// Adds the cost of one request: the conversation's cost after it, less that before it.
    pub fn add(&mut self, before: Option<PromptCost>, after: Option<PromptCost>) {
        let Some(after) = after else { return };
        let sum = self.0.get_or_insert(PromptCost { sent: 0.0, everything: 0.0 });
        sum.sent += after.sent - before.map_or(0.0, |before| before.sent);
        sum.everything += after.everything - before.map_or(0.0, |before| before.everything);
    }

    pub fn sum(&self) -> Option<PromptCost> {
        self.0
    }
}

impl ProxyConversation {
    /// The tokens of a request as its client sent it, in the provider's count: what the provider counted, and an estimate
    /// of what was added since. The messages behind the history have `newest` tokens in midfold's own count. A client
    /// only adds messages, so the figure never falls.
    pub fn tokens_before(&mut self, newest: u64) -> u64 {
        let (session, counted) = (&self.session, self.session.log().tokens() + newest);
        let known = session.spent().whole_at(counted, session.meter().ratio);
        let tokens = known.unwrap_or_else(|| session.meter().calibrated(counted));
        self.tokens_before = self.tokens_before.max(tokens);
        self.tokens_before
    }
}

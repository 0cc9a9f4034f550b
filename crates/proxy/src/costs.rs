//! The cost of the prompts of all conversations.

use midfold_core::spending::PromptCost;

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

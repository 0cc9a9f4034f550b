//! What the prompts of all conversations cost.

use midfold_core::spending::PromptCost;

/// What the prompts of all conversations cost since the start.
#[derive(Default)]
pub(super) struct PromptCosts(Option<PromptCost>);

impl PromptCosts {
    /// A conversation cost this much before a request, and this much after it.
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

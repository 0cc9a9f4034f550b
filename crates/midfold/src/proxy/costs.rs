//! What the prompts of all conversations cost.

use midfold_core::spent::Cost;

/// What the prompts of all conversations cost since the start.
#[derive(Default)]
pub(super) struct Costs(Option<Cost>);

impl Costs {
    /// A conversation cost this much before a request, and this much after it.
    pub fn add(&mut self, before: Option<Cost>, after: Option<Cost>) {
        let Some(after) = after else { return };
        let sum = self.0.get_or_insert(Cost { sent: 0.0, everything: 0.0 });
        sum.sent += after.sent - before.map_or(0.0, |before| before.sent);
        sum.everything += after.everything - before.map_or(0.0, |before| before.everything);
    }

    pub fn sum(&self) -> Option<Cost> {
        self.0
    }
}

//! What classes of content take of the context now, against their caps.

use rustc_hash::FxHashMap;

use super::Session;
use crate::budget::{Budget, TierName};
use crate::piece::Fate;
use crate::trigger::Load;

impl Session {
    /// What the context costs now, and which tier of `budget` (from `Gate::budget`) is over its cap.
    pub(super) fn load_in(&self, budget: &Budget) -> Load {
        let caps = budget.caps(budget.tokens());
        let over = caps.into_iter().find(|(tier, cap)| self.tier_tokens(*tier) > *cap);
        Load { over_tier: over, ..self.load() }
    }

    /// Tokens of one class of content in the context, as the provider will count them.
    #[must_use]
    pub fn tier_tokens(&self, tier: TierName) -> u64 {
        let mut saved: FxHashMap<u32, u64> = FxHashMap::default();
        for edit in self.active().into_iter().flat_map(|fold| &fold.edits) {
            let block = self.log.events().get(edit.seq as usize).and_then(|event| {
                let block = event.view.blocks.get(edit.block as usize)?;
                TierName::of(event, block)
            });
            if block == Some(tier) {
                let freed = edit.tokens_before.saturating_sub(edit.tokens_after);
                *saved.entry(edit.seq).or_default() += u64::from(freed);
            }
        }
        let own =
            |seq: u32| self.log.events().get(seq as usize).map_or(0, |event| tier.tokens(event));
        let context = self.view();
        let tokens = context.pieces().map(|piece| match piece.fate {
            Fate::Verbatim(seq) => own(seq),
            Fate::Edited(seq) => own(seq).saturating_sub(saved.get(&seq).copied().unwrap_or(0)),
            _ => 0,
        });
        self.meter.calibrated(tokens.sum())
    }
}

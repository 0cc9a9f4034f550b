//! The size of the present context, in all and by tier, and the conditions of the moment. The trigger compares them
//! with its lines.

use rustc_hash::FxHashMap;

use super::Session;
use crate::budget::{Budget, TierName};
use crate::piece::PieceFate;
use crate::recap::seam::ends_at_seam;
use crate::tools::ToolTable;
use crate::trigger::{ContextLoad, Millis};

impl Session {
    /// The size of the present context, and which tier of `budget` (from `FoldGate::budget`) is over its cap.
    pub(super) fn load_in(&self, budget: &Budget) -> ContextLoad {
        let caps = budget.caps(budget.tokens());
        let over = caps.into_iter().find(|(tier, cap)| self.tier_tokens(*tier) > *cap);
        ContextLoad { over_tier: over, ..self.load() }
    }

    /// As [`Session::load_in`], with the conditions of the moment: a cold cache, a seam.
    pub(super) fn load_at(&self, budget: &Budget, now: Millis) -> ContextLoad {
        let load = self.load_in(budget);
        let seam = self.policy.trigger.seam_tokens(budget.tokens());
        // Seams are searched only above the line where they matter, since that reads the newest results.
        let at_seam = seam.is_some_and(|seam| load.estimate >= seam) && self.is_at_seam();
        ContextLoad { is_cold: self.is_cold(now), at_seam, ..load }
    }

    /// Whether the provider's cache has dropped the prompt that was sent last.
    fn is_cold(&self, now: Millis) -> bool {
        let Self { gate, cache_lifetime, .. } = self;
        gate.asked > 0
            && cache_lifetime.is_some_and(|lifetime| now.saturating_sub(gate.asked) > lifetime)
    }

    /// Whether the log ends at a seam: a piece of work has just ended.
    fn is_at_seam(&self) -> bool {
        ends_at_seam(&self.log, &ToolTable::of(&self.policy.tools))
    }

    /// Tokens in the context of one class of content, as the provider would count them.
    #[must_use]
    pub fn tier_tokens(&self, tier: TierName) -> u64 {
        let mut saved: FxHashMap<u32, u64> = FxHashMap::default();
        for edit in self.active().into_iter().flat_map(|fold| &fold.edits) {
            let edited_tier = self.log.events().get(edit.seq as usize).and_then(|event| {
                let block = event.view.blocks.get(edit.block as usize)?;
                TierName::of(event, block)
            });
            if edited_tier == Some(tier) {
                let freed = edit.tokens_before.saturating_sub(edit.tokens_after);
                *saved.entry(edit.seq).or_default() += u64::from(freed);
            }
        }
        let own =
            |seq: u32| self.log.events().get(seq as usize).map_or(0, |event| tier.tokens(event));
        let context = self.view();
        let tokens = context.pieces().map(|piece| match piece.fate {
            // A repair writes the same content in another form.
            PieceFate::Verbatim(seq) | PieceFate::Repaired(seq, _) => own(seq),
            // The fold's record has the sizes of each edit, so edited bytes are not counted again.
            PieceFate::Edited(seq) => {
                own(seq).saturating_sub(saved.get(&seq).copied().unwrap_or(0))
            }
            _ => 0,
        });
        self.meter.calibrated(tokens.sum())
    }
}

//! Per-tier caps: what one class of content may take of the context, so that one fat result cannot
//! starve the dialogue.

use super::{BlockRef, Middle, MiddleBudget};
use crate::budget::TierName;
use crate::log::Event;
use crate::policy::ReducerName;
use crate::view::{BlockKind, BlockView, Role};

/// What an evicted result says where the policy has no words for it (projection note).
const EXPIRED: &str = "[result expired]";
/// What evicted arguments say: JSON stays JSON.
const CLIPPED: &str = "{\"clipped\":true}";
/// A tier that was passed is brought down to half of its cap: an eviction breaks the prompt cache,
/// so it should last for more than one step.
const DOWN_TO: u64 = 2;

impl TierName {
    /// The tier that a block belongs to.
    #[must_use]
    pub fn of(event: &Event, block: &BlockView) -> Option<Self> {
        match block.kind {
            BlockKind::Result { .. } => Some(Self::Results),
            BlockKind::Call { .. } => Some(Self::Arguments),
            BlockKind::Text if matches!(event.view.role, Role::User | Role::Assistant) => {
                Some(Self::Dialogue)
            }
            _ => None,
        }
    }

    /// Tokens of an event that belong to this tier.
    #[must_use]
    pub fn tokens(self, event: &Event) -> u64 {
        let blocks = event.view.blocks.iter().zip(&event.tokens.blocks);
        let own = blocks.filter(|(block, _)| Self::of(event, block) == Some(self));
        own.map(|(_, tokens)| u64::from(*tokens)).sum()
    }
}

/// Evicts the oldest content of every tier that is over its cap, until it is below half of it or
/// nothing of it is left in the middle.
pub(crate) fn enforce(middle: &mut Middle<'_>, budget: &MiddleBudget, stub: &str) {
    for (tier, cap) in &budget.tiers {
        let mut used = middle.context_tokens(*tier);
        if used <= *cap {
            continue;
        }
        let own: Vec<BlockRef> = middle
            .blocks()
            .filter(|(_, event, block)| TierName::of(event, block) == Some(*tier))
            .map(|(at, ..)| at)
            .collect();
        let (text, reducer, reason) = match tier {
            TierName::Results if stub.is_empty() => (EXPIRED, ReducerName::Retain, "tier-results"),
            TierName::Results => (stub, ReducerName::Retain, "tier-results"),
            TierName::Arguments => (CLIPPED, ReducerName::Arguments, "tier-arguments"),
            TierName::Dialogue => (super::CAPPED, ReducerName::Window, "tier-dialogue"),
        };
        for at in own {
            if used <= cap / DOWN_TO {
                break;
            }
            let before = middle.tokens();
            middle.replace(at, text.to_owned(), reducer, reason);
            used = used.saturating_sub(before - middle.tokens());
        }
    }
}

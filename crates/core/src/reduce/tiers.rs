//! Caps of tiers: the most that one class of content may take of the context, so that one huge result cannot displace
//! the dialogue.

use super::{BlockRef, Middle, MiddleBudget};
use crate::budget::TierName;
use crate::log::Event;
use crate::policy::ReducerName;
use crate::view::{BlockKind, BlockView, Role};

/// The text of an evicted result where the policy sets none (projection note).
const EXPIRED: &str = "[result expired]";
/// The text of evicted arguments, which keeps JSON valid.
const CLIPPED: &str = "{\"clipped\":true}";
/// A tier over its cap is reduced to its cap divided by this. An eviction breaks the provider's cache, so it should
/// last for more than one step.
const DOWN_TO: u64 = 2;

impl TierName {
    /// The tier of a block; `None` for blocks without a tier, such as reasoning and system messages.
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

    /// Tokens of the event's blocks that belong to this tier.
    #[must_use]
    pub fn tokens(self, event: &Event) -> u64 {
        let blocks = event.view.blocks.iter().zip(&event.tokens.blocks);
        let own = blocks.filter(|(block, _)| Self::of(event, block) == Some(self));
        own.map(|(_, tokens)| u64::from(*tokens)).sum()
    }
}

/// Evicts the oldest content of every tier that is over its cap, until the tier is at half of its cap or nothing of it
/// is left in the middle.
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
            // Measured by the middle, because a replacement that frees nothing is not made.
            let before = middle.tokens();
            middle.replace(at, text.to_owned(), reducer, reason);
            used = used.saturating_sub(before - middle.tokens());
        }
    }
}

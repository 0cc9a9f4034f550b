//! Pictures of a context: a provider takes so many of them, whatever their tokens.

use super::Session;
use crate::budget::Budget;
use crate::layout::layout;

impl Session {
    /// The size, in tokens of the provider, of a context with half of the pictures that the provider takes beside those
    /// of the head. `None` where it takes those of the present context, or a fold would not help.
    pub(super) fn size_for_pictures(&self, budget: &Budget) -> Option<u64> {
        let (log, len) = (&self.log, self.log.len());
        let most = log.profile().pictures?.in_window(budget.window);
        // Most logs are done here, without a walk over the context.
        if log.pictures_in(0..len) <= most {
            return None;
        }
        let context = self.view();
        let shown = context.pieces().filter_map(|piece| piece.seq()).map(|seq| seq as usize);
        if shown.map(|at| log.pictures_in(at..at + 1)).sum::<usize>() <= most {
            return None;
        }
        let tokens = self.meter.counted(budget.tokens());
        let head_end = layout(log, &log.units(), &self.policy, tokens, Some(0)).head_end;
        let room = most.checked_sub(log.pictures_in(0..head_end))? / 2;
        let stays = (head_end..len).rev().take_while(|at| log.pictures_in(*at..len) <= room);
        let from = stays.last().filter(|_| room > 0)?;
        let tokens = log.envelope_tokens() + log.tokens_in(0..head_end) + log.tokens_in(from..len);
        Some(self.meter.calibrated(tokens))
    }
}

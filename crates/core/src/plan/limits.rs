//! The limits of a draft, in counted tokens.

use crate::meter::Meter;

/// The budget converted to the counter's own tokens.
#[derive(Clone, Copy, Debug)]
pub(super) struct CounterScale {
    /// The budget.
    pub budget: u64,
    /// The most tokens of a context: its upper estimate is then within the budget.
    pub limit: u64,
    /// The size that somebody asked for; `None` where nobody did.
    pub wanted: Option<u64>,
}

impl CounterScale {
    /// The size that a fold must not exceed.
    pub fn goal(&self) -> u64 {
        self.wanted.unwrap_or(self.limit).min(self.limit)
    }

    /// Converts provider tokens (`tokens`, `wanted`) to counted ones.
    pub fn new(tokens: u64, wanted: Option<u64>, meter: &Meter) -> Self {
        let counted = |tokens| meter.counted(tokens);
        Self { budget: counted(tokens), limit: meter.most(tokens), wanted: wanted.map(counted) }
    }
}

/// The room of events whose long results are shown cut.
#[derive(Clone, Copy, Debug)]
pub(super) struct CutRoom {
    /// The most tokens of these events.
    pub most: u64,
    /// Whether the newest unit is one of them.
    pub with_newest: bool,
}

/// Further limits of a draft, for the case that the policy's own floors would exceed the budget. `None` is no limit.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DraftLimits {
    /// Most tokens of the tail; the newest unit always stays.
    pub tail: Option<u64>,
    /// Most tokens of the recap.
    pub recap: Option<u64>,
    /// Most tokens of everything. Set after a draft was too large, because only then the cost of repairs is known.
    pub target: Option<u64>,
    /// The end of the covered span: events from this one on stay.
    pub through: Option<usize>,
    /// The room of long results that are shown cut; `None` where all are whole.
    pub cut: Option<CutRoom>,
}

/// The least tokens of a recap: a shorter one says nothing.
pub(super) const MIN_RECAP: u64 = 64;

impl DraftLimits {
    /// The limits of the smallest context: the newest unit and the shortest recap, and all else covered or shortened.
    pub const LEAST: Self =
        Self { tail: Some(0), recap: Some(MIN_RECAP), target: Some(0), through: None, cut: None };

    /// Limits the tail to `wanted` tokens, or to less than before. False when the tail cannot be shortened.
    pub fn shorten_tail(&mut self, wanted: u64) -> bool {
        let before = self.tail;
        self.tail = match before {
            Some(0) => return false,
            // At least one token less each time, so a search that repeats this ends.
            Some(limit) => Some(wanted.min(limit - 1)),
            None => Some(wanted),
        };
        true
    }

    /// Takes `over` tokens off a recap of `room` tokens, but leaves it `least`. False when the recap cannot be
    /// shortened.
    pub fn shorten_recap(&mut self, room: u64, over: u64, least: u64) -> bool {
        // A recap that is shorter than `least` already must not grow.
        let wanted = room.saturating_sub(over).max(least.min(room));
        if wanted < room {
            self.recap = Some(wanted);
        }
        wanted < room
    }
}

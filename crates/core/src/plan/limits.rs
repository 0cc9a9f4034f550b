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
    pub asked: Option<u64>,
}

impl CounterScale {
    /// The size that a fold must not exceed.
    pub fn goal(&self) -> u64 {
        self.asked.unwrap_or(self.limit).min(self.limit)
    }

    /// Converts provider tokens (`tokens`, `asked`) to counted ones.
    pub fn new(tokens: u64, asked: Option<u64>, meter: &Meter) -> Self {
        let counted = |tokens| meter.counted(tokens);
        Self { budget: counted(tokens), limit: meter.most(tokens), asked: asked.map(counted) }
    }
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
    /// Most tokens of the newest unit; longer results in it are cut.
    pub newest: Option<u64>,
}

/// The least tokens of a recap: a shorter one says nothing.
pub(super) const MIN_RECAP: u64 = 64;

/// The size that a fold should leave, so that the next fold is not due at once. In counted tokens.
#[derive(Clone, Copy, Debug)]
pub(super) struct FoldTarget {
    /// The most tokens of the result; a larger one is shortened.
    pub most: u64,
    /// The size to which a larger result is shortened.
    pub wanted: u64,
    /// Whether the fold before lasted only a short while.
    pub is_soon: bool,
}

impl FoldTarget {
    /// The target for a context whose `fixed` tokens no fold can move, where folding starts at `line`. The tokens
    /// between the two are the room for the conversation. `since` is how many tokens came since the fold before. A fold
    /// may leave seven eighths of the room filled, or three quarters if fewer tokens than a quarter of the room came
    /// since the fold before. A larger result is shortened to five eighths.
    pub fn of(fixed: u64, line: u64, since: Option<u64>) -> Self {
        let room = line.saturating_sub(fixed);
        let is_soon = since.is_some_and(|since| since < room / 4);
        let most = if is_soon { room * 3 / 4 } else { room * 7 / 8 };
        Self { most: fixed + most, wanted: fixed + room * 5 / 8, is_soon }
    }
}

impl DraftLimits {
    /// The limits of the smallest context: the newest unit and the shortest recap, and all else covered or shortened.
    pub const LEAST: Self = Self {
        tail: Some(0),
        recap: Some(MIN_RECAP),
        target: Some(0),
        through: None,
        newest: None,
    };

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
        self.recap = Some(wanted);
        wanted < room
    }
}

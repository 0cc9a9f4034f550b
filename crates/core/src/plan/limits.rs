//! What a draft has to stay below.

use crate::meter::Meter;

/// The budget in the counter's own tokens.
#[derive(Clone, Copy, Debug)]
pub(super) struct CounterScale {
    /// `budget.tokens`, counted.
    pub budget: u64,
    /// The most a context may count: its upper estimate is then within the budget.
    pub limit: u64,
    /// The size that was asked for, counted.
    pub asked: Option<u64>,
}

impl CounterScale {
    /// What a fold has to come below.
    pub fn goal(&self) -> u64 {
        self.asked.unwrap_or(self.limit).min(self.limit)
    }

    pub fn new(tokens: u64, asked: Option<u64>, meter: &Meter) -> Self {
        let counted = |tokens| meter.counted(tokens);
        Self { budget: counted(tokens), limit: meter.most(tokens), asked: asked.map(counted) }
    }
}

/// What a draft has to stay below, where the policy's own floors would pass the budget.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DraftLimits {
    /// Most tokens of the tail; the newest unit always stays.
    pub tail: Option<u64>,
    /// Most tokens of the recap.
    pub recap: Option<u64>,
    /// Most tokens of everything, where the draft before was over: what validity adds is known
    /// only then.
    pub target: Option<u64>,
    /// Cover nothing from this event on.
    pub through: Option<usize>,
}

/// A recap below this says nothing, in tokens.
pub(super) const MIN_RECAP: u64 = 64;

/// What a fold should leave, so that the next one is not due at once. In counted tokens.
#[derive(Clone, Copy, Debug)]
pub(super) struct FoldTarget {
    /// More than this is shortened.
    pub most: u64,
    /// To this.
    pub wanted: u64,
    /// The fold before did not last long.
    pub is_soon: bool,
}

impl FoldTarget {
    /// For a context whose `fixed` tokens no fold can move, where folding starts at `line`: what is
    /// between them is the room for the conversation. `since` is what came since the fold before. A fold leaves
    /// at most seven eighths of the room, and three quarters where the one before lasted for less than a quarter
    /// of it; what leaves more is shortened to five eighths.
    pub fn of(fixed: u64, line: u64, since: Option<u64>) -> Self {
        let room = line.saturating_sub(fixed);
        let is_soon = since.is_some_and(|since| since < room / 4);
        let most = if is_soon { room * 3 / 4 } else { room * 7 / 8 };
        Self { most: fixed + most, wanted: fixed + room * 5 / 8, is_soon }
    }
}

impl DraftLimits {
    /// The newest unit, the shortest recap, and nothing that could be covered or shortened.
    pub const LEAST: Self =
        Self { tail: Some(0), recap: Some(MIN_RECAP), target: Some(0), through: None };

    /// False when nothing is left to shorten.
    pub fn shorten_tail(&mut self, wanted: u64) -> bool {
        let before = self.tail;
        self.tail = match before {
            Some(0) => return false,
            Some(limit) => Some(wanted.min(limit - 1)),
            None => Some(wanted),
        };
        true
    }

    /// Takes `over` off a recap that has `room`, but leaves it `least`. False when nothing is left to
    /// shorten.
    pub fn shorten_recap(&mut self, room: u64, over: u64, least: u64) -> bool {
        let wanted = room.saturating_sub(over).max(least.min(room));
        self.recap = Some(wanted);
        wanted < room
    }
}

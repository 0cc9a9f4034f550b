//! What a draft has to stay below.

use crate::meter::Meter;

/// The budget in the counter's own tokens.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    /// `budget.tokens`, counted.
    pub budget: u64,
    /// The most a context may count: its upper estimate is then within the budget.
    pub limit: u64,
    /// The size that was asked for, counted.
    pub asked: Option<u64>,
}

impl Scale {
    /// What a fold has to come below.
    pub fn goal(&self) -> u64 {
        self.asked.unwrap_or(self.limit).min(self.limit)
    }

    pub fn new(tokens: u64, asked: Option<u64>, meter: &Meter) -> Self {
        let ratio = u128::from(meter.ratio.0.max(1));
        let counted = |tokens: u64| {
            let known = u128::from(tokens.saturating_sub(meter.unseen));
            u64::try_from(known * 10_000 / ratio).unwrap_or(u64::MAX)
        };
        Self { budget: counted(tokens), limit: meter.most(tokens), asked: asked.map(counted) }
    }
}

/// What a draft has to stay below, where the policy's own floors would pass the budget.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Limits {
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
pub(super) const MIN_RECAP: u64 = 120;

impl Limits {
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

    pub fn shorten_recap(&mut self, room: u64, over: u64) -> bool {
        let wanted = room.saturating_sub(over).max(MIN_RECAP);
        self.recap = Some(wanted);
        wanted < room
    }
}

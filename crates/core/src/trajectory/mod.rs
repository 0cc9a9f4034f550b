//! Trajectories: finished runs of an agent that have to fit a training context.
//!
//! Another job than folding a live conversation: nothing is asked for later, nothing is recalled,
//! and one span is replaced once. So the plan is a greedy one over turns and their tokens: keep
//! the first turns of each kind and the last few, and replace as much of the front of the middle
//! as it takes, and no more. How a row of a data set is read and written is the business of
//! `midfold-formats`.

mod distribution;
mod metrics;
mod plan;

pub use distribution::LogHistogram;
pub use metrics::{SummaryRegion, TrajectoryMetrics, TrajectoryTotals};
pub use plan::{
    PlannedTurn, ProtectedTurns, SummaryPlacement, TrajectoryDecision, TrajectoryLimits, TurnSpan,
    plan,
};

/// Where each turn of a trajectory went.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TurnMap {
    turns: usize,
    span: Option<TurnSpan>,
    own_turn: bool,
}

impl TurnMap {
    /// All turns stay where they are.
    #[must_use]
    pub fn identity(turns: usize) -> Self {
        Self { turns, span: None, own_turn: false }
    }

    /// The turns of `span` left; `own_turn` says whether the summary is a turn of its own in their
    /// place, or a part of a turn beside them.
    #[must_use]
    pub fn folded(turns: usize, span: TurnSpan, own_turn: bool) -> Self {
        Self { turns, span: Some(span), own_turn }
    }

    /// The new place of turn `old`; `None` where a summary stands for it.
    ///
    /// ```
    /// use midfold_core::trajectory::{TurnSpan, TurnMap};
    /// let map = TurnMap::folded(10, TurnSpan { start: 4, end: 8 }, true);
    /// assert_eq!([map.get(3), map.get(4), map.get(8)], [Some(3), None, Some(5)]);
    /// ```
    #[must_use]
    pub fn get(&self, old: usize) -> Option<usize> {
        let own = usize::from(self.own_turn);
        match self.span {
            _ if old >= self.turns => None,
            Some(span) if old >= span.end => Some(old - span.len() + own),
            Some(span) if old >= span.start => None,
            _ => Some(old),
        }
    }

    /// The new place of the summary, where it is a turn of its own.
    #[must_use]
    pub fn summary(&self) -> Option<usize> {
        self.span.filter(|_| self.own_turn).map(|span| span.start)
    }

    /// Turns before.
    #[must_use]
    pub fn turns_before(&self) -> usize {
        self.turns
    }

    /// Turns after.
    #[must_use]
    pub fn turns_after(&self) -> usize {
        self.turns - self.span.map_or(0, TurnSpan::len) + usize::from(self.own_turn)
    }

    /// The turns that left.
    #[must_use]
    pub fn span(&self) -> Option<TurnSpan> {
        self.span
    }
}

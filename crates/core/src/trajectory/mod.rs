//! Compresses trajectories: finished runs of an agent that have to fit into a training context.
//!
//! This differs from folding a live conversation: no later question comes, nothing is recalled, and one span is
//! replaced once. So the plan is greedy over turns and their tokens. It keeps the first turn of each kind and the last
//! few, and replaces as much of the front of the middle as is needed. `midfold-formats` reads and writes the rows of
//! data sets.

mod distribution;
mod metrics;
mod plan;

pub use distribution::LogHistogram;
pub use metrics::{SummaryRegion, TrajectoryMetrics, TrajectoryTotals};
pub use plan::{
    PlannedTurn, ProtectedTurns, SummaryPlacement, TrajectoryDecision, TrajectoryLimits, TurnSpan,
    plan,
};

/// The new index of each turn of a trajectory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TurnMap {
    /// Turns before compression.
    turns: usize,
    span: Option<TurnSpan>,
    /// Whether the summary is a turn of its own.
    own_turn: bool,
}

impl TurnMap {
    /// The map where all turns stay.
    #[must_use]
    pub fn identity(turns: usize) -> Self {
        Self { turns, span: None, own_turn: false }
    }

    /// The map where the turns of `span` were removed. `own_turn` says whether the summary is a turn of its own in
    /// their place, or a part of a neighbouring turn.
    #[must_use]
    pub fn folded(turns: usize, span: TurnSpan, own_turn: bool) -> Self {
        Self { turns, span: Some(span), own_turn }
    }

    /// The new index of turn `old`; `None` where the summary replaced it, or where there is no such turn.
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

    /// The new index of the summary; `None` where it is not a turn of its own.
    #[must_use]
    pub fn summary(&self) -> Option<usize> {
        self.span.filter(|_| self.own_turn).map(|span| span.start)
    }

    /// Turns before compression.
    #[must_use]
    pub fn turns_before(&self) -> usize {
        self.turns
    }

    /// Turns after compression.
    #[must_use]
    pub fn turns_after(&self) -> usize {
        self.turns - self.span.map_or(0, TurnSpan::len) + usize::from(self.own_turn)
    }

    /// The turns that were removed; `None` where all stay.
    #[must_use]
    pub fn span(&self) -> Option<TurnSpan> {
        self.span
    }
}

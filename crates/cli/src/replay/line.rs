//! One strategy as the table and the chart show it.

use midfold_eval::replay::ReplayMeasures;

use crate::replay::strategies::StrategyRun;
use crate::replay::work::RunOutcome;

/// One strategy as the table and the chart show it.
pub struct StrategyLine<'a> {
    pub run: &'a StrategyRun,
    pub ran: &'a RunOutcome,
    /// Whether the strategy may win: it got through every conversation that any strategy did, each request fits the
    /// window, and each is valid.
    pub fair: bool,
    /// Whether no other fair strategy is better at one of retention and cost and at least as good at the other.
    pub front: bool,
}

impl StrategyLine<'_> {
    pub fn sum(&self) -> &ReplayMeasures {
        &self.ran.totals
    }

    /// The number of each conversation that the strategy did not get through, and the reason.
    pub fn failed(&self) -> impl Iterator<Item = (usize, &str)> {
        self.ran
            .each
            .iter()
            .filter_map(|(at, outcome)| Some((*at, outcome.as_ref().err()?.as_str())))
    }

    /// The name of the strategy, with its form where that is not the usual one.
    pub fn label(&self) -> String {
        match self.run.form() {
            "stateless" => self.run.name.clone(),
            form => format!("{} ({form})", self.run.name),
        }
    }
}

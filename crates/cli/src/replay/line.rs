//! One strategy as it is shown, in the table and in the chart.

use midfold_eval::replay::ReplayMeasures;

use crate::replay::strategies::StrategyRun;
use crate::replay::work::RunOutcome;

/// One strategy as it is shown.
pub struct StrategyLine<'a> {
    pub run: &'a StrategyRun,
    pub ran: &'a RunOutcome,
    /// Stayed within the window, valid, in every conversation that any got through: may win.
    pub fair: bool,
    /// No other fair one is better at one of retention and cost, and not worse at the other.
    pub front: bool,
}

impl StrategyLine<'_> {
    pub fn sum(&self) -> &ReplayMeasures {
        &self.ran.totals
    }

    /// The numbers of the conversations that were left out, and why.
    pub fn failed(&self) -> impl Iterator<Item = (usize, &str)> {
        self.ran.each.iter().filter_map(|(at, found)| Some((*at, found.as_ref().err()?.as_str())))
    }

    /// Its name, and its form where that is not the usual one.
    pub fn label(&self) -> String {
        match self.run.form() {
            "stateless" => self.run.name.clone(),
            form => format!("{} ({form})", self.run.name),
        }
    }
}

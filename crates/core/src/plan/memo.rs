//! A cache of the facts that were gathered for the previous fold.

use std::ops::Range;

use crate::log::EventLog;
use crate::recap::gather::{GatheredFacts, LogReading};
use crate::tools::ToolTable;

/// The gathered facts of some events, and which events these are. It only saves time: a fold is the same without it.
#[derive(Clone, Debug, Default)]
pub(crate) struct GatherMemo {
    gathered: Option<GatheredFacts>,
    runs: Vec<Range<usize>>,
}

impl GatherMemo {
    /// Gathers the facts of these runs of events. Where the runs begin with those gathered before, only the rest is
    /// read.
    pub fn extend(&mut self, log: &EventLog, runs: Vec<Range<usize>>, tools: &ToolTable) {
        let reading = LogReading::of(log, tools);
        let gathered = GatheredFacts::over(self.gathered.take(), log.events(), &runs, reading);
        self.gathered = Some(gathered);
        self.runs = runs;
    }

    /// The gathered facts; empty before the first call of [`GatherMemo::extend`].
    pub(super) fn gathered(&mut self) -> &GatheredFacts {
        self.gathered.get_or_insert_default()
    }

    /// The runs of events that were gathered.
    pub fn runs(&self) -> &[Range<usize>] {
        &self.runs
    }
}

/// The runs of consecutive numbers in a sorted list.
pub(super) fn runs(sorted: &[usize]) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for &at in sorted {
        match runs.last_mut() {
            Some(run) if run.end == at => run.end = at + 1,
            _ => runs.push(at..at + 1),
        }
    }
    runs
}

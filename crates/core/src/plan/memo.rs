//! A cache of the facts that were gathered for the previous fold.

use std::ops::Range;

use crate::log::EventLog;
use crate::recap::gather::{GatheredFacts, LogReading};
use crate::redact::KnownSecrets;
use crate::tools::ToolTable;

/// The gathered facts of some events, and which events these are. It only saves time: a fold is the same without it.
#[derive(Clone, Debug, Default)]
pub struct GatherMemo {
    gathered: Option<GatheredFacts>,
    runs: Vec<Range<usize>>,
    /// The facts of all runs but the last. A user's message that stays between covered ones is the end of a run only
    /// until a newer one stays: then the former last run is read again, and nothing before it.
    before_last: Option<GatheredFacts>,
    /// The secrets of the first events of the log, and how many events these are.
    secrets: (KnownSecrets, usize),
}

impl GatherMemo {
    /// Gathers the facts of these runs of events. Where the runs begin with those gathered before, only the rest is
    /// read.
    pub(crate) fn extend(&mut self, log: &EventLog, runs: Vec<Range<usize>>, tools: &ToolTable) {
        let reading = LogReading::of(log, tools);
        let gather = |known, runs: &[_]| GatheredFacts::over(known, log.events(), runs, reading);
        let goes_on = |known: &GatheredFacts| known.starts(&runs);
        let known = self.gathered.take().filter(goes_on);
        let known = known.or_else(|| self.before_last.take().filter(goes_on));
        self.gathered = Some(match runs.split_last() {
            Some((_, before)) if !before.is_empty() && !ends_in_last(known.as_ref(), &runs) => {
                let before = gather(known, before);
                gather(Some(self.before_last.insert(before).clone()), &runs)
            }
            _ => gather(known, &runs),
        });
        self.runs = runs;
    }

    /// The secrets of the whole log. Only events that came since the last call are searched for them.
    pub(super) fn secrets(&mut self, log: &EventLog) -> &KnownSecrets {
        let (secrets, known) = &mut self.secrets;
        for event in log.events().iter().skip(*known) {
            secrets.learn(&event.view, &event.bytes);
        }
        *known = log.len();
        secrets
    }

    /// The gathered facts; empty before the first call of [`GatherMemo::extend`].
    pub(super) fn gathered(&mut self) -> &GatheredFacts {
        self.gathered.get_or_insert_default()
    }

    /// The runs of events that were gathered.
    pub(crate) fn runs(&self) -> &[Range<usize>] {
        &self.runs
    }
}

/// Whether these facts hold some of the last run already, so that those of the runs before it are known as they were.
fn ends_in_last(known: Option<&GatheredFacts>, runs: &[Range<usize>]) -> bool {
    known.is_some_and(|known| known.run_count() == runs.len())
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

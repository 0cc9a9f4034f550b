//! The whole exam for several strategies: recorded conversations with questions, and the suites.

use std::fmt::Write as _;
use std::path::PathBuf;

use serde::Serialize;
use serde_json::json;

use crate::exam::error::{ErrorPlace as _, ExamResult};
use crate::exam::sheets;
use crate::exam::sitting::{ExamCandidate, Sitting, SittingRow, StrategyOutcome};
use crate::exam::suites::share::FoundShare;
use crate::exam::suites::{self, ExamSuite, SuiteMarks, SuiteRequest};
use crate::exam::table;

/// The version of the JSON form.
const VERSION: u32 = 1;

/// The parts of the exam that are run.
#[derive(Default)]
pub struct Paper {
    /// The recorded conversations with questions. Empty where the reading exam is not wanted.
    pub sittings: Vec<Sitting>,
    /// The suites to run, each once.
    pub suites: Vec<ExamSuite>,
    /// Whether only a third of each suite is run.
    pub quick: bool,
    /// A folder to which the contexts and the questions for a reader are written.
    pub contexts: Option<PathBuf>,
}

/// The results of all strategies.
#[derive(Default)]
pub struct ExamResults {
    /// The results of the reading exam, one per strategy.
    pub reading: Vec<StrategyOutcome>,
    /// The results of the suites, one per strategy.
    pub marks: Vec<SuiteMarks>,
    /// The strategies that failed. They are in no table.
    pub failed: Vec<FailedStrategy>,
}

/// A strategy that could not be run to the end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FailedStrategy {
    /// The name of the strategy.
    pub strategy: String,
    /// The part in which it failed, and the reason.
    pub why: String,
}

impl Paper {
    /// Runs strategies, one after the other. `say` gets the name of each part when it starts.
    pub fn sit(&self, candidates: &[(String, ExamCandidate)], say: &dyn Fn(&str)) -> ExamResults {
        let mut results = ExamResults::default();
        for (name, candidate) in candidates {
            match self.one(name, candidate, say) {
                Ok((reading, marks)) => {
                    results.reading.extend(reading);
                    results.marks.extend(marks);
                }
                Err(error) => {
                    let (strategy, why) = (name.clone(), error.to_string());
                    results.failed.push(FailedStrategy { strategy, why });
                }
            }
        }
        results
    }

    /// Runs one strategy through all parts.
    fn one(
        &self,
        name: &str,
        candidate: &ExamCandidate,
        say: &dyn Fn(&str),
    ) -> ExamResult<(Option<StrategyOutcome>, Option<SuiteMarks>)> {
        let mut rows = Vec::new();
        for sitting in &self.sittings {
            say(&format!("{name}: reading {}", sitting.name));
            let row = sitting.walk(candidate, false)?;
            if let Some(folder) = &self.contexts {
                sheets::write(&folder.join("reading"), sitting, name, &row)?;
            }
            rows.push(row);
        }
        let outcome = (!rows.is_empty()).then(|| StrategyOutcome { name: name.to_owned(), rows });
        let mut marks = SuiteMarks::of(name);
        let request = SuiteRequest { quick: self.quick, contexts: self.contexts.clone() };
        for suite in &self.suites {
            say(&format!("{name}: {}", suite.name()));
            marks.join(suites::run(*suite, name, candidate, &request)?);
            if let ExamCandidate::Engine(engine) = candidate {
                // An engine that did not answer in time has not lost anything: its result is an error.
                engine.late().map_or(Ok(()), Err).at(suite.name())?;
            }
        }
        Ok((outcome, (!self.suites.is_empty()).then_some(marks)))
    }

    /// All results as tables: one line per strategy, then the parts. With `lists_lost`, everything that was not kept is
    /// listed.
    #[must_use]
    pub fn text(&self, results: &ExamResults, lists_lost: bool) -> String {
        let mut out = self.summary(results);
        if !results.reading.is_empty() {
            out += "\nreading exam: share of the key points held, mean of the requests before the cut\n";
            out += &table::text(&self.sittings, &results.reading, lists_lost);
        }
        if !results.marks.is_empty() {
            out.push('\n');
            out += &suites::report::text(&results.marks, lists_lost);
        }
        while out.ends_with("\n\n") {
            out.pop();
        }
        out
    }

    /// The summary, with a line per strategy.
    fn summary(&self, results: &ExamResults) -> String {
        let mut out = String::new();
        let _ = writeln!(
            out,
            "{:<16}{:>9}{:>9}{:>10}{:>10}{:>8}{:>14}{:>7}{:>8}",
            "strategy",
            "reading",
            "context",
            "standing",
            "together",
            "small",
            "under attack",
            "clean",
            "failed"
        );
        let names: Vec<&String> = match results.reading.is_empty() {
            true => results.marks.iter().map(|marks| &marks.strategy).collect(),
            false => results.reading.iter().map(|outcome| &outcome.name).collect(),
        };
        for (at, name) in names.into_iter().enumerate() {
            let rows = results.reading.get(at).map_or(&[][..], |outcome| &outcome.rows);
            let marks = results.marks.get(at).cloned().unwrap_or_else(|| SuiteMarks::of(name));
            let mean = |value: fn(&SittingRow) -> f64| {
                let count = rows.len();
                let sum: f64 = rows.iter().map(value).sum();
                cell((count > 0).then(|| sum / count as f64))
            };
            let (score, context) = (mean(|row| row.score), mean(|row| row.context));
            let standing = share(marks.standing.iter().map(|row| row.all));
            let together = marks.standing.iter().filter_map(|row| row.positions.get("together"));
            let together = share(together.copied());
            let small = share(marks.small.iter().flat_map(|row| row.cycles));
            let rules = share(marks.attack.iter().map(|row| row.rules));
            let clean = share(marks.attack.iter().map(|row| row.clean));
            let failed: u64 = rows.iter().map(|row| row.over + row.invalid).sum::<u64>()
                + marks.standing.iter().map(|row| row.failed).sum::<u64>()
                + marks.small.iter().map(|row| row.failed).sum::<u64>()
                + marks.attack.iter().map(|row| row.failed).sum::<u64>();
            let _ = writeln!(
                out,
                "{name:<16}{score:>9}{context:>9}{standing:>10}{together:>10}{small:>8}{rules:>14}{clean:>7}{failed:>8}"
            );
        }
        out += "1 is all of it. reading: what an agent has to know; context: its size, in windows; the rest: what the user\n";
        out += "ordered, alone and all at once; small chats compacted twice; orders under attack, and no attack told as an order\n";
        out
    }

    /// All results as JSON.
    ///
    /// # Errors
    /// The results cannot be written as JSON.
    pub fn json(&self, results: &ExamResults) -> ExamResult<String> {
        let document = json!({
            "version": VERSION,
            "midfold": env!("CARGO_PKG_VERSION"),
            "quick": self.quick,
            "reading": table::values(&self.sittings, &results.reading),
            "suites": results.marks,
            "failed": results.failed,
        });
        serde_json::to_string_pretty(&document).at("results")
    }
}

fn share(parts: impl Iterator<Item = FoundShare>) -> String {
    let mut all = FoundShare::default();
    parts.for_each(|part| all.join(part));
    cell(all.ratio())
}

fn cell(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.3}"))
}

//! The signs of success and failure in the lines of a result.

use super::totals;
use super::verdict::CallVerdict;

/// The meaning of a line, from the strongest sign to the weakest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum OutcomeSign {
    /// It looks like a failure and is none.
    Harmless,
    /// Totals with failures, which no exit code disproves.
    Failed,
    /// Proof that the work ended badly.
    Broken,
    /// Totals without failures.
    Passed,
    /// A sign of failure, which an exit code 0 of the command itself disproves.
    Error,
    /// A sign of success, which any failure disproves.
    Done,
}

/// The signs that were found in a result: their lines and byte offsets.
#[derive(Default)]
pub(super) struct OutcomeSigns {
    /// The line with the last totals that have failures.
    pub failed: Option<String>,
    /// Byte offset of the last totals that have failures.
    failed_at: Option<usize>,
    /// Byte offset and line of the last totals without failures.
    passed: Option<(usize, String)>,
    /// How many passed in the runs with totals of the same form as the last ones, and how many runs there were.
    in_runs: (u64, usize),
    /// The first line with an error.
    error: Option<String>,
    /// Whether `error` says only that something inside failed.
    wrapped: bool,
    /// Whether a line proves that something is broken.
    broken: bool,
    /// Byte offset of the last sign of an error.
    bad_at: Option<usize>,
    /// The last line with a sign of success.
    success: Option<String>,
    /// Whether there is a sign of failure beside the totals.
    beside: bool,
    /// The tools that wrote the totals with failures or, without such totals, the first error.
    pub failing_tools: &'static str,
    /// The tools that wrote the last totals without failures.
    pub passing_tools: &'static str,
    /// Whether a test runner wrote totals.
    pub of_runner: bool,
}

/// Whether all numbers of a line before the time are 0.
fn counts_nothing(line: &str) -> bool {
    let counts = line.split(" in ").next().unwrap_or_default();
    counts.contains('0') && !counts.bytes().any(|b| matches!(b, b'1'..=b'9'))
}

/// Whether two lines differ in their numbers alone.
fn is_alike(one: &str, other: &str) -> bool {
    let plain = |line: &str| line.chars().filter(|c| !c.is_ascii_digit()).collect::<String>();
    plain(one) == plain(other)
}

impl OutcomeSigns {
    /// Whether totals without failures follow the last totals with failures, and no error comes after those.
    pub(super) fn recovered(&self) -> bool {
        let passed = self.passed.as_ref().map(|(at, _)| *at);
        self.failed.is_some() && passed > self.failed_at && passed > self.bad_at
    }

    /// Whether there is a sign of failure beside the totals that no later totals disprove.
    pub(super) fn bad_beside_totals(&self) -> bool {
        self.beside && self.bad()
    }

    /// Whether there is a sign of failure that no later totals disprove.
    pub(super) fn bad(&self) -> bool {
        let passed = self.passed.as_ref().map(|(at, _)| *at);
        self.failed.is_some() || self.broken || self.bad_at.is_some_and(|at| Some(at) > passed)
    }

    /// Whether there is a sign of success.
    pub(super) fn good(&self) -> bool {
        self.passed.is_some() || self.success.is_some()
    }

    /// The line that says most for this verdict; `None` where no sign matches it.
    pub(super) fn telling(&self, verdict: Option<CallVerdict>) -> Option<String> {
        let passed = || {
            let (_, line) = self.passed.as_ref()?;
            // Of a workspace each part has totals of its own.
            Some(match self.in_runs {
                (sum @ 1.., runs @ 2..) => format!("{sum} passed in {runs} runs"),
                _ => line.clone(),
            })
        };
        match verdict {
            Some(CallVerdict::Failed) => self.failed.clone().or_else(|| self.error.clone()),
            Some(CallVerdict::Ok) => passed().or_else(|| self.success.clone()),
            _ => None,
        }
    }

    /// The first line with an error, unless it says only that something inside failed.
    pub(super) fn error(&self) -> Option<&str> {
        self.error.as_deref().filter(|_| !self.wrapped)
    }

    /// Notes a sign. `wraps` says that the line says only that something inside failed.
    pub(super) fn add(
        &mut self,
        sign: OutcomeSign,
        of: &'static str,
        at: usize,
        line: &str,
        wraps: bool,
    ) {
        if sign == OutcomeSign::Failed
            || matches!(sign, OutcomeSign::Broken | OutcomeSign::Error)
                && self.failing_tools.is_empty()
        {
            self.failing_tools = of;
        }
        self.beside |= matches!(sign, OutcomeSign::Broken | OutcomeSign::Error);
        let numbers = |line: &str| line.bytes().any(|b| b.is_ascii_digit());
        match sign {
            OutcomeSign::Harmless => {}
            OutcomeSign::Failed => {
                self.failed_at = self.failed_at.max(Some(at));
                let known = self.failed.as_deref();
                // A headline without numbers does not replace totals that have some.
                if known.is_none_or(|known| numbers(line) || !numbers(known)) {
                    self.failed = Some(line.to_owned());
                }
            }
            OutcomeSign::Passed => {
                // The totals of a part that ran nothing do not replace those of a part that ran something.
                let known = self.passed.take().map(|(_, line)| line);
                if !counts_nothing(line) {
                    let own = totals::totals(line).map_or(0, |totals| totals.passed);
                    let (sum, runs) =
                        match known.as_ref().is_some_and(|known| is_alike(known, line)) {
                            true => self.in_runs,
                            false => (0, 0),
                        };
                    self.in_runs = (sum + own, runs + 1);
                }
                let line =
                    known.filter(|_| counts_nothing(line)).unwrap_or_else(|| line.to_owned());
                self.passed = Some((at, line));
                self.passing_tools = of;
            }
            OutcomeSign::Broken | OutcomeSign::Error => {
                // A line that says only that something inside failed gives way to the first one that says more.
                if self.error.is_none() || self.wrapped && !wraps {
                    self.error = Some(line.to_owned());
                    self.wrapped = wraps;
                }
                self.broken |= sign == OutcomeSign::Broken;
                self.bad_at = self.bad_at.max(Some(at));
            }
            OutcomeSign::Done => self.success = Some(line.to_owned()),
        }
    }
}

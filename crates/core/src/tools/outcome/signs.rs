//! What the lines of a result are signs of.

use super::verdict::CallVerdict;

/// What a line is a sign of, the strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum OutcomeSign {
    Harmless,
    Failed,
    Broken,
    Passed,
    Error,
    Done,
}

/// Where in a result the signs stand, and the lines.
#[derive(Default)]
pub(super) struct OutcomeSigns {
    /// The last totals with failures.
    pub failed: Option<String>,
    failed_at: Option<usize>,
    passed: Option<(usize, String)>,
    /// The first line of an error.
    error: Option<String>,
    /// That says only that something inside failed.
    wrapped: bool,
    /// Whether something is for certain broken.
    broken: bool,
    /// Where the last sign of an error is.
    bad_at: Option<usize>,
    done: Option<String>,
    /// Whether a sign beside totals is bad.
    beside: bool,
    /// The tools that wrote the totals with failures, or the first error.
    pub of: &'static str,
    /// The tools that wrote the totals without one.
    pub passed_of: &'static str,
}

impl OutcomeSigns {
    /// Whether totals without a failure follow the last ones with one, and no error does.
    pub(super) fn recovered(&self) -> bool {
        let passed = self.passed.as_ref().map(|(at, _)| *at);
        self.failed.is_some() && passed > self.failed_at && passed > self.bad_at
    }

    /// A sign of failure that is no total.
    pub(super) fn bad_beside_totals(&self) -> bool {
        self.beside && self.bad()
    }

    /// A sign of failure that no later totals take back.
    pub(super) fn bad(&self) -> bool {
        let passed = self.passed.as_ref().map(|(at, _)| *at);
        self.failed.is_some() || self.broken || self.bad_at.is_some_and(|at| Some(at) > passed)
    }

    /// A sign of success.
    pub(super) fn good(&self) -> bool {
        self.passed.is_some() || self.done.is_some()
    }

    /// The line of them that says most.
    pub(super) fn telling(&self, verdict: Option<CallVerdict>) -> Option<String> {
        let passed = || self.passed.as_ref().map(|(_, line)| line.clone());
        match verdict {
            Some(CallVerdict::Failed) => self.failed.clone().or_else(|| self.error.clone()),
            Some(CallVerdict::Ok) => passed().or_else(|| self.done.clone()),
            _ => None,
        }
    }

    /// The first line of an error that says more than that something inside failed.
    pub(super) fn error(&self) -> Option<&str> {
        self.error.as_deref().filter(|_| !self.wrapped)
    }

    /// Notes a sign. `wraps`: the line says only that something inside failed.
    pub(super) fn add(
        &mut self,
        sign: OutcomeSign,
        of: &'static str,
        at: usize,
        line: &str,
        wraps: bool,
    ) {
        if sign == OutcomeSign::Failed
            || matches!(sign, OutcomeSign::Broken | OutcomeSign::Error) && self.of.is_empty()
        {
            self.of = of;
        }
        self.beside |= matches!(sign, OutcomeSign::Broken | OutcomeSign::Error);
        let numbers = |line: &str| line.bytes().any(|b| b.is_ascii_digit());
        match sign {
            OutcomeSign::Harmless => {}
            OutcomeSign::Failed => {
                self.failed_at = self.failed_at.max(Some(at));
                let known = self.failed.as_deref();
                if known.is_none_or(|known| numbers(line) || !numbers(known)) {
                    self.failed = Some(line.to_owned());
                }
            }
            OutcomeSign::Passed => {
                self.passed = Some((at, line.to_owned()));
                self.passed_of = of;
            }
            OutcomeSign::Broken | OutcomeSign::Error => {
                if self.error.is_none() || self.wrapped && !wraps {
                    self.error = Some(line.to_owned());
                    self.wrapped = wraps;
                }
                self.broken |= sign == OutcomeSign::Broken;
                self.bad_at = self.bad_at.max(Some(at));
            }
            OutcomeSign::Done => self.done = Some(line.to_owned()),
        }
    }
}

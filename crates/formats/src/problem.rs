//! Problems: whatever a reader or a conversion could not carry over.

/// Something that was not understood, was left out or was changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadProblem {
    /// Where the problem is: the index of the event for a conversion, the line (from 1) for a reader. `None` where it
    /// concerns the whole input.
    pub at: Option<usize>,
    /// A short name for the kind of problem, for programs: `opaque-block`, `encrypted-reasoning`, …
    pub code: &'static str,
    /// What happened, for people.
    pub detail: String,
}

impl ReadProblem {
    /// A problem that concerns the whole input, or whose place the caller fills in.
    #[must_use]
    pub fn new(code: &'static str, detail: impl Into<String>) -> Self {
        Self { at: None, code, detail: detail.into() }
    }

    /// The same problem at this place.
    #[must_use]
    pub fn at(mut self, at: usize) -> Self {
        self.at = Some(at);
        self
    }
}

impl std::fmt::Display for ReadProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(at) = self.at {
            write!(f, "{at}: ")?;
        }
        write!(f, "{}: {}", self.code, self.detail)
    }
}

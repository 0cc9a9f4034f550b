//! What a reader or a conversion could not carry over, said instead of hidden.

/// Something that was not understood, was left out or was changed on the way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadProblem {
    /// Where: index of the event for a conversion, line (from 1) for a reader; `None` when it
    /// concerns the whole input.
    pub at: Option<usize>,
    /// Short name of the kind of problem, for programs: `opaque-block`, `encrypted-reasoning`, …
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

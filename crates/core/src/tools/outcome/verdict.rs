//! How a call ended.

/// What is known of how a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It did what was asked.
    Ok,
    /// It ran and did not.
    Failed,
    /// Somebody forbade it, so it never ran.
    Rejected,
    /// It was stopped before its end.
    Interrupted,
}

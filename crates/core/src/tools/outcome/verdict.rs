//! How a call ended.

/// What is known of how a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallVerdict {
    /// It did what was asked.
    Ok,
    /// It ran and did not.
    Failed,
    /// The user forbade it, so it never ran.
    Rejected,
    /// The client did not let it run: a rule, a sandbox, a permission that nobody has given yet.
    Blocked,
    /// It was stopped before its end.
    Interrupted,
}

//! The ways in which a call may end.

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallVerdict {
    /// It did what was asked.
    Ok,
    /// It ran, and did not do what was asked.
    Failed,
    /// The user rejected it, so it never ran.
    Rejected,
    /// The client blocked it, by a rule, a sandbox or a missing permission.
    Blocked,
    /// It was stopped before its end.
    Interrupted,
}

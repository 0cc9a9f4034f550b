//! The errors of recall.

use crate::error::StoreError;

/// Why recall returned nothing.
#[derive(Debug, thiserror::Error)]
pub enum RecallError {
    /// The store refused or failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The text is no message, range, list or fold.
    #[error(
        "`{0}` is no message (`@12`), range (`12-20`), list (`12,15,20`) or fold (`active`, or its id)"
    )]
    What(String),
    /// No fold's id starts with this text.
    #[error("no fold of this session has an id that starts with `{0}`")]
    NoFold(String),
    /// The ids of several folds start with this text.
    #[error("more than one fold has an id that starts with `{0}`: give more of it")]
    Ambiguous(String),
    /// The session has no active fold.
    #[error("this session has no fold: nothing left the context")]
    Unfolded,
    /// There is no such message. The second number is that of the last message.
    #[error("there is no message @{0}: the session has messages @0 to @{1}")]
    NoEvent(u64, u64),
    /// The session has no messages.
    #[error("the session has no messages yet")]
    Empty,
    /// The cursor has no valid form.
    #[error("`{0}` is no place to go on from (`12`, `12:4000`, `12:L310` or `12:L310-L340`)")]
    Cursor(String),
    /// A search has neither a query nor a filter.
    #[error("there is nothing to look for: the query is empty, and no filter is set")]
    Nothing,
    /// No message has this role.
    #[error("there is no role `{0}`: it is system, developer, user, assistant, tool or other")]
    Role(String),
    /// No message calls this tool. The second text lists the tools that are called.
    #[error("no message calls `{0}`; the tools of this session are: {1}")]
    Tool(String, String),
}

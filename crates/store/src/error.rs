//! What can go wrong with a store, in words that say what to do.

use midfold_core::Hash;

/// Why a store did not do it. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// There is no such session.
    #[error("there is no session `{0}`")]
    NoSession(String),
    /// The id cannot be one.
    #[error(
        "`{0}` cannot be the id of a session: 1 to 200 characters, none of them a control character"
    )]
    BadId(String),
    /// The id is taken.
    #[error("a session `{0}` exists already")]
    Exists(String),
    /// Somebody else appended first.
    #[error(
        "the session stands at event {actual}, not at {expected}: somebody else appended; read it again"
    )]
    Conflict {
        /// What the append expected.
        expected: u64,
        /// Where the session stands.
        actual: u64,
    },
    /// The key was used for something else.
    #[error("the key `{0}` was used before, for another append")]
    KeyReused(String),
    /// Another fold became active first.
    #[error("another fold became active first")]
    StaleFold {
        /// The active fold.
        actual: Option<Hash>,
    },
    /// The session has no such fold.
    #[error("the session has no fold {}", .0.to_hex())]
    NoFold(Hash),
    /// The state was saved by somebody else first.
    #[error("the state of the session is at version {actual}, not {expected}")]
    StaleState {
        /// What was expected.
        expected: u64,
        /// What is there.
        actual: u64,
    },
    /// Another call was recorded first.
    #[error("another call was recorded first: the ledger stands at {actual}")]
    StaleCall {
        /// Calls recorded.
        actual: u64,
    },
    /// No call has this number.
    #[error("no call {0} is recorded")]
    NoCall(u64),
    /// The provider's report on a call is there already, and says something else.
    #[error("call {0} has its usage already, and another one")]
    Settled(u64),
    /// It was to be deleted only where it had not changed for a while.
    #[error("the session `{0}` changed meanwhile: it was not deleted")]
    Changed(String),
    /// The query is no query (a bad regex, an empty text).
    #[error("{0}")]
    Query(String),
    /// The URL names no store.
    #[error("{0}")]
    Url(String),
    /// There is something else in its place: another program's database, a newer midfold's.
    #[error("{0}")]
    Foreign(String),
    /// What is stored is not what was written.
    #[error("the store is damaged: {0}")]
    Damaged(String),
    /// A record cannot be written as JSON.
    #[error("a record cannot be written: {0}")]
    Json(#[from] serde_json::Error),
    /// The database failed.
    #[error("the store failed: {text}")]
    Backend {
        /// What kind of failure.
        kind: FailureKind,
        /// What it said, and what can be done.
        text: String,
    },
}

/// Kinds of failure of a database, by what may be done about them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FailureKind {
    /// No space is left.
    Full,
    /// Another process has been writing for too long.
    Locked,
    /// All connections have been in use for too long, or nobody answers.
    Busy,
    /// It may be read and not written.
    ReadOnly,
    /// The file cannot be made, opened or read.
    Unreadable,
    /// The file that was opened is not there any more.
    Gone,
    /// The file is no database.
    NotAStore,
    /// Anything else: a connection lost, a defect of the disk.
    Other,
}

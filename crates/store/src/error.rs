//! The errors of stores. Their messages say what to do.

use midfold_core::Hash;

/// Why a store refused or failed. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// There is no session with this id.
    #[error("there is no session `{0}`")]
    NoSession(String),
    /// The id is not a valid session id.
    #[error(
        "`{0}` cannot be the id of a session: 1 to 200 characters, none of them a control character"
    )]
    BadId(String),
    /// A session with this id exists already.
    #[error("a session `{0}` exists already")]
    Exists(String),
    /// Another client appended first.
    #[error(
        "the session has {actual} events, not {expected}: somebody else appended; read it again"
    )]
    Conflict {
        /// The head that the append expected.
        expected: u64,
        /// The actual head.
        actual: u64,
    },
    /// The key of the append was used before, for other events.
    #[error("the key `{0}` was used before, for another append")]
    KeyReused(String),
    /// Another fold became active first.
    #[error("another fold became active first")]
    StaleFold {
        /// The active fold; `None` where no fold is active.
        actual: Option<Hash>,
    },
    /// The session has no fold with this id.
    #[error("the session has no fold {}", .0.to_hex())]
    NoFold(Hash),
    /// Another client saved the state first.
    #[error("the state of the session is at version {actual}, not {expected}")]
    StaleState {
        /// The expected version.
        expected: u64,
        /// The actual version.
        actual: u64,
    },
    /// Another call was recorded first.
    #[error("another call was recorded first: the ledger has {actual}")]
    StaleCall {
        /// How many calls are recorded.
        actual: u64,
    },
    /// Another job of the session is ready or leased.
    #[error("another job of the session is under way")]
    OtherJob,
    /// No call has this number.
    #[error("no call {0} is recorded")]
    NoCall(u64),
    /// The provider's usage for this call is recorded already, and it differs.
    #[error("call {0} has its usage already, and another one")]
    Settled(u64),
    /// The session changed after it was chosen for deletion, so it was not deleted.
    #[error("the session `{0}` changed meanwhile: it was not deleted")]
    Changed(String),
    /// The query is not valid, as with a bad regex or an empty text.
    #[error("{0}")]
    Query(String),
    /// The URL names no store.
    #[error("{0}")]
    Url(String),
    /// The place holds something else, such as another program's database or a store of a newer midfold.
    #[error("{0}")]
    Foreign(String),
    /// The stored data is not what was written.
    #[error("the store is damaged: {0}")]
    Damaged(String),
    /// A record cannot be written as JSON.
    #[error("a record cannot be written: {0}")]
    Json(#[from] serde_json::Error),
    /// The database failed.
    #[error("the store failed: {text}")]
    Backend {
        /// The kind of failure.
        kind: FailureKind,
        /// The database's message, and what can be done.
        text: String,
    },
}

impl StoreError {
    /// Whether somebody else changed the session first, so that the change is worth a new try after the session is read
    /// again.
    #[must_use]
    pub fn is_stale(&self) -> bool {
        matches!(
            self,
            Self::Conflict { .. }
                | Self::StaleFold { .. }
                | Self::StaleState { .. }
                | Self::StaleCall { .. }
        )
    }
}

/// Kinds of database failures, by the remedy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FailureKind {
    /// No space is left on the disk.
    Full,
    /// Another process held the write lock for too long.
    Locked,
    /// All connections were in use for too long, or the server does not answer.
    Busy,
    /// The store can be read but not written.
    ReadOnly,
    /// The file cannot be created, opened or read.
    Unreadable,
    /// The file was removed after it was opened.
    Gone,
    /// The file is not a database.
    NotAStore,
    /// Any other failure, such as a lost connection or a defect of the disk.
    Other,
}

//! The errors of stored sessions.

use midfold_core::engine::{RecoverError, UndoError};
use midfold_core::inject::InjectError;
use midfold_core::plan::PlanError;

use crate::error::StoreError;

/// Why an operation on a stored session failed. All data that was durable before still is.
#[derive(Debug, thiserror::Error)]
pub enum StoredError {
    /// The store refused or failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// No context that fits can be made.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// No shorter context can be sent.
    #[error(transparent)]
    Recover(#[from] RecoverError),
    /// There is no such fold to undo.
    #[error(transparent)]
    Undo(#[from] UndoError),
    /// The session needs something that this build does not have.
    #[error(
        "session `{session}` names the {what} `{name}`, which this build of midfold does not have"
    )]
    Unknown {
        /// The kind of thing, such as a dialect.
        what: &'static str,
        /// Its name.
        name: String,
        /// The session's id.
        session: String,
    },
    /// A hook exceeded its reserve, or there is no such hook.
    #[error(transparent)]
    Inject(#[from] InjectError),
    /// There is no such event.
    #[error("session `{session}` has no event {seq}: it has {events} (0 to {})", events.saturating_sub(1))]
    NoEvent {
        /// The session's id.
        session: String,
        /// The event that was asked for.
        seq: u64,
        /// How many events the session has.
        events: u64,
    },
    /// No fold or call has this number.
    #[error("there is no {what} {number}: {}", match count { 0 => "there is none yet".to_owned(), count => format!("they are numbered from 1 to {count}") })]
    NoNumber {
        /// The kind of thing.
        what: &'static str,
        /// The number that was asked for.
        number: u64,
        /// How many there are.
        count: u64,
    },
    /// Other nodes kept changing the session while this one tried.
    #[error("session `{0}` is being changed by others: try again")]
    Busy(String),
}

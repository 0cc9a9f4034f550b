//! Why a stored session did not do it.

use midfold_core::engine::{RecoverError, UndoError};
use midfold_core::inject::InjectError;
use midfold_core::plan::PlanError;

use crate::error::StoreError;

/// Why a stored session did not do it. Everything that was durable before still is.
#[derive(Debug, thiserror::Error)]
pub enum StoredError {
    /// The store did not do it.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Nothing that fits can be made.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// There is nothing to retry with.
    #[error(transparent)]
    Recover(#[from] RecoverError),
    /// There is no such fold to undo.
    #[error(transparent)]
    Undo(#[from] UndoError),
    /// The session names something that this build does not know.
    #[error(
        "session `{session}` names the {what} `{name}`, which this build of midfold does not have"
    )]
    Unknown {
        /// What kind of thing.
        what: &'static str,
        /// Its name.
        name: String,
        /// The session.
        session: String,
    },
    /// A hook overran its reserve, or is none.
    #[error(transparent)]
    Inject(#[from] InjectError),
    /// There is no such event.
    #[error("session `{session}` has no event {seq}: it has {events} (0 to {})", events.saturating_sub(1))]
    NoEvent {
        /// The session.
        session: String,
        /// The message that was asked for.
        seq: u64,
        /// How many it has.
        events: u64,
    },
    /// No fold or call has this number.
    #[error("there is no {what} {number}: {}", match count { 0 => "there is none yet".to_owned(), count => format!("they are numbered from 1 to {count}") })]
    NoNumber {
        /// What kind of thing.
        what: &'static str,
        /// The number that was asked for.
        number: u64,
        /// How many there are.
        count: u64,
    },
    /// Other nodes changed the session all the time.
    #[error("session `{0}` is being changed by others: try again")]
    Busy(String),
}

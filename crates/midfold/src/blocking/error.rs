//! The errors of a session.

use midfold_core::engine::{CompleteError, RecoverError, UndoError};
use midfold_core::explain::ExplainError;
use midfold_core::inject::InjectError;
use midfold_core::plan::PlanError;
use midfold_store::recall::RecallError;
use midfold_store::{StoreError, StoredError};

use crate::advice::AdvisedError;
use crate::failure::{Door, Failure};

/// Any error of a session. [`AdvisedError`] makes a [`Failure`] with hints of it.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
#[expect(missing_docs, reason = "each is what it says, of the crate that it is from")]
pub enum SessionError {
    Told(#[from] Failure),
    Plan(#[from] PlanError),
    Stored(#[from] StoredError),
    Store(#[from] StoreError),
    Inject(#[from] InjectError),
    Recover(#[from] RecoverError),
    Undo(#[from] UndoError),
    Complete(#[from] CompleteError),
    Explain(#[from] ExplainError),
    Recall(#[from] RecallError),
    Json(#[from] serde_json::Error),
}

impl AdvisedError for SessionError {
    fn advise(self, door: Door) -> Failure {
        match self {
            Self::Told(error) => error,
            Self::Plan(error) => error.advise(door),
            Self::Stored(error) => error.advise(door),
            Self::Store(error) => error.advise(door),
            Self::Inject(error) => error.advise(door),
            Self::Recover(error) => error.advise(door),
            Self::Undo(error) => error.advise(door),
            Self::Complete(error) => error.advise(door),
            Self::Explain(error) => error.advise(door),
            Self::Recall(error) => error.advise(door),
            Self::Json(error) => error.advise(door),
        }
    }
}

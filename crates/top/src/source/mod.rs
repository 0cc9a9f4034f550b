//! The source of all data: a store or a server.

pub(crate) mod server;
mod store;

use std::fmt::{Display, Formatter};
use std::future::Future;
use std::sync::Arc;

use midfold::{AdvisedError, Door, Failure};
use serde_json::Value;

pub use server::ServerSource;
pub use store::StoreSource;

use crate::clean::Clean;
use crate::views::{SessionId, SourceAnswer};

/// How many sessions are listed; the newest ones.
pub(crate) const LISTED: u32 = 500;

/// The time in milliseconds since 1970.
pub type Clock = Arc<dyn Fn() -> u64 + Send + Sync>;

/// A question to the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceQuestion {
    /// The sessions, the newest change first.
    Sessions,
    /// One session's detail.
    Detail(SessionId),
    /// The fabric of a session: the fate of each message, fold by fold.
    Fabric(SessionId),
    /// The fold with this number.
    Fold(SessionId, u64),
    /// The places of a text in a session.
    Explain(SessionId, String),
}

/// Answers questions with the JSON forms of `midfold::view`, which are the same over HTTP.
pub trait AnswerSource: Send + Sync + 'static {
    /// The place of the source, for the title.
    fn place(&self) -> String;

    /// The answer as JSON.
    fn json(
        &self,
        ask: &SourceQuestion,
    ) -> impl Future<Output = Result<Value, SourceTrouble>> + Send;

    /// The answer, read from its JSON.
    fn answer(
        &self,
        ask: &SourceQuestion,
    ) -> impl Future<Output = Result<SourceAnswer, SourceTrouble>> + Send {
        async move { read(ask, self.json(ask).await?) }
    }
}

fn read(ask: &SourceQuestion, value: Value) -> Result<SourceAnswer, SourceTrouble> {
    let answered = match ask {
        SourceQuestion::Sessions => serde_json::from_value(value).map(SourceAnswer::Sessions),
        SourceQuestion::Detail(_) => serde_json::from_value(value).map(SourceAnswer::Detail),
        SourceQuestion::Fabric(_) => serde_json::from_value(value).map(SourceAnswer::Fabric),
        SourceQuestion::Fold(..) => serde_json::from_value(value).map(SourceAnswer::Fold),
        SourceQuestion::Explain(..) => serde_json::from_value(value).map(SourceAnswer::Explained),
    };
    answered.map_err(|error| {
        SourceTrouble::new(&format!(
            "the answer is not what this version of midfold reads: {error}"
        ))
        .hint("use the same version here and for the server")
    })
}

/// Why a question has no answer, and what to do about it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceTrouble {
    /// Says what is wrong, and where.
    pub message: Clean,
    /// Each says what to do.
    pub hints: Vec<Clean>,
}

impl SourceTrouble {
    pub(crate) fn new(message: &str) -> Self {
        Self { message: Clean::new(message), hints: Vec::new() }
    }

    pub(crate) fn hint(mut self, hint: &str) -> Self {
        self.hints.push(Clean::new(hint));
        self
    }
}

impl<E: AdvisedError> From<E> for SourceTrouble {
    fn from(error: E) -> Self {
        let Failure { message, hints, .. } = error.advise(Door::Command);
        Self {
            message: Clean::new(&message),
            hints: hints.iter().map(|hint| Clean::new(hint)).collect(),
        }
    }
}

impl Display for SourceTrouble {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        self.message.fmt(f)
    }
}

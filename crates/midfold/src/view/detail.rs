//! One session in detail.

use midfold_core::engine::SessionStatus;
use midfold_core::trigger::{FoldDue, HoldReason};
use midfold_store::{Millis, StoredError, StoredSession};
use serde::Serialize;

use super::overview::{Overview, OverviewCache};
use crate::failure::number;

/// A session with its figures.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionDetail {
    /// The session in one line.
    #[serde(flatten)]
    pub overview: Overview,
    /// The figures of the session.
    pub status: SessionStatus,
    /// When the session folds next, in words.
    pub line: String,
}

impl SessionDetail {
    /// Reads the detail of an open session.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn of(
        overviews: &OverviewCache,
        stored: &mut StoredSession,
        now: Millis,
    ) -> Result<Self, StoredError> {
        let status = stored.status(now).await?;
        let overview = overviews.one(&stored.row().new.id).await?;
        Ok(Self { overview: (*overview).clone(), line: due(&status), status })
    }
}

/// Says in words when a session folds next.
#[must_use]
pub fn due(status: &SessionStatus) -> String {
    let line = number(status.threshold.tokens);
    match status.due {
        _ if status.engine == "passthrough" => {
            "never: the engine `passthrough` folds nothing".to_owned()
        }
        FoldDue::Held(off @ HoldReason::Off) => format!("not by itself: {off}"),
        FoldDue::Below(line) => {
            let room = line.tokens.saturating_sub(status.context_tokens);
            format!("at {} tokens, {}; {} to go", number(line.tokens), line.rule, number(room))
        }
        FoldDue::Threshold(line) => {
            format!("due: {} tokens are crossed, {}", number(line.tokens), line.rule)
        }
        FoldDue::Cold(line) => {
            let line = number(line.tokens);
            format!(
                "due: the provider's cache is cold, and the buffer line of {line} tokens is crossed"
            )
        }
        FoldDue::Seam(line) => {
            let line = number(line.tokens);
            format!("due: a piece of work has ended, and the seam line of {line} tokens is crossed")
        }
        FoldDue::Agent(line) => {
            let line = number(line.tokens);
            format!("due: the agent asked for it, and its line of {line} tokens is crossed")
        }
        FoldDue::HardWindow { limit } => {
            format!("due: more than the {} tokens that fit", number(limit))
        }
        FoldDue::Held(hold) => format!("held back at the line of {line} tokens: {hold}"),
    }
}

/// Whether the session counts tokens with an exact vocabulary; otherwise it estimates them.
#[must_use]
pub fn counts_exactly(stored: &StoredSession) -> bool {
    midfold_tokens::by_name(&stored.row().new.counter).is_ok_and(|counter| counter.is_exact())
}

//! One session: where it is at.

use midfold_core::engine::Status;
use midfold_core::trigger::Due;
use midfold_store::{Millis, Stored, StoredError};
use serde::Serialize;

use super::overview::{Overview, Overviews};
use crate::failure::number;

/// A session: its overview, and what the engine says of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Detail {
    /// In one line.
    #[serde(flatten)]
    pub overview: Overview,
    /// What the engine says.
    pub status: Status,
    /// When it folds next, in words.
    pub line: String,
}

impl Detail {
    /// Of an open session.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn of(
        overviews: &Overviews,
        stored: &mut Stored,
        now: Millis,
    ) -> Result<Self, StoredError> {
        let status = stored.status(now).await?;
        let overview = overviews.one(&stored.row().new.id).await?;
        Ok(Self { overview: (*overview).clone(), line: due(&status), status })
    }
}

/// When a session folds next, in words.
#[must_use]
pub fn due(status: &Status) -> String {
    let line = number(status.threshold.tokens);
    match status.due {
        Due::Below(line) => {
            let left = line.tokens.saturating_sub(status.context_tokens);
            format!("at {} tokens ({}), {} to go", number(line.tokens), line.rule, number(left))
        }
        Due::Threshold(line) => {
            format!("due: the line of {} tokens ({}) is crossed", number(line.tokens), line.rule)
        }
        Due::Cold(line) => {
            let line = number(line.tokens);
            format!(
                "due: the provider's cache is cold, and the buffer line of {line} tokens is crossed"
            )
        }
        Due::Seam(line) => {
            let line = number(line.tokens);
            format!("due: a piece of work has ended, and the seam line of {line} tokens is crossed")
        }
        Due::HardWindow { limit } => {
            format!("due: more than the {} tokens that fit", number(limit))
        }
        Due::Held(hold) => format!("held back at the line of {line} tokens: {hold}"),
    }
}

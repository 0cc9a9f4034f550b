//! The text that a person reads after a manual compaction. It has the keys of Hermes Agent's
//! `summarize_manual_compression`, and a line about what replaced the messages.

use midfold_core::fold::{Fold, StandIn};
use midfold_core::plan::PlanOutcome;
use midfold_core::reduce::thousands;
use serde::Serialize;

/// A compaction in words. It serialises to the keys of Hermes Agent, with `instead` beside them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CompactionFeedback {
    /// The context did not change.
    pub noop: bool,
    /// `Compressed: 40 → 12 messages`.
    pub headline: String,
    /// `Rough transcript estimate: ~90,000 → ~30,000 tokens`.
    pub token_line: String,
    /// Why fewer messages take more tokens; `None` if they do not.
    pub note: Option<String>,
    /// The text about what replaced the messages that left; `None` if no message left.
    pub instead: Option<String>,
}

/// The messages and tokens of a context. The caller decides which counter gives the tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SizeCount {
    /// Messages.
    pub messages: u64,
    /// Tokens.
    pub tokens: u64,
}

impl CompactionFeedback {
    /// Describes a context that was `before` and is `after`; `same` says that it did not change.
    ///
    /// ```
    /// use midfold::{CompactionFeedback, SizeCount};
    /// let said = CompactionFeedback::new(
    ///     SizeCount { messages: 40, tokens: 9_000 },
    ///     SizeCount { messages: 12, tokens: 9_500 },
    ///     false,
    /// );
    /// assert_eq!(said.headline, "Compressed: 40 → 12 messages");
    /// assert_eq!(said.token_line, "Rough transcript estimate: ~9,000 → ~9,500 tokens");
    /// assert!(said.note.is_some());
    /// ```
    #[must_use]
    pub fn new(before: SizeCount, after: SizeCount, same: bool) -> Self {
        let [first, second] = [before.tokens, after.tokens].map(grouped);
        let headline = if same {
            format!("No changes from compression: {} messages", before.messages)
        } else {
            format!("Compressed: {} → {} messages", before.messages, after.messages)
        };
        let token_line = if same && before.tokens == after.tokens {
            format!("Rough transcript estimate: ~{first} tokens (unchanged)")
        } else {
            format!("Rough transcript estimate: ~{first} → ~{second} tokens")
        };
        let denser = !same && after.messages < before.messages && after.tokens > before.tokens;
        let note = denser.then(|| {
            "Note: fewer messages can still raise this rough transcript estimate when compression \
             rewrites the transcript into denser summaries."
                .to_owned()
        });
        Self { noop: same, headline, token_line, note, instead: None }
    }

    /// Describes the outcome of a plan. `before` is used if nothing was folded.
    #[must_use]
    pub fn of(outcome: &PlanOutcome, before: SizeCount) -> Self {
        let PlanOutcome::Folded(fold) = outcome else { return Self::new(before, before, true) };
        let size = |messages: u32, tokens| SizeCount { messages: messages.into(), tokens };
        let before = size(fold.messages_before, fold.tokens_before);
        let after = size(fold.messages_after, fold.tokens_after);
        Self { instead: Some(instead(fold)), ..Self::new(before, after, false) }
    }
}

fn grouped(tokens: u64) -> String {
    thousands(usize::try_from(tokens).unwrap_or(usize::MAX))
}

/// Describes what replaced the messages that left.
fn instead(fold: &Fold) -> String {
    let tokens = grouped(fold.recap.as_ref().map_or(0, |recap| recap.tokens));
    let marked = grouped(fold.accounts.marker.into());
    match (fold.fallback, &fold.narrated) {
        (Some(StandIn::Marker), Some(_)) => format!(
            "a recap, written by a model, {tokens} tokens, which ends with a marker for the {marked} \
             messages that came after it was asked"
        ),
        (Some(StandIn::Marker), _) => "a marker, which says that messages are missing".to_owned(),
        (Some(StandIn::Static), _) => {
            "a fixed sentence, which says how many messages are missing".to_owned()
        }
        (Some(StandIn::Host), _) => format!("a recap of the host's own, {tokens} tokens"),
        (_, Some(_)) => format!("a recap, written by a model, {tokens} tokens"),
        (Some(_), None) => format!("a recap, computed from the log, {tokens} tokens"),
        (None, None) => "nothing: messages were shortened in their place".to_owned(),
    }
}

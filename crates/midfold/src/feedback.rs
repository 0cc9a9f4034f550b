//! What a person is told after a compaction that was asked for: the dictionary of Hermes Agent's
//! `summarize_manual_compression`, and what is in the place of the messages.

use midfold_core::fold::{Fold, StandIn};
use midfold_core::plan::PlanOutcome;
use midfold_core::reduce::thousands;
use serde::Serialize;

/// One compaction, in words. Serialises to the keys of the source, and `instead` beside them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CompactionFeedback {
    /// The context is the same, byte for byte.
    pub noop: bool,
    /// `Compressed: 40 → 12 messages`.
    pub headline: String,
    /// `Rough transcript estimate: ~90,000 → ~30,000 tokens`.
    pub token_line: String,
    /// Why fewer messages can take more tokens, where they do.
    pub note: Option<String>,
    /// What is in the place of what left; `None` where nothing did.
    pub instead: Option<String>,
}

/// Messages and tokens of a context, by whatever count the caller goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SizeCount {
    /// Messages.
    pub messages: u64,
    /// Tokens.
    pub tokens: u64,
}

impl CompactionFeedback {
    /// The words for a context that was `before` and is `after`; `same` where it did not change.
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

    /// The words for what became of a context that was `before`.
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

/// What is in the place of the messages that left.
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

//! What a compaction did: one shape for the command line, Python, Node and HTTP, for a session and for messages
//! without one.

use midfold_core::budget::Ratio;
use midfold_core::engine::SessionStatus;
use midfold_core::fold::{Fold, StandIn};
use midfold_core::plan::PlanOutcome;
use midfold_formats::ReadProblem;
use serde::Serialize;

use crate::compact::CompactionOutcome;
use crate::failure::grouped;
use crate::feedback::{CompactionFeedback, ContextSize, tokens};
use crate::prepare::PreparedConversation;
use crate::recap::recap;

/// What a compaction, or its preview, did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CompactionSummary {
    /// `folded`, or `nothing` if no fold was made.
    pub outcome: &'static str,
    /// The reason why nothing was folded, in words; null if a fold was made.
    pub reason: Option<String>,
    /// The messages in one line: `Compressed: 40 → 12 messages`.
    pub headline: String,
    /// The tokens in one line: `Rough transcript estimate: ~90,000 → ~30,000 tokens`.
    pub token_line: String,
    /// Why fewer messages take more tokens; null if they do not.
    pub note: Option<String>,
    /// What replaced the messages that left, in words; null if nothing was folded.
    pub instead: Option<String>,
    /// The size of the context before the fold.
    pub before: ContextSize,
    /// The size of the context after the fold.
    pub after: ContextSize,
    /// The text that the agent reads in the place of the folded messages: the recap, or the marker if the policy leaves
    /// one. Null if no message left.
    pub recap: Option<String>,
}

impl CompactionSummary {
    /// Describes the outcome of a plan in midfold's own count. `before` is the size of the context if nothing was
    /// folded.
    #[must_use]
    pub fn of(outcome: &PlanOutcome, before: ContextSize) -> Self {
        let before = outcome.fold().map_or(before, |fold| ContextSize {
            messages: fold.messages_before.into(),
            tokens: fold.tokens_before,
        });
        Self::in_tokens_of(outcome, before, Ratio::ONE)
    }

    /// As [`CompactionSummary::of`] for a session with this fill and meter, in the provider's tokens.
    #[must_use]
    pub fn of_session(outcome: &PlanOutcome, status: &SessionStatus) -> Self {
        let before = ContextSize { messages: status.messages, tokens: status.context_tokens };
        Self::in_tokens_of(outcome, before, status.meter.ratio)
    }

    /// Describes the outcome for a context of the size `before`, whose tokens are `ratio` times those of the fold.
    fn in_tokens_of(outcome: &PlanOutcome, before: ContextSize, ratio: Ratio) -> Self {
        let (after, reason) = match outcome {
            PlanOutcome::Folded(fold) => {
                let less = ratio.of(fold.tokens_before.saturating_sub(fold.tokens_after));
                let more = ratio.of(fold.tokens_after.saturating_sub(fold.tokens_before));
                let tokens = (before.tokens + more).saturating_sub(less);
                (ContextSize { messages: fold.messages_after.into(), tokens }, None)
            }
            PlanOutcome::Nothing(reason) => (before, Some(grouped(&reason.to_string()))),
        };
        let fold = outcome.fold();
        let feedback = CompactionFeedback::new(before, after, fold.is_none());
        Self {
            outcome: if fold.is_some() { "folded" } else { "nothing" },
            reason,
            headline: feedback.headline,
            token_line: feedback.token_line,
            note: feedback.note,
            instead: fold.map(instead),
            before,
            after,
            recap: recap(outcome).ok().map(str::to_owned),
        }
    }
}

/// Describes what replaced the messages that left.
fn instead(fold: &Fold) -> String {
    let length = tokens(fold.recap.as_ref().map_or(0, |recap| recap.tokens));
    let marked = tokens(fold.accounts.marker.into());
    match (fold.fallback, &fold.narrated) {
        (Some(StandIn::Marker), Some(_)) => format!(
            "a recap, written by a model, {length} tokens, which ends with a marker for the {marked} \
             messages that came after it was asked"
        ),
        (Some(StandIn::Marker), _) => "a marker, which says that messages are missing".to_owned(),
        (Some(StandIn::Static), _) => {
            "a fixed sentence, which says how many messages are missing".to_owned()
        }
        (Some(StandIn::Host), _) => format!("a recap of the host's own, {length} tokens"),
        (_, Some(_)) => format!("a recap, written by a model, {length} tokens"),
        (Some(_), None) => format!("a recap, computed from the log, {length} tokens"),
        (None, None) => "nothing: messages were shortened in their place".to_owned(),
    }
}

/// The result of compacting messages without a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CompactionReport {
    /// What the compaction did.
    #[serde(flatten)]
    pub summary: CompactionSummary,
    /// The target, in tokens, if more than that are left; null if it was met or none was asked for.
    pub missed: Option<u64>,
    /// The model's window, in tokens.
    pub window: u64,
    /// The form of the messages.
    pub dialect: &'static str,
    /// The rules of a provider that the result keeps.
    pub profile: String,
    /// The counter of the tokens.
    pub counter: String,
    /// Whether the counter estimates, instead of using the model's vocabulary.
    pub estimate: bool,
    /// What the reader or a conversion could not carry over.
    pub problems: Vec<CarriedProblem>,
}

impl CompactionReport {
    /// Describes a compaction of a prepared conversation. `problems` come from reading it; those of its conversion
    /// follow.
    ///
    /// ```
    /// use midfold::formats::read;
    /// use midfold::view::CompactionReport;
    /// use midfold::{CompactionRequest, Door, ModelNarration, Policy, Setup};
    ///
    /// # let input = bytes::Bytes::from(midfold_testkit::coding_session(7, 12).join("\n"));
    /// let prepared = Setup::new().window(8_000).prepare(read::read(&input, None)?.conversations.remove(0))?;
    /// let wish = CompactionRequest::by(Policy::preset("default")?);
    /// let done = wish.run(&prepared, &[], &ModelNarration::default(), Door::Command)?;
    /// let report = CompactionReport::of(&prepared, &done, Vec::new());
    /// assert_eq!((report.summary.outcome, report.summary.reason), ("folded", None));
    /// assert!(report.summary.after.tokens < report.summary.before.tokens);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn of(
        prepared: &PreparedConversation,
        compaction: &CompactionOutcome,
        mut problems: Vec<CarriedProblem>,
    ) -> Self {
        let PreparedConversation { log, window, kind, .. } = prepared;
        let converted = prepared.problems.iter().cloned();
        problems.extend(converted.map(CarriedProblem::of_conversion));
        let before = ContextSize { messages: log.len() as u64, tokens: log.tokens() };
        Self {
            summary: CompactionSummary::of(&compaction.outcome, before),
            missed: compaction.missed,
            window: *window,
            dialect: kind.name(),
            profile: log.profile().name.to_string(),
            counter: log.counter().name().to_owned(),
            estimate: !log.counter().is_exact(),
            problems,
        }
    }
}

/// Content that could not be carried over, with its place: the number of a line or of a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CarriedProblem {
    /// A word that names the kind of problem.
    pub code: &'static str,
    /// What could not be carried over, in words.
    pub detail: String,
    /// The number of the line in the input, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// The number of the message, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<usize>,
}

impl CarriedProblem {
    /// A problem of reading the input.
    #[must_use]
    pub fn of_reader(problem: ReadProblem) -> Self {
        Self { code: problem.code, detail: problem.detail, line: problem.at, message: None }
    }

    /// A problem of converting messages.
    #[must_use]
    pub fn of_conversion(problem: ReadProblem) -> Self {
        Self { code: problem.code, detail: problem.detail, line: None, message: problem.at }
    }
}

impl std::fmt::Display for CarriedProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.line, self.message) {
            (Some(line), _) => write!(f, "line {line}: ")?,
            (None, Some(message)) => write!(f, "message {message}: ")?,
            (None, None) => {}
        }
        write!(f, "{} ({})", self.detail, self.code)
    }
}

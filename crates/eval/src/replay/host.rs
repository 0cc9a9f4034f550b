//! The input of a replay that a host provides, and what the host is shown.

use bytes::Bytes;
use midfold_core::narrate::{SummaryFailure, SummaryReply, SummaryRequest};
use midfold_core::plan::PlanError;
use midfold_core::policy::Policy;
use midfold_core::profile::ProviderRules;

use crate::prices::PriceTable;

/// The engine that is replayed.
pub enum ReplayStrategy<'a> {
    /// The history as it is.
    Raw,
    /// A policy that gets its own last output and the messages that followed, as repeated calls of `midfold compact`
    /// would. This is the normative form.
    Stateless(&'a Policy),
    /// A policy, in a session that holds the whole history.
    Session(&'a Policy),
    /// The same as [`ReplayStrategy::Session`], with a model that narrates where the policy wants it.
    Narrated(&'a Policy, &'a dyn ReplayNarrator),
    /// An engine outside, which is asked when its messages exceed 0.8 of the window.
    Outside(&'a mut dyn OutsideEngine),
}

/// A model that narrates.
pub trait ReplayNarrator: Sync {
    /// Writes the requested narration.
    ///
    /// # Errors
    /// The reason why there is no text.
    fn narrate(&self, request: &SummaryRequest) -> Result<SummaryReply, SummaryFailure>;
}

/// An engine outside of this library.
pub trait OutsideEngine {
    /// Makes messages fit a window of this many tokens. A message that it does not change is returned with the same
    /// bytes.
    ///
    /// # Errors
    /// The engine's error, for people.
    fn compact(&mut self, messages: &[Bytes], window: u64) -> Result<Vec<Bytes>, String>;
}

/// The settings of a replay.
pub struct ReplaySettings<'a> {
    /// The window, in counted tokens.
    pub window: u64,
    /// Makes a validator for a context.
    pub rules: &'a dyn Fn() -> Box<dyn ProviderRules>,
    /// The chosen price table, beside the reference.
    pub prices: &'a PriceTable,
    /// Whether to find out what one search over the log would bring back.
    pub search: bool,
    /// A clock in nanoseconds, with any starting point.
    pub clock: Option<&'a dyn Fn() -> u64>,
    /// Gets every context as it was sent, for a reading exam or a person.
    pub watch: Option<&'a dyn Fn(&SentObservation<'_>)>,
}

/// One request, as it was sent.
#[derive(Clone, Debug)]
pub struct SentObservation<'a> {
    /// The index of the message that answered it. The history is everything before.
    pub at: usize,
    /// The tokens of the context, with those of the envelope.
    pub tokens: u64,
    /// The messages.
    pub messages: Vec<&'a Bytes>,
    /// The indices in `messages` of recaps and markers.
    pub stand_ins: Vec<usize>,
    /// The tokens of recaps and markers.
    pub stand_in_tokens: u64,
}

/// The reason why a conversation could not be replayed.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ReplayError {
    /// The events that may not be folded are larger than the window.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// An engine outside failed.
    #[error("the engine failed: {0}")]
    Outside(String),
}

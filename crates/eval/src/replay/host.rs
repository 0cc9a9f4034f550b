//! What a host brings to a replay, and what it is told.

use bytes::Bytes;
use midfold_core::narrate::{SummaryFailure, SummaryReply, SummaryRequest};
use midfold_core::plan::PlanError;
use midfold_core::policy::Policy;
use midfold_core::profile::ProviderRules;

use crate::prices::PriceTable;

/// Which engine is replayed.
pub enum ReplayStrategy<'a> {
    /// The history as it is.
    Raw,
    /// A policy: its own output and what came since, as repeated `midfold compact` would. The
    /// normative form.
    Stateless(&'a Policy),
    /// A policy, in a session that holds the whole history.
    Session(&'a Policy),
    /// The same, with a model that narrates where the policy asks for it.
    Narrated(&'a Policy, &'a dyn ReplayNarrator),
    /// An engine outside, asked when what it holds exceeds 0.8 windows.
    Outside(&'a mut dyn OutsideEngine),
}

/// A model that narrates.
pub trait ReplayNarrator: Sync {
    /// Writes what is asked for.
    ///
    /// # Errors
    /// Why there is no text.
    fn narrate(&self, request: &SummaryRequest) -> Result<SummaryReply, SummaryFailure>;
}

/// An engine outside of this library.
pub trait OutsideEngine {
    /// Makes messages fit a window. What it does not change it gives back as it was.
    ///
    /// # Errors
    /// What it says, for people.
    fn compact(&mut self, messages: &[Bytes], window: u64) -> Result<Vec<Bytes>, String>;
}

/// What a host brings.
pub struct ReplaySettings<'a> {
    /// The window, in counted tokens.
    pub window: u64,
    /// Begins to check a context.
    pub rules: &'a dyn Fn() -> Box<dyn ProviderRules>,
    /// What requests cost, beside the reference.
    pub prices: &'a PriceTable,
    /// Whether to find out what one search over the log would bring back.
    pub search: bool,
    /// A clock, in nanoseconds from anywhere.
    pub clock: Option<&'a dyn Fn() -> u64>,
    /// Is shown every context: a reading exam, or a person, looks at what was really sent.
    pub watch: Option<&'a dyn Fn(&SentObservation<'_>)>,
}

/// One request, as it was sent.
#[derive(Clone, Debug)]
pub struct SentObservation<'a> {
    /// The message that answered it: history is what is before.
    pub at: usize,
    /// Tokens of the context, the envelope's included.
    pub tokens: u64,
    /// The messages.
    pub messages: Vec<&'a Bytes>,
    /// The places in `messages` of what stands for events that are not here.
    pub stand_ins: Vec<usize>,
    /// Tokens of those.
    pub stand_in_tokens: u64,
}

/// Why a conversation could not be replayed.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ReplayError {
    /// What may not be folded is larger than the window.
    #[error(transparent)]
    Plan(PlanError),
    /// An engine outside failed.
    #[error("the engine failed: {0}")]
    Outside(String),
}

impl From<PlanError> for ReplayError {
    fn from(error: PlanError) -> Self {
        Self::Plan(error)
    }
}

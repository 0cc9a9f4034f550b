//! A session without its folded events. A store loads it to render a context in O(head + tail) instead of O(log). It
//! can be appended to and read; to fold or to narrate, the whole log has to be loaded.

use std::ops::Range;
use std::sync::Arc;

use super::{NarrationQueue, Session, SessionState, SessionStatus, WantedNarration};
use crate::budget::Budget;
use crate::counter::Counter;
use crate::dialect::Dialect;
use crate::event::{Hash, RawEvent, Usage};
use crate::fold::{Fold, FoldEntry};
use crate::inject::MessageRules;
use crate::log::{Event, EventLog};
use crate::meter::Meter;
use crate::policy::Policy;
use crate::profile::ProviderProfile;
use crate::project::Context;
use crate::spending::SpentPrompt;
use crate::trigger::{FoldDue, Millis};

/// How the events of a brief session are read.
#[derive(Clone)]
pub struct BriefReading {
    /// The wire format.
    pub dialect: Arc<dyn Dialect>,
    /// The validity rules.
    pub profile: ProviderProfile,
    /// The counter of tokens.
    pub counter: Arc<dyn Counter>,
}

/// Why no brief session can be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BriefError {
    /// The number of loaded events is not what the fold keeps verbatim.
    #[error("the fold keeps {wanted} events of its span and {given} were loaded")]
    Kept {
        /// The number of events that the fold keeps.
        wanted: usize,
        /// The number of events that were handed over.
        given: usize,
    },
    /// The events do not lead to the chain hash that the session has.
    #[error("the loaded events do not fit the chain of the session")]
    Chain,
}

/// A session that is read through its active fold while the folded events are not loaded.
#[derive(Clone)]
pub struct BriefSession {
    session: Session,
    /// The active fold as recorded, with positions of the whole log. The inner session has a copy with positions of the
    /// short log.
    fold: Fold,
}

impl BriefSession {
    /// Builds the session from the loaded events.
    ///
    /// `head` is the events before the fold's span. `kept` is the events of the span that the fold keeps verbatim, in
    /// order. `tail` is the events after the span. `turn` is the number of turns of the whole log, `head_hash` its
    /// chain hash.
    ///
    /// # Errors
    /// When the events are not those that the fold was made of.
    #[expect(clippy::too_many_arguments, reason = "what one query loads, by name")]
    pub fn new(
        id: &str,
        policy: Policy,
        reading: BriefReading,
        state: SessionState,
        fold: Fold,
        head: Vec<RawEvent>,
        kept: Vec<RawEvent>,
        tail: Vec<RawEvent>,
        turn: u32,
        head_hash: Hash,
    ) -> Result<Self, BriefError> {
        let wanted = kept_ranges(&fold).iter().map(|range| range.len()).sum();
        if kept.len() != wanted || head.len() != fold.span.start as usize {
            return Err(BriefError::Kept { wanted, given: kept.len() });
        }
        let BriefReading { dialect, profile, counter } = reading;
        let mut log = EventLog::new(dialect, profile, counter);
        append_all(&mut log, head);
        if log.head_hash() != fold.span.before {
            return Err(BriefError::Chain);
        }
        // Most events of the span are absent, so the chain cannot be followed through it. Kept events are appended
        // under a dummy hash. The tail starts from the span's recorded end hash, and its own chain proves that hash.
        let mut given = kept.into_iter();
        for range in kept_ranges(&fold) {
            log.skip_to(range.start, Hash::ROOT);
            append_all(&mut log, given.by_ref().take(range.len()));
        }
        let short = rebased(&fold, &log);
        log.skip_to(fold.span.end, fold.span.through);
        append_all(&mut log, tail);
        // Turns are counted by messages of the user, most of which are not loaded.
        log.end_at_turn(turn);
        if log.head_hash() != head_hash {
            return Err(BriefError::Chain);
        }
        let meter = state.meter.unwrap_or_else(Meter::exact);
        let id_of = short.id;
        let session = Session::over(id, log, policy, meter)
            .with_folds(vec![short], Some(id_of))
            .with_state(state);
        Ok(Self { session, fold })
    }

    /// Sets the envelope (system prompt and tools), which is counted with each context.
    #[must_use]
    pub fn with_envelope<'a>(mut self, parts: impl IntoIterator<Item = &'a [u8]>) -> Self {
        self.session.log.set_envelope(parts);
        let id = self.fold.id;
        // The projection counts the envelope, so it has to be made again.
        self.session.set_active(Some(id));
        self
    }

    /// As [`Session::with_answers_behind`].
    #[must_use]
    pub fn with_answers_behind(mut self) -> Self {
        self.session = self.session.with_answers_behind();
        self
    }

    /// As [`Session::set_cache_lifetime`].
    #[must_use]
    pub fn with_cache_lifetime(mut self, lifetime: Option<Millis>) -> Self {
        self.session.set_cache_lifetime(lifetime);
        self
    }

    /// Appends one event and returns its position.
    pub fn append(&mut self, event: RawEvent) -> u32 {
        self.session.append(event);
        // The session returns a position in the short log. Callers know events by their number in the whole log.
        self.session.log.events().last().map_or(0, |event| event.seq)
    }

    /// The context to send, noted as sent. `None` where the whole session has to be loaded first: a fold is due, or
    /// reasoning is bound to what was sent, and only the whole log shows which round it belongs to.
    pub fn context(&mut self, budget: &Budget, now: Millis) -> Option<Context> {
        let due = self.due(budget, now);
        if due.fires() || self.session.is_bound_to_what_was_sent() {
            return None;
        }
        self.session.note_agent_wishes(due);
        self.session.sent = Some(self.session.sending());
        self.session.gate.asked = now;
        Some(self.session.view())
    }

    /// The context as it is now, even where a fold is due.
    #[must_use]
    pub fn view(&self) -> Context {
        self.session.view()
    }

    /// Whether a fold is due.
    #[must_use]
    pub fn due(&self, budget: &Budget, now: Millis) -> FoldDue {
        self.session.due(budget, now)
    }

    /// Whether a narration may be wanted, for which the whole session has to be loaded, too.
    #[must_use]
    pub fn may_want(&self, budget: &Budget, now: Millis) -> bool {
        self.session.may_want_narration(budget, now)
    }

    /// Takes the provider's token count for the last context.
    pub fn observe(&mut self, usage: Usage, now: Millis) {
        self.session.observe(usage, now);
    }

    /// As [`Session::last_prompt`].
    #[must_use]
    pub fn last_prompt(&self, whole: u64, at: Millis) -> SpentPrompt {
        self.session.last_prompt(whole, at)
    }

    /// As [`Session::spend`].
    pub fn spend(&mut self, usage: Usage, prompt: Option<SpentPrompt>) {
        self.session.spend(usage, prompt);
    }

    /// Tokens of the envelope.
    #[must_use]
    pub fn envelope_tokens(&self) -> u64 {
        self.session.log.envelope_tokens()
    }

    /// The meter.
    #[must_use]
    pub fn meter(&self) -> &Meter {
        &self.session.meter
    }

    /// The figures of the session. Those of events and log tokens cover only what is loaded.
    #[must_use]
    pub fn status(&self, budget: &Budget, now: Millis) -> SessionStatus {
        self.session.status(budget, now)
    }

    /// The narration that is under way or ready.
    #[must_use]
    pub fn narration(&self) -> &NarrationQueue {
        &self.session.narration
    }

    /// What a store keeps beside log and folds.
    #[must_use]
    pub fn state(&self) -> SessionState {
        self.session.state()
    }

    /// Notes that a span was handed to a queue.
    pub fn note_asked(&mut self, wanted: WantedNarration) {
        self.session.note_asked(wanted);
    }

    /// Whether the policy lets a model narrate.
    #[must_use]
    pub fn narrates(&self) -> bool {
        self.session.policy.narration.on
    }

    /// The rules by which texts of hooks are read, written and counted.
    #[must_use]
    pub fn rules(&self) -> MessageRules<'_> {
        MessageRules { log: &self.session.log, meter: &self.session.meter }
    }

    /// The active fold.
    #[must_use]
    pub fn fold(&self) -> &Fold {
        &self.fold
    }

    /// The number of turns so far.
    #[must_use]
    pub fn turn(&self) -> u32 {
        self.session.log.events().last().map_or(0, |event| event.turn)
    }

    /// The newest event that is loaded.
    #[must_use]
    pub fn last(&self) -> Option<&Event> {
        self.session.log.events().last()
    }

    /// The loaded events whose number is `seq` or higher.
    #[must_use]
    pub fn events_from(&self, seq: u64) -> Vec<RawEvent> {
        let events = self.session.log.events().iter();
        let newer = events.rev().take_while(|event| u64::from(event.seq) >= seq);
        let raw = |event: &Event| RawEvent {
            usage: event.usage,
            origin: event.known_origin,
            ..RawEvent::new(event.bytes.clone())
        };
        let mut newer: Vec<_> = newer.map(raw).collect();
        newer.reverse();
        newer
    }

    /// Chain hash of the whole log.
    #[must_use]
    pub fn head_hash(&self) -> Hash {
        self.session.log.head_hash()
    }
}

/// Appends all events in order.
fn append_all(log: &mut EventLog, events: impl IntoIterator<Item = RawEvent>) {
    for event in events {
        log.append(event);
    }
}

/// The runs of events in its span that a fold keeps verbatim.
#[must_use]
pub fn kept_ranges(fold: &Fold) -> Vec<Range<u32>> {
    let runs = fold.entries.iter().filter_map(|entry| match entry {
        FoldEntry::Verbatim { from, to } => Some(*from..*to),
        _ => None,
    });
    runs.collect()
}

/// The fold with positions of the short log in place of the numbers of the whole log. Its span then ends where the kept
/// events end.
fn rebased(fold: &Fold, log: &EventLog) -> Fold {
    let mut short = fold.clone();
    let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let mut at = fold.span.start;
    for entry in &mut short.entries {
        if let FoldEntry::Verbatim { from, to } = entry {
            let len = *to - *from;
            (*from, *to) = (at, at + len);
            at += len;
        }
    }
    short.span.end = number(log.len());
    short.span.through = log.hash_before(log.len());
    short
}

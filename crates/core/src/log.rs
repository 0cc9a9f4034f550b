//! The append-only log of one conversation. Appending is the only write.

use std::sync::Arc;

use bytes::Bytes;

use crate::calendar::Millis;
use crate::counter::{Counter, TextKind};
use crate::dialect::Dialect;
use crate::event::{Hash, RawEvent, Usage};
use crate::measure::measure_with;
use crate::profile::ProviderProfile;
use crate::seal;
use crate::unit::{EventUnit, StepTracker};
use crate::view::{EventView, Role, TextOrigin};

pub use crate::event::{Event, Tokens};
pub use crate::measure::{content_of, measure};

/// What is known of an event beside its bytes.
#[derive(Default)]
struct KnownEvent {
    /// What it cost.
    usage: Option<Usage>,
    /// Whose it is.
    told: Option<TextOrigin>,
    /// When it was recorded.
    at: Option<Millis>,
}

/// The tool of midfold that brings a folded message back, wherever a client puts its name.
const RECALL: &str = "recall_expand";
/// The one that a proxy gives to the model and answers itself.
pub const RECALL_TOOL: &str = "midfold_recall";

/// The log of one conversation: events in order, with the rules that it is read by.
#[derive(Clone)]
pub struct EventLog {
    events: Vec<Event>,
    dialect: Arc<dyn Dialect>,
    profile: ProviderProfile,
    counter: Arc<dyn Counter>,
    envelope_tokens: u32,
    /// The tools of the envelope bring folded messages back.
    recalls_by: Option<&'static str>,
    steps: StepTracker,
    prefix: Vec<u64>,
    /// Room to decode texts in, kept so that appending allocates nothing for it.
    scratch: String,
    skipped: Option<EventGap>,
    /// Whether recaps of ours can be among the events.
    recaps: bool,
}

/// A place where events are missing.
#[derive(Clone, Debug)]
struct EventGap {
    /// Events before it.
    at: usize,
    /// Seq of the first event after it.
    seq: u32,
    /// Chain hash before that event.
    through: Hash,
}

impl EventLog {
    /// An empty log.
    #[must_use]
    pub fn new(
        dialect: Arc<dyn Dialect>,
        profile: ProviderProfile,
        counter: Arc<dyn Counter>,
    ) -> Self {
        Self {
            events: Vec::new(),
            dialect,
            profile,
            counter,
            envelope_tokens: 0,
            recalls_by: None,
            steps: StepTracker::new(&profile),
            prefix: vec![0],
            scratch: String::new(),
            skipped: None,
            recaps: true,
        }
    }

    /// A log that is kept and only appended to: recaps are in its folds and never in it, so that
    /// nothing in it is read back as one of ours.
    #[must_use]
    pub fn kept(mut self) -> Self {
        self.recaps = false;
        self
    }

    /// Whether recaps of ours can be among the events: only where a compacted conversation comes
    /// back as a new one.
    #[must_use]
    pub fn reads_recaps(&self) -> bool {
        self.recaps
    }

    /// A log of these events.
    #[must_use]
    pub fn of(
        dialect: Arc<dyn Dialect>,
        profile: ProviderProfile,
        counter: Arc<dyn Counter>,
        events: impl IntoIterator<Item = RawEvent>,
    ) -> Self {
        let mut log = Self::new(dialect, profile, counter);
        for event in events {
            log.append(event);
        }
        log
    }

    /// Counts what travels beside the messages (system prompt, tools); it belongs to the head.
    pub fn set_envelope<'a>(&mut self, parts: impl IntoIterator<Item = &'a [u8]>) {
        (self.envelope_tokens, self.recalls_by) = (0, None);
        for part in parts {
            self.envelope_tokens +=
                self.counter.count(&String::from_utf8_lossy(part), TextKind::Json);
            let offers = |name: &str| memchr::memmem::find(part, name.as_bytes()).is_some();
            let found = [RECALL_TOOL, RECALL].into_iter().find(|name| offers(name));
            self.recalls_by = self.recalls_by.or(found);
        }
    }

    /// The tool of midfold that brings folded messages back, where the agent has one, as far as the envelope
    /// tells.
    #[must_use]
    pub fn recalls_by(&self) -> Option<&'static str> {
        self.recalls_by
    }

    /// Goes on at a later place, as if everything up to there were in the log: for a context
    /// that is read through a fold, of a session whose folded events are not loaded. Positions
    /// and seqs differ from then on, so that nothing may be planned over such a log.
    pub(crate) fn skip_to(&mut self, seq: u32, through: Hash) {
        if seq != self.next_seq() {
            // What is missing is whole units: nothing before it waits for what comes after it.
            self.steps.end_step();
        }
        self.skipped = Some(EventGap { at: self.events.len(), seq, through });
    }

    /// Sets the turns right after the missing events: the log has `turn` of them in all.
    pub(crate) fn end_at_turn(&mut self, turn: u32) {
        let Some(skip) = &self.skipped else { return };
        let missing = turn.saturating_sub(self.steps.turn());
        self.steps.set_turn(turn);
        self.events[skip.at..].iter_mut().for_each(|event| event.turn += missing);
    }

    fn next_seq(&self) -> u32 {
        let len = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        match &self.skipped {
            Some(skip) => skip.seq.saturating_add(len(self.events.len() - skip.at)),
            None => len(self.events.len()),
        }
    }

    /// Appends one event and returns its position.
    pub fn append(&mut self, raw: RawEvent) -> u32 {
        let mut view = self.dialect.view(&raw.bytes);
        if let Some(origin) = raw.origin {
            view.origin = origin;
        }
        let tokens = measure_with(&*self.counter, &raw.bytes, &view, &mut self.scratch);
        let known = KnownEvent { usage: raw.usage, told: raw.origin, at: raw.at };
        self.place(raw.bytes, view, tokens, known)
    }

    /// Appends an event of another log with the same rules: it is neither read nor counted again.
    pub fn adopt(&mut self, event: &Event) -> u32 {
        let (view, tokens) = (event.view.clone(), event.tokens.clone());
        let known = KnownEvent { usage: event.usage, told: event.told, at: event.at };
        self.place(event.bytes.clone(), view, tokens, known)
    }

    fn place(&mut self, bytes: Bytes, view: EventView, tokens: Tokens, known: KnownEvent) -> u32 {
        let KnownEvent { usage, told, at } = known;
        let place = self.steps.push(&view, &bytes);
        let seq = self.next_seq();
        let hash = self.head_hash().chain(&bytes);
        let sum = self.prefix.last().copied().unwrap_or(0) + u64::from(tokens.total);
        self.prefix.push(sum);
        let (turn, step) = (place.turn, place.step);
        let loads_tools = self.dialect.loads_tools(&bytes);
        let event =
            Event { seq, bytes, view, hash, turn, step, tokens, usage, told, at, loads_tools };
        self.events.push(event);
        self.judge_newest();
        seq
    }

    /// What only looks like a recap of ours, in the assistant's role, is what the assistant said. In
    /// the user's role it stays what it claims to be, which is less than the user's words.
    fn judge_newest(&mut self) {
        let at = self.events.len().saturating_sub(1);
        let Some(event) = self.events.get(at) else { return };
        let claims = event.view.origin == TextOrigin::Recap && event.view.role == Role::Assistant;
        if claims
            && seal::is_like(&event.text())
            && !(self.recaps && seal::is_ours(&self.events, at))
        {
            self.events[at].view.origin = TextOrigin::Genuine;
        }
    }

    /// The events.
    #[must_use]
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// Number of events.
    #[must_use]
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// Whether the log is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// The chain hash of the whole log.
    #[must_use]
    pub fn head_hash(&self) -> Hash {
        match &self.skipped {
            Some(skip) if skip.at == self.events.len() => skip.through,
            _ => self.events.last().map_or(Hash::ROOT, |event| event.hash),
        }
    }

    /// The chain hash of the first `n` events.
    #[must_use]
    pub fn hash_before(&self, n: usize) -> Hash {
        n.checked_sub(1).and_then(|at| self.events.get(at)).map_or(Hash::ROOT, |event| event.hash)
    }

    /// Tokens of the events in `range`, without the envelope.
    #[must_use]
    pub fn tokens_in(&self, range: std::ops::Range<usize>) -> u64 {
        let at = |n: usize| self.prefix[n.min(self.events.len())];
        at(range.end).saturating_sub(at(range.start))
    }

    /// Tokens of the envelope.
    #[must_use]
    pub fn envelope_tokens(&self) -> u64 {
        u64::from(self.envelope_tokens)
    }

    /// Tokens of everything.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        self.envelope_tokens() + self.tokens_in(0..self.len())
    }

    /// The units, in order. A partition of the log.
    #[must_use]
    pub fn units(&self) -> Vec<EventUnit> {
        crate::unit::units(&self.events, &self.profile)
    }

    /// The dialect.
    #[must_use]
    pub fn dialect(&self) -> &Arc<dyn Dialect> {
        &self.dialect
    }

    /// The profile.
    #[must_use]
    pub fn profile(&self) -> &ProviderProfile {
        &self.profile
    }

    /// The counter.
    #[must_use]
    pub fn counter(&self) -> &Arc<dyn Counter> {
        &self.counter
    }

    /// Whether a call of the newest step waits for its result.
    #[must_use]
    pub fn has_open_call(&self) -> bool {
        self.steps.is_open()
    }

    /// A log of the first `n` events. Bytes are shared.
    #[must_use]
    pub fn prefix(&self, n: usize) -> Self {
        let mut log = Self::new(self.dialect.clone(), self.profile, self.counter.clone());
        log.envelope_tokens = self.envelope_tokens;
        log.recalls_by = self.recalls_by;
        log.recaps = self.recaps;
        log.grow_to(n, self);
        log
    }

    /// The same log by other rules of what is valid.
    pub(crate) fn under(&self, profile: ProviderProfile) -> Self {
        Self { profile, ..self.clone() }.prefix(self.len())
    }

    /// Takes over events of a log that this one is the beginning of, up to `n` of them in all:
    /// nothing is read or counted again.
    pub fn grow_to(&mut self, n: usize, whole: &Self) {
        for event in whole.events.iter().take(n).skip(self.len()) {
            self.steps.push(&event.view, &event.bytes);
            self.prefix.push(self.tokens_in(0..self.len()) + u64::from(event.tokens.total));
            self.events.push(event.clone());
        }
    }

    /// Whether a recap of an earlier compaction is in the log.
    #[must_use]
    pub fn holds_recap(&self) -> bool {
        self.events.iter().any(|event| event.view.origin == TextOrigin::Recap)
    }
}

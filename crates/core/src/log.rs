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
use crate::speakers::SpeakerNames;
use crate::unit::{EventUnit, StepTracker};
use crate::view::{EventView, MediaKind, Role, TextOrigin};

pub use crate::event::{Event, Tokens};
pub use crate::measure::{content_of, measure};

/// The facts about an event that its bytes do not show.
#[derive(Default)]
struct KnownEvent {
    /// The usage that its provider reported.
    usage: Option<Usage>,
    /// The origin that its reader knew.
    known_origin: Option<TextOrigin>,
    /// When it was recorded.
    at: Option<Millis>,
}

/// The name of midfold's tool that returns a folded message; a client may put its own prefix before it.
const RECALL: &str = "recall_show";
/// The names of midfold's tools that return folded messages, behind such a prefix.
const RECALLS: [&str; 2] = [RECALL, "recall_find"];
/// The tool that a proxy offers to the model and answers itself.
pub const RECALL_TOOL: &str = "midfold_recall";

/// Whether this is the name of a tool that returns folded messages.
pub(crate) fn is_recall(name: &str) -> bool {
    name == RECALL_TOOL || RECALLS.iter().any(|tool| name.ends_with(tool))
}

/// The log of one conversation: its events in order, with the rules for reading them.
#[derive(Clone)]
pub struct EventLog {
    events: Vec<Event>,
    dialect: Arc<dyn Dialect>,
    profile: ProviderProfile,
    counter: Arc<dyn Counter>,
    envelope_tokens: u32,
    /// The name of the recall tool that the envelope offers; `None` where it offers none.
    recalls_by: Option<&'static str>,
    steps: StepTracker,
    /// Sums of tokens: entry `n` is that of the first `n` events.
    prefix: Vec<u64>,
    /// As `prefix`, with pictures.
    pictures: Vec<usize>,
    /// A buffer for decoded texts, kept so that appending need not allocate one.
    scratch: String,
    /// The place where folded events are missing; `None` in a whole log.
    skipped: Option<EventGap>,
    /// Whether a message may be taken for a recap of midfold's own.
    recaps: bool,
    /// Who speaks in the user's role.
    speakers: SpeakerNames,
}

/// A place in the log where events are missing.
#[derive(Clone, Debug)]
struct EventGap {
    /// The number of loaded events before the gap.
    at: usize,
    /// The number of the first event after the gap.
    seq: u32,
    /// Chain hash before that event.
    through: Hash,
}

/// The pictures of a message.
fn pictures_of(view: &EventView) -> usize {
    let media = view.blocks.iter().flat_map(|block| &block.media);
    media.filter(|media| media.kind == MediaKind::Image).count()
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
            pictures: vec![0],
            scratch: String::new(),
            skipped: None,
            recaps: true,
            speakers: SpeakerNames::default(),
        }
    }

    /// Marks the log as one that midfold keeps and only appends to. Its recaps are in folds and never in the log, so no
    /// message of it is taken for a recap of midfold's own.
    #[must_use]
    pub fn append_only(mut self) -> Self {
        self.recaps = false;
        self
    }

    /// Whether a message may be taken for a recap of midfold's own. That is possible only where a compacted
    /// conversation comes back as a new one.
    #[must_use]
    pub fn reads_recaps(&self) -> bool {
        self.recaps
    }

    /// A log of the given events.
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

    /// Counts the envelope (system prompt and tools). It belongs to the head.
    pub fn set_envelope<'a>(&mut self, parts: impl IntoIterator<Item = &'a [u8]>) {
        (self.envelope_tokens, self.recalls_by) = (0, None);
        for part in parts {
            self.envelope_tokens +=
                self.counter.count(&String::from_utf8_lossy(part), TextKind::Json);
            let offers = |name: &str| memchr::memmem::find(part, name.as_bytes()).is_some();
            let tool_name = [RECALL_TOOL, RECALL].into_iter().find(|name| offers(name));
            self.recalls_by = self.recalls_by.or(tool_name);
        }
    }

    /// Adds tokens to the envelope that each request has and the envelope does not show: a system prompt and tools that a
    /// client keeps to itself, as the provider counted them.
    pub fn add_to_envelope(&mut self, tokens: u64) {
        let tokens = u32::try_from(tokens).unwrap_or(u32::MAX);
        self.envelope_tokens = self.envelope_tokens.saturating_add(tokens);
    }

    /// The recall tool that the agent can call, as far as the envelope shows; `None` where it offers none.
    #[must_use]
    pub fn recalls_by(&self) -> Option<&'static str> {
        self.recalls_by
    }

    /// Continues at event `seq`, with `through` as the hash of everything before it. For a session whose folded events
    /// are not loaded. From here on the number of an event differs from its position, so no fold may be planned over
    /// such a log.
    pub(crate) fn skip_to(&mut self, seq: u32, through: Hash) {
        if seq != self.next_seq() {
            // Whole units are missing, so no call before the gap has its result after it.
            self.steps.end_step();
        }
        self.skipped = Some(EventGap { at: self.events.len(), seq, through });
    }

    /// Corrects the turns after the gap, given that the whole log has `turn` turns.
    pub(crate) fn end_at_turn(&mut self, turn: u32) {
        let Some(skip) = &self.skipped else { return };
        // Events behind the gap were numbered as if the turns inside it did not exist.
        let missing = turn.saturating_sub(self.steps.turn());
        self.steps.set_turn(turn);
        self.events[skip.at..].iter_mut().for_each(|event| event.turn += missing);
    }

    /// The number of the next event.
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
        if raw.failed {
            view.flag_results();
        }
        let tokens = measure_with(&*self.counter, &raw.bytes, &view, &mut self.scratch);
        let known = KnownEvent { usage: raw.usage, known_origin: raw.origin, at: raw.at };
        self.place(raw.bytes, view, tokens, known)
    }

    /// Appends an event of another log with the same rules, without reading or counting it again.
    pub fn adopt(&mut self, event: &Event) -> u32 {
        let (view, tokens) = (event.view.clone(), event.tokens.clone());
        let known =
            KnownEvent { usage: event.usage, known_origin: event.known_origin, at: event.at };
        self.place(event.bytes.clone(), view, tokens, known)
    }

    /// Appends an event that is read and counted.
    fn place(
        &mut self,
        bytes: Bytes,
        mut view: EventView,
        tokens: Tokens,
        known: KnownEvent,
    ) -> u32 {
        let KnownEvent { usage, known_origin, at } = known;
        if self.speakers.is_other(&*self.dialect, &view, &bytes) {
            // Not the user's words: they start no turn and are no request.
            view.origin = TextOrigin::Injected;
        }
        let place = self.steps.push(&view, &bytes);
        let seq = self.next_seq();
        let hash = self.head_hash().chain(&bytes);
        let sum = self.prefix.last().copied().unwrap_or(0) + u64::from(tokens.total);
        self.prefix.push(sum);
        self.pictures.push(self.pictures_in(0..self.len()) + pictures_of(&view));
        let (turn, step) = (place.turn, place.step);
        let loads_tools = self.dialect.loads_tools(&bytes);
        let event = Event {
            seq,
            bytes,
            view,
            hash,
            turn,
            step,
            tokens,
            usage,
            known_origin,
            at,
            loads_tools,
        };
        self.events.push(event);
        self.judge_newest();
        seq
    }

    /// Decides whether the newest event, in the assistant's role, is really a recap. If it only imitates one of
    /// midfold's, it is the assistant's own text. In the user's role the claim is left alone: a recap has less
    /// authority than the user's words.
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

    /// The events in order.
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
            // Nothing is behind the gap yet, so the chain goes on from its recorded end.
            Some(skip) if skip.at == self.events.len() => skip.through,
            _ => self.events.last().map_or(Hash::ROOT, |event| event.hash),
        }
    }

    /// The chain hash of the first `n` events; [`Hash::ROOT`] for none.
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

    /// Pictures in the events in `range`.
    #[must_use]
    pub fn pictures_in(&self, range: std::ops::Range<usize>) -> usize {
        let at = |n: usize| self.pictures[n.min(self.events.len())];
        at(range.end).saturating_sub(at(range.start))
    }

    /// Tokens of the envelope.
    #[must_use]
    pub fn envelope_tokens(&self) -> u64 {
        u64::from(self.envelope_tokens)
    }

    /// Tokens of all events and the envelope.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        self.envelope_tokens() + self.tokens_in(0..self.len())
    }

    /// The units in order. Each event is in exactly one.
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

    /// The log read by another profile.
    pub(crate) fn under(&self, profile: ProviderProfile) -> Self {
        Self { profile, ..self.clone() }.prefix(self.len())
    }

    /// Appends events of `whole`, of which this log is the beginning, until it has `n` events. Nothing is read or
    /// counted again.
    pub fn grow_to(&mut self, n: usize, whole: &Self) {
        for event in whole.events.iter().take(n).skip(self.len()) {
            // The events have their places already, but the next one needs the state: a call may be open here.
            self.steps.push(&event.view, &event.bytes);
            self.speakers.is_other(&*self.dialect, &event.view, &event.bytes);
            self.prefix.push(self.tokens_in(0..self.len()) + u64::from(event.tokens.total));
            self.pictures.push(self.pictures_in(0..self.len()) + pictures_of(&event.view));
            self.events.push(event.clone());
        }
    }

    /// Whether the log contains a recap of an earlier compaction.
    #[must_use]
    pub fn holds_recap(&self) -> bool {
        self.events.iter().any(|event| event.view.origin == TextOrigin::Recap)
    }
}

//! Units: the smallest runs of events that stay or leave together.
//!
//! A unit is a step (an assistant message, or a run of assistant items, with all results that follow) or a single other
//! event. Each event is in exactly one unit. So a cut between two units separates no call from its result, no call from
//! a parallel one, and no reasoning from its call.

use std::borrow::Cow;
use std::ops::Range;

use bytes::Bytes;

use crate::event::Event;
use crate::open_calls::{CallOfResult, NamedCall, OpenCalls};
use crate::profile::ProviderProfile;
use crate::view::{BlockKind, BlockView, EventView, Role, TextRef};

/// A unit: its range of events, and whether it may be folded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventUnit {
    /// Positions in the log.
    pub events: Range<usize>,
    /// False while a call in it waits for its result, which happens only in the newest step.
    pub closed: bool,
}

/// The turn and step of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EventPlace {
    pub turn: u32,
    pub step: u32,
}

/// Assigns turns and steps to events as they come in.
#[derive(Clone, Debug)]
pub(crate) struct StepTracker {
    pairs: CallPairs,
    place: EventPlace,
}

impl StepTracker {
    pub fn new(profile: &ProviderProfile) -> Self {
        Self { pairs: CallPairs::new(profile), place: EventPlace { turn: 0, step: 0 } }
    }

    pub fn is_open(&self) -> bool {
        self.pairs.is_open()
    }

    pub fn turn(&self) -> u32 {
        self.place.turn
    }

    pub fn set_turn(&mut self, turn: u32) {
        self.place.turn = turn;
    }

    /// Ends the step: the next event starts a new one, and answers no call.
    pub fn end_step(&mut self) {
        self.pairs = self.pairs.fresh();
    }

    /// Takes in the next event and returns its place.
    pub fn push(&mut self, view: &EventView, bytes: &Bytes) -> EventPlace {
        if view.is_real_user() {
            self.place.turn += 1;
        }
        let starts = self.pairs.push(view, bytes).starts_step;
        if starts {
            self.place.step += 1;
        }
        self.place
    }
}

/// The findings of [`CallPairs::push`] about one event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PairedEvents {
    /// Whether the event opens a new step.
    pub starts_step: bool,
    /// Indices of result blocks that answer no open call.
    pub orphans: Vec<usize>,
    /// Calls of the step before that stay unanswered because of this event.
    pub unanswered: Vec<WaitingCall>,
    /// Whether the event belongs to the step before it.
    pub joins: bool,
}

/// A call that waits for its result. Its id and name are decoded only on demand, because nearly every call is answered
/// with an id of the same bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WaitingCall {
    /// The message that makes the call.
    bytes: Bytes,
    id: Option<TextRef>,
    name: Option<TextRef>,
}

impl WaitingCall {
    /// The message that makes the call.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Its id; empty where it has none.
    pub fn id(&self) -> Cow<'_, str> {
        self.id.map(|id| id.decode(&self.bytes)).unwrap_or_default()
    }

    /// The tool's name; empty where the call names none.
    pub fn name(&self) -> Cow<'_, str> {
        self.name.map(|name| name.decode(&self.bytes)).unwrap_or_default()
    }
}

impl NamedCall for WaitingCall {
    fn id_bytes(&self) -> Cow<'_, [u8]> {
        id_bytes(self.id.as_ref(), &self.bytes)
    }

    fn name_bytes(&self) -> Cow<'_, [u8]> {
        id_bytes(self.name.as_ref(), &self.bytes)
    }
}

/// The bytes of an id or a name, for comparison; empty where there is none.
pub(crate) fn id_bytes<'a>(id: Option<&TextRef>, bytes: &'a [u8]) -> Cow<'a, [u8]> {
    id.map(|id| id.text_bytes(bytes)).unwrap_or_default()
}

/// Pairs calls with results by position, since an id may be used again in a later step.
///
/// A call is open only while it is unanswered in the newest step. When the step ends it stays unanswered for good, and
/// a later result for it is an orphan.
#[derive(Clone, Debug)]
pub(crate) struct CallPairs {
    open: OpenCalls<WaitingCall>,
    /// Whether the next result may belong to the newest step.
    in_step: bool,
    /// Whether a result came since the step's last assistant message.
    seen_result: bool,
    /// Whether text came with the step's results or after them.
    seen_text: bool,
    /// Whether consecutive messages of a role are one for the provider.
    joins: bool,
    /// Whether a result without an id answers by name and order, even if the calls have ids.
    by_order: bool,
}

impl CallPairs {
    pub fn new(profile: &ProviderProfile) -> Self {
        Self::of(profile.joins_assistant(), profile.pairs_by_order())
    }

    fn of(joins: bool, by_order: bool) -> Self {
        let open = OpenCalls::default();
        Self { open, in_step: false, seen_result: false, seen_text: false, joins, by_order }
    }

    /// A pairing by the same rules, without open calls.
    pub fn fresh(&self) -> Self {
        Self::of(self.joins, self.by_order)
    }

    /// Ends the step, and returns the calls that stay unanswered.
    pub fn end_step(&mut self) -> Vec<WaitingCall> {
        self.in_step = false;
        self.open.take_all()
    }

    /// Whether a call waits for its result.
    pub fn is_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// Takes in the next event.
    pub fn push(&mut self, view: &EventView, bytes: &Bytes) -> PairedEvents {
        let mut pairs = PairedEvents::default();
        if view.role == Role::Assistant && view.has_calls() {
            // A result beside calls answers nothing: no provider takes one from the model.
            let results = view.blocks.iter().enumerate().filter(|(_, block)| block.is_result());
            pairs.orphans.extend(results.map(|(index, _)| index));
            self.push_assistant(view, bytes, &mut pairs);
        } else if view.has_results() {
            self.push_results(view, bytes, &mut pairs);
        } else if view.role == Role::Assistant {
            self.push_assistant(view, bytes, &mut pairs);
        } else {
            // Any other message ends the step: its open calls get no result any more.
            pairs.unanswered = self.open.take_all();
            self.in_step = false;
        }
        pairs
    }

    /// Takes in an event with results.
    fn push_results(&mut self, view: &EventView, bytes: &[u8], pairs: &mut PairedEvents) {
        pairs.joins = self.in_step;
        // For a provider that merges roles, text ends the results: a result behind text in the same turn answers no
        // call.
        let mut after_text = self.seen_text && self.joins;
        for (index, block) in view.blocks.iter().enumerate() {
            match &block.kind {
                BlockKind::Result { id, name, .. }
                    if after_text || !self.in_step || !self.answer(block, (id, name), bytes) =>
                {
                    pairs.orphans.push(index);
                    after_text = true;
                }
                BlockKind::Text | BlockKind::Media if self.joins => after_text = true,
                _ => {}
            }
        }
        self.seen_result = true;
        // A repair turns an orphan into text, and text ends the step.
        if after_text {
            self.seen_text = true;
            self.in_step &= self.joins;
            pairs.unanswered = self.open.take_all();
        }
    }

    /// Closes the call that a result answers: the newest with its id, else the oldest without an id. False where no
    /// call qualifies.
    ///
    /// In two cases a result without an id also answers a call with one: results inside a string (ShareGPT) pair by
    /// order, and results of providers that need no ids pair by name and order. Every other provider would refuse such
    /// a pair.
    fn answer(
        &mut self,
        block: &BlockView,
        (id, name): (&Option<TextRef>, &Option<TextRef>),
        bytes: &[u8],
    ) -> bool {
        let id = id_bytes(id.as_ref(), bytes);
        let by_order = id.is_empty() && (self.by_order || block.body.nested.is_some());
        let wanted = CallOfResult { id: &id, name: &name_of(block, name, bytes), by_order };
        self.open.answer(&wanted).is_some()
    }

    /// Takes in a message of the assistant without results. It starts a step, or joins the newest one.
    fn push_assistant(&mut self, view: &EventView, bytes: &Bytes, pairs: &mut PairedEvents) {
        if self.joins && self.in_step && !self.seen_result {
            pairs.joins = true;
        } else {
            pairs.unanswered = self.open.take_all();
            pairs.starts_step = true;
        }
        self.in_step = true;
        self.seen_result = false;
        self.seen_text = false;
        for block in &view.blocks {
            if let BlockKind::Call { id, name } = &block.kind {
                self.open.push(WaitingCall { bytes: bytes.clone(), id: *id, name: *name });
            }
        }
    }
}

/// The tool name by which a result finds its call; empty where results are in a string (ShareGPT), since these pair by
/// order alone.
pub(crate) fn name_of<'a>(
    result: &BlockView,
    name: &Option<TextRef>,
    bytes: &'a [u8],
) -> Cow<'a, [u8]> {
    id_bytes(name.as_ref().filter(|_| result.body.nested.is_none()), bytes)
}

/// Groups events into units. Consecutive events of one step are one unit.
pub(crate) fn units(events: &[Event], profile: &ProviderProfile) -> Vec<EventUnit> {
    let mut units: Vec<EventUnit> = Vec::new();
    let mut last_step = None;
    for (at, event) in events.iter().enumerate() {
        let step = step_of(event);
        match units.last_mut() {
            Some(unit) if step.is_some() && last_step == step => unit.events.end = at + 1,
            _ => units.push(EventUnit { events: at..at + 1, closed: true }),
        }
        last_step = step;
    }
    if let Some(newest) = units.last_mut() {
        newest.closed = !is_open(&events[newest.events.clone()], profile);
    }
    units
}

/// Whether a unit starts at `at`: the same answer as [`units`], for one place.
pub(crate) fn starts_unit(events: &[Event], at: usize) -> bool {
    let step = |at: usize| events.get(at).and_then(step_of);
    at.checked_sub(1).is_none_or(|before| step(at).is_none() || step(before) != step(at))
}

/// The step of an event; `None` where the event is not part of a step.
fn step_of(event: &Event) -> Option<u32> {
    (event.view.role == Role::Assistant || event.view.has_results()).then_some(event.step)
}

/// Whether a call in the newest unit waits for its result.
fn is_open(events: &[Event], profile: &ProviderProfile) -> bool {
    let mut pairs = CallPairs::of(true, profile.pairs_by_order());
    for event in events {
        pairs.push(&event.view, &event.bytes);
    }
    pairs.is_open()
}

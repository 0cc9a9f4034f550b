//! Gathering: one pass over covered events that collects what a recap may say.

use std::ops::Range;

use crate::calls::{CallIndex, CallSite, ResultSite};
use crate::dialect::Dialect;
use crate::instruction::instruction;
use crate::log::{Event, EventLog};
use crate::passage::{Passage, Voice, passages};
use crate::recap::deeds::CallDeeds;
use crate::recap::first_shown::FirstShown;
use crate::recap::offer::weigh_chosen;
use crate::recap::prose;
use crate::recap::statement::{Statement, StatementKind};
use crate::redact::KnownSecrets;
use crate::repair::OF_SYSTEM;
use crate::result_words::ResultEars;
use crate::seal;
use crate::tools::{CallFacts, ToolKind, ToolTable};
use crate::view::{BlockKind, EventView, MediaKind, MediaRef, Role, TextOrigin};

pub use crate::recap::gathered_facts::{FileUse, GatheredFacts, Quote};

/// How the events of a log are read.
#[derive(Clone, Copy)]
pub struct LogReading<'a> {
    /// What tools are.
    pub tools: &'a ToolTable,
    /// The wire format: tells what of a message the user wrote.
    pub dialect: &'a dyn Dialect,
    /// Whether a recap of ours can be among the events.
    pub recaps: bool,
}

impl<'a> LogReading<'a> {
    /// As this log is read.
    #[must_use]
    pub fn of(log: &'a EventLog, tools: &'a ToolTable) -> Self {
        Self { tools, dialect: &**log.dialect(), recaps: log.reads_recaps() }
    }
}

impl GatheredFacts {
    /// What these runs of events say. Goes on from what was gathered before where that is a part
    /// of it from the start; the answer is the same as that of gathering anew.
    #[must_use]
    pub fn over(
        before: Option<Self>,
        events: &[Event],
        runs: &[Range<usize>],
        reading: LogReading<'_>,
    ) -> Self {
        let mut gathered = before.filter(|before| before.starts(runs)).unwrap_or_default();
        let done = gathered.runs.clone();
        for (at, run) in runs.iter().enumerate() {
            let from = done.get(at).map_or(run.start, |done| done.end);
            if from < run.end {
                gathered.add(events, from..run.end, reading);
            }
        }
        gathered.runs = runs.to_vec();
        gathered
    }

    /// What these runs of events say, without secrets that are known already.
    #[must_use]
    pub fn without_secrets(
        secrets: KnownSecrets,
        events: &[Event],
        runs: &[Range<usize>],
        reading: LogReading<'_>,
    ) -> Self {
        let mut gathered = Self::knowing(secrets);
        for run in runs {
            gathered.add(events, run.clone(), reading);
        }
        gathered
    }

    /// What the events behind these say, numbered on.
    #[must_use]
    pub fn after(&self, events: &[Event], runs: &[Range<usize>], reading: LogReading<'_>) -> Self {
        let mut gathered = Self::knowing(self.secrets.clone());
        gathered.shift = self.shift;
        gathered.flags_each = self.flags_each;
        for run in runs {
            gathered.add(events, run.clone(), reading);
        }
        gathered
    }

    /// Whether what was taken in is the beginning of these runs.
    fn starts(&self, runs: &[Range<usize>]) -> bool {
        let last = self.runs.len().saturating_sub(1);
        let begins = |(at, (own, run)): (usize, (&Range<usize>, &Range<usize>))| {
            own.start == run.start && (own.end == run.end || (at == last && own.end < run.end))
        };
        self.runs.len() <= runs.len() && self.runs.iter().zip(runs).enumerate().all(begins)
    }

    /// Takes in the events of `range`.
    ///
    /// This is the one way from the log into a recap, into the names that a record keeps and into
    /// all that is said of them: whatever is gathered is gathered from texts without secrets. A
    /// finished recap cannot be searched for them: what told that they are secrets is gone there.
    pub fn add(&mut self, events: &[Event], range: Range<usize>, reading: LogReading<'_>) {
        let clean = self.secrets.events(&events[range.clone()]);
        let covered = clean.as_deref().unwrap_or(&events[range.clone()]);
        let acting = acting(events, range.clone());
        let place = |(at, acts): (usize, bool)| EventNeighbourhood {
            // A call without a word is asked nothing about: its arguments can be a file.
            call: (acts && has_words(&events[at].view)).then(|| arguments(events, at)),
            ours: reading.recaps
                && events[at].view.origin == TextOrigin::Recap
                && seal::is_ours(events, at),
        };
        let places: Vec<EventNeighbourhood> = range.zip(acting).map(place).collect();
        self.add_clean(covered, &places, reading);
    }

    /// Takes in events without secrets.
    fn add_clean(
        &mut self,
        events: &[Event],
        places: &[EventNeighbourhood],
        reading: LogReading<'_>,
    ) {
        let calls = CallIndex::find(events, 0..events.len());
        let facts: Vec<CallFacts> =
            calls.calls.iter().map(|call| call.facts(reading.tools)).collect();
        let mut results = calls.results.iter().peekable();
        let mut scratch = String::new();
        // About one new identifier comes every hundred bytes; growing the table is what costs.
        let bytes: usize = events.iter().map(|event| event.bytes.len()).sum();
        self.ids.reserve((bytes / 128).min(1 << 17));
        for (event, place) in events.iter().zip(places) {
            self.add_event(event, place, reading, &mut scratch, |gathered, index, text| {
                // Results come in the order of the events, so the next one is the one wanted.
                while results.next_if(|r| (r.event.seq, r.index) < (event.seq, index)).is_some() {}
                let wanted = |r: &&ResultSite<'_>| (r.event.seq, r.index) == (event.seq, index);
                if let Some(result) = results.next_if(wanted)
                    && let Some(call) = result.call
                    && let Some(site) = calls.calls.get(call)
                {
                    gathered.add_result(site, &facts[call], result, text, reading);
                }
            });
            // After each event, so that it does not depend on how many come at a time.
            self.prune();
        }
    }

    /// `on_result` is given the index and the text of each result, so that it is decoded once.
    fn add_event(
        &mut self,
        event: &Event,
        place: &EventNeighbourhood,
        reading: LogReading<'_>,
        scratch: &mut String,
        mut on_result: impl FnMut(&mut Self, usize, &str),
    ) {
        let view = &event.view;
        if view.origin == TextOrigin::Recap {
            self.add_recap(&event.text(), event.seq, place.ours);
            return;
        }
        let number = self.number(event);
        self.messages += 1;
        self.numbers = Some((self.numbers.map_or(number, |(first, _)| first), number));
        if view.is_real_user() {
            let mut passages = passages(event, reading.dialect);
            passages.extend(media_notes(view));
            self.add_asked(number, &passages);
            for result in passages.iter().filter(|passage| passage.voice == Voice::Tool) {
                let lines = reading.tools.shown(&result.text, result.text.len());
                self.add_found(number, "the result:".to_owned(), &lines, 0);
            }
        }
        if let Some(text) = instruction(event, reading.dialect, false) {
            self.add_told(number, text.strip_prefix(OF_SYSTEM).unwrap_or(&text));
        }
        let speaks = speaks(view);
        if speaks {
            // What the user says behind it answers that.
            self.awaits = None;
            let text = view.text_of(&event.bytes, |kind| matches!(kind, BlockKind::Text));
            self.add_said(number, &text, place.call.as_deref());
        }
        for (index, block) in view.blocks.iter().enumerate() {
            if block.is_reasoning() {
                continue;
            }
            let text = block.plain_with(&event.bytes, scratch);
            self.add_ids(text, view.role, &block.kind, number);
            match &block.kind {
                BlockKind::Call { name: Some(name), .. } => {
                    self.shown.used(text, FirstShown::IN_CALL, &mut self.statements);
                    self.add_ids(&name.decode(&event.bytes), view.role, &block.kind, number);
                }
                BlockKind::Text if speaks => {
                    self.shown.used(text, FirstShown::IN_TEXT, &mut self.statements);
                }
                _ => {}
            }
            if block.is_result() {
                let shown = media_words(&block.media);
                let said = if text.trim().is_empty() { shown.as_str() } else { text };
                on_result(self, index, said);
            } else if view.origin == TextOrigin::Observation {
                let lines = reading.tools.shown(text, text.len());
                self.add_found(number, "the result:".to_owned(), &lines, 0);
            }
        }
    }

    pub(super) fn add_asked(&mut self, message: u32, passages: &[Passage]) {
        let mut said = passages.iter().filter(|passage| passage.is_said());
        if said.all(|passage| passage.text.trim().is_empty()) {
            return;
        }
        let parts = prose::user(passages);
        if let Some(answer) =
            self.statements.last_mut().filter(|one| one.kind == StatementKind::Concluded)
        {
            weigh_chosen(&mut answer.parts, &parts);
        }
        self.gives_reason(&parts);
        self.push(Statement::new(message, StatementKind::Asked, String::new(), parts));
    }

    /// What the application told the model, where it does not stay as a message. Of what it tells again,
    /// perhaps with other figures, the newest.
    fn add_told(&mut self, message: u32, text: &str) {
        let lead = OF_SYSTEM.trim_end();
        let told = Statement::new(
            message,
            StatementKind::Asked,
            lead.to_owned(),
            prose::user(&[Passage::user(text)]),
        );
        let again = |one: &&mut Statement| one.lead == lead && is_same_but_for_figures(one, &told);
        match self.statements.iter_mut().rev().find(again) {
            Some(before) => *before = told,
            None => {
                self.push(told);
            }
        }
    }

    fn add_said(&mut self, message: u32, text: &str, call: Option<&str>) {
        let kind = if call.is_some() { StatementKind::Said } else { StatementKind::Concluded };
        let parts = prose::assistant(text, call);
        if !parts.is_empty() {
            self.push(Statement::new(message, kind, String::new(), parts));
        }
    }

    fn add_result(
        &mut self,
        call: &CallSite<'_>,
        facts: &CallFacts,
        result: &ResultSite<'_>,
        text: &str,
        reading: LogReading<'_>,
    ) {
        let LogReading { tools, dialect, .. } = reading;
        let ears = ResultEars { tools, dialect };
        let number = self.number(result.event);
        let steered = ears.steered(result.event, result.block);
        let own = steered.as_ref().and_then(|(at, _)| text.get(..*at)).unwrap_or(text);
        let answered = ears.answered(&call.tool(), own, result.block);
        if answered.is_empty() {
            self.add_outcome(call, facts, result, own, tools);
        }
        for said in [answered, steered.map(|(_, said)| said).unwrap_or_default()] {
            self.add_asked(number, &said);
        }
    }

    fn add_outcome(
        &mut self,
        call: &CallSite<'_>,
        facts: &CallFacts,
        result: &ResultSite<'_>,
        text: &str,
        tools: &ToolTable,
    ) {
        let flagged = match result.block.kind {
            BlockKind::Result { error, .. } => error,
            _ => None,
        };
        // What comes of a command that goes on is asked for by calls of their own.
        let asks = facts.kind == ToolKind::Shell && facts.command.is_none();
        let asked = if asks { self.running.asked_in(&call.arguments()) } else { None };
        let of_command =
            asked.map(|command| CallFacts { command: Some(command.to_owned()), ..facts.clone() });
        let facts = of_command.as_ref().unwrap_or(facts);
        CallDeeds { gathered: self, call, facts, tools }.add(text, flagged);
    }
}

/// What the events around one tell of it.
struct EventNeighbourhood {
    /// The arguments of the calls that follow, where some do.
    call: Option<String>,
    /// It is a recap of ours.
    ours: bool,
}

/// A note for each picture, sound and file of a user's message: the thing itself is gone with it.
fn media_notes(view: &EventView) -> impl Iterator<Item = Passage> {
    let media = view.blocks.iter().flat_map(|block| &block.media);
    media.map(|media| Passage { voice: Voice::Shown, text: media_word(media).to_owned() })
}

/// What a result shows that has nothing but pictures, sounds and files.
fn media_words(media: &[MediaRef]) -> String {
    media.iter().map(media_word).collect::<Vec<_>>().join(", ")
}

fn media_word(media: &MediaRef) -> &'static str {
    match media.kind {
        MediaKind::Image => "an image",
        MediaKind::Audio => "a sound",
        MediaKind::Video => "a video",
        MediaKind::File => "a file",
    }
}

fn is_same_but_for_figures(one: &Statement, other: &Statement) -> bool {
    let words = |statement: &Statement| -> String {
        let texts = statement.parts.iter().flat_map(|part| part.text.chars());
        texts.filter(|c| !c.is_ascii_digit()).collect()
    };
    words(one) == words(other)
}

/// Whether the assistant speaks in it.
fn speaks(view: &EventView) -> bool {
    view.role == Role::Assistant && !view.has_results()
}

/// Whether the assistant says something in it.
fn has_words(view: &EventView) -> bool {
    speaks(view) && view.blocks.iter().any(|block| block.kind == BlockKind::Text)
}

/// The arguments of the calls of the event, and of the next one where the calls are there.
fn arguments(events: &[Event], at: usize) -> String {
    let own = events.get(at..).unwrap_or_default().iter();
    let Some(event) = own.take(ITEMS).find(|event| event.view.has_calls()) else {
        return String::new();
    };
    event.view.text_of(&event.bytes, |kind| matches!(kind, BlockKind::Call { .. })).into_owned()
}

/// Items of one step that are looked at for its calls.
const ITEMS: usize = 4;

/// Of each event, whether it makes a call, or a call follows in the next items of the same step: some
/// formats send words and calls apart.
fn acting(events: &[Event], range: Range<usize>) -> Vec<bool> {
    let of_same_step = |at: usize| {
        let (event, next) = (&events[at], events.get(at + 1)?);
        (next.step == event.step && next.view.role == Role::Assistant).then_some(next)
    };
    let mut end = range.end.saturating_sub(1);
    while let Some(next) = events.get(end).and_then(|_| of_same_step(end)) {
        end += 1;
        if next.view.has_calls() {
            break;
        }
    }
    let mut acts = false;
    let mut acting: Vec<bool> = (range.start..end.max(range.start) + 1)
        .rev()
        .filter(|at| *at < events.len())
        .map(|at| {
            acts = events[at].view.has_calls() || (acts && of_same_step(at).is_some());
            acts
        })
        .collect();
    acting.reverse();
    acting.truncate(range.len());
    acting
}

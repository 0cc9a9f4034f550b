//! Gathers the facts for a recap in one pass over the covered events.

use std::ops::Range;

use crate::calls::{CallIndex, CallSite, ResultSite};
use crate::dialect::Dialect;
use crate::instruction::instruction;
use crate::log::{Event, EventLog};
use crate::passage::{Passage, Voice, passages};
use crate::recap::deed::{CallSubject, Deed, DeedKind, Speaker};
use crate::recap::deeds::CallDeeds;
use crate::recap::gathered_facts::{OUTPUT_LINES, output};
use crate::recap::prose;
use crate::recap::words::{key, words};
use crate::redact::KnownSecrets;
use crate::repair::OF_SYSTEM;
use crate::result_words::ResultWordFinder;
use crate::seal;
use crate::tools::{CallFacts, ToolKind, ToolTable};
use crate::view::{BlockKind, EventView, MediaKind, MediaRef, Role, TextOrigin};

pub use crate::recap::gathered_facts::{FileUse, GatheredFacts, Quote};

/// The tools, the dialect and the setting with which the events of a log are read.
#[derive(Clone, Copy)]
pub struct LogReading<'a> {
    /// Which tool does what.
    pub tools: &'a ToolTable,
    /// The wire format: it separates the user's words in a message from the client's.
    pub dialect: &'a dyn Dialect,
    /// Whether a recap that midfold wrote may be among the events.
    pub recaps: bool,
}

impl<'a> LogReading<'a> {
    /// The reading that fits this log.
    #[must_use]
    pub fn of(log: &'a EventLog, tools: &'a ToolTable) -> Self {
        Self { tools, dialect: &**log.dialect(), recaps: log.reads_recaps() }
    }
}

impl GatheredFacts {
    /// Gathers the facts of these runs of events. Where `before` covers the beginning of the same runs, only the
    /// remaining events are read; the result is the same as without `before`.
    #[must_use]
    pub fn over(
        before: Option<Self>,
        events: &[Event],
        runs: &[Range<usize>],
        reading: LogReading<'_>,
    ) -> Self {
        let mut gathered = before.filter(|before| before.starts(runs)).unwrap_or_default();
        let read_runs = gathered.runs.clone();
        for (at, run) in runs.iter().enumerate() {
            let from = read_runs.get(at).map_or(run.start, |read| read.end);
            if from < run.end {
                gathered.add(events, from..run.end, reading);
            }
        }
        gathered.runs = runs.to_vec();
        gathered
    }

    /// Gathers the facts of these runs. The secrets that are known already are replaced, too.
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

    /// Gathers the facts of later events, with message numbers that continue after these.
    #[must_use]
    pub fn after(&self, events: &[Event], runs: &[Range<usize>], reading: LogReading<'_>) -> Self {
        let mut gathered = Self::knowing(self.secrets.clone());
        gathered.shift = self.shift;
        // The client is the same for later events, and so is what it flags.
        gathered.flags_each = self.flags_each;
        // What ends or changes later is known only by what held before.
        gathered.standing = self.standing.clone();
        for run in runs {
            gathered.add(events, run.clone(), reading);
        }
        gathered
    }

    /// How many runs were read.
    pub(crate) fn run_count(&self) -> usize {
        self.runs.len()
    }

    /// Whether the runs read so far are the beginning of these.
    pub(crate) fn starts(&self, runs: &[Range<usize>]) -> bool {
        let last = self.runs.len().saturating_sub(1);
        // Facts depend on the order of events, so only the last run may have grown since.
        let begins = |(at, (own, run)): (usize, (&Range<usize>, &Range<usize>))| {
            own.start == run.start && (own.end == run.end || (at == last && own.end < run.end))
        };
        self.runs.len() <= runs.len() && self.runs.iter().zip(runs).enumerate().all(begins)
    }

    /// Adds the facts of the events in `range`.
    ///
    /// Everything that a recap says, and every name that a fold's record keeps, is gathered here, from texts without
    /// secrets. Searching the finished recap would come too late: the text around a secret by which it is recognised
    /// is gone there.
    pub fn add(&mut self, events: &[Event], range: Range<usize>, reading: LogReading<'_>) {
        let clean = self.secrets.events(&events[range.clone()]);
        let covered = clean.as_deref().unwrap_or(&events[range.clone()]);
        let acting = acting(events, range.clone());
        let place = |(at, acts): (usize, bool)| EventNeighbourhood {
            call: acts.then(|| arguments(events, at)),
            is_own: reading.recaps
                && events[at].view.origin == TextOrigin::Recap
                && seal::is_ours(events, at),
        };
        let places: Vec<EventNeighbourhood> = range.zip(acting).map(place).collect();
        self.add_clean(covered, &places, reading);
    }

    /// Adds events from which secrets were removed.
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
        // About one new identifier comes in a hundred bytes, and growing the table is expensive.
        let bytes: usize = events.iter().map(|event| event.bytes.len()).sum();
        self.ids.reserve((bytes / 128).min(1 << 17));
        for (event, place) in events.iter().zip(places) {
            self.add_event(event, place, reading, &mut scratch, |gathered, index, text| {
                // Results come in the order of the events, so the wanted one is the next that is not older.
                while results.next_if(|r| (r.event.seq, r.index) < (event.seq, index)).is_some() {}
                let wanted = |r: &&ResultSite<'_>| (r.event.seq, r.index) == (event.seq, index);
                if let Some(result) = results.next_if(wanted)
                    && let Some(call) = result.call
                    && let Some(site) = calls.calls.get(call)
                {
                    gathered.add_result(site, &facts[call], result, text, reading);
                }
            });
            // Pruning happens after each event, so that the result does not depend on how many events come at a time.
            self.prune();
        }
    }

    /// Adds one event. `on_result` gets the index and the text of each result, so that a text is decoded once.
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
            self.add_recap(&event.text(), event.seq, place.is_own);
            return;
        }
        let number = self.number(event);
        self.messages += 1;
        self.numbers = Some((self.numbers.map_or(number, |(first, _)| first), number));
        let mut passages = passages_of(event, reading.dialect);
        let ended = self.standing.note_passages(number, &passages);
        ended.iter().for_each(|(command, code)| self.note_ended(number, command, *code));
        if view.is_real_user() {
            self.standing.note_asked(number, &passages);
            passages.extend(media_notes(view));
            self.add_asked(number, &passages);
            for result in passages.iter().filter(|passage| passage.voice == Voice::Tool) {
                let lines =
                    reading.tools.first_shown(&result.text, result.text.len(), OUTPUT_LINES);
                self.add_shown(number, CallSubject::Other("the result".to_owned()), output(&lines));
            }
        }
        if let Some(text) = instruction(event, reading.dialect) {
            let parts = prose::parts(text.strip_prefix(OF_SYSTEM).unwrap_or(&text));
            self.push(Deed::words(number, Speaker::Application, parts));
        }
        let speaks = speaks(view);
        if speaks {
            // The assistant spoke, so the user's next words answer that, and are no reason for an earlier rejection.
            self.awaits = None;
            let text = view.text_of(&event.bytes, |kind| matches!(kind, BlockKind::Text));
            self.standing.note_said(number, &text, place.call.is_none());
            self.add_said(number, &text, place.call.as_deref());
        }
        for (index, block) in view.blocks.iter().enumerate() {
            if block.is_reasoning() {
                continue;
            }
            let text = block.plain_with(&event.bytes, scratch);
            self.add_ids(text, view.role, &block.kind);
            if let BlockKind::Call { name: Some(name), .. } = &block.kind {
                let start = text.floor_char_boundary(CALLED_BYTES);
                self.words.note_called(&words(&text[..start]), number);
                self.add_ids(&name.decode(&event.bytes), view.role, &block.kind);
            }
            if block.is_result() {
                let shown = media_words(&block.media);
                let body = if text.trim().is_empty() { shown.as_str() } else { text };
                on_result(self, index, body);
            } else if view.origin == TextOrigin::Observation {
                let lines = reading.tools.first_shown(text, text.len(), OUTPUT_LINES);
                self.add_shown(number, CallSubject::Other("the result".to_owned()), output(&lines));
            }
        }
    }

    /// Adds the user's words. They may answer what the assistant asked, or give the reason for a rejection.
    pub(super) fn add_asked(&mut self, message: u32, passages: &[Passage]) {
        let mut spoken = passages.iter().filter(|passage| passage.is_said());
        if spoken.all(|passage| passage.text.trim().is_empty()) {
            return;
        }
        let parts = prose::user(passages);
        let is_answer = |deed: &&mut Deed| deed.kind == DeedKind::Words(Speaker::Answer);
        if let Some(answer) = self.deeds.last_mut().filter(is_answer) {
            prose::mark_answered(answer.parts_mut(), &parts);
            answer.bound_by(&self.words);
        }
        self.give_reason(&parts);
        self.push(Deed::words(message, Speaker::User, parts));
    }

    /// Adds the assistant's words. `call` is the start of the arguments of the call that follows. Words of the call are
    /// the call's, so that a sentence that only announces it tells little.
    fn add_said(&mut self, message: u32, text: &str, call: Option<&str>) {
        let by = if call.is_some() { Speaker::Assistant } else { Speaker::Answer };
        let mut parts = prose::parts(text);
        let called = words(call.unwrap_or_default());
        for part in &mut parts {
            let is_called = |word: &u32| called.iter().any(|other| key(*other) == key(*word));
            let own = part.words.iter().filter(|word| !is_called(word));
            part.words = own.copied().collect();
        }
        if !parts.is_empty() {
            self.push(Deed::words(message, by, parts));
        }
    }

    /// Adds the result of a call: the user's words in it, and otherwise the outcome of the call.
    fn add_result(
        &mut self,
        call: &CallSite<'_>,
        facts: &CallFacts,
        result: &ResultSite<'_>,
        text: &str,
        reading: LogReading<'_>,
    ) {
        let LogReading { tools, dialect, .. } = reading;
        let finder = ResultWordFinder { tools, dialect };
        let number = self.number(result.event);
        let steered = finder.added_words(result.event, result.block);
        let own = steered.as_ref().and_then(|(at, _)| text.get(..*at)).unwrap_or(text);
        let answered = finder.answers(&call.tool(), own, result.block);
        if answered.is_empty() {
            self.add_outcome(call, facts, result, own, tools);
        } else {
            CallDeeds { gathered: self, call, facts, tools, polls: false }.note_answered(own);
        }
        let asked_in = self.number(call.event);
        self.standing.note_answered(asked_in, number, &answered);
        let steered = steered.map(|(_, spoken)| spoken).unwrap_or_default();
        self.standing.note_asked(number, &steered);
        self.add_asked(number, &answered);
        self.add_asked(number, &steered);
    }

    /// Adds the outcome of a call. Output of a command that kept running is counted as that command's.
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
        // Where a command keeps running, later calls ask for its output. Such a call has no command of its own, so the
        // outcome is counted as the running command's.
        let may_ask = matches!(facts.kind, ToolKind::Shell | ToolKind::Other | ToolKind::Task);
        let polled = match facts.command {
            None if may_ask => self.standing.running.polled(&call.tool(), &call.arguments()),
            _ => None,
        };
        let of_command = polled.map(|command| CallFacts {
            kind: ToolKind::Shell,
            command: Some(command.to_owned()),
            ..CallFacts::default()
        });
        let polls = of_command.is_some();
        let facts = of_command.as_ref().unwrap_or(facts);
        CallDeeds { gathered: self, call, facts, tools, polls }.add(text, flagged);
    }
}

/// Facts about an event that only its neighbours show.
struct EventNeighbourhood {
    /// The start of the arguments of its call, or of one that follows in the same step. `None` where no call follows.
    call: Option<String>,
    /// Whether the event is a recap that midfold wrote.
    is_own: bool,
}

/// The passages of an event that the model did not write; empty where it has no text.
fn passages_of(event: &Event, dialect: &dyn Dialect) -> Vec<Passage> {
    let is_input = matches!(event.view.role, Role::User | Role::System | Role::Developer);
    let has_text = || event.view.blocks.iter().any(|block| block.kind == BlockKind::Text);
    if is_input && has_text() { passages(event, dialect) } else { Vec::new() }
}

/// A note for each picture, sound and file in a user's message, because a recap cannot hold the media itself.
fn media_notes(view: &EventView) -> impl Iterator<Item = Passage> {
    let media = view.blocks.iter().flat_map(|block| &block.media);
    media.map(|media| Passage { voice: Voice::Shown, text: media_word(media).to_owned() })
}

/// The text for a result that holds only pictures, sounds and files.
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

/// Whether the event is a message of the assistant. Results are none, whatever their role.
fn speaks(view: &EventView) -> bool {
    view.role == Role::Assistant && !view.has_results()
}

/// Bytes at the start of a call's arguments in which names are looked for that the call uses.
const CALLED_BYTES: usize = 2_000;

/// The start of the arguments of the event's call; where it has none, of the next event with a call.
fn arguments(events: &[Event], at: usize) -> String {
    let mut own = events.get(at..).unwrap_or_default().iter().take(ITEMS);
    let Some(event) = own.find(|event| event.view.has_calls()) else { return String::new() };
    let calls = event.view.blocks.iter().filter(|block| block.is_call());
    let starts = calls.map(|block| {
        let text = block.text(&event.bytes);
        text[..text.floor_char_boundary(ANNOUNCED_BYTES)].to_owned()
    });
    starts.collect::<Vec<_>>().join(" ")
}

/// Bytes at the start of a call's arguments that a sentence before it may announce. Longer arguments write a text.
const ANNOUNCED_BYTES: usize = 240;
/// How many events are searched for the calls of a step.
const ITEMS: usize = 4;

/// For each event of the range, whether it makes a call, or a call follows in the same step. Some formats send
/// words and calls as separate items.
fn acting(events: &[Event], range: Range<usize>) -> Vec<bool> {
    let of_same_step = |at: usize| {
        let (event, next) = (&events[at], events.get(at + 1)?);
        (next.step == event.step && next.view.role == Role::Assistant).then_some(next)
    };
    // The events behind the range matter, too: they may hold the call of a step whose words are in the range.
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

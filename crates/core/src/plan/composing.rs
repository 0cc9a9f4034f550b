//! Composing the text for the covered span, and counting which names it leaves out.

use rustc_hash::FxHashSet;

use super::memo::{GatherMemo, runs};
use super::request::PlanRequest;
use crate::counter::TextKind;
use crate::edit;
use crate::ids::identifiers;
use crate::layout::{Layout, is_answered};
use crate::log::{Event, EventLog};
use crate::narrate::AcceptedNarration;
use crate::passage::{self, Passage};
use crate::policy::RecapFallback;
use crate::recap::compose::{ComposedRecap, compose};
use crate::recap::frame::RecapFrame;
use crate::recap::gather::{GatheredFacts, LogReading};
use crate::reduce::MiddleEdit;
use crate::tools::ToolTable;
use crate::view::{BlockKind, BlockView, TextOrigin, plain_arguments};

/// The host's own recap without secrets, cut to `cap` tokens.
fn host_recap(request: &PlanRequest<'_>, cap: u64, memo: &mut GatherMemo) -> String {
    let counter = request.log.counter();
    let secrets = memo.secrets(request.log);
    let text = secrets.without(request.recap.unwrap_or_default());
    let fits = |text: &str| u64::from(counter.count(text, TextKind::Prose)) <= cap;
    // A token count does not tell where to cut, so a tenth is cut off until the rest fits.
    let mut end = text.len();
    while end > 0 && !fits(&text[..end]) {
        end = text.floor_char_boundary(end * 9 / 10);
    }
    text[..end].to_owned()
}

/// The inputs that a recap is composed from.
pub(super) struct RecapInputs<'a> {
    pub request: &'a PlanRequest<'a>,
    pub layout: &'a Layout,
    pub narrated: Option<&'a AcceptedNarration>,
    pub cap: u64,
    pub tools: &'a ToolTable,
    /// The covered events as reducers left them; `None` where the recap is made from the original events.
    pub reduced: Option<&'a [Event]>,
}

impl RecapInputs<'_> {
    /// Gathers the covered span and composes its recap within the cap. Where no recap is computed, `stand_in` is the
    /// text in its place; then only the lists of kept and lost names are computed.
    pub fn recap(
        &self,
        covered: &[usize],
        kept: &[(usize, Vec<(usize, MiddleEdit)>)],
        stand_in: Option<&str>,
        memo: &mut GatherMemo,
    ) -> ComposedRecap {
        let Self { request, layout, tools, .. } = *self;
        let log = request.log;
        let reading = LogReading::of(log, tools);
        let runs = runs(covered);
        let mut texts = elsewhere(log, layout, kept);
        texts.extend(stand_in.map(str::to_owned));
        // A stand-in needs the facts, too: they hold the names that leave the context.
        memo.extend(log, runs.clone(), tools);
        let Some(events) = self.reduced.filter(|_| stand_in.is_none()) else {
            // With a cap of 0 no text is composed, and the lists of names are made all the same.
            let cap = if stand_in.is_none() { self.cap } else { 0 };
            return self.compose(memo.gathered(), cap, covered, kept, &texts);
        };
        // Reducers may have removed the text by which a secret was recognised, so secrets are taken from the log.
        let secrets = memo.gathered().secrets.clone();
        let gathered = GatheredFacts::without_secrets(secrets, events, &runs, reading);
        let composed = self.compose(&gathered, self.cap, covered, kept, &texts);
        // The names that are lost are those of the original events, not of the reduced ones.
        texts.push(composed.text.clone());
        let ComposedRecap { kept_ids, lost_ids, .. } =
            self.compose(memo.gathered(), 0, covered, kept, &texts);
        ComposedRecap { kept_ids, lost_ids, ..composed }
    }

    /// Composes the recap within `cap` tokens. `texts` is all text that the context holds beside it.
    fn compose(
        &self,
        gathered: &GatheredFacts,
        cap: u64,
        covered: &[usize],
        kept: &[(usize, Vec<(usize, MiddleEdit)>)],
        texts: &[String],
    ) -> ComposedRecap {
        let Self { request, layout, narrated, .. } = *self;
        let log = request.log;
        let recap = &request.policy.recap;
        let elsewhere: FxHashSet<&str> = texts.iter().flat_map(|text| identifiers(text)).collect();
        let focus = request.focus.unwrap_or_default().split_whitespace();
        let focus = focus.map(|word| word.trim_matches(|c: char| c.is_ascii_punctuation()));
        // Short words carry no meaning for weighing; short numbers do.
        let tells = |word: &&str| word.len() > 2 || word.bytes().any(|b| b.is_ascii_digit());
        let focus: Vec<String> = focus.filter(tells).map(str::to_lowercase).collect();
        // Later messages matter only for weighing, which a recap of no tokens does not need.
        let later = (cap > 0).then(|| self.later(covered, kept, gathered));
        let narration = narrated.map(|narrated| narrated_text(narrated, covered, gathered.numbers));
        let narration = narration.unwrap_or_default();
        let [stayed, beside] = stayed(log, covered, kept);
        // A summary of another author at the beginning says the task, too.
        let says_task = |events: &[Event]| {
            let is_recap = |event: &Event| event.view.origin == TextOrigin::Recap;
            events.iter().any(|event| event.view.is_real_user() || is_recap(event))
        };
        let has_user = |events: &[Event]| events.iter().any(|event| event.view.is_real_user());
        compose(
            gathered,
            &RecapFrame {
                numbers: crate::recap::numbers::MessageNumbers::Shown,
                cap,
                narration: &narration,
                put_back: request.put_back.map_or("", |block| &block.lines),
                counter: &**log.counter(),
                header: &recap.header,
                elsewhere: &elsewhere,
                later: later.as_ref(),
                task_in_head: says_task(&log.events()[..layout.head_end]),
                task_elsewhere: has_user(&log.events()[layout.untouched..])
                    || layout.carried_user.is_some()
                    || is_answered(log),
                file_blocks: recap.file_blocks,
                before: Some(&log.events()[..layout.head_end]),
                recalls: log.recalls_by(),
                focus: &focus,
                stayed: &stayed,
                beside: &beside,
                request: &open_request(log),
            },
        )
    }

    /// The statements of the messages that stay after the last covered one. The recap gives less room to what they
    /// repeat or change.
    fn later(
        &self,
        covered: &[usize],
        kept: &[(usize, Vec<(usize, MiddleEdit)>)],
        gathered: &GatheredFacts,
    ) -> GatheredFacts {
        let log = self.request.log;
        let reading = LogReading::of(log, self.tools);
        let last = covered.last().map_or(self.layout.head_end, |at| at + 1);
        let stays = kept.iter().map(|(at, _)| *at).chain(self.layout.untouched..log.len());
        // A message that stays between covered ones is older than the last of them and renews nothing.
        let stays: Vec<usize> = stays.filter(|at| *at >= last).collect();
        gathered.after(log.events(), &runs(&stays), reading)
    }
}

/// All texts that the context holds beside the recap: messages, calls and results as they stay.
fn elsewhere(
    log: &EventLog,
    layout: &Layout,
    kept: &[(usize, Vec<(usize, MiddleEdit)>)],
) -> Vec<String> {
    let events = log.events();
    let ends = (0..layout.head_end).chain(layout.untouched..events.len());
    let mut texts = Vec::new();
    for at in ends {
        let event = &events[at];
        texts.extend(event.view.blocks.iter().flat_map(|block| block_texts(event, block)));
    }
    for (at, edits) in kept {
        let event = &events[*at];
        for (index, block) in event.view.blocks.iter().enumerate() {
            match edits.iter().find(|(edited, _)| *edited == index) {
                Some((_, MiddleEdit { change: edit::BlockChange::Replace(text), .. })) => texts
                    .push(match block.is_call() {
                        true => plain_arguments(text).into_owned(),
                        false => text.clone(),
                    }),
                Some(_) => {}
                None => texts.extend(block_texts(event, block)),
            }
        }
    }
    texts
}

/// The text of a block and the name of a call; nothing for reasoning.
fn block_texts(event: &Event, block: &BlockView) -> impl Iterator<Item = String> {
    let name = match &block.kind {
        BlockKind::Call { name, .. } => name.map(|name| name.decode(&event.bytes).into_owned()),
        _ => None,
    };
    let text = (!block.is_reasoning()).then(|| block.plain(&event.bytes).into_owned());
    text.into_iter().chain(name)
}

/// Hermes Agent's fallback text when no summary could be made.
fn static_text(header: &str, dropped: usize) -> String {
    format!(
        "{header}\nSummary generation was unavailable. {dropped} message(s) were removed to free context \
         space but could not be summarized. The removed messages contained earlier work in this session. \
         Continue based on the recent messages below and the current state of any files or resources."
    )
}

/// The text of the narration. Where the recap covers later events, too, it says up to which message the narration
/// reaches.
fn narrated_text(
    narrated: &AcceptedNarration,
    covered: &[usize],
    numbers: Option<(u32, u32)>,
) -> String {
    let end = narrated.span.end as usize;
    let behind = covered.iter().rev().take_while(|at| **at >= end).count();
    if behind == 0 {
        return narrated.recap_sections();
    }
    let last = covered.last().copied().unwrap_or_default();
    let back = u32::try_from(last.saturating_sub(end.saturating_sub(1))).unwrap_or(u32::MAX);
    narrated.recap_sections_through(numbers.map(|(_, number)| number.saturating_sub(back)))
}

/// The text for the covered events where no recap is computed, followed by the lines that are put back. `None` where a
/// recap is computed.
pub(super) fn stand_in(
    request: &PlanRequest<'_>,
    covered: &[usize],
    narrated: Option<&AcceptedNarration>,
    cap: u64,
    memo: &mut GatherMemo,
) -> Option<String> {
    let text = stand_in_alone(request, covered, narrated, cap, memo)?;
    let Some(put_back) = request.put_back.filter(|block| !block.is_empty()) else {
        return Some(text);
    };
    let secrets = memo.secrets(request.log);
    Some(format!("{}\n{}", text.trim_end(), secrets.without(&put_back.lines)))
}

/// The host's text, a narration alone, the marker or the fixed sentence; `None` where a recap is computed.
fn stand_in_alone(
    request: &PlanRequest<'_>,
    covered: &[usize],
    narrated: Option<&AcceptedNarration>,
    cap: u64,
    memo: &mut GatherMemo,
) -> Option<String> {
    let recap = &request.policy.recap;
    let header = match recap.note.as_str() {
        "" => recap.header.clone(),
        note => format!("{}\n{note}", recap.header),
    };
    match (recap.fallback, narrated) {
        _ if request.recap.is_some() => Some(host_recap(request, cap, memo)),
        (RecapFallback::Computed, _) => None,
        // Without a computed recap a narration is the whole recap (as in "Summarizing Evicted Turns" and Hermes Agent).
        (_, Some(narrated)) => {
            let text = narrated.text(request.policy.narration.style);
            // Covered events after the narrated part are mentioned nowhere else, so a marker follows.
            let whole = covered.last().is_none_or(|at| *at < narrated.span.end as usize);
            let rest = if whole { "" } else { recap.marker.as_str() };
            Some(format!("{header}\n{text}{rest}"))
        }
        (RecapFallback::Marker, None) => Some(recap.marker.clone()),
        (RecapFallback::Static, None) => Some(static_text(&header, covered.len())),
    }
}

/// The user's messages that stay although a later message is covered, and the other messages that do. In the context they
/// follow the recap, although the recap tells of newer messages, too.
fn stayed(
    log: &EventLog,
    covered: &[usize],
    kept: &[(usize, Vec<(usize, MiddleEdit)>)],
) -> [Vec<u32>; 2] {
    let last = covered.last().copied().unwrap_or_default();
    let older = kept.iter().map(|(at, _)| *at).filter(|at| *at < last);
    let events = older.filter_map(|at| log.events().get(at));
    let (users, others): (Vec<_>, Vec<_>) = events.partition(|event| event.view.is_real_user());
    [users, others].map(|events| events.into_iter().map(|event| event.seq).collect())
}

/// A longer request names no particular subject. In bytes.
const REQUEST_BYTES: usize = 8_000;

/// The words of the user's newest message; empty where it is long, or has been answered.
fn open_request(log: &EventLog) -> String {
    if is_answered(log) {
        return String::new();
    }
    let request = log.events().iter().rfind(|event| event.view.is_real_user());
    let Some(request) = request.filter(|event| event.bytes.len() <= REQUEST_BYTES) else {
        return String::new();
    };
    passage::joined(&passage::passages(request, &**log.dialect()), Passage::is_said)
}

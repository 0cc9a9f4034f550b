//! A draft: what a fold would put between head and tail.

use std::borrow::Cow;
use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Cause, FloorError, Limits, Plan, Scale};
use crate::counter::Content;
use crate::edit;
use crate::ids::identifiers;
use crate::layout::{Layout, layout};
use crate::log::{Event, Log};
use crate::narrate::Narrated;
use crate::piece::{Fate, Piece};
use crate::policy::{Cover, Fallback, Policy, ReducerName};
use crate::project::Context;
use crate::recap::compose::{Composed, compose};
use crate::recap::frame::{Frame, WordList};
use crate::recap::gather::Gathered;
use crate::recap::redact::Redactor;
use crate::recap::words::{Words, words};
use crate::reduce::{Edited, Middle, State, reducer};
use crate::tools::ToolTable;
use crate::unit::Unit;
use crate::view::{Block, BlockKind, Origin, plain_arguments};

/// What stands between head and tail.
pub(super) struct Draft {
    pub layout: Layout,
    /// Events that a recap or marker covers.
    pub covered: Vec<usize>,
    /// Events of the middle that stay, in order, with their edits.
    pub kept: Vec<(usize, Vec<(usize, Edited)>)>,
    pub recap: Option<Composed>,
    /// The narration that stands in the recap.
    pub narrated: Option<Narrated>,
    pub pinned: Vec<usize>,
    pub head_tokens: u64,
    pub tail_tokens: u64,
    /// The recap's cap.
    pub cap: u64,
    /// What it was to cost with head and tail.
    pub target: u64,
    /// The tail is the newest unit alone: it cannot be shortened.
    pub tail_is_newest: bool,
}

impl Draft {
    /// Whether every message would stay as it is, so that nothing could be freed.
    pub fn changes_nothing(&self) -> bool {
        self.recap.is_none() && self.kept.iter().all(|(_, edits)| edits.is_empty())
    }

    /// What a shorter recap has to stay below: what this one uses, where it is less than its cap.
    pub fn recap_room(&self, request: &Plan<'_>) -> u64 {
        let computed =
            request.policy.recap.fallback == Fallback::Computed && request.recap.is_none();
        let used = self.recap.as_ref().filter(|_| computed).map(|recap| recap.tokens);
        used.map_or(self.cap, |used| used.min(self.cap))
    }

    /// Whether more of the middle could go behind the recap, by this policy.
    pub fn can_cover_more(&self, policy: &Policy) -> bool {
        policy.reducers.contains(&ReducerName::Recap)
            && policy.recap.cover == Cover::Overflow
            && self.kept.len() > self.pinned.len()
    }
}

/// What was gathered, and of which events: gathering goes on from there. No fold depends on it, only
/// how long planning one takes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memo {
    gathered: Option<Gathered>,
    runs: Vec<Range<usize>>,
    words: Option<Words>,
}

impl Memo {
    /// Takes in these runs of events: what is new in them, where they begin with what is held.
    pub fn extend(&mut self, events: &[Event], runs: Vec<Range<usize>>, tools: &ToolTable) {
        self.gathered = Some(Gathered::over(self.gathered.take(), events, &runs, tools));
        self.runs = runs;
    }

    /// The runs of events that were gathered.
    pub fn runs(&self) -> &[Range<usize>] {
        &self.runs
    }
}

/// Drafts a fold; `None` when nothing lies between head and tail that may go.
pub(super) fn draft(
    request: &Plan<'_>,
    scale: Scale,
    before: u64,
    limits: Limits,
    memo: &mut Memo,
) -> Option<Draft> {
    let log = request.log;
    let units = log.units();
    let layout = layout(log, &units, request.policy, scale.budget, limits.tail);
    let middle: Vec<Unit> = units_in(&units, layout.middle()).to_vec();
    let pinned = pinned_units(request, &layout, &middle);
    let is_pinned = |unit: &Unit| pinned.contains(&unit.events.start);
    // A recap alone is nothing new, unless it has to shrink for what came after it.
    let fits = before <= scale.limit;
    if middle.iter().all(|unit| is_pinned(unit) || (fits && only_recaps(log, unit))) {
        return None;
    }
    let tail_is_newest = units.last().is_none_or(|unit| unit.events.start <= layout.tail_start);
    let tools = ToolTable::of(&request.policy.tools);
    let head_tokens = log.envelope_tokens() + log.tokens_in(0..layout.head_end);
    let tail_tokens = log.tokens_in(layout.tail_start..log.len());
    let mut target = request.policy.fold.target.of(scale.budget).min(scale.limit);
    if !matches!(request.cause, Cause::Check | Cause::Threshold) {
        // Who asks for a compaction wants one, even of a short conversation.
        target = target.min(before / 2);
    }
    target = target.min(limits.target.unwrap_or(u64::MAX));
    let cap = cap(request, scale).min(limits.recap.unwrap_or(u64::MAX));
    let room = Room { spare: target.saturating_sub(head_tokens + tail_tokens), cap };
    let (keep_from, edits) = match limits.through {
        Some(through) if through <= layout.tail_start => (through, FxHashMap::default()),
        Some(_) => return None,
        None => reduce(request, &layout, &middle, &is_pinned, room, &tools),
    };
    let stays = |unit: &Unit| unit.events.start >= keep_from || is_pinned(unit);
    let covered: Vec<usize> =
        middle.iter().filter(|unit| !stays(unit)).flat_map(|unit| unit.events.clone()).collect();
    let mut edits = edits;
    let kept: Vec<_> = middle
        .iter()
        .filter(|unit| stays(unit))
        .flat_map(|unit| unit.events.clone())
        .map(|at| (at, edits.remove(&at).unwrap_or_default()))
        .collect();
    let pinned: Vec<usize> =
        middle.iter().filter(|u| is_pinned(u)).flat_map(|u| u.events.clone()).collect();
    let narrated = request.narrated.filter(|narrated| stands(log, &layout, keep_from, narrated));
    let composing = Composing { request, layout: &layout, narrated, cap: room.cap, tools: &tools };
    let recap = (!covered.is_empty()).then(|| composing.recap(&covered, &kept, memo));
    // A computed recap may have had no room for it.
    let computed = request.policy.recap.fallback == Fallback::Computed;
    let narrated = narrated.filter(|_| !computed || recap.as_ref().is_some_and(|r| r.narrated));
    Some(Draft {
        layout,
        covered,
        kept,
        recap,
        narrated: narrated.cloned(),
        pinned,
        head_tokens,
        tail_tokens,
        cap,
        target,
        tail_is_newest,
    })
}

/// What the middle may cost after the fold.
#[derive(Clone, Copy)]
struct Room {
    /// Target minus head and tail.
    spare: u64,
    /// The recap's cap.
    cap: u64,
}

fn cap(request: &Plan<'_>, scale: Scale) -> u64 {
    let recap = &request.policy.recap;
    let cap = recap.cap.of(scale.budget);
    if recap.cap_tokens > 0 { cap.min(recap.cap_tokens) } else { cap }
}

fn units_in(units: &[Unit], range: Range<usize>) -> &[Unit] {
    let from = units.partition_point(|unit| unit.events.start < range.start);
    let to = units.partition_point(|unit| unit.events.end <= range.end);
    &units[from.min(to)..to]
}

/// Starts of the middle's units that hold a pin or the carried user message, or are not closed.
fn pinned_units(request: &Plan<'_>, layout: &Layout, middle: &[Unit]) -> FxHashSet<usize> {
    let pinned = |unit: &&Unit| {
        !unit.closed
            || layout.carried_user.is_some_and(|user| unit.events.contains(&user))
            || request.pins.iter().any(|pin| unit.events.contains(&(*pin as usize)))
    };
    middle.iter().filter(pinned).map(|unit| unit.events.start).collect()
}

fn only_recaps(log: &Log, unit: &Unit) -> bool {
    log.events()[unit.events.clone()].iter().all(|event| event.view.origin == Origin::Recap)
}

/// Runs the reducers and finds the first event of the middle that stays.
fn reduce(
    request: &Plan<'_>,
    layout: &Layout,
    middle: &[Unit],
    is_pinned: &impl Fn(&Unit) -> bool,
    room: Room,
    tools: &ToolTable,
) -> (usize, FxHashMap<usize, Vec<(usize, Edited)>>) {
    let policy = request.policy;
    let covers = policy.reducers.contains(&ReducerName::Recap);
    if covers && policy.recap.cover == Cover::Middle {
        // Everything is covered: nothing that an edit could save would be seen.
        return (layout.tail_start, FxHashMap::default());
    }
    let log = request.log;
    let reach = if covers { reach(log, middle, room.spare) } else { layout.head_end };
    let mut editable = vec![false; layout.tail_start - reach];
    for unit in middle.iter().filter(|unit| unit.events.start >= reach && !is_pinned(unit)) {
        editable[unit.events.start - reach..unit.events.end - reach].fill(true);
    }
    let counter = &**log.counter();
    let mut edited = Middle::new(log.events(), reach..layout.tail_start, editable, counter, tools);
    let older = log.tokens_in(layout.head_end..reach);
    let fits_unedited = older + edited.tokens() <= room.spare;
    let beside_recap = room.spare.saturating_sub(room.cap);
    // A recap that names what edits took out needs its room beside them.
    let tells = covers && tells_edits(policy) && !fits_unedited;
    let spare = if tells { beside_recap } else { room.spare };
    let state = State { policy, tools };
    for name in &policy.reducers {
        if older + edited.tokens() <= spare {
            break;
        }
        if let Some(reducer) = reducer(*name) {
            reducer.reduce(&mut edited, spare.saturating_sub(older), &state);
        }
    }
    let fits = older + edited.tokens() <= room.spare;
    let edits = edited.into_edits();
    let tells = tells && !edits.is_empty();
    if !covers || (fits && !tells) {
        return (layout.head_end, edits);
    }
    let fitting = newest_that_fit(log, middle, reach, &edits, beside_recap);
    let oldest = middle.iter().find(|unit| tells && !is_pinned(unit));
    let least = oldest.map_or(layout.head_end, |unit| unit.events.end);
    (fitting.max(after_last_recap(log, layout)).max(least), edits)
}

/// Whether the recap has to name what edits took out of messages that stay.
fn tells_edits(policy: &Policy) -> bool {
    policy.recap.edits && policy.recap.fallback == Fallback::Computed
}

/// The oldest event that could stay: text cannot be reduced, so older ones are out of reach
/// whatever reducers do, and need not be looked at.
fn reach(log: &Log, middle: &[Unit], spare: u64) -> usize {
    const STUB: u32 = 6;
    let least = |at: usize| {
        let event = &log.events()[at];
        let blocks = event.view.blocks.iter().zip(&event.tokens.blocks);
        let least = blocks.map(|(block, tokens)| match block.kind {
            BlockKind::Text => *tokens,
            BlockKind::Reasoning { .. } => 0,
            _ => (*tokens).min(STUB),
        });
        u64::from(log.counter().per_message() + least.sum::<u32>())
    };
    let mut sum = 0;
    let mut from = middle.last().map_or(0, |unit| unit.events.end);
    for unit in middle.iter().rev() {
        sum += unit.events.clone().map(least).sum::<u64>();
        if sum > spare {
            break;
        }
        from = unit.events.start;
    }
    from
}

/// The first event of the longest suffix of units that fits, edits counted.
fn newest_that_fit(
    log: &Log,
    middle: &[Unit],
    reach: usize,
    edits: &FxHashMap<usize, Vec<(usize, Edited)>>,
    room: u64,
) -> usize {
    let cost = |at: usize| {
        let saved: u32 = edits.get(&at).map_or(0, |edits| {
            edits.iter().map(|(_, e)| e.tokens_before.saturating_sub(e.tokens_after)).sum()
        });
        u64::from(log.events()[at].tokens.total.saturating_sub(saved))
    };
    let mut sum = 0;
    let mut from = middle.last().map_or(0, |unit| unit.events.end);
    for unit in middle.iter().rev().take_while(|unit| unit.events.start >= reach) {
        sum += unit.events.clone().map(cost).sum::<u64>();
        if sum > room {
            break;
        }
        from = unit.events.start;
    }
    from
}

/// A recap is never left standing beside a new one.
fn after_last_recap(log: &Log, layout: &Layout) -> usize {
    let middle = &log.events()[layout.middle()];
    let last = middle.iter().rposition(|event| event.view.origin == Origin::Recap);
    last.map_or(layout.head_end, |at| layout.head_end + at + 1)
}

/// Whether a narration is still of this log, and of nothing but what the recap covers.
fn stands(log: &Log, layout: &Layout, keep_from: usize, narrated: &Narrated) -> bool {
    let span = &narrated.span;
    let end = span.end as usize;
    span.start as usize == layout.head_end
        && end <= keep_from
        && log.hash_before(layout.head_end) == span.before
        && log.hash_before(end) == span.through
}

/// The host's own recap: without secrets, and cut to the cap.
pub(super) fn host_recap(request: &Plan<'_>, cap: u64) -> String {
    let counter = request.log.counter();
    let (text, _) = Redactor::shared().redact(request.recap.unwrap_or_default());
    let fits = |text: &str| u64::from(counter.count(text, Content::Prose)) <= cap;
    let mut end = text.len();
    while end > 0 && !fits(&text[..end]) {
        end = text.floor_char_boundary(end * 9 / 10);
    }
    text[..end].to_owned()
}

/// What a recap is composed from.
struct Composing<'a> {
    request: &'a Plan<'a>,
    layout: &'a Layout,
    narrated: Option<&'a Narrated>,
    cap: u64,
    tools: &'a ToolTable,
}

impl Composing<'_> {
    /// Gathers the covered span and composes its recap, within the cap.
    fn recap(
        &self,
        covered: &[usize],
        kept: &[(usize, Vec<(usize, Edited)>)],
        memo: &mut Memo,
    ) -> Composed {
        let Self { request, layout, narrated, cap, tools } = *self;
        let log = request.log;
        let policy = request.policy;
        memo.extend(log.events(), runs(covered), tools);
        let mut gathered = Cow::Borrowed(memo.gathered.get_or_insert_default());
        if tells_edits(policy) && kept.iter().any(|(_, edits)| !edits.is_empty()) {
            gathered.to_mut().add_edited(log.events(), &edited_blocks(kept), tools);
        }
        let elsewhere_texts = elsewhere(log, layout, kept);
        let elsewhere: FxHashSet<&str> =
            elsewhere_texts.iter().flat_map(|text| identifiers(text)).collect();
        let focus: Vec<String> = request
            .focus
            .map(|text| {
                text.split_whitespace().map(str::to_lowercase).filter(|w| w.len() > 2).collect()
            })
            .unwrap_or_default();
        let newer_task =
            log.events()[layout.tail_start..].iter().any(|event| event.view.is_real_user())
                || layout.carried_user.is_some();
        let cap = if policy.recap.fallback == Fallback::Computed { cap } else { 0 };
        let said = (policy.recap.words.0 > 0 && cap > 0).then(|| {
            let edited = if tells_edits(policy) { edited_blocks(kept) } else { Vec::new() };
            let words = Words::over(memo.words.take(), log.events(), &runs(covered), &edited);
            &*memo.words.insert(words)
        });
        let spoken: FxHashSet<&str> = match &said {
            Some(_) => elsewhere_texts.iter().flat_map(|text| words(text)).collect(),
            None => FxHashSet::default(),
        };
        let narration = narrated.map(Narrated::recap_sections).unwrap_or_default();
        compose(
            &gathered,
            &Frame {
                cap,
                narration: &narration,
                counter: &**log.counter(),
                header: &policy.recap.header,
                elsewhere: &elsewhere,
                task_elsewhere: newer_task,
                file_blocks: policy.recap.file_blocks,
                focus: &focus,
                words: said.map(|said| WordList {
                    words: said,
                    elsewhere: &spoken,
                    cap: policy.recap.words.of(cap),
                }),
            },
        )
    }
}

/// The blocks that edits took something out of: event and place in it, in order.
fn edited_blocks(kept: &[(usize, Vec<(usize, Edited)>)]) -> Vec<(usize, usize)> {
    kept.iter().flat_map(|(at, edits)| edits.iter().map(|(block, _)| (*at, *block))).collect()
}

/// All that the context says beside the recap: texts, calls and results as they stay.
fn elsewhere(log: &Log, layout: &Layout, kept: &[(usize, Vec<(usize, Edited)>)]) -> Vec<String> {
    let events = log.events();
    let ends = (0..layout.head_end).chain(layout.tail_start..events.len());
    let mut texts = Vec::new();
    for at in ends {
        let event = &events[at];
        texts.extend(event.view.blocks.iter().flat_map(|block| said(event, block)));
    }
    for (at, edits) in kept {
        let event = &events[*at];
        for (index, block) in event.view.blocks.iter().enumerate() {
            match edits.iter().find(|(edited, _)| *edited == index) {
                Some((_, Edited { change: edit::Change::Replace(text), .. })) => {
                    texts.push(match block.is_call() {
                        true => plain_arguments(text).into_owned(),
                        false => text.clone(),
                    })
                }
                Some(_) => {}
                None => texts.extend(said(event, block)),
            }
        }
    }
    texts
}

/// What a block says, and the name of a call. Nothing for reasoning.
fn said(event: &Event, block: &Block) -> impl Iterator<Item = String> {
    let name = match &block.kind {
        BlockKind::Call { name, .. } => name.map(|name| name.decode(&event.bytes).into_owned()),
        _ => None,
    };
    let text = (!block.is_reasoning()).then(|| block.plain(&event.bytes).into_owned());
    text.into_iter().chain(name)
}

/// Runs of consecutive numbers.
pub(super) fn runs(sorted: &[usize]) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for &at in sorted {
        match runs.last_mut() {
            Some(run) if run.end == at => run.end = at + 1,
            _ => runs.push(at..at + 1),
        }
    }
    runs
}

/// Tokens of the head, without the envelope.
pub(super) fn head_tokens(request: &Plan<'_>, scale: Scale) -> u64 {
    let layout = layout(request.log, &request.log.units(), request.policy, scale.budget, Some(0));
    request.log.tokens_in(0..layout.head_end)
}

/// What cannot be folded: what the least context that there is consists of.
pub(super) fn floor(request: &Plan<'_>, scale: Scale, least: &Context) -> FloorError {
    let log = request.log;
    let units = log.units();
    let layout = layout(log, &units, request.policy, scale.budget, Some(0));
    let middle = units_in(&units, layout.middle());
    let pinned = pinned_units(request, &layout, middle);
    let tokens = |unit: &Unit| log.tokens_in(unit.events.clone());
    let envelope = log.envelope_tokens();
    let head = log.tokens_in(0..layout.head_end);
    let pinned = middle.iter().filter(|unit| pinned.contains(&unit.events.start)).map(tokens).sum();
    let newest = log.tokens_in(layout.tail_start..log.len());
    let of_recap = |piece: &&Piece| matches!(piece.fate, Fate::Recap | Fate::Marker);
    let recap = least.pieces().filter(of_recap).map(|piece| u64::from(piece.tokens)).sum();
    let needed = least.tokens();
    let beside = needed.saturating_sub(envelope + head + pinned + newest + recap);
    FloorError { limit: scale.limit, needed, envelope, head, pinned, newest, recap, beside }
}

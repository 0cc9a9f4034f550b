//! Turns a draft into a fold: final bytes, final token counts, accounts.

use std::ops::Range;

use rustc_hash::FxHashSet;

use super::draft::FoldDraft;
use super::memo::runs;
use super::request::PlanRequest;
use crate::budget::Budget;
use crate::edit::{self, BlockChange};
use crate::event::Hash;
use crate::fold::{
    BlockEdit, EditKind, FateCounts, Fold, FoldEntry, IdList, LayoutRecord, RecapRecord,
    RegionRecord, RepairRecord, Span, StandIn, VERSION, VerdictCode, VerdictRecord,
};
use crate::ids::identifiers;
use crate::log::EventLog;
use crate::meter::Meter;
use crate::narrate::AcceptedNarration;
use crate::policy::{Policy, RecapFallback};
use crate::project::{Context, ContextProjection, PieceFate, project};
use crate::put_back::lines_in;
use crate::recap::rank::with_parts;
use crate::redact::REPLACEMENT;
use crate::reduce::MiddleEdit;
use crate::repair::{asks_for_reasoning, takes_turns};
use crate::view::Role;
use crate::void::voided;

/// The fold of a draft, and the context that it makes.
pub(super) fn record(
    request: &PlanRequest<'_>,
    budget: &Budget,
    meter: Meter,
    before: &Context,
    base: Option<&ContextProjection>,
    draft: FoldDraft,
) -> (Fold, Context) {
    let log = request.log;
    let policy = request.policy;
    let (open_range, middle) = (draft.layout.open(), draft.layout.middle());
    let stand_in = draft.recap.is_some().then(|| stand_in(request, &draft));
    let (entries, edits) = entries(request, &draft, stand_in.as_ref());
    let recap = stand_in.map(|stand_in| stand_in.record);
    let composed = draft.recap.as_ref();
    let fallback = fallback(request, &draft);
    let void = voided(log, request.reasoning);
    let views = || log.events().iter().map(|event| &event.view);
    let mut fold = Fold {
        version: VERSION,
        // `settle` sets the id and each size that is 0 here, because they follow from the projected fold.
        id: Hash::ROOT,
        prev: request.prior.map(|fold| fold.id),
        joining: request.joining.clone(),
        span: span(log, &open_range),
        entries,
        edits,
        read: draft.read.clone(),
        repairs: Vec::new(),
        layout: layout_record(log, &draft),
        void_reasoning: void.before,
        told_round: void.told_round,
        void_before: request.void,
        keeps_turns: request.keeps_turns && takes_turns(views(), log.profile()),
        follows_reasoning: asks_for_reasoning(views().take(open_range.end), log.profile()),
        policy: policy.name.clone(),
        policy_fingerprint: policy.fingerprint(),
        profile: log.profile().name.to_owned(),
        counter: log.counter().name().to_owned(),
        meter,
        budget: budget.clone(),
        strategy: strategy(policy, &draft).to_owned(),
        head_tokens: draft.head_tokens,
        tail_tokens: log.tokens_in(middle.end..log.len()),
        middle_tokens: log.tokens_in(middle),
        head_verbatim: false,
        tail_verbatim: false,
        tokens_before: before.tokens(),
        tokens_after: 0,
        messages_before: number(before.len()),
        messages_after: 0,
        evicted: number(draft.covered.len()),
        fallback,
        fallback_used: fallback.is_some_and(|stands| stands != StandIn::Host),
        cause: request.cause,
        narrated: draft.narrated.clone(),
        verdicts: verdicts(request, &draft),
        kept_ids: composed.map(|c| c.kept_ids.clone()).unwrap_or_default(),
        lost_ids: composed.map(|c| c.lost_ids.clone()).unwrap_or_default(),
        invented_ids: invented(request, &draft),
        referenced_later: None,
        put_back: recap.as_ref().and_then(|recap| request.put_back?.record(&recap.text)),
        recap,
        accounts: FateCounts::default(),
    };
    let after = settle(request, &draft, base, &mut fold);
    (fold, after)
}

fn number(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// The span of the fold: the events that it may change.
fn span(log: &EventLog, open: &Range<usize>) -> Span {
    Span {
        start: number(open.start),
        end: number(open.end),
        before: log.hash_before(open.start),
        through: log.hash_before(open.end),
    }
}

fn layout_record(log: &EventLog, draft: &FoldDraft) -> LayoutRecord {
    let middle = draft.layout.middle();
    let region = |range: Range<usize>| RegionRecord {
        start: number(range.start),
        end: number(range.end),
        tokens: log.tokens_in(range),
    };
    LayoutRecord {
        head: region(0..middle.start),
        middle: region(middle.clone()),
        tail: region(middle.end..log.len()),
        floor: draft.layout.floor,
        carried_user: draft.layout.carried_user.map(number),
        pinned: draft.pinned.iter().map(|at| number(*at)).collect(),
    }
}

/// Whether the fixed marker replaces the covered span.
fn is_marker(request: &PlanRequest<'_>, draft: &FoldDraft) -> bool {
    request.policy.recap.fallback == RecapFallback::Marker
        && draft.narrated.is_none()
        && request.recap.is_none()
}

/// Whether a marker has to follow a narration: covered events came after the narrated ones, and no computed recap
/// mentions them.
fn rest_is_marked(
    request: &PlanRequest<'_>,
    draft: &FoldDraft,
    narration: &AcceptedNarration,
) -> bool {
    let last = draft.covered.last().copied().unwrap_or(0);
    request.policy.recap.fallback != RecapFallback::Computed && last >= narration.span.end as usize
}

/// The kind of text where no model narrated, or the marker behind a narration. `None` where a narration covers all, or
/// nothing is covered.
fn fallback(request: &PlanRequest<'_>, draft: &FoldDraft) -> Option<StandIn> {
    let stands = match (&draft.recap, &draft.narrated) {
        (None, _) => return None,
        (Some(_), _) if request.recap.is_some() => StandIn::Host,
        // Behind a narration that is the whole recap, a marker replaces the events after it.
        (Some(_), Some(narration)) if rest_is_marked(request, draft, narration) => StandIn::Marker,
        (Some(_), Some(_)) => return None,
        (Some(_), None) => request.policy.recap.fallback.into(),
    };
    Some(stands)
}

/// The verdicts since the fold before. A narration that was there and is not used has one, too.
fn verdicts(request: &PlanRequest<'_>, draft: &FoldDraft) -> Vec<VerdictRecord> {
    let unused = request.narrated.zip(draft.unused).map(|(narrated, why)| VerdictRecord {
        request: narrated.request,
        code: VerdictCode::Unused,
        detail: why.to_owned(),
        dropped: Vec::new(),
    });
    request.verdicts.iter().cloned().chain(unused).collect()
}

/// The strategy's name in the record. A policy can name narrated folds differently (`summarize` in "Summarizing Evicted
/// Turns").
fn strategy<'a>(policy: &'a Policy, draft: &FoldDraft) -> &'a str {
    let narrated = policy.narration.strategy.as_deref().filter(|_| draft.narrated.is_some());
    narrated.unwrap_or(&policy.strategy)
}

/// The message in the place of the covered span, as an entry of the fold and as a record.
struct SpanCover {
    entry: FoldEntry,
    record: RecapRecord,
}

/// Makes the message for the covered span from the draft's text, or else from its computed recap.
fn stand_in(request: &PlanRequest<'_>, draft: &FoldDraft) -> SpanCover {
    let log = request.log;
    let recap = &request.policy.recap;
    let composed = draft.recap.as_ref();
    let text = draft.text.clone().or_else(|| composed.map(|c| c.text.clone())).unwrap_or_default();
    let role = role(request, draft);
    let bytes = log.dialect().made_message(role, &text);
    let bytes = String::from_utf8_lossy(&bytes).into_owned();
    let record = RecapRecord {
        role: role.name().to_owned(),
        tokens: match composed {
            // With a text of its own, the draft was composed for its names alone.
            Some(composed) if draft.text.is_none() => composed.tokens,
            _ => u64::from(log.counter().count(&text, crate::TextKind::Prose)),
        },
        files: match composed {
            Some(composed) if recap.fallback == RecapFallback::Computed => {
                u32::try_from(composed.files).unwrap_or(0)
            }
            _ => 0,
        },
        redacted: composed.map_or(0, |composed| composed.redacted),
        hash: Hash::ROOT.chain(text.as_bytes()),
        text,
    };
    let entry = if is_marker(request, draft) {
        FoldEntry::Marker { bytes }
    } else {
        FoldEntry::Recap { bytes }
    };
    SpanCover { entry, record }
}

/// The role of the recap: the policy's where the profile allows it, else the profile's. Never a system message.
fn role(request: &PlanRequest<'_>, draft: &FoldDraft) -> Role {
    let profile = request.log.profile();
    let head = &request.log.events()[..draft.layout.head_end];
    let last = head.last().map(|event| event.view.role);
    let wanted = request.policy.recap.role.after(last);
    let only_system = head.iter().all(|event| event.view.role.is_system());
    // A provider that merges roles accepts a system message inside the list only right after a user message.
    let next = draft.kept.first().map_or(draft.layout.untouched, |(at, _)| *at);
    let next = request.log.events().get(next);
    let before_system = next.is_some_and(|event| event.view.role.is_system());
    let asks_user = (only_system && profile.user_first) || (before_system && profile.merges_roles);
    if asks_user && wanted != Role::User { profile.recap_role } else { wanted }
}

/// The entries of the fold in order: the recap, then the events that stay. With them the records of their edits.
fn entries(
    request: &PlanRequest<'_>,
    draft: &FoldDraft,
    stand_in: Option<&SpanCover>,
) -> (Vec<FoldEntry>, Vec<BlockEdit>) {
    // Verbatim events are collected so that consecutive ones become one entry.
    let mut entries: Vec<FoldEntry> = stand_in.map(|s| s.entry.clone()).into_iter().collect();
    let mut edits = Vec::new();
    let mut verbatim = Vec::new();
    let flush = |verbatim: &mut Vec<usize>, entries: &mut Vec<FoldEntry>| {
        for run in runs(verbatim) {
            let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
            entries.push(FoldEntry::Verbatim { from: number(run.start), to: number(run.end) });
        }
        verbatim.clear();
    };
    for (at, changes) in &draft.kept {
        if changes.is_empty() {
            verbatim.push(*at);
            continue;
        }
        flush(&mut verbatim, &mut entries);
        let event = &request.log.events()[*at];
        let blocks = &event.view.blocks;
        let applied: Vec<_> =
            changes.iter().map(|(block, e)| (&blocks[*block], &e.change)).collect();
        let bytes = edit::apply(&event.bytes, &applied);
        let bytes = String::from_utf8_lossy(&bytes).into_owned();
        entries.push(FoldEntry::Edited { seq: event.seq, bytes });
        edits.extend(changes.iter().map(|(block, e)| edit_record(event.seq, *block, e)));
    }
    flush(&mut verbatim, &mut entries);
    (entries, edits)
}

/// The record of one edit.
fn edit_record(seq: u32, block: usize, edited: &MiddleEdit) -> BlockEdit {
    let kind = match edited.change {
        BlockChange::Replace(_) => EditKind::Replaced,
        BlockChange::Remove => EditKind::Removed,
    };
    BlockEdit {
        seq,
        block: u32::try_from(block).unwrap_or(u32::MAX),
        kind,
        reducer: edited.reducer,
        reason: edited.reason.to_owned(),
        tokens_before: edited.tokens_before,
        tokens_after: edited.tokens_after,
    }
}

/// The names that the author of a written recap invented: those of lines that a narration lost for them, and those in a
/// recap of the host's own that no message has. Empty for a computed recap, which only repeats names of the log.
fn invented(request: &PlanRequest<'_>, draft: &FoldDraft) -> IdList {
    let names = draft.narrated.iter().flat_map(|narrated| &narrated.invented);
    let Some(text) = draft.text.as_deref().filter(|_| request.recap.is_some()) else {
        return IdList::of(names.map(String::as_str), 0);
    };
    // Lines that are put back come from the agent or the host: they make no claim about the log.
    let put_back = request.put_back.and_then(|_| lines_in(text));
    let written = put_back.map_or(text.to_owned(), |lines| text.replacen(lines, "", 1));
    let own: FxHashSet<&str> = identifiers(REPLACEMENT).collect();
    let mut new: FxHashSet<&str> = identifiers(&written).filter(|id| !own.contains(id)).collect();
    for event in request.log.events() {
        if new.is_empty() {
            break;
        }
        for id in identifiers(&event.text()).flat_map(with_parts) {
            new.remove(id);
        }
    }
    let mut new: Vec<&str> = new.into_iter().collect();
    new.sort_unstable();
    IdList::of(new, 0)
}

/// Projects the fold and records the real result: sizes, repairs and fates. Returns the context.
fn settle(
    request: &PlanRequest<'_>,
    draft: &FoldDraft,
    base: Option<&ContextProjection>,
    fold: &mut Fold,
) -> Context {
    let log = request.log;
    let after = match base {
        Some(base) => base.refolded(log, fold).context(),
        None => project(log, Some(fold)),
    };
    fold.tokens_after = after.tokens();
    fold.messages_after = u32::try_from(after.len()).unwrap_or(u32::MAX);
    let mut carried = vec![false; log.len()];
    let mut accounts = FateCounts {
        events: u32::try_from(log.len()).unwrap_or(u32::MAX),
        ..FateCounts::default()
    };
    for (index, piece) in after.pieces().enumerate() {
        let (seq, why) = match piece.fate {
            PieceFate::Verbatim(seq) => {
                accounts.verbatim += 1;
                // Verbatim means the same slice of the log; equal bytes elsewhere would not prove it.
                let event = &log.events()[seq as usize];
                carried[seq as usize] = std::ptr::eq(event.bytes.as_ptr(), piece.bytes.as_ptr())
                    && event.bytes.len() == piece.bytes.len();
                continue;
            }
            PieceFate::Edited(_) => {
                accounts.edited += 1;
                continue;
            }
            PieceFate::Repaired(seq, why) => {
                accounts.edited += 1;
                (Some(seq), why)
            }
            PieceFate::Added(why) => (None, why),
            PieceFate::Recap | PieceFate::Marker => continue,
        };
        let index = u32::try_from(index).unwrap_or(u32::MAX);
        fold.repairs.push(RepairRecord { index, seq, why });
    }
    let from = fold.marker_from().map_or(usize::MAX, |from| from as usize);
    let in_recap = draft.covered.partition_point(|at| *at < from);
    accounts.recap = u32::try_from(in_recap).unwrap_or(u32::MAX);
    accounts.marker = u32::try_from(draft.covered.len() - in_recap).unwrap_or(u32::MAX);
    fold.accounts = accounts;
    fold.head_verbatim = carried[..draft.layout.head_end].iter().all(|same| *same);
    fold.tail_verbatim = carried[draft.layout.cover_end..].iter().all(|same| *same);
    // The id is the last, because it is a hash of all other fields.
    fold.id = fold.compute_id();
    after
}

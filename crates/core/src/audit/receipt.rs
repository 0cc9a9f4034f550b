//! The loss receipt of a fold: which content left the context, by which rule, and what replaced it.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;
use serde::Serialize;

use crate::explain::FoldRef;
use crate::fold::{Fold, FoldEntry};
use crate::fold_standing::FoldStanding;
use crate::log::EventLog;
use crate::references::NameReference;

/// The most identifiers that a receipt lists; the fold's record may have more.
const LISTED: usize = 10;

/// The content that one rule took out of the context.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RemovedByRule {
    /// The rule: `recap`, `marker`, or the name of a reducer.
    pub rule: String,
    /// The reason code of the reducer. For `recap`: what the recap was made of (`narrated`, `computed`, `static`,
    /// `host`).
    pub reason: String,
    /// The number of events; for a reducer, the number of blocks. Events that had left with an earlier fold do not count.
    pub items: u32,
    /// The tokens in the context before the fold: of these items, and of an earlier stand-in that this one replaces.
    pub tokens_before: u64,
    /// Tokens of the text that replaces them.
    pub tokens_after: u64,
}

/// The account of one fold: what it took out of the context, and what is still there.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FoldReceipt {
    /// The fold.
    pub fold: FoldRef,
    /// Whether the fold was ever in force. A fold that never was lost nothing.
    pub standing: FoldStanding,
    /// The name of the fold's policy.
    pub policy: String,
    /// The first event of the fold's span.
    pub start: u32,
    /// One past the last event of the span.
    pub end: u32,
    /// Counted tokens of the context before the fold.
    pub tokens_before: u64,
    /// Counted tokens of the context after the fold.
    pub tokens_after: u64,
    /// Messages of the context before the fold.
    pub messages_before: u32,
    /// Messages of the context after the fold.
    pub messages_after: u32,
    /// The content that left, by rule; the rule that freed most tokens first.
    pub removed: Vec<RemovedByRule>,
    /// The events of the span that are not sent in their original form. Recall returns each of them.
    pub recallable: Vec<u32>,
    /// Whether the log still holds these events, byte for byte.
    pub intact: bool,
    /// The events of the span that are sent unchanged: pinned ones, and the user's last message where it is not in the tail.
    pub pins: Vec<u32>,
    /// Whether every message of the head is sent with the bytes of the log.
    pub head_verbatim: bool,
    /// Whether every message of the tail is sent with the bytes of the log.
    pub tail_verbatim: bool,
    /// The names of the span that the context still has: their number, and those that matter most.
    pub kept_ids: (u32, Vec<String>),
    /// The names of the span that the context no longer has, in the same form.
    pub lost_ids: (u32, Vec<String>),
    /// The lost names that the user or the assistant used again, each with the first event that did.
    pub asked_again: Vec<NameReference>,
}

impl FoldReceipt {
    /// The receipt of a fold; `number` is its place among the folds of the session, from 1. `before` is the fold that it
    /// was made after.
    pub(super) fn of(
        log: &EventLog,
        number: u32,
        fold: &Fold,
        before: Option<&Fold>,
        standing: FoldStanding,
    ) -> Self {
        let ids = |list: &crate::fold::IdList| {
            (list.count, list.first.iter().take(LISTED).cloned().collect())
        };
        let covered = fold.covered();
        let edited = fold.entries.iter().filter_map(|entry| match entry {
            FoldEntry::Edited { seq, .. } => Some(*seq),
            _ => None,
        });
        let edited: Vec<u32> = edited.collect();
        let mut removed = edits(fold);
        removed.extend(stand_ins(log, fold, before, &covered));
        removed.sort_by(|a, b| {
            let freed = |r: &RemovedByRule| r.tokens_before.saturating_sub(r.tokens_after);
            freed(b).cmp(&freed(a)).then_with(|| (&a.rule, &a.reason).cmp(&(&b.rule, &b.reason)))
        });
        let mut recallable = [covered, edited].concat();
        recallable.sort_unstable();
        Self {
            fold: FoldRef { number, id: fold.id, events: fold.accounts.events },
            standing,
            policy: fold.policy.clone(),
            start: fold.span.start,
            end: fold.span.end,
            tokens_before: fold.tokens_before,
            tokens_after: fold.tokens_after,
            messages_before: fold.messages_before,
            messages_after: fold.messages_after,
            removed,
            recallable,
            intact: fold.applies_to(log),
            pins: fold.layout.pinned.clone(),
            head_verbatim: fold.head_verbatim,
            tail_verbatim: fold.tail_verbatim,
            kept_ids: ids(&fold.kept_ids),
            lost_ids: ids(&fold.lost_ids),
            asked_again: fold.references(log.events()),
        }
    }
}

/// The edits of a fold, summed up by reducer and reason.
fn edits(fold: &Fold) -> Vec<RemovedByRule> {
    let mut by_rule: BTreeMap<(&str, &str), RemovedByRule> = BTreeMap::new();
    for edit in &fold.edits {
        let removed = by_rule.entry((edit.reducer.as_str(), &edit.reason)).or_default();
        removed.items += 1;
        removed.tokens_before += u64::from(edit.tokens_before);
        removed.tokens_after += u64::from(edit.tokens_after);
    }
    let named = |((rule, reason), removed): ((&str, &str), RemovedByRule)| RemovedByRule {
        rule: rule.to_owned(),
        reason: reason.to_owned(),
        ..removed
    };
    by_rule.into_iter().map(named).collect()
}

/// The events that a recap replaced, and those that only a marker did, of those that the context had.
fn stand_ins(
    log: &EventLog,
    fold: &Fold,
    before: Option<&Fold>,
    covered: &[u32],
) -> Vec<RemovedByRule> {
    let event_tokens = |seq: &u32| log.tokens_in(*seq as usize..*seq as usize + 1);
    let earlier: FxHashSet<u32> = before.map(Fold::covered).into_iter().flatten().collect();
    let had = |events: &[u32]| -> Vec<u32> {
        events.iter().copied().filter(|seq| !earlier.contains(seq)).collect()
    };
    let recapped =
        fold.marker_from().map_or(covered.len(), |from| covered.partition_point(|seq| *seq < from));
    let (recapped, marked) = covered.split_at(recapped);
    let recap_tokens = |fold: &Fold| fold.recap.as_ref().map_or(0, |recap| recap.tokens);
    let replaced = before.map_or(0, recap_tokens);
    let reason = match fold.narrated {
        Some(_) => "narrated".to_owned(),
        None => fold.fallback.map(|fallback| fallback.to_string()).unwrap_or_default(),
    };
    let by = |rule: &str, reason: String, covered: &[u32], is_text: bool| {
        let events = had(covered);
        // A marker behind a narration is a line of the recap, whose tokens are counted there.
        let (replaced, recap) = if is_text { (replaced, recap_tokens(fold)) } else { (0, 0) };
        RemovedByRule {
            rule: rule.to_owned(),
            reason,
            items: u32::try_from(events.len()).unwrap_or(u32::MAX),
            tokens_before: replaced + events.iter().map(event_tokens).sum::<u64>(),
            tokens_after: recap,
        }
    };
    let (has_recap, has_marker) = (!recapped.is_empty(), !marked.is_empty());
    let recap = has_recap.then(|| by("recap", reason, recapped, true));
    let marker = has_marker.then(|| by("marker", "marker".to_owned(), marked, !has_recap));
    recap.into_iter().chain(marker).collect()
}

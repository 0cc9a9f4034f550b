//! The checks of a compaction with a record: each statement of the fold is compared with the messages.

use rustc_hash::FxHashMap;

use super::context_walk::{ExpectedContext, SeenContext};
use super::{ProofChecker, ReadMessage, rule};
use crate::edit::BlockChange;
use crate::event::Hash;
use crate::fold::{
    BlockEdit, EditKind, FateCounts, Fold, FoldEntry, RegionRecord, StandIn, VERSION,
};
use crate::log::{content_of, measure};
use crate::repair::is_of_other_shape;
use crate::view::{BlockKind, Role};

/// The fate of an event of the log by the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RecordedFate {
    Verbatim,
    /// Edited; the index is that of the entry.
    Edited(usize),
    Covered,
}

impl ProofChecker<'_> {
    /// Runs all checks of a record.
    pub(super) fn with_record(&mut self, fold: &Fold) {
        self.identity_of(fold);
        let (start, end) = (fold.span.start as usize, fold.span.end as usize);
        let len = self.before.len();
        let fits = start <= end && end <= len && fold.accounts.events as usize == len;
        self.expect(rule::ACCOUNTS, fits, || {
            let events = fold.accounts.events;
            format!("the record speaks of {events} messages and a span {start}..{end}, the log has {len}")
        });
        if !fits {
            // The record is about another log, so its other statements cannot be compared.
            return self.check_without_record();
        }
        self.check_chain(fold);
        let (fates, expected) = self.check_entries(fold);
        let seen = self.walk(fold, &expected);
        self.check_accounts(fold, &fates, &seen);
        self.check_edits(fold, &fates);
        self.check_layout(fold);
        self.check_pins(fold, &fates, &seen);
        self.check_counts(fold);
        self.check_recap(fold);
        self.check_kept_ids(fold);
        if fold.fallback == Some(StandIn::Computed) {
            self.check_grounding(fold);
        }
    }

    /// Checks the record's id and version.
    fn identity_of(&mut self, fold: &Fold) {
        self.expect(rule::FOLD_ID, fold.id == fold.compute_id(), || {
            "the id is not the hash of what the record says".to_owned()
        });
        self.expect(rule::FOLD_ID, (1..=VERSION).contains(&fold.version), || {
            format!("version {} of the record, this midfold knows up to {VERSION}", fold.version)
        });
    }

    /// Checks the hashes of the span against the messages.
    fn check_chain(&mut self, fold: &Fold) {
        let (start, end) = (fold.span.start as usize, fold.span.end as usize);
        let chain = |from: Hash, range: std::ops::Range<usize>| {
            self.case.before[range].iter().fold(from, |hash, bytes| hash.chain(bytes))
        };
        let before = chain(Hash::ROOT, 0..start);
        let through = chain(before, start..end);
        self.expect(rule::CHAIN, before == fold.span.before, || {
            format!("the hash of the {start} messages before the span differs")
        });
        self.expect(rule::CHAIN, through == fold.span.through, || {
            format!("the hash of the {end} messages up to the end of the span differs")
        });
    }

    /// Reads the entries and checks their order. Returns the fate of each event, and the messages that the context must
    /// have.
    fn check_entries(&mut self, fold: &Fold) -> (Vec<RecordedFate>, Vec<ExpectedContext>) {
        let (start, end) = (fold.span.start as usize, fold.span.end as usize);
        let mut fates = vec![RecordedFate::Verbatim; self.before.len()];
        fates[start..end].fill(RecordedFate::Covered);
        let mut expected: Vec<_> = (0..start).map(ExpectedContext::Event).collect();
        let mut next = start;
        for (index, entry) in fold.entries.iter().enumerate() {
            let range = match entry {
                FoldEntry::Recap { .. } | FoldEntry::Marker { .. } => {
                    self.expect(rule::ENTRIES, index == 0, || {
                        format!("entry {index}: a recap or marker comes first, and once")
                    });
                    expected.push(ExpectedContext::StandIn(index));
                    continue;
                }
                FoldEntry::Verbatim { from, to } => *from as usize..*to as usize,
                FoldEntry::Edited { seq, .. } => *seq as usize..(*seq as usize).saturating_add(1),
            };
            // An event is in one entry at most, and entries follow the log.
            let inside = range.start >= next && range.start < range.end && range.end <= end;
            self.expect(rule::ENTRIES, inside, || {
                format!("entry {index}: messages {range:?} are out of order or not in the span")
            });
            if !inside {
                continue;
            }
            next = range.end;
            let edited = matches!(entry, FoldEntry::Edited { .. });
            for event in range {
                fates[event] =
                    if edited { RecordedFate::Edited(index) } else { RecordedFate::Verbatim };
                let edited = ExpectedContext::Edited(event, index);
                expected.push(if fates[event] == RecordedFate::Verbatim {
                    ExpectedContext::Event(event)
                } else {
                    edited
                });
            }
        }
        expected.extend((end..self.before.len()).map(ExpectedContext::Event));
        (fates, expected)
    }

    /// Checks the accounts by counting again.
    fn check_accounts(&mut self, fold: &Fold, fates: &[RecordedFate], seen: &SeenContext) {
        let covered = fates.iter().filter(|fate| **fate == RecordedFate::Covered).count() as u64;
        let by_marker = matches!(fold.entries.first(), Some(FoldEntry::Marker { .. }));
        let by_recap = matches!(fold.entries.first(), Some(FoldEntry::Recap { .. }));
        self.expect(rule::LOSS, covered == 0 || by_marker || by_recap, || {
            format!("{covered} messages of the span are gone, and no recap or marker covers them")
        });
        let FateCounts { events, verbatim, edited, recap, marker } = fold.accounts;
        let sum = [verbatim, edited, recap, marker].map(u64::from).iter().sum::<u64>();
        self.expect(rule::ACCOUNTS, sum == u64::from(events), || {
            format!("{verbatim} + {edited} + {recap} + {marker} are not {events}")
        });
        let changed = (0..fates.len())
            .filter(|at| matches!(fates[*at], RecordedFate::Edited(_)) || seen.rendered[*at])
            .count() as u64;
        let whole = fates.len() as u64 - covered - changed;
        // Records from before 29 November 2026 count what a fixed sentence covers as covered by a recap.
        let is_earlier = fold.fallback == Some(StandIn::Static) && marker == 0;
        let from = fold.marker_from().filter(|_| !is_earlier);
        let from = from.map_or(usize::MAX, |from| from as usize);
        let behind =
            (0..fates.len()).filter(|at| *at >= from && fates[*at] == RecordedFate::Covered);
        let marked = behind.count() as u64;
        let figures = [
            ("verbatim", verbatim, whole),
            ("edited", edited, changed),
            ("covered by a recap", recap, covered - marked),
            ("covered by a marker", marker, marked),
            ("evicted", fold.evicted, covered),
            ("messages after", fold.messages_after, self.after.len() as u64),
        ];
        for (name, stated, is) in figures {
            self.expect(rule::ACCOUNTS, u64::from(stated) == is, || {
                format!("{name}: the record says {stated}, there are {is}")
            });
        }
    }

    /// Checks that each edited event is the result of its recorded edits, and that each edit has such an event.
    fn check_edits(&mut self, fold: &Fold, fates: &[RecordedFate]) {
        for edit in &fold.edits {
            let known = matches!(fates.get(edit.seq as usize), Some(RecordedFate::Edited(_)));
            self.expect(rule::EDITS, known, || {
                format!("an edit of message {} of the log, which is not edited", edit.seq)
            });
        }
        let mut by_event: FxHashMap<usize, Vec<&BlockEdit>> = FxHashMap::default();
        for edit in &fold.edits {
            by_event.entry(edit.seq as usize).or_default().push(edit);
        }
        for (event, fate) in fates.iter().enumerate() {
            let RecordedFate::Edited(index) = *fate else { continue };
            let Some(FoldEntry::Edited { bytes, .. }) = fold.entries.get(index) else { continue };
            let edits = by_event.remove(&event).unwrap_or_default();
            self.edit(event, &edits, bytes);
        }
    }

    /// Checks one edited event: which blocks changed, how, and how many tokens that freed.
    fn edit(&mut self, event: usize, edits: &[&BlockEdit], bytes: &str) {
        let case = self.case;
        let original = &self.before[event];
        let edited = ReadMessage::new(case.dialect, bytes.as_bytes());
        let changes = super::forms::changes(original, &edited).unwrap_or_default();
        let mut wrong = Vec::new();
        if changes.is_empty() {
            wrong.push("is no edited form of itself".to_owned());
        }
        if changes.len() != edits.len() {
            wrong.push(format!("has {} edits on record and {}", edits.len(), changes.len()));
        }
        let tokens = measure(case.counter, &original.bytes, &original.view).blocks;
        for ((block, change), edit) in changes.iter().zip(edits) {
            let kind = match change {
                BlockChange::Remove => EditKind::Removed,
                BlockChange::Replace(_) => EditKind::Replaced,
            };
            if (*block, kind) != (edit.block as usize, edit.kind) {
                wrong.push(format!("block {block} is {kind}, which is not on record"));
            }
            let after = match change {
                BlockChange::Remove => 0,
                BlockChange::Replace(text) => {
                    let kind = &original.view.blocks[*block].kind;
                    case.counter.count(text, content_of(original.view.role, kind))
                }
            };
            let before = tokens.get(*block).copied().unwrap_or(0);
            if (edit.tokens_before, edit.tokens_after) != (before, after) {
                wrong.push(format!("block {block}: {before} -> {after} tokens are not on record"));
            }
            if after >= before {
                wrong.push(format!("block {block}: an edit that frees nothing"));
            }
        }
        self.check(rule::EDITS);
        for detail in wrong {
            self.fail(rule::EDITS, None, format!("message {event} of the log {detail}"));
        }
    }

    /// Checks the regions of the layout by counting again.
    fn check_layout(&mut self, fold: &Fold) {
        let (start, end, len) = (fold.span.start, fold.span.end, fold.accounts.events);
        let layout = &fold.layout;
        // Some policies edit at the start of the tail, so the span may end inside the tail; covered events never lie
        // there.
        let tail = layout.tail.start;
        let covered = fold.covered().last().map_or(start, |last| last + 1);
        self.expect(rule::LAYOUT, (covered..=end).contains(&tail), || {
            format!("the record's tail starts at {tail}, and {covered}..={end} is where it can")
        });
        let tail = tail.clamp(covered.min(end), end);
        let envelope = self.envelope_tokens();
        let of = |from: u32, to: u32| self.tokens_of(&self.before[from as usize..to as usize]);
        let regions = [
            ("head", &layout.head, (0, start), fold.head_tokens, envelope),
            ("middle", &layout.middle, (start, tail), fold.middle_tokens, 0),
            ("tail", &layout.tail, (tail, len), fold.tail_tokens, 0),
        ]
        .map(|(name, region, (from, to), tokens, extra)| {
            let is = RegionRecord { start: from, end: to, tokens: of(from, to) };
            (name, region.clone(), tokens, is.tokens + extra, is)
        });
        for (name, stated, total, is_total, is) in regions {
            self.expect(rule::LAYOUT, stated == is && total == is_total, || {
                format!(
                    "{name}: the record says {stated:?}, {total} tokens; it is {is:?}, {is_total}"
                )
            });
        }
    }

    /// Checks the token counts and the number of messages.
    fn check_counts(&mut self, fold: &Fold) {
        let after = self.tokens_of(&self.after) + self.envelope_tokens();
        let name = self.case.counter.name();
        self.expect(rule::TOKENS, after == fold.tokens_after, || {
            format!("after: the record says {}, {name} counts {after}", fold.tokens_after)
        });
        // A context with an earlier fold or with repairs differs from the log, so its size cannot be checked from the
        // log.
        let odd = self.before.iter().any(|message| {
            message.view.role == Role::Other
                || message.view.blocks.is_empty()
                || is_of_other_shape(&message.view, &message.bytes)
        });
        let odd = odd || has_odd_steps(&self.before);
        if fold.prev.is_some() || odd || !(self.case.validate)(self.case.before).is_empty() {
            return;
        }
        // Some providers accept a late result, which is repaired all the same: then messages are added.
        let len = self.before.len() as u64;
        self.expect(rule::ACCOUNTS, u64::from(fold.messages_before) >= len, || {
            format!("messages before: the record says {}, there are {len}", fold.messages_before)
        });
        let before = self.tokens_of(&self.before) + self.envelope_tokens();
        let same = before == fold.tokens_before || u64::from(fold.messages_before) > len;
        self.expect(rule::TOKENS, same, || {
            let name = self.case.counter.name();
            format!("before: the record says {}, {name} counts {before}", fold.tokens_before)
        });
    }

    /// Checks that pinned events are verbatim, in order and behind the recap.
    fn check_pins(&mut self, fold: &Fold, fates: &[RecordedFate], seen: &SeenContext) {
        let layout = &fold.layout;
        let span = fold.span.start..fold.span.end;
        let mut last = None;
        for pin in layout.pinned.iter().chain(&layout.carried_user) {
            let at = *pin as usize;
            let known = span.contains(pin) && fates[at] == RecordedFate::Verbatim;
            let there = known && (seen.place[at].is_some() || seen.rendered[at]);
            self.expect(rule::PINS, there, || {
                format!("message {pin} of the log is pinned, and not verbatim in the context")
            });
            // The carried message is the last of this list and anywhere in the context, so it has no order to keep.
            if let Some(place) = seen.place.get(at).copied().flatten()
                && layout.carried_user != Some(*pin)
            {
                let behind = seen.stand_in.is_none_or(|recap| recap < place);
                self.expect_at(rule::PINS, behind && last < Some(place), Some(place), || {
                    format!("message {pin} of the log is pinned, and not behind the recap in order")
                });
                last = Some(place);
            }
        }
        if let Some(user) = layout.carried_user {
            let pinned = layout.pinned.contains(&user);
            self.expect(rule::PINS, pinned, || format!("the carried message {user} is no pin"));
        }
    }

    /// Checks that the recap on record is the one that is sent.
    fn check_recap(&mut self, fold: &Fold) {
        let bytes = match fold.entries.first() {
            Some(FoldEntry::Recap { bytes } | FoldEntry::Marker { bytes }) => Some(bytes),
            _ => None,
        };
        let (Some(recap), Some(bytes)) = (&fold.recap, bytes) else {
            return self.expect(rule::RECAP, fold.recap.is_none() && bytes.is_none(), || {
                "a recap on record without one in the entries, or the reverse".to_owned()
            });
        };
        let role = [Role::User, Role::Assistant].into_iter().find(|r| r.name() == recap.role);
        let message = role.map(|role| self.case.dialect.made_message(role, &recap.text));
        self.expect(
            rule::RECAP,
            message.is_some_and(|message| message == bytes.as_bytes()),
            || "the message that is sent is not the text and the role on record".to_owned(),
        );
        self.expect(rule::RECAP, recap.hash == Hash::ROOT.chain(recap.text.as_bytes()), || {
            "the hash of the text differs".to_owned()
        });
        let tokens = u64::from(self.case.counter.count(&recap.text, crate::TextKind::Prose));
        self.expect(rule::TOKENS, recap.tokens == tokens, || {
            format!("recap: the record says {}, it has {tokens}", recap.tokens)
        });
        let fallback = fold.fallback;
        let marker = matches!(fold.entries.first(), Some(FoldEntry::Marker { .. }));
        // Behind a narration, the marker is the last line of the recap and no entry of its own.
        let stands = marker || fold.narrated.is_some();
        let holds = match fallback {
            Some(StandIn::Marker) => stands,
            _ => !marker,
        };
        self.expect(rule::RECAP, holds, || {
            let fallback = fallback.map(StandIn::as_str);
            format!("a fallback {fallback:?} that is not what stands there")
        });
    }
}

/// Whether a repair may rewrite calls and results of the log although the provider would take them. That is so where two
/// calls of a step have one id, and where a step has results for some of its calls alone. Such a repair need not change
/// the number of messages.
fn has_odd_steps(messages: &[ReadMessage<'_>]) -> bool {
    let mut step = StepCount::default();
    for message in messages {
        let results = message.view.blocks.iter().filter(|block| block.is_result()).count();
        if message.view.role != Role::Assistant {
            step.results += results;
        }
        let ends = message.view.role == Role::Assistant && step.results > 0;
        if (ends || (message.view.role != Role::Assistant && results == 0)) && step.end() {
            return true;
        }
        step.add_calls(message);
    }
    step.end()
}

/// The calls and results of a step.
#[derive(Default)]
struct StepCount {
    ids: Vec<String>,
    calls: usize,
    results: usize,
}

impl StepCount {
    fn add_calls(&mut self, message: &ReadMessage<'_>) {
        for block in &message.view.blocks {
            if let BlockKind::Call { id, .. } = &block.kind {
                self.calls += 1;
                let id = id.map(|id| id.decode(&message.bytes).into_owned()).unwrap_or_default();
                self.ids.extend(Some(id).filter(|id| !id.is_empty()));
            }
        }
    }

    /// Ends the step. Returns whether it is odd. A step without any result is not: the newest one may wait for all, and
    /// elsewhere the provider's own rules find it.
    fn end(&mut self) -> bool {
        let Self { mut ids, calls, results } = std::mem::take(self);
        let all = ids.len();
        ids.sort_unstable();
        ids.dedup();
        ids.len() < all || (results > 0 && calls != results)
    }
}

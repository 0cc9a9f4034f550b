//! The walk along the context, side by side with the messages that the record describes.

use super::context_walk::{ExpectedContext, SeenContext, bytes_of};
use super::{ProofChecker, ReadMessage, one_line, rule};
use crate::fold::Fold;
use crate::repair::{RepairReason, with_blank};

/// How many messages ahead the walk searches for the place where context and record agree again.
const AHEAD: usize = 8;

impl ProofChecker<'_> {
    /// Walks along both, and adds a finding for each difference.
    pub(super) fn walk(&mut self, fold: &Fold, expected: &[ExpectedContext]) -> SeenContext {
        let none = vec![None; self.before.len()];
        let rendered = vec![false; self.before.len()];
        let mut seen = SeenContext { place: none, rendered, stand_in: None };
        let mut repairs = vec![None; self.after.len()];
        for repair in &fold.repairs {
            match repairs.get_mut(repair.index as usize) {
                Some(slot) if slot.is_none() => *slot = Some((repair.seq, repair.why)),
                _ => self.fail(rule::REPAIRS, None, format!("a repair of nothing: {repair:?}")),
            }
        }
        let (mut at, mut want) = (0, 0);
        while at < self.after.len() || want < expected.len() {
            let here = repairs.get(at).copied().flatten();
            // The record does not expect an added message, so only the context moves on.
            if let Some((None, why)) = here {
                self.check_added(at, why);
                at += 1;
                continue;
            }
            let (Some(next), true) = (expected.get(want), at < self.after.len()) else {
                self.report_difference(fold, expected, (at, want), (1, 1));
                (at, want) = (at + 1, want + 1);
                continue;
            };
            if let Some((Some(seq), why)) = here {
                self.check_rendered(fold, at, *next, seq, why, &mut seen);
            } else if self.agree(fold, at, *next) {
                self.note(fold, at, *next, &mut seen);
            } else {
                let (extra, missing) = self.skip(fold, expected, at, want);
                self.report_difference(fold, expected, (at, want), (extra, missing));
                (at, want) = (at + extra, want + missing);
                continue;
            }
            (at, want) = (at + 1, want + 1);
        }
        self.check_flags(fold, &seen);
        seen
    }

    /// Whether the message at `at` is the expected one, byte for byte.
    fn agree(&self, fold: &Fold, at: usize, expected: ExpectedContext) -> bool {
        let bytes = &self.after[at].bytes;
        match expected {
            ExpectedContext::Event(event) => self.before[event].bytes == *bytes,
            ExpectedContext::Edited(_, entry) | ExpectedContext::StandIn(entry) => {
                let own = one_line(bytes_of(&fold.entries[entry]));
                let filled = || with_blank(&own, self.case.dialect);
                own == *bytes || filled().is_some_and(|blank| *blank == **bytes)
            }
        }
    }

    /// Notes an expected message.
    fn note(&mut self, fold: &Fold, at: usize, expected: ExpectedContext, seen: &mut SeenContext) {
        match expected {
            ExpectedContext::Event(event) => {
                self.check(self.rule_of(fold, expected));
                seen.place[event] = Some(at);
            }
            ExpectedContext::Edited(..) => self.check(rule::ENTRIES),
            ExpectedContext::StandIn(_) => {
                self.check(rule::ENTRIES);
                seen.stand_in = Some(at);
                self.check_stand_in(at);
            }
        }
    }

    /// The rule that a missing message breaks, by its place.
    fn rule_of(&self, fold: &Fold, expected: ExpectedContext) -> &'static str {
        match expected {
            ExpectedContext::Event(event) if event < fold.span.start as usize => rule::HEAD,
            ExpectedContext::Event(event) if event >= fold.span.end as usize => rule::TAIL,
            ExpectedContext::Event(event) if is_pin(fold, event) => rule::PINS,
            _ => rule::ENTRIES,
        }
    }

    /// Checks a message that a repair added.
    fn check_added(&mut self, at: usize, why: RepairReason) {
        let reason = self.addition(&self.after[at]);
        self.expect_at(rule::REPAIRS, reason == Some(why), Some(at), || {
            format!("not the piece that {why:?} adds")
        });
        self.check_no_new_system(at);
    }

    /// Checks an event that a repair changed.
    fn check_rendered(
        &mut self,
        fold: &Fold,
        at: usize,
        expected: ExpectedContext,
        seq: u32,
        why: RepairReason,
        seen: &mut SeenContext,
    ) {
        let (event, original) = match expected {
            ExpectedContext::Event(event) => (event, None),
            ExpectedContext::Edited(event, entry) => {
                let bytes = bytes_of(&fold.entries[entry]);
                (event, Some(ReadMessage::new(self.case.dialect, bytes)))
            }
            ExpectedContext::StandIn(_) => {
                let detail = format!("a repair of message {seq} where the recap has to stand");
                return self.fail(rule::REPAIRS, Some(at), detail);
            }
        };
        let original = original.as_ref().unwrap_or(&self.before[event]);
        let is = self.rendering(original, &self.after[at]);
        let fine = event == seq as usize && is == Some(why);
        self.expect_at(rule::REPAIRS, fine, Some(at), || {
            format!("not what {why:?} makes of message {event} of the log (it is {is:?})")
        });
        seen.rendered[event] = true;
        // A system message of the log may stay one in another form.
        if !self.before[event].view.role.is_system() {
            self.check_no_new_system(at);
        }
    }

    /// How many messages of the context and of the record to skip until both agree again.
    fn skip(
        &self,
        fold: &Fold,
        expected: &[ExpectedContext],
        at: usize,
        want: usize,
    ) -> (usize, usize) {
        let agree = |extra: usize, missing: usize| {
            let here = self.after.get(at + extra).and(expected.get(want + missing));
            here.is_some_and(|next| self.agree(fold, at + extra, *next))
        };
        for n in 1..=AHEAD {
            if agree(0, n) {
                return (0, n);
            }
            if agree(n, 0) {
                return (n, 0);
            }
        }
        (1, 1)
    }

    /// Adds findings for messages that only the context or only the record has.
    fn report_difference(
        &mut self,
        fold: &Fold,
        expected: &[ExpectedContext],
        (at, want): (usize, usize),
        (extra, missing): (usize, usize),
    ) {
        let here = (at < self.after.len()).then_some(at);
        for next in expected.iter().skip(want).take(missing) {
            let rule = self.rule_of(fold, *next);
            let name = match next {
                ExpectedContext::Event(event) => format!("message {event} of the log"),
                ExpectedContext::Edited(event, _) => {
                    format!("the edited message {event} of the log")
                }
                ExpectedContext::StandIn(_) => "the recap or marker".to_owned(),
            };
            let how = if extra == 0 { "is missing" } else { "is not what stands here" };
            self.fail(rule, here, format!("{name} {how}"));
        }
        for at in at..(at + extra).min(self.after.len()) {
            self.fail(rule::IDENTITY, Some(at), "not what the record says stands here".to_owned());
            self.check_no_new_system(at);
            if self.is_stand_in(at) {
                self.check_stand_in(at);
            }
        }
    }

    /// Checks the record's flags `head_verbatim` and `tail_verbatim`.
    fn check_flags(&mut self, fold: &Fold, seen: &SeenContext) {
        let start = fold.span.start as usize;
        // Under `TailRule::Ceiling` the span reaches into the tail, and the flag speaks of the whole tail.
        let end = fold.layout.tail.start.min(fold.span.end) as usize;
        let whole = |range: &[Option<usize>]| range.iter().all(Option::is_some);
        let (head, tail) = (whole(&seen.place[..start]), whole(&seen.place[end..]));
        self.expect(rule::HEAD, head == fold.head_verbatim, || {
            format!("head_verbatim is {}, it is {head}", fold.head_verbatim)
        });
        self.expect(rule::TAIL, tail == fold.tail_verbatim, || {
            format!("tail_verbatim is {}, it is {tail}", fold.tail_verbatim)
        });
    }
}

/// Whether the record has the event as a pin or as the carried user message.
fn is_pin(fold: &Fold, event: usize) -> bool {
    let event = u32::try_from(event).unwrap_or(u32::MAX);
    fold.layout.pinned.contains(&event) || fold.layout.carried_user == Some(event)
}

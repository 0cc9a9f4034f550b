//! Narration in the background: what is asked of a model, what came back, and when it is used.
//! Nothing here waits: a reply that is late serves the next fold that still covers its span.

use serde::{Deserialize, Serialize};

use super::Session;
use crate::budget::Budget;
use crate::event::Hash;
use crate::fold::{Fold, Span, VerdictRecord};
use crate::layout::layout;
use crate::narrate::{
    FailureClass, Narrated, SummaryFailure, SummaryReply, SummaryRequest, Verdict,
};
use crate::plan::{Cause, Outcome, Plan, plan};
use crate::policy::Policy;
use crate::recap::ground::judge;
use crate::recap::sources::{Limits, earlier, sources};
use crate::trigger::Millis;

/// A narration is asked for when at least this share of the budget would be new in it.
const WORTH_ASKING: u64 = 20;
/// An answer that has not come after this long is asked for again.
const FORGOTTEN: Millis = 600_000;
/// Cap of a reply where the policy has none (the seed's own).
const MAX_TOKENS: u32 = 512;
/// Sampling temperature where the policy has none (the seed's own: 0.2).
const TEMPERATURE: crate::budget::Ratio = crate::budget::Ratio(2_000);
/// Wait for the first byte where the policy has none, in seconds (the seed's own).
const TIMEOUT_SECONDS: u32 = 25;

/// What is asked, what is there, and what became of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Narration {
    /// What was asked for last and is not answered.
    pub asked: Option<Wanted>,
    /// Failed attempts at it that the ladder has counted.
    #[serde(skip_serializing_if = "is_zero")]
    pub attempts: u32,
    /// The request that was answered last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handled: Option<Hash>,
    /// An accepted narration for the next fold.
    pub ready: Option<Narrated>,
    /// A fold that was prepared with it.
    #[serde(skip)]
    pub prepared: Option<Fold>,
    /// Verdicts since the last fold.
    pub verdicts: Vec<VerdictRecord>,
}

/// A span that should be narrated: what a queue has to know of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wanted {
    /// The request's id.
    pub id: Hash,
    /// What the narration will cover.
    pub span: Span,
    /// Events before this one are covered by the narration before.
    pub from: u32,
    /// The narration before, by its request.
    pub previous: Option<Hash>,
    /// When it was asked for.
    pub at: Millis,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl Narration {
    /// Whether an answer is awaited for so long that it would be asked for again.
    #[must_use]
    pub fn is_overdue(&self, now: Millis) -> bool {
        self.asked.as_ref().is_some_and(|asked| now.saturating_sub(asked.at) >= FORGOTTEN)
    }

    /// The answer to this request is here, whatever it is.
    fn answered(&mut self, request: Hash) {
        if self.asked.as_ref().is_some_and(|asked| asked.id == request) {
            self.asked = None;
            self.attempts = 0;
            self.handled = Some(request);
        }
    }

    /// A fold was made: its record has the verdicts, and what it used is used.
    pub(super) fn folded(&mut self, fold: &Fold) {
        self.verdicts.clear();
        self.prepared = None;
        let used = fold.narrated.as_ref().map(|narrated| narrated.request);
        if self.ready.as_ref().map(|ready| ready.request) == used {
            self.ready = None;
        }
    }
}

/// Why an answer could not be taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CompleteError {
    /// The log under the request is not the one that it was made from.
    #[error("the request is of another log, or of a part of it that is not there")]
    Changed,
}

impl Session {
    /// The narration for the next fold: a new one, else that of the active fold.
    pub(super) fn narrated(&self) -> Option<&Narrated> {
        let folded = self.active().and_then(|fold| fold.narrated.as_ref());
        self.narration.ready.as_ref().or(folded)
    }

    /// The span that a model should narrate now, if any: the buffer line is crossed, no model is
    /// cooling down, and nothing is under way or ready. Costs O(events).
    #[must_use]
    pub fn wanted(&self, budget: &Budget, now: Millis) -> Option<Wanted> {
        let budget = self.gate.budget(budget, &self.policy);
        if !self.gate.wants(&self.policy, &budget, self.load(), now) || self.is_asked(now) {
            return None;
        }
        let units = self.log.units();
        let room = budget.tokens();
        let middle = layout(&self.log, &units, &self.policy, room, None).middle();
        let before = self.narrated().filter(|before| {
            before.span.start as usize == middle.start
                && before.span.end as usize <= middle.end
                && before.span.through == self.log.hash_before(before.span.end as usize)
        });
        let from = before.map_or(middle.start, |before| before.span.end as usize);
        if self.log.tokens_in(from..middle.end) * WORTH_ASKING < room {
            return None;
        }
        let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let span = Span {
            start: number(middle.start),
            end: number(middle.end),
            before: self.log.hash_before(middle.start),
            through: self.log.hash_before(middle.end),
        };
        let previous = before.map(|before| before.request);
        let id = request_id(&self.id, &self.policy, &span, previous);
        Some(Wanted { id, span, from: number(from), previous, at: now })
    }

    /// Nothing new is asked for while an answer is awaited, or one waits for its fold.
    pub(super) fn is_asked(&self, now: Millis) -> bool {
        let ready = self.narration.ready.as_ref();
        (self.narration.asked.is_some() && !self.narration.is_overdue(now))
            || ready.is_some_and(|ready| {
                self.active().is_none_or(|fold| fold.span.end < ready.span.end)
            })
    }

    /// What a model should be asked now, if anything. Run it whenever and wherever, and tell the
    /// session with [`Session::complete`].
    pub fn wants(&mut self, budget: &Budget, now: Millis) -> Option<SummaryRequest> {
        let wanted = self.wanted(budget, now)?;
        let request = self.request(&wanted).ok()?;
        self.asked(wanted);
        Some(request)
    }

    /// Notes that a span was handed to a queue.
    pub fn asked(&mut self, wanted: Wanted) {
        self.narration.asked = Some(wanted);
        self.narration.attempts = 0;
    }

    /// The request for a span, from the original events.
    ///
    /// # Errors
    /// When the span is not in the log.
    pub fn request(&self, wanted: &Wanted) -> Result<SummaryRequest, CompleteError> {
        let Span { start, end, before, through } = wanted.span;
        let (start, end, from) = (start as usize, end as usize, wanted.from as usize);
        let fits = start <= from && from <= end && end <= self.log.len();
        if !fits || self.log.hash_before(start) != before || self.log.hash_before(end) != through {
            return Err(CompleteError::Changed);
        }
        let narration = &self.policy.narration;
        let known = [self.narration.ready.as_ref()].into_iter().flatten();
        let known = known.chain(self.folds.iter().filter_map(|fold| fold.narrated.as_ref()));
        let previous = known
            .filter(|narrated| Some(narrated.request) == wanted.previous)
            .map(|narrated| narrated.text(narration.style))
            .next();
        // What the narration before covered has to be read again where it is not known here.
        let from = if previous.is_some() { from } else { start };
        // A recap that stands in the log itself is narration too.
        let previous = previous.or_else(|| earlier(&self.log, start..end));
        Ok(SummaryRequest {
            id: wanted.id,
            session: self.id.clone(),
            span: wanted.span.clone(),
            header: self.policy.recap.header.clone(),
            sections: narration.sections.clone(),
            style: narration.style,
            words: narration.words,
            max_tokens: narration.max_tokens.unwrap_or(MAX_TOKENS),
            temperature: narration.temperature.unwrap_or(TEMPERATURE),
            timeout_seconds: narration.timeout_seconds.unwrap_or(TIMEOUT_SECONDS),
            previous,
            sources: sources(&self.log, from..end, &Limits::default()),
            focus: None,
            today: None,
            replaces: self.log.tokens_in(start..end),
        })
    }

    /// Takes the answer to a request, whenever it comes. Every answer gets a verdict, which the
    /// record of the next fold names; only an accepted one is kept, and used by the next fold
    /// that still covers its span.
    ///
    /// # Errors
    /// When the request's span is not in this log.
    pub fn complete(
        &mut self,
        request: &SummaryRequest,
        answer: Result<SummaryReply, SummaryFailure>,
        now: Millis,
    ) -> Result<VerdictRecord, CompleteError> {
        let end = request.span.end as usize;
        if end > self.log.len() || self.log.hash_before(end) != request.span.through {
            return Err(CompleteError::Changed);
        }
        self.narration.answered(request.id);
        let record = |code: &str, detail: String| VerdictRecord {
            request: request.id,
            code: code.to_owned(),
            detail,
        };
        let verdict = match answer {
            Err(failure) => {
                self.gate.cooldown.failed(Some(failure.class), now);
                record(failure.class.as_str(), failure.detail)
            }
            Ok(reply) => match judge(&self.log, request, &reply, &**self.log.counter()) {
                Ok(narrated) => {
                    self.gate.cooldown.succeeded();
                    self.narration.ready = Some(narrated);
                    record(Verdict::Accepted.as_str(), reply.model)
                }
                Err((verdict, detail)) => {
                    self.gate.cooldown.failed(None, now);
                    record(verdict.as_str(), detail)
                }
            },
        };
        self.hooks.answered(&verdict);
        self.narration.verdicts.push(verdict.clone());
        Ok(verdict)
    }

    /// Takes note that what was asked for is still being worked on: it is not asked for again.
    pub fn awaited(&mut self, now: Millis) {
        if let Some(asked) = &mut self.narration.asked {
            asked.at = now;
        }
    }

    /// Takes note of failed attempts at what was asked for, where somebody else runs it: so many
    /// so far, tried again at `again`, or not. Each is a rung of the ladder, once.
    pub fn attempted(
        &mut self,
        request: Hash,
        attempts: u32,
        class: Option<FailureClass>,
        again: Option<Millis>,
        now: Millis,
    ) {
        if self.narration.asked.as_ref().is_none_or(|asked| asked.id != request) {
            return;
        }
        for _ in self.narration.attempts..attempts {
            self.gate.cooldown.failed(class, now);
            self.gate.cooldown.until = again.unwrap_or(self.gate.cooldown.until);
        }
        self.narration.attempts = attempts.max(self.narration.attempts);
    }

    /// How long to leave a model alone after so many failed attempts at a request, counting the
    /// failures before it: the pause of whoever runs it.
    #[must_use]
    pub fn pause_after(&self, request: Hash, attempts: u32) -> Millis {
        let asked = self.narration.asked.as_ref().is_some_and(|asked| asked.id == request);
        let counted = if asked { self.narration.attempts } else { 0 };
        let before = u32::from(self.gate.cooldown.failures).saturating_sub(counted);
        crate::trigger::rung(before.saturating_add(attempts.saturating_sub(1)))
    }

    /// Takes note of a verdict on what was asked for, where somebody else ran and judged it.
    pub fn judged(&mut self, request: Hash, code: &str, detail: String) {
        self.narration.answered(request);
        if code == Verdict::Accepted.as_str() {
            self.gate.cooldown.succeeded();
        }
        self.narration.verdicts.push(VerdictRecord { request, code: code.to_owned(), detail });
    }

    /// The fold that covers just the narrated span: what a worker stores, for a session to take
    /// when its line is crossed. None where there is nothing to narrate with.
    #[must_use]
    pub fn prepare(&self, budget: &Budget) -> Option<Fold> {
        let narrated = self.narration.ready.as_ref()?;
        let budget = self.gate.budget(budget, &self.policy);
        let outcome = plan(&Plan {
            prior: self.active(),
            before: Some(self.view()),
            pins: &self.pins,
            joining: self.joining(),
            cause: Cause::Prepared,
            narrated: Some(narrated),
            verdicts: &self.narration.verdicts,
            narrated_only: true,
            ..Plan::new(&self.log, &self.policy, &budget, self.meter)
        });
        match outcome {
            Ok(Outcome::Folded(fold)) => Some(*fold),
            _ => None,
        }
    }

    /// Takes a fold that a worker prepared. It becomes active at the next fold boundary, if it
    /// then still fits; its narration is used in any case that its span is covered.
    ///
    /// # Errors
    /// When its span is not in this log.
    pub fn offer(&mut self, fold: Fold) -> Result<(), CompleteError> {
        if !fold.applies_to(&self.log) {
            return Err(CompleteError::Changed);
        }
        if let Some(narrated) = &fold.narrated {
            self.narration.answered(narrated.request);
        }
        self.narration.ready.clone_from(&fold.narrated);
        self.narration.prepared = Some(fold);
        Ok(())
    }

    /// The prepared fold, where it is made for the active one and reaches the target.
    pub(super) fn take_prepared(
        &mut self,
        budget: &Budget,
        focus: Option<&str>,
        cause: Cause,
    ) -> Option<Fold> {
        if cause != Cause::Threshold || focus.is_some() {
            return None;
        }
        let fold = self.narration.prepared.take()?;
        if fold.prev != self.active().map(|fold| fold.id) || !fold.applies_to(&self.log) {
            return None;
        }
        let pinned = |pin: &u32| (fold.span.start..fold.span.end).contains(pin);
        if self.pins.iter().any(|pin| pinned(pin) && !fold.layout.pinned.contains(pin)) {
            return None;
        }
        let tokens = crate::project::project(&self.log, Some(&fold)).tokens();
        let target = self.policy.fold.target.of(budget.tokens());
        (self.meter.upper(tokens) <= target).then_some(fold)
    }
}

/// Names the work, so that two nodes that want the same thing ask for the same id.
fn request_id(session: &str, policy: &Policy, span: &Span, previous: Option<Hash>) -> Hash {
    Hash::ROOT
        .chain(session.as_bytes())
        .chain(&span.before.0)
        .chain(&span.through.0)
        .chain(&policy.fingerprint().0)
        .chain(&previous.unwrap_or(Hash::ROOT).0)
}

//! Narration in the background: what is asked of a model, what came back, and when it is used.
//! Nothing here waits: a reply that is late serves the next fold that still covers its span.

use super::Session;
use super::narration::WantedNarration;
use crate::budget::Budget;
use crate::event::Hash;
use crate::fold::{DroppedLine, Fold, Span, VerdictCode, VerdictRecord};
use crate::narrate::{
    AcceptedNarration, FailureClass, SummaryFailure, SummaryReply, SummaryRequest,
};
use crate::plan::{FoldCause, PlanOutcome, PlanRequest, as_read, coverable, plan};
use crate::policy::Policy;
use crate::recap::ground::{GroundedReply, UngroundedReply, judge};
use crate::recap::prompt::FOCUS_CHARS;
use crate::recap::sources::{SourceLimits, cut, earlier, sources_of};
use crate::trigger::Millis;

/// A narration is asked for when at least this share of the budget would be new in it.
const WORTH_ASKING: u64 = 20;
/// Sampling temperature where the policy has none (the seed's own: 0.2).
const TEMPERATURE: crate::budget::Ratio = crate::budget::Ratio(2_000);
/// Longest time of an answer where the policy has none, in seconds (the seed's own).
const TIMEOUT_SECONDS: u32 = 25;

/// Why an answer could not be taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CompleteError {
    /// The log under the request is not the one that it was made from.
    #[error("the request is of another log, or of a part of it that is not there")]
    Changed,
}

impl Session {
    /// The narration for the next fold: a new one, else that of the active fold.
    pub(super) fn narrated(&self) -> Option<&AcceptedNarration> {
        let folded = self.active().and_then(|fold| fold.narrated.as_ref());
        self.narration.ready.as_ref().or(folded)
    }

    /// The span that a model should narrate now, if any: the buffer line is crossed, no model is
    /// cooling down, and nothing is under way or ready. Costs O(events).
    #[must_use]
    pub fn wanted(&self, budget: &Budget, now: Millis) -> Option<WantedNarration> {
        if !self.may_want(budget, now) {
            return None;
        }
        let budget = self.gate.budget(budget, &self.policy);
        let most = budget.tokens();
        let middle = coverable(&PlanRequest {
            pins: &self.pins,
            cause: FoldCause::Threshold,
            ahead: true,
            ..PlanRequest::new(&self.log, &self.policy, &budget, self.meter)
        });
        if middle.is_empty() {
            return None;
        }
        let before = self.narrated().filter(|before| {
            before.span.start as usize == middle.start
                && before.span.end as usize <= middle.end
                && before.span.through == self.log.hash_before(before.span.end as usize)
        });
        let from = before.map_or(middle.start, |before| before.span.end as usize);
        if self.log.tokens_in(from..middle.end) * WORTH_ASKING < most {
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
        let room = self.policy.narration_room(most);
        Some(WantedNarration { id, span, from: number(from), previous, room, at: now })
    }

    /// Whether there may be something to narrate, as [`Session::wanted`] would say: a quick check.
    pub(super) fn may_want(&self, budget: &Budget, now: Millis) -> bool {
        let Policy { trigger, narration, .. } = &self.policy;
        let line = || trigger.buffer_tokens(self.gate.budget(budget, &self.policy).tokens());
        trigger.on
            && narration.on
            && self.gate.cooldown.left(now) == 0
            && self.load().estimate >= line()
            && !self.is_asked(now)
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
    pub fn asked(&mut self, wanted: WantedNarration) {
        self.narration.asked = Some(wanted);
        self.narration.attempts = 0;
    }

    /// The request for a span, from the original events.
    ///
    /// # Errors
    /// When the span is not in the log.
    pub fn request(&self, wanted: &WantedNarration) -> Result<SummaryRequest, CompleteError> {
        let Span { start, end, before, through } = wanted.span;
        let (start, end, from) = (start as usize, end as usize, wanted.from as usize);
        let fits = start <= from && from <= end && end <= self.log.len();
        if !fits || self.log.hash_before(start) != before || self.log.hash_before(end) != through {
            return Err(CompleteError::Changed);
        }
        let narration = &self.policy.narration;
        let covered = self.log.tokens_in(start..end);
        let known = [self.narration.ready.as_ref()].into_iter().flatten();
        let known = known.chain(self.folds.iter().filter_map(|fold| fold.narrated.as_ref()));
        let previous = known
            .filter(|narrated| Some(narrated.request) == wanted.previous)
            .map(|narrated| narrated.text(narration.style))
            .next();
        // What the narration before covered has to be read again where it is not known here.
        let from = if previous.is_some() { from } else { start };
        // A recap that is in the log itself is narration too.
        let previous = previous.or_else(|| earlier(&self.log, start..end));
        let reduced = as_read(&self.log, &self.policy, start..end);
        let events = reduced.as_deref().unwrap_or(self.log.events());
        Ok(SummaryRequest {
            id: wanted.id,
            session: self.id.clone(),
            span: wanted.span.clone(),
            header: self.policy.recap.header.clone(),
            sections: narration.sections.clone(),
            style: narration.style,
            words: narration.words_for(covered, wanted.room),
            max_tokens: narration.max_tokens_for(covered, wanted.room),
            temperature: narration.temperature.unwrap_or(TEMPERATURE),
            timeout_seconds: narration.timeout_seconds.unwrap_or(TIMEOUT_SECONDS),
            previous,
            sources: sources_of(&self.log, events, from..end, &SourceLimits::of(narration.style)),
            focus: self.narration.wishes(),
            today: None,
            replaces: covered,
        })
    }

    /// The request to narrate what a fold covers, for whoever waits for the answer before the fold
    /// is made again with it. Nothing where it covers nothing.
    #[must_use]
    pub fn request_for(
        &self,
        fold: &Fold,
        focus: Option<&str>,
        now: Millis,
    ) -> Option<SummaryRequest> {
        let last = *fold.covered().last()?;
        let end = last as usize + 1;
        let through = self.log.hash_before(end);
        let span = Span { end: last + 1, through, ..fold.span.clone() };
        let id = request_id(&self.id, &self.policy, &span, None);
        let room = self.policy.narration_room(fold.budget.tokens());
        let wanted = WantedNarration { id, from: span.start, span, previous: None, room, at: now };
        let request = self.request(&wanted).ok()?;
        Some(SummaryRequest { focus: focus.map(str::to_owned).or(request.focus), ..request })
    }

    /// The same, for whoever can wait before the fold is made; nothing where the policy has no narration, or a
    /// model that failed is left alone.
    #[must_use]
    pub fn request_before(
        &self,
        fold: &Fold,
        focus: Option<&str>,
        now: Millis,
    ) -> Option<SummaryRequest> {
        let may = self.policy.narration.on && self.gate.cooldown.left(now) == 0;
        may.then(|| self.request_for(fold, focus, now)).flatten()
    }

    /// What the client wants kept, as it says with each of its requests; none where it says nothing. Each
    /// narration from now on is told, and each fold weighs it, until the client says something else.
    pub fn heed(&mut self, wish: Option<&str>) {
        let wish = wish.map(str::trim).filter(|wish| !wish.is_empty());
        self.narration.standing = wish.map(|wish| cut(wish, FOCUS_CHARS, FOCUS_CHARS, 0));
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
        let record = |code: VerdictCode, detail: String, dropped: Vec<DroppedLine>| VerdictRecord {
            request: request.id,
            code,
            detail,
            dropped,
        };
        let verdict = match answer {
            Err(failure) => {
                self.gate.cooldown.failed(Some(failure.class), now);
                record(failure.class.into(), failure.detail, Vec::new())
            }
            Ok(reply) => match judge(&self.log, request, &reply, &**self.log.counter()) {
                Ok(judged) => {
                    self.gate.cooldown.succeeded();
                    // One that was asked for before a person said what to keep does not know of it.
                    if request.focus.as_deref().is_some_and(|told| self.narration.knows(told)) {
                        self.narration.focus = None;
                    }
                    let detail = accepted(&reply.model, &judged);
                    self.narration.ready = Some(judged.narrated);
                    record(VerdictCode::ACCEPTED, detail, judged.dropped)
                }
                Err(UngroundedReply { verdict, detail, dropped }) => {
                    self.gate.cooldown.failed(None, now);
                    record(verdict.into(), detail, dropped)
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
    pub fn judged(&mut self, verdict: VerdictRecord) {
        self.narration.answered(verdict.request);
        if verdict.code == VerdictCode::ACCEPTED {
            self.gate.cooldown.succeeded();
            self.narration.focus = None;
        }
        self.narration.verdicts.push(verdict);
    }

    /// The fold that covers just the narrated span: what a worker stores, for a session to take
    /// when its line is crossed. None where there is nothing to narrate with.
    #[must_use]
    pub fn prepare(&self, budget: &Budget) -> Option<Fold> {
        let narrated = self.narration.ready.as_ref()?;
        let budget = self.gate.budget(budget, &self.policy);
        let outcome = plan(&PlanRequest {
            prior: self.active(),
            before: Some(self.view()),
            pins: &self.pins,
            joining: self.joining(),
            cause: FoldCause::Prepared,
            narrated: Some(narrated),
            verdicts: &self.narration.verdicts,
            narrated_only: true,
            ..PlanRequest::new(&self.log, &self.policy, &budget, self.meter)
        });
        match outcome {
            Ok(PlanOutcome::Folded(fold)) => Some(*fold),
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

    /// The prepared fold, where it is made for the active one and reaches the target. What a person
    /// asks to keep is asked of the next narration, too.
    pub(super) fn take_prepared(
        &mut self,
        budget: &Budget,
        focus: Option<&str>,
        cause: FoldCause,
    ) -> Option<Fold> {
        if let Some(focus) = focus {
            self.narration.focus = Some(focus.to_owned());
        }
        if !matches!(
            cause,
            FoldCause::Threshold | FoldCause::Cold | FoldCause::Seam | FoldCause::Agent
        ) || focus.is_some()
            || self.policy.narration.whole_middle
        {
            return None;
        }
        let fold = self.narration.prepared.take()?;
        if fold.prev != self.active().map(|fold| fold.id) || !fold.applies_to(&self.log) {
            return None;
        }
        // The policy was changed since: what it narrates still serves.
        if fold.policy_fingerprint != self.policy.fingerprint() {
            return None;
        }
        let pinned = |pin: &u32| (fold.span.start..fold.span.end).contains(pin);
        if self.pins.iter().any(|pin| pinned(pin) && !fold.layout.pinned.contains(pin)) {
            return None;
        }
        let tokens = crate::project::project(&self.log, Some(&fold)).tokens();
        let target = self.policy.fold.target.of(budget.tokens());
        (self.meter.upper(tokens) <= target).then(|| self.as_of_now(fold))
    }

    /// A prepared fold takes effect now: reasoning of the events since then is void, too.
    fn as_of_now(&self, mut fold: Fold) -> Fold {
        if fold.void_reasoning > 0 {
            fold.void_reasoning = u32::try_from(self.log.len()).unwrap_or(u32::MAX);
            fold.id = fold.compute_id();
        }
        fold
    }
}

/// The model, and what was taken from its reply.
fn accepted(model: &str, judged: &GroundedReply) -> String {
    let mut out = model.to_owned();
    for note in &judged.notes {
        out.push_str(&format!("; {note}"));
    }
    for (count, what) in [
        (judged.dropped.len(), "lines were dropped"),
        (judged.redacted as usize, "secrets were replaced"),
    ] {
        if count > 0 {
            out.push_str(&format!("; {what}: {count}"));
        }
    }
    out
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

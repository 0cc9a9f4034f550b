//! Narration in the background: the requests to a model, its answers, and when an answer is used. Nothing here waits. A
//! late answer is used by the next fold that still covers its span.

use super::Session;
use super::narration::{ReadyNarration, RequestState, WantedNarration};
use crate::budget::Budget;
use crate::event::Hash;
use crate::fold::{DroppedLine, Fold, Span, VerdictCode, VerdictRecord};
use crate::layout::pruning_end;
use crate::narrate::{
    AcceptedNarration, FailureClass, SummaryFailure, SummaryReply, SummaryRequest,
};
use crate::plan::{FoldCause, PlanOutcome, PlanRequest, coverable, plan};
use crate::policy::{CoverExtent, Policy};
use crate::recap::ground::{GroundedReply, UngroundedReply, judge};
use crate::recap::prompt::FOCUS_CHARS;
use crate::recap::sources::{SourceLimits, cut, earlier, sources_of};
use crate::reduce::as_read;
use crate::trigger::Millis;

/// A narration is asked for when its new events have at least 1/`WORTH_ASKING` of the budget's tokens.
const WORTH_ASKING: u64 = 20;
/// Sampling temperature in ten-thousandths where the policy names none: 0.2, as in Hermes Agent.
const TEMPERATURE: crate::budget::Ratio = crate::budget::Ratio(2_000);
/// Time limit of an answer in seconds where the policy names none, as in Hermes Agent.
const TIMEOUT_SECONDS: u32 = 25;

/// Why an answer could not be taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CompleteError {
    /// The log under the request is not the one that it was made from.
    #[error("the span that the request asks about is not in this log")]
    Changed,
}

impl Session {
    /// The narration that the next fold would use: a new one if there is one, else that of the active fold. `None`
    /// where neither exists.
    pub(super) fn latest_narration(&self) -> Option<&AcceptedNarration> {
        let folded = self.active().and_then(|fold| fold.narrated.as_ref());
        self.narration.accepted().or(folded)
    }

    /// The span that a model should narrate now. `None` unless the context is above the buffer line, no model is
    /// cooling down after a failure, no narration is under way or ready, and enough tokens would be new. Costs
    /// O(events).
    #[must_use]
    pub fn wanted_narration(&self, budget: &Budget, now: Millis) -> Option<WantedNarration> {
        if !self.may_want_narration(budget, now) {
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
        // After an undo, in a fork or with another head the narration before may be of other events.
        let before = self.latest_narration().filter(|before| {
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

    /// A cheap check before [`Session::wanted_narration`]: false means that there is surely nothing to narrate.
    pub(super) fn may_want_narration(&self, budget: &Budget, now: Millis) -> bool {
        let Policy { trigger, narration, .. } = &self.policy;
        let line = || trigger.buffer_tokens(self.gate.budget(budget, &self.policy).tokens());
        trigger.on
            && narration.on
            && self.gate.cooldown.left(now) == 0
            && self.load().estimate >= line()
            && !self.is_narration_pending(now)
    }

    /// Whether an answer is still awaited, or a narration is ready that no fold has used yet. Either way no new
    /// narration is asked for.
    pub(super) fn is_narration_pending(&self, now: Millis) -> bool {
        (self.narration.open().is_some() && !self.narration.is_overdue(now))
            || self.narration.accepted().is_some_and(|ready| {
                self.active().is_none_or(|fold| fold.span.end < ready.span.end)
            })
    }

    /// The request that a model should answer now, if any; it is noted as asked for. The caller may run it at any time
    /// and on any thread, and hands the answer to [`Session::complete`].
    pub fn take_request(&mut self, budget: &Budget, now: Millis) -> Option<SummaryRequest> {
        if self.log.tokens() < self.narration.idle_until {
            return None;
        }
        let Some(wanted) = self.wanted_narration(budget, now) else {
            self.narration.idle_until = self.nothing_to_narrate(budget, now);
            return None;
        };
        let request = self.request_of(&wanted).ok()?;
        // Noted only once the request exists, else it would count as awaited and block the next one.
        self.note_asked(wanted);
        Some(request)
    }

    /// The tokens of the log at which to look again after nothing was found; 0 for the next event. Where a recap covers
    /// the overflow alone, only a plan of the whole log shows whether there is any, so that is not made at each event.
    fn nothing_to_narrate(&self, budget: &Budget, now: Millis) -> u64 {
        let is_plan = self.policy.recap.cover == CoverExtent::Overflow
            && self.may_want_narration(budget, now);
        let worth = self.gate.budget(budget, &self.policy).tokens() / WORTH_ASKING;
        if is_plan { self.log.tokens() + worth } else { 0 }
    }

    /// Notes that a span was handed to a queue.
    pub fn note_asked(&mut self, wanted: WantedNarration) {
        self.narration.note_asked(wanted);
    }

    /// The request for a wanted narration, built from the original events of its span.
    ///
    /// # Errors
    /// When the span is not in the log.
    pub fn request_of(&self, wanted: &WantedNarration) -> Result<SummaryRequest, CompleteError> {
        let Span { start, end, before, through } = wanted.span;
        let (start, end, from) = (start as usize, end as usize, wanted.from as usize);
        let fits = start <= from && from <= end && end <= self.log.len();
        if !fits || self.log.hash_before(start) != before || self.log.hash_before(end) != through {
            return Err(CompleteError::Changed);
        }
        let narration = &self.policy.narration;
        let covered = self.log.tokens_in(start..end);
        let known = self
            .narration
            .accepted()
            .into_iter()
            .chain(self.folds.iter().filter_map(|fold| fold.narrated.as_ref()));
        let previous = known
            .filter(|narrated| Some(narrated.request) == wanted.previous)
            .map(|narrated| narrated.text(narration.style))
            .next();
        // Without the text of the narration before, its events have to be read again.
        let from = if previous.is_some() { from } else { start };
        // A recap that the transcript brought along, as a message of the log, serves as the narration before.
        let previous = previous.or_else(|| earlier(&self.log, start..end));
        let pruned = start..end.min(pruning_end(&self.policy, self.log.len())).max(start);
        let reduced = as_read(&self.log, &self.policy, pruned);
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

    /// The request to narrate the events that a fold covers. For callers that wait for the answer and then make the
    /// fold again with it. `None` where the fold covers no event.
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
        let request = self.request_of(&wanted).ok()?;
        Some(SummaryRequest { focus: focus.map(str::to_owned).or(request.focus), ..request })
    }

    /// As [`Session::request_for`], for callers that can wait before the fold is made. `None` also where the policy has
    /// no narration, or the model is cooling down after a failure.
    #[must_use]
    pub fn request_if_allowed(
        &self,
        fold: &Fold,
        focus: Option<&str>,
        now: Millis,
    ) -> Option<SummaryRequest> {
        let may = self.policy.narration.on && self.gate.cooldown.left(now) == 0;
        may.then(|| self.request_for(fold, focus, now)).flatten()
    }

    /// Sets what the client wants kept, which it repeats with each request. Each narration and each fold from now on
    /// heeds it, until the client says something else; `None` ends it.
    pub fn heed(&mut self, words: Option<&str>) {
        let words = words.map(str::trim).filter(|words| !words.is_empty());
        self.narration.standing = words.map(|words| cut(words, FOCUS_CHARS, FOCUS_CHARS, 0));
    }

    /// Takes the answer to a request, however late. Every answer gets a verdict, which the record of the next fold
    /// names. Only an accepted answer is kept; the next fold that still covers its span uses it.
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
        // The chain's hash at the end covers all events before it, so the start needs no check.
        if end > self.log.len() || self.log.hash_before(end) != request.span.through {
            return Err(CompleteError::Changed);
        }
        self.narration.note_answered(request.id);
        let record = |code: VerdictCode, detail: String, dropped: Vec<DroppedLine>| VerdictRecord {
            request: request.id,
            code,
            detail,
            dropped,
        };
        let verdict = match answer {
            Err(failure) => {
                self.gate.cooldown.note_failure(Some(failure.class), now);
                record(failure.class.into(), failure.detail, Vec::new())
            }
            Ok(reply) => match judge(&self.log, request, &reply, &**self.log.counter()) {
                Ok(judged) => {
                    self.gate.cooldown.note_success();
                    // A request from before a person said what to keep lacks those words; they stay for the next
                    // request.
                    if request.focus.as_deref().is_some_and(|focus| self.narration.knows(focus)) {
                        self.narration.focus = None;
                    }
                    let detail = accepted(&reply.model, &judged);
                    self.narration.take(judged.narrated);
                    record(VerdictCode::ACCEPTED, detail, judged.dropped)
                }
                Err(UngroundedReply { verdict, detail, dropped }) => {
                    self.gate.cooldown.note_failure(None, now);
                    record(verdict.into(), detail, dropped)
                }
            },
        };
        self.hooks.answered(&verdict);
        self.narration.verdicts.push(verdict.clone());
        Ok(verdict)
    }

    /// Notes that the queue is still working on the request, so that it does not count as overdue and is not repeated.
    pub fn note_still_running(&mut self, now: Millis) {
        if let RequestState::Open(open) = &mut self.narration.request {
            open.wanted.at = now;
        }
    }

    /// Notes failed attempts at a request that a worker runs: `attempts` in all so far. `again` is when the worker
    /// tries again, `None` where it gives up. Each attempt counts once as a failure of the cooldown, however often it
    /// is reported.
    pub fn note_failed_attempts(
        &mut self,
        request: Hash,
        attempts: u32,
        class: Option<FailureClass>,
        again: Option<Millis>,
        now: Millis,
    ) {
        let Some(open) = self.narration.open_mut(request) else { return };
        for _ in open.attempts..attempts {
            self.gate.cooldown.note_failure(class, now);
            // The worker tries again at its own time; the session must not hold it back longer.
            self.gate.cooldown.until = again.unwrap_or(self.gate.cooldown.until);
        }
        open.attempts = attempts.max(open.attempts);
    }

    /// How long, in milliseconds, a worker should leave the model alone after `attempts` failed attempts at a request.
    /// The failures before that request make the pause longer.
    #[must_use]
    pub fn pause_after(&self, request: Hash, attempts: u32) -> Millis {
        let open = self.narration.open().filter(|open| open.wanted.id == request);
        let counted = open.map_or(0, |open| open.attempts);
        // The cooldown counts the failures of this request, too, and `attempts` would count them again.
        let before = u32::from(self.gate.cooldown.failures).saturating_sub(counted);
        crate::trigger::rung(before.saturating_add(attempts.saturating_sub(1)))
    }

    /// Notes the verdict on a request that a worker ran and judged.
    pub fn note_verdict(&mut self, verdict: VerdictRecord) {
        // A failure was counted by `attempted` already, so the cooldown is left alone.
        let open = self.narration.note_answered(verdict.request);
        if verdict.code == VerdictCode::ACCEPTED {
            self.gate.cooldown.note_success();
            // The verdict does not say which words the worker's request had. Words that may be missing from it stay
            // for the next request: a repeated wish costs less than a lost one.
            if open.is_none_or(|open| !open.lacks_focus) {
                self.narration.focus = None;
            }
        }
        self.narration.verdicts.push(verdict);
    }

    /// The fold that covers just the narrated span. A worker stores it, and a session takes it when its line is
    /// crossed. `None` where no narration is ready, or planning makes no fold.
    #[must_use]
    pub fn prepare(&self, budget: &Budget) -> Option<Fold> {
        let narrated = self.narration.accepted()?;
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
            reasoning: self.reasoning(),
            void: self.void,
            keeps_turns: self.keeps_turns,
            ..PlanRequest::new(&self.log, &self.policy, &budget, self.meter)
        });
        match outcome {
            Ok(PlanOutcome::Folded(fold)) => Some(*fold),
            _ => None,
        }
    }

    /// Takes a fold that a worker prepared. It becomes active when a fold is due, provided that it still fits. If it no
    /// longer fits, its narration is still used by a fold that covers its span.
    ///
    /// # Errors
    /// When its span is not in this log.
    pub fn offer(&mut self, fold: Fold) -> Result<(), CompleteError> {
        if !fold.applies_to(&self.log) {
            return Err(CompleteError::Changed);
        }
        if let Some(narration) = fold.narrated.clone() {
            self.narration.note_answered(narration.request);
            self.narration.ready = Some(ReadyNarration { narration, fold: Some(fold) });
        }
        Ok(())
    }

    /// The prepared fold, if it follows the active fold, was made by the present policy and reaches the target; else
    /// `None`. A person's `focus` is kept for the next narration and rules the prepared fold out, since that was made
    /// without it.
    pub(super) fn take_prepared(
        &mut self,
        budget: &Budget,
        focus: Option<&str>,
        cause: FoldCause,
    ) -> Option<Fold> {
        if let Some(focus) = focus {
            self.narration.note_focus(focus);
        }
        if !matches!(
            cause,
            FoldCause::Threshold | FoldCause::Cold | FoldCause::Seam | FoldCause::Agent
        ) || focus.is_some()
            || self.policy.narration.whole_middle
        {
            return None;
        }
        let fold = self.narration.ready.as_mut()?.fold.take()?;
        // The session has folded or undone since: this fold builds on another one.
        if fold.prev != self.active().map(|fold| fold.id) || !fold.applies_to(&self.log) {
            return None;
        }
        // Another policy made this fold. Its narration stays in `ready` and still serves.
        if fold.policy_fingerprint != self.policy.fingerprint() {
            return None;
        }
        // A person may have pinned a message of the span after the fold was prepared.
        let pinned = |pin: &u32| (fold.span.start..fold.span.end).contains(pin);
        if self.pins.iter().any(|pin| pinned(pin) && !fold.layout.pinned.contains(pin)) {
            return None;
        }
        let tokens = crate::project::project(&self.log, Some(&fold)).tokens();
        // Above the target another fold would soon be due. The narration stays in `ready` and serves that one.
        let target = self.policy.fold.target.of(budget.tokens());
        (self.meter.upper(tokens) <= target).then(|| self.as_of_now(fold))
    }

    /// Updates a prepared fold to the present length of the log: reasoning in events that came since it was made is
    /// void, too.
    fn as_of_now(&self, mut fold: Fold) -> Fold {
        if fold.void_reasoning > 0 {
            fold.void_reasoning = u32::try_from(self.log.len()).unwrap_or(u32::MAX);
            fold.id = fold.compute_id();
        }
        fold
    }
}

/// The detail of an accepted verdict: the model's name, the notes, and how many lines and secrets were taken out.
fn accepted(model: &str, judged: &GroundedReply) -> String {
    let mut out = model.to_owned();
    for note in &judged.notes {
        out.push_str(&format!("; {note}"));
    }
    for (count, label) in [
        (judged.dropped.len(), "lines were dropped"),
        (judged.redacted as usize, "secrets were replaced"),
    ] {
        if count > 0 {
            out.push_str(&format!("; {label}: {count}"));
        }
    }
    out
}

/// The identifier of a request. It depends on the work alone, so two nodes that want the same narration ask for the
/// same id.
fn request_id(session: &str, policy: &Policy, span: &Span, previous: Option<Hash>) -> Hash {
    Hash::ROOT
        .chain(session.as_bytes())
        .chain(&span.before.0)
        .chain(&span.through.0)
        .chain(&policy.fingerprint().0)
        .chain(&previous.unwrap_or(Hash::ROOT).0)
}

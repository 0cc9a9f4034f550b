//! The request that a session hands to planning: its own state, the wishes of hooks, and the texts that are put back.

use super::wish::FoldWishes;
use super::{SentContext, Session};
use crate::budget::Budget;
use crate::hooks::HookDecision;
use crate::meter::Meter;
use crate::plan::{FoldCause, GatherMemo, NoOp, PlanError, PlanOutcome, PlanRequest, plan_from};
use crate::put_back::PutBack;
use crate::redact::Redactor;

impl Session {
    /// Folds as [`Session::fold_by_meter`] does. Where the context cannot fit because of what the last counts taught, that
    /// may be of a dense text that a fold removes: no fold is refused because of it.
    pub(super) fn fold(
        &mut self,
        budget: &Budget,
        focus: Option<&str>,
        cause: FoldCause,
    ) -> Result<PlanOutcome, PlanError> {
        let outcome = self.fold_by_meter(budget, focus, cause, None);
        if !matches!(outcome, Err(PlanError::Floor(_))) {
            return outcome;
        }
        let own = self.meter;
        let counted = self.sent.map_or_else(|| self.load().counted, |context| context.counted);
        for meter in own.less_certain(counted) {
            self.meter = meter;
            if let Ok(PlanOutcome::Folded(fold)) = self.fold_by_meter(budget, focus, cause, None) {
                let (remaining, ratio) = (self.load().counted, own.ratio.min(meter.ratio));
                // What this meter adds for density stays, for the messages that stay.
                let unseen = meter.calibrated(remaining).saturating_sub(ratio.of(remaining));
                self.meter = Meter { ratio, unseen, ..own };
                return Ok(PlanOutcome::Folded(fold));
            }
        }
        self.meter = own;
        outcome
    }

    /// Moves the meter by the provider's count of a context and of what was sent behind it.
    pub(super) fn settle(&mut self, context: SentContext, prompt: u64) {
        let history = prompt.saturating_sub(context.beside);
        // Two counts under the same fold differ by the appended events alone: the meter learns its ratio from these.
        if let Some((before, settled)) = self.settled
            && before.fold == context.fold
            && history > settled.saturating_sub(before.beside)
        {
            let grown = history - settled.saturating_sub(before.beside);
            self.meter.observe(context.counted.saturating_sub(before.counted), grown);
        }
        self.settled = Some((context, prompt));
        // After the ratio: the anchor takes what the ratio does not explain for tokens outside the log.
        self.meter.anchor(context.counted, history);
    }

    /// Asks the hooks about a planned fold. Where they pin events or bring a recap, the fold is planned again; of the
    /// second fold they can only say no. A cancelled fold is made all the same where the context would not fit without
    /// it.
    pub(super) fn ask_hooks(
        &self,
        outcome: PlanOutcome,
        budget: &Budget,
        focus: Option<&str>,
        cause: FoldCause,
        mut wishes: FoldWishes,
        memo: &mut GatherMemo,
    ) -> Result<PlanOutcome, PlanError> {
        let must = cause == FoldCause::Overflow || self.load().upper > budget.tokens();
        let mut outcome = outcome;
        for round in 0..2 {
            let PlanOutcome::Folded(fold) = &outcome else { return Ok(outcome) };
            match self.hooks.before_fold(&self.log, fold) {
                HookDecision::Cancel if !must => return Ok(PlanOutcome::Nothing(NoOp::Cancelled)),
                HookDecision::Preserve(pins) if round == 0 => wishes.pins = pins,
                HookDecision::Recap(text) if round == 0 => wishes.recap = Some(text),
                _ => return Ok(outcome),
            }
            outcome = self.plan(budget, focus, cause, &wishes, memo)?;
        }
        Ok(outcome)
    }

    /// Plans a fold with the state of this session; the outcome is not made active.
    pub(super) fn plan(
        &self,
        budget: &Budget,
        focus: Option<&str>,
        cause: FoldCause,
        wishes: &FoldWishes,
        memo: &mut GatherMemo,
    ) -> Result<PlanOutcome, PlanError> {
        let pins: Vec<u32> = self.pins.iter().chain(&wishes.pins).copied().collect();
        let verdicts = self.narration.on_record(self.gate.cooldown.class);
        let request = PlanRequest {
            prior: self.active(),
            before: Some(self.view()),
            pins: &pins,
            recap: wishes.recap.as_deref(),
            target: wishes.size,
            put_back: Some(&wishes.put_back).filter(|lines| !lines.is_empty()),
            // A person's words go before the agent's, and both before those that a client repeats with each request.
            focus: focus.or(wishes.keep.as_deref()).or(self.narration.standing.as_deref()),
            joining: self.joining(),
            cause,
            narrated: self.latest_narration(),
            verdicts: &verdicts,
            reasoning: self.reasoning(),
            void: self.void,
            keeps_turns: self.keeps_turns,
            ..PlanRequest::new(&self.log, &self.policy, budget, self.meter)
        };
        plan_from(&request, Some(&self.projection), memo).map(|(outcome, _)| outcome)
    }

    /// The agent's notes and the host's texts that a fold made now would put back into the context.
    pub(super) fn put_back(&self, budget: &Budget) -> PutBack {
        let redact = |text: &str| Redactor::shared().redact(text).0.into_owned();
        // A note about messages that are not in the log yet waits for them: a fork of this log may get the fold.
        PutBack::new(
            &self.notes(),
            &self.hooks.put_back(),
            budget.tokens(),
            &**self.log.counter(),
            redact,
        )
    }
}

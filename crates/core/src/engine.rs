//! The state machine over all of it: a session. Sans-IO: it is told, it never asks anybody.

use std::sync::Arc;

use crate::budget::Budget;
use crate::counter::Counter;
use crate::dialect::Dialect;
use crate::event::RawEvent;
use crate::fold::{Fold, Joining};
use crate::log::Log;
use crate::meter::Meter;
use crate::plan::{Outcome, Plan, PlanError, plan};
use crate::policy::Policy;
use crate::profile::Profile;
use crate::project::{Context, Projection};

/// One conversation: its log, its folds, its meter.
///
/// Appending costs O(new event), a context is an O(1) handle, and only a fold costs more.
#[derive(Clone)]
pub struct Session {
    id: String,
    log: Log,
    policy: Policy,
    meter: Meter,
    folds: Vec<Fold>,
    pins: Vec<u32>,
    projection: Projection,
}

impl Session {
    /// An empty session.
    #[must_use]
    pub fn new(
        id: &str,
        policy: Policy,
        dialect: Arc<dyn Dialect>,
        profile: Profile,
        counter: Arc<dyn Counter>,
        meter: Meter,
    ) -> Self {
        Self::over(id, Log::new(dialect, profile, counter), policy, meter)
    }

    /// A session over a log that is there already.
    #[must_use]
    pub fn over(id: &str, log: Log, policy: Policy, meter: Meter) -> Self {
        let projection = Projection::new(&log, None);
        Self {
            id: id.to_owned(),
            log,
            policy,
            meter,
            folds: Vec::new(),
            pins: Vec::new(),
            projection,
        }
    }

    /// Appends one event and returns its position.
    pub fn append(&mut self, event: RawEvent) -> u32 {
        let seq = self.log.append(event);
        self.projection.extend(&self.log);
        seq
    }

    /// The context as it stands: all events, read through the active fold. O(1), never fails.
    #[must_use]
    pub fn view(&self) -> Context {
        self.projection.context()
    }

    /// The context to send: folds first where the policy's trigger fires.
    ///
    /// # Errors
    /// When what may not be folded is larger than the budget.
    pub fn context(&mut self, budget: &Budget) -> Result<Context, PlanError> {
        let threshold = self.policy.trigger.threshold_tokens(budget.tokens());
        let meter = self.meter.with_margin(self.policy.trigger.margin);
        // Nothing to plan for: the common case costs nothing.
        if meter.calibrated(self.projection.context().tokens()) >= threshold {
            self.fold(budget, None, false)?;
        }
        Ok(self.view())
    }

    /// Folds now, because a person asked. Threshold and minimum reclaim do not apply.
    ///
    /// # Errors
    /// As [`Session::context`].
    pub fn compact(&mut self, budget: &Budget, focus: Option<&str>) -> Result<Outcome, PlanError> {
        self.fold(budget, focus, true)
    }

    fn fold(
        &mut self,
        budget: &Budget,
        focus: Option<&str>,
        manual: bool,
    ) -> Result<Outcome, PlanError> {
        let outcome = self.preview(budget, focus, manual)?;
        if let Outcome::Folded(fold) = &outcome {
            self.folds.push((**fold).clone());
            self.projection = Projection::new(&self.log, self.folds.last());
        }
        Ok(outcome)
    }

    /// What a compaction would do, without doing it.
    ///
    /// # Errors
    /// As [`Session::context`].
    pub fn preview(
        &self,
        budget: &Budget,
        focus: Option<&str>,
        manual: bool,
    ) -> Result<Outcome, PlanError> {
        let (turn, request) =
            self.log.events().last().map_or((0, 0), |last| (last.turn, last.step));
        plan(&Plan {
            log: &self.log,
            prior: self.folds.last(),
            policy: &self.policy,
            budget,
            meter: self.meter,
            pins: &self.pins,
            focus,
            joining: Joining { session: self.id.clone(), turn, request },
            manual,
        })
    }

    /// Keeps an event, with its unit, out of every later fold.
    pub fn pin(&mut self, seq: u32) {
        if !self.pins.contains(&seq) {
            self.pins.push(seq);
            self.pins.sort_unstable();
        }
    }

    /// The log.
    #[must_use]
    pub fn log(&self) -> &Log {
        &self.log
    }

    /// The folds, oldest first; the last one is active.
    #[must_use]
    pub fn folds(&self) -> &[Fold] {
        &self.folds
    }

    /// The meter.
    #[must_use]
    pub fn meter(&self) -> &Meter {
        &self.meter
    }
}

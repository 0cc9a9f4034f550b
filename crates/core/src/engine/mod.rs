//! A session as a state machine without IO: its caller brings the messages, the time and the model's replies.

mod agent;
mod background;
mod brief;
mod change;
mod contract;
mod fork;
mod gather_ahead;
mod narration;
mod overflow;
mod pictures;
mod placeholders;
mod planning;
mod reasoning;
mod status;
mod tiers;
mod waiting;
mod wish;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::budget::Budget;
use crate::counter::Counter;
use crate::dialect::Dialect;
use crate::event::{Hash, RawEvent, Usage};
pub use crate::fill::SentContext;
use crate::fold::{Fold, FoldJoin};
use crate::hooks::{FoldHooks, NoHooks};
use crate::log::EventLog;
use crate::meter::Meter;
use crate::plan::{FoldCause, GatherMemo, NoOp, PlanError, PlanOutcome};
use crate::policy::{Policy, TriggerPolicy};
use crate::profile::ProviderProfile;
use crate::profile::VoidReasoning;
use crate::project::{Context, ContextProjection};
use crate::spending::SessionSpending;
use crate::trigger::{ContextLoad, FoldDue, FoldGate, HoldReason, Millis};

pub use agent::{NOTE_CHARS, NOTES_CHARS, NoteError};
pub use background::CompleteError;
pub use brief::{BriefError, BriefReading, BriefSession, kept_ranges};
pub use contract::{BuiltInEngine, Engine, EngineRegistry, Passthrough, UnknownEngine, engine};
use gather_ahead::GatherAhead;
pub use narration::{NarrationQueue, OpenRequest, ReadyNarration, RequestState, WantedNarration};
pub use overflow::{RecoverError, ReportedOverflow};
pub use status::{NewPolicy, SessionState, SessionStatus};
use wish::FoldWishes;
pub use wish::{AgentNote, AgentWishes, NotedHistory};

/// One conversation: its log, its folds, its meter.
///
/// Appending costs O(new event), a context is an O(1) handle; only a fold costs more.
///
/// ```
/// # use midfold_core::{engine::Session, budget::Budget, policy::Policy, meter::Meter, log::EventLog};
/// fn next_request(session: &mut Session, budget: &Budget, now: u64) -> Vec<u8> {
///     match session.context(budget, now) {
///         Ok(context) => context.bytes(), // a JSON array, ready to send
///         Err(floor) => panic!("{floor}"), // names what cannot be folded
///     }
/// }
/// ```
#[derive(Clone)]
pub struct Session {
    id: String,
    log: EventLog,
    policy: Policy,
    /// The policy's own trigger rules, without those of the present model.
    trigger: TriggerPolicy,
    /// The number of events in the log when the policy was last changed; `None` if it never was.
    policy_since: Option<u32>,
    model: String,
    meter: Meter,
    gate: FoldGate,
    /// Every fold that was made, in order. `active` is the index of the one that the context is read through.
    folds: Vec<Fold>,
    active: Option<usize>,
    pins: Vec<u32>,
    agent: AgentWishes,
    /// Reasoning that is void beyond what the folds say: after an undo, or because the provider refused it.
    void: Option<VoidReasoning>,
    /// Whether the messages that a fold adds must keep user and assistant taking turns.
    keeps_turns: bool,
    /// Whether the host holds the answers to the newest calls, and sends them behind the context.
    is_answered: bool,
    /// How long the provider keeps a prompt in its cache, in milliseconds; `None` where nobody said.
    cache_lifetime: Option<Millis>,
    projection: ContextProjection,
    sent: Option<SentContext>,
    /// The last context whose cost is known, with the provider's count of its prompt tokens.
    settled: Option<(SentContext, u64)>,
    usage: Usage,
    spent: SessionSpending,
    faults: BTreeMap<String, u64>,
    narration: NarrationQueue,
    /// The number of folds before the last reset. Figures of the session leave these out.
    uncounted: usize,
    /// Statements gathered by the last fold and since then; the next fold goes on from there.
    gathered: GatherMemo,
    ahead: GatherAhead,
    hooks: Arc<dyn FoldHooks>,
}

/// Why a fold cannot be undone.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UndoError {
    /// Nothing is folded.
    #[error("nothing is folded")]
    Nothing,
    /// The fold is not one of those that the context is read through.
    #[error("no fold `{0}` is in use")]
    Unknown(String),
}

impl Session {
    /// An empty session.
    #[must_use]
    pub fn new(
        id: &str,
        policy: Policy,
        dialect: Arc<dyn Dialect>,
        profile: ProviderProfile,
        counter: Arc<dyn Counter>,
        meter: Meter,
    ) -> Self {
        Self::over(id, EventLog::new(dialect, profile, counter), policy, meter)
    }

    /// A session over an existing log.
    #[must_use]
    pub fn over(id: &str, log: EventLog, policy: Policy, meter: Meter) -> Self {
        let projection = ContextProjection::new(&log, None);
        Self {
            id: id.to_owned(),
            log,
            trigger: policy.trigger.clone(),
            policy,
            policy_since: None,
            model: String::new(),
            meter,
            gate: FoldGate::default(),
            folds: Vec::new(),
            active: None,
            pins: Vec::new(),
            agent: AgentWishes::default(),
            void: None,
            keeps_turns: false,
            is_answered: false,
            cache_lifetime: None,
            projection,
            sent: None,
            settled: None,
            usage: Usage::default(),
            spent: SessionSpending::default(),
            faults: BTreeMap::new(),
            narration: NarrationQueue::default(),
            uncounted: 0,
            gathered: GatherMemo::default(),
            ahead: GatherAhead::default(),
            hooks: Arc::new(NoHooks),
        }
    }

    /// Sets hooks, by which a host inspects every fold.
    #[must_use]
    pub fn with_hooks(mut self, hooks: Arc<dyn FoldHooks>) -> Self {
        self.set_hooks(hooks);
        self
    }

    /// As [`Session::with_hooks`].
    pub fn set_hooks(&mut self, hooks: Arc<dyn FoldHooks>) {
        self.hooks = hooks;
    }

    /// Sets the folds of a stored session: all of them in order, and the id of the active one. A fold whose span is not
    /// in the log is never applied.
    #[must_use]
    pub fn with_folds(mut self, folds: Vec<Fold>, active: Option<Hash>) -> Self {
        self.set_folds(folds, active);
        self
    }

    /// As [`Session::with_folds`].
    pub fn set_folds(&mut self, folds: Vec<Fold>, active: Option<Hash>) {
        self.folds = folds;
        self.set_active(active);
    }

    /// Appends one event and returns its position.
    pub fn append(&mut self, event: RawEvent) -> u32 {
        let seq = self.log.append(event);
        self.projection.extend(&self.log);
        self.ahead.gather(&self.log, &self.policy, &self.pins, &mut self.gathered);
        seq
    }

    /// Appends events of `whole`, of which the session's log is the beginning, until the log has `n` events.
    pub fn grow_to(&mut self, n: usize, whole: &EventLog) {
        self.log.grow_to(n, whole);
        self.projection.extend(&self.log);
    }

    /// The context as it is now: all events, read through the active fold. O(1), never fails.
    #[must_use]
    pub fn view(&self) -> Context {
        self.projection.context()
    }

    /// The context to send, folded first where the policy's trigger fires. It waits for nothing, and no failure of a
    /// model makes it fail.
    ///
    /// # Errors
    /// When the tokens that no fold can take away exceed the budget, or when folding is off and the context does not
    /// fit.
    pub fn context(&mut self, budget: &Budget, now: Millis) -> Result<Context, PlanError> {
        let budget = self.gate.budget(budget, &self.policy);
        budget.check()?;
        self.ahead.keep_for(&self.policy, &budget);
        // Void reasoning leaves the context, so this is done before the trigger weighs the context.
        self.rebind();
        let due = self.due(&budget, now);
        self.note_agent_wishes(due);
        let folded = match due {
            due if due.fires() => {
                self.gate.probe(now);
                self.fold(&budget, None, due.cause()).map(|_| ())
            }
            FoldDue::Held(HoldReason::Off) if self.load().upper > budget.tokens() => {
                Err(PlanError::Off { tokens: self.load().upper, limit: budget.tokens() })
            }
            _ => match self.size_for_pictures(&budget).filter(|_| self.policy.trigger.on) {
                Some(size) => {
                    self.fold_by_meter(&budget, None, FoldCause::Pictures, Some(size)).map(|_| ())
                }
                None => Ok(()),
            },
        };
        // Noted even where no fold can be made: a caller may send this context anyway, and the provider's next count is
        // then the count of this one.
        self.sent = Some(self.sending());
        self.gate.asked = now;
        folded.map(|()| self.view())
    }

    /// The present context, as noted for the provider's count.
    fn sending(&self) -> SentContext {
        SentContext {
            counted: self.projection.context().tokens(),
            events: self.log.events().last().map_or(0, |event| event.seq + 1),
            fold: self.active().map(|fold| fold.id),
            beside: 0,
        }
    }

    /// Whether a fold is due.
    #[must_use]
    pub fn due(&self, budget: &Budget, now: Millis) -> FoldDue {
        let budget = self.gate.budget(budget, &self.policy);
        let load = self.load_at(&budget, now);
        self.due_by(&budget, load, now)
    }

    /// The tokens of the present context, and the conditions that the trigger weighs.
    #[must_use]
    pub fn load(&self) -> ContextLoad {
        let counted = self.projection.context().tokens();
        ContextLoad {
            counted,
            estimate: self.meter.calibrated(counted),
            upper: self.meter.with_margin(self.policy.trigger.margin).upper(counted),
            open_call: self.log.has_open_call() && !self.is_answered,
            over_tier: None,
            is_cold: false,
            at_seam: false,
            is_asked: self.agent.wants_fold,
        }
    }

    /// Folds now, because a person asked. The rules of the trigger do not apply: threshold, breaker, cooldown and least
    /// gain. `focus` is what that person wants kept.
    ///
    /// # Errors
    /// As [`Session::context`].
    pub fn compact(
        &mut self,
        budget: &Budget,
        focus: Option<&str>,
    ) -> Result<PlanOutcome, PlanError> {
        self.compact_within(budget, None, focus)
    }

    /// As [`Session::compact`], as if the budget had no more than `room` tokens: for a host that wants less than the
    /// whole window.
    ///
    /// # Errors
    /// As [`Session::context`].
    pub fn compact_within(
        &mut self,
        budget: &Budget,
        room: Option<u64>,
        focus: Option<&str>,
    ) -> Result<PlanOutcome, PlanError> {
        let mut budget = self.gate.budget(budget, &self.policy);
        let spare = room.map_or(0, |room| budget.tokens().saturating_sub(room));
        budget.injection_reserve += spare;
        self.fold(&budget, focus, FoldCause::Manual)
    }

    /// The outcome of a manual compaction, which is planned but not made.
    ///
    /// # Errors
    /// As [`Session::context`].
    pub fn preview(&self, budget: &Budget, focus: Option<&str>) -> Result<PlanOutcome, PlanError> {
        let budget = self.gate.budget(budget, &self.policy);
        let wishes = FoldWishes { put_back: self.put_back(&budget), ..FoldWishes::default() };
        self.plan(&budget, focus, FoldCause::Manual, &wishes, &mut self.gathered.clone())
    }

    /// Takes the prepared fold or plans one, lets the hooks decide, and makes the result active.
    fn fold_by_meter(
        &mut self,
        budget: &Budget,
        focus: Option<&str>,
        cause: FoldCause,
        size: Option<u64>,
    ) -> Result<PlanOutcome, PlanError> {
        // The size before the fold. The breaker compares the provider's next count with it.
        let load = self.load();
        // Taken, because planning borrows the session. After an error it stays empty, and the next fold gathers anew.
        let mut memo = std::mem::take(&mut self.gathered);
        let wishes = FoldWishes {
            // The agent's wish is for one fold: it ends here even if planning makes none.
            keep: self.take_wish(),
            put_back: self.put_back(budget),
            size,
            ..FoldWishes::default()
        };
        let prepared = self.take_prepared(budget, focus, cause);
        // A fold that was prepared earlier lacks the texts that are to be put back now.
        let outcome = match prepared.filter(|_| wishes.put_back.is_empty() && size.is_none()) {
            Some(fold) => PlanOutcome::Folded(Box::new(fold)),
            None => self.plan(budget, focus, cause, &wishes, &mut memo)?,
        };
        let outcome = self.ask_hooks(outcome, budget, focus, cause, wishes, &mut memo)?;
        self.gathered = memo;
        match &outcome {
            PlanOutcome::Folded(fold) => {
                let freed = fold.tokens_before.saturating_sub(fold.tokens_after);
                self.gate.note_folded(load.estimate, freed, self.movable(fold));
                self.adopt((**fold).clone());
                self.hooks.after_fold(&self.log, fold);
            }
            PlanOutcome::Nothing(reason) if cause.is_free() => {
                self.gate.declined = Some((load.counted, worth_asking(load, reason, budget)));
                self.hooks.declined(reason);
            }
            PlanOutcome::Nothing(_) => {}
        }
        Ok(outcome)
    }

    /// The session, turn and step that a fold made now would be joined to.
    fn joining(&self) -> FoldJoin {
        let (turn, request) =
            self.log.events().last().map_or((0, 0), |last| (last.turn, last.step));
        FoldJoin { session: self.id.clone(), turn, request }
    }

    /// Makes a fold the active one.
    fn adopt(&mut self, fold: Fold) {
        self.narration.note_folded(&fold);
        let id = fold.id;
        // After an undo the same fold may be made again. It has the same id and is recorded already.
        if self.by_id(id).is_none() {
            self.folds.push(fold);
        }
        self.set_active(Some(id));
    }

    /// Takes back a fold and those made after it; without an id, the active one. The records stay. After that nothing
    /// folds by itself until the window is full.
    ///
    /// # Errors
    /// When nothing is folded, or the context is not read through the named fold.
    pub fn undo(&mut self, fold: Option<Hash>) -> Result<(), UndoError> {
        let mut at = self.active().ok_or(UndoError::Nothing)?;
        if let Some(wanted) = fold {
            while at.id != wanted {
                let before = at.prev.and_then(|prev| self.by_id(prev));
                at = before.ok_or_else(|| UndoError::Unknown(wanted.to_hex()))?;
            }
        }
        let before = at.prev;
        // The reasoning since that fold is bound to the context it left, which is no longer sent.
        self.void_reasoning_so_far();
        self.set_active(before);
        self.gate.held = true;
        Ok(())
    }

    fn by_id(&self, id: Hash) -> Option<&Fold> {
        self.folds.iter().rev().find(|fold| fold.id == id)
    }

    /// Sets the active fold, and projects the log through it anew.
    fn set_active(&mut self, id: Option<Hash>) {
        self.active = id.and_then(|id| self.folds.iter().rposition(|fold| fold.id == id));
        self.projection = ContextProjection::with_void(&self.log, self.active(), self.void);
    }

    /// Takes the provider's token count for the last context. It anchors the meter and judges what the last fold saved.
    pub fn observe(&mut self, usage: Usage, now: Millis) {
        self.observe_with(usage, 0, now);
    }

    /// As [`Session::observe`], where `beside` of the counted tokens are of messages that are not in the log yet.
    pub fn observe_with(&mut self, usage: Usage, beside: u64, now: Millis) {
        let usage = usage.bounded();
        self.usage = usage;
        // A reply without a count reports 0. It must neither anchor the meter nor judge the fold.
        if usage.prompt == 0 {
            return;
        }
        // A host may report a count without having asked for a context here.
        let context = self.sent.unwrap_or_else(|| self.sending());
        // Meter, line and breaker compare counts of the history alone.
        let history = self.meter.history_of(usage.prompt, context.counted, beside);
        if self.meter.may_count(context.counted, history) {
            self.settle(SentContext { beside: usage.prompt - history, ..context }, usage.prompt);
        }
        self.gate.recovering = false;
        self.gate.note_accepted(history);
        self.gate.breaker.judge(history, now);
    }

    /// The identifier of the session.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The log.
    #[must_use]
    pub fn log(&self) -> &EventLog {
        &self.log
    }

    /// The policy, with the present model's trigger rules laid over it.
    #[must_use]
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// All folds that were made, oldest first.
    #[must_use]
    pub fn folds(&self) -> &[Fold] {
        &self.folds
    }

    /// The fold that the context is read through.
    #[must_use]
    pub fn active(&self) -> Option<&Fold> {
        self.active.and_then(|at| self.folds.get(at))
    }

    /// The pinned events by number, ascending.
    #[must_use]
    pub fn pins(&self) -> &[u32] {
        &self.pins
    }

    /// The meter.
    #[must_use]
    pub fn meter(&self) -> &Meter {
        &self.meter
    }

    /// The state of the trigger: what holds folding back.
    #[must_use]
    pub fn gate(&self) -> &FoldGate {
        &self.gate
    }
}

/// The number of counted tokens from which on planning may find a fold after it found none.
fn worth_asking(load: ContextLoad, reason: &NoOp, budget: &Budget) -> u64 {
    let missing = match reason {
        NoOp::NoGain { freed, needed } => needed.saturating_sub(*freed),
        // One more message can change the layout. A hundredth of the budget is about the size of a message.
        _ => budget.tokens() / 100,
    };
    load.counted + missing.max(1)
}

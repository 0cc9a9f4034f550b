//! A stored session: the engine over a store. Appended messages are durable before anybody hears
//! of them, a context is read in O(head + tail), and a fold is one that all nodes agree on.

mod change;
mod error;
mod ledger;
mod meta;
mod narrate;
mod open;
mod rows;

use std::sync::Arc;

use midfold_core::Hash;
use midfold_core::budget::Budget;
use midfold_core::engine::{
    BriefSession, NarrationQueue, ReportedOverflow, Session, SessionState, SessionStatus,
};
use midfold_core::event::{RawEvent, Usage};
use midfold_core::hooks::FoldHooks;
use midfold_core::inject::Injections;
use midfold_core::ledger::{Ledger, ReportedCost};
use midfold_core::plan::PlanOutcome;
use midfold_core::project::Context;

pub use error::StoredError;
pub use ledger::InjectedRequest;
pub use meta::SessionMeta;

use crate::error::StoreError;
use crate::store::Store;
use crate::types::{AppendOutcome, AppendRequest, Millis, NewEvent, NewFold, SessionRow};

/// Nodes that fold at once agree in this many rounds, or one of them has to say so.
pub(crate) const ROUNDS: usize = 4;

/// A session in a store.
pub struct StoredSession {
    store: Arc<dyn Store>,
    row: SessionRow,
    meta: SessionMeta,
    inner: LoadedParts,
    ledger: Option<Ledger>,
    injections: Injections,
    /// What a host has to say of folds that are made here.
    hooks: Option<Arc<dyn FoldHooks>>,
}

/// As much of the session as was needed so far.
enum LoadedParts {
    /// Head, active fold, tail.
    Brief(Box<BriefSession>),
    /// Everything.
    Whole(Box<Session>),
}

/// A context that was handed out, and its number in the ledger.
#[derive(Debug)]
pub struct NumberedContext {
    /// The context.
    pub context: Context,
    /// The call, where it was recorded.
    pub call: Option<u64>,
    /// The fold that was made for it.
    pub folded: Option<Hash>,
}

impl StoredSession {
    /// Its row.
    #[must_use]
    pub fn row(&self) -> &SessionRow {
        &self.row
    }

    /// What it is made of beside its log.
    #[must_use]
    pub fn meta(&self) -> &SessionMeta {
        &self.meta
    }

    /// Keeps room for what these hooks add at the end of a request.
    #[must_use]
    pub fn with_injections(mut self, injections: Injections) -> Self {
        self.set_injections(injections);
        self
    }

    /// As [`StoredSession::with_injections`].
    pub fn set_injections(&mut self, injections: Injections) {
        self.injections = injections;
    }

    /// Lets a host look at the folds that are made here.
    #[must_use]
    pub fn with_hooks(mut self, hooks: Option<Arc<dyn FoldHooks>>) -> Self {
        self.set_hooks(hooks);
        self
    }

    /// As [`StoredSession::with_hooks`].
    pub fn set_hooks(&mut self, hooks: Option<Arc<dyn FoldHooks>>) {
        self.hooks = hooks;
        self.hook();
    }

    fn hook(&mut self) {
        if let (LoadedParts::Whole(session), Some(hooks)) = (&mut self.inner, &self.hooks) {
            session.set_hooks(Arc::clone(hooks));
        }
    }

    /// The session's budget, with room for its hooks.
    #[must_use]
    pub fn budget(&self) -> Budget {
        let mut budget = self.meta.budget.clone();
        budget.injection_reserve = budget.injection_reserve.max(self.injections.reserve());
        budget
    }

    /// Appends messages: all of them or none, behind whatever is there by then. The returned messages
    /// are durable. With a key, a retry returns the first answer. Where the buffer line is crossed, a
    /// span to narrate is queued in the same transaction.
    ///
    /// # Errors
    /// When the store fails. Appends of others at the same time are no error: this one is tried again.
    pub async fn append(
        &mut self,
        events: Vec<RawEvent>,
        key: Option<String>,
        now: Millis,
    ) -> Result<AppendOutcome, StoredError> {
        loop {
            let expected = self.row.head;
            match self.append_here(events.clone(), key.clone(), now).await {
                // Each time somebody else went on; where nobody did, trying again changes nothing.
                Err(StoredError::Store(StoreError::Conflict { .. }))
                    if self.row.head > expected => {}
                other => return other,
            }
        }
    }

    /// As [`StoredSession::append`], without a key, and only where the session has `expected` events.
    ///
    /// # Errors
    /// [`StoreError::Conflict`] where it has not, and when the store fails.
    pub async fn append_at(
        &mut self,
        expected: u64,
        events: Vec<RawEvent>,
        now: Millis,
    ) -> Result<AppendOutcome, StoredError> {
        if self.row.head < expected {
            self.reload().await?;
        }
        if self.row.head != expected {
            return Err(StoreError::Conflict { expected, actual: self.row.head }.into());
        }
        self.append_here(events, None, now).await
    }

    /// Appends behind the head that is known here.
    async fn append_here(
        &mut self,
        events: Vec<RawEvent>,
        key: Option<String>,
        now: Millis,
    ) -> Result<AppendOutcome, StoredError> {
        if self.narration().is_overdue(now) {
            // Before it is asked for again, what became of it is learned.
            self.learn(now).await?;
        }
        let expected = self.row.head;
        let new: Vec<_> = events.into_iter().filter_map(|event| self.push(event)).collect();
        let wanted = self.wanted(now).await?;
        let job = wanted.as_ref().map(|wanted| self.job(wanted, now)).transpose()?;
        let (count, head_hash) = (new.len() as u64, self.head_hash());
        let append = AppendRequest { expected, key, events: new, job, now };
        let appended = match self.store.append(&self.row.new.id, append).await {
            Ok(appended) if !appended.repeated => appended,
            other => {
                // The messages that were pushed above are not those that the store has.
                self.reload().await?;
                return Ok(other?);
            }
        };
        self.row.head += count;
        self.row.head_hash = head_hash;
        self.row.turn = self.turn();
        if let Some(wanted) = wanted
            && let Err(error) = self.note_asked(wanted).await
        {
            // The events are durable, and that is what was asked. The job is noted next time.
            tracing::warn!(session = %self.row.new.id, %error, "a queued span is not noted yet");
            // The note may be written or not: the store decides, now or at the next conflict.
            let _ = self.reload().await;
        }
        Ok(appended)
    }

    fn push(&mut self, event: RawEvent) -> Option<NewEvent> {
        match &mut self.inner {
            LoadedParts::Brief(brief) => {
                brief.append(event);
                brief.last().map(NewEvent::of)
            }
            LoadedParts::Whole(session) => {
                session.append(event);
                session.log().events().last().map(NewEvent::of)
            }
        }
    }

    pub(super) fn narration(&self) -> &NarrationQueue {
        match &self.inner {
            LoadedParts::Brief(brief) => brief.narration(),
            LoadedParts::Whole(session) => session.narration(),
        }
    }

    /// All of the session that is neither log nor fold.
    pub(super) fn state(&self) -> SessionState {
        match &self.inner {
            LoadedParts::Brief(brief) => brief.state(),
            LoadedParts::Whole(session) => session.state(),
        }
    }

    fn head_hash(&self) -> Hash {
        match &self.inner {
            LoadedParts::Brief(brief) => brief.head_hash(),
            LoadedParts::Whole(session) => session.log().head_hash(),
        }
    }

    fn turn(&self) -> u32 {
        match &self.inner {
            LoadedParts::Brief(brief) => brief.turn(),
            LoadedParts::Whole(session) => {
                session.log().events().last().map_or(0, |event| event.turn)
            }
        }
    }

    /// The context to send, folded first where that is due; recorded in the ledger where `record`
    /// is set. Never waits for a model.
    ///
    /// # Errors
    /// When the store fails, or nothing that fits can be made.
    pub async fn context(
        &mut self,
        record: bool,
        now: Millis,
    ) -> Result<NumberedContext, StoredError> {
        let before = self.row.active;
        let context = self.current(now).await?;
        let call = if record { Some(self.record(&context, None, now).await?) } else { None };
        self.save().await?;
        let folded = self.row.active.filter(|fold| Some(*fold) != before);
        Ok(NumberedContext { context, call, folded })
    }

    async fn current(&mut self, now: Millis) -> Result<Context, StoredError> {
        let budget = self.budget();
        if let LoadedParts::Brief(brief) = &mut self.inner {
            if let Some(context) = brief.context(&budget, now) {
                return Ok(context);
            }
            self.hydrate().await?;
        }
        self.fold_with(now, |session| Ok(session.context(&budget, now)?)).await
    }

    /// Runs something that may fold, and makes the fold the one that all nodes see. Where another
    /// node folded first, its fold is kept and the work is done again over it.
    async fn fold_with<T>(
        &mut self,
        now: Millis,
        mut work: impl FnMut(&mut Session) -> Result<T, StoredError>,
    ) -> Result<T, StoredError> {
        for _ in 0..ROUNDS {
            self.learn(now).await?;
            self.hydrate().await?;
            let LoadedParts::Whole(session) = &mut self.inner else { continue };
            let known = session.active().map(|fold| fold.id);
            let done = work(session)?;
            let Some(fold) = session.active().filter(|fold| Some(fold.id) != known) else {
                return Ok(done);
            };
            let id = fold.id;
            let new = NewFold::of(fold, now)?;
            // Another node may have stored the same fold: which one is first does not matter.
            if let Err(error) = self.store.put_fold(&self.row.new.id, &new).await {
                // The fold that was made is in memory alone.
                self.reload().await?;
                return Err(error.into());
            }
            match self.store.activate(&self.row.new.id, self.row.active, Some(id)).await {
                Ok(()) => {
                    tracing::info!(session = %self.row.new.id, fold = %id.to_hex(), "folded");
                    self.row.active = Some(id);
                    self.ledger = None;
                    return Ok(done);
                }
                Err(StoreError::StaleFold { .. }) => self.reload().await?,
                Err(error) => {
                    self.reload().await?;
                    return Err(error.into());
                }
            }
        }
        Err(StoredError::Busy(self.row.new.id.clone()))
    }

    /// Folds now, because a person asked.
    ///
    /// # Errors
    /// As [`StoredSession::context`].
    pub async fn compact(
        &mut self,
        focus: Option<&str>,
        now: Millis,
    ) -> Result<PlanOutcome, StoredError> {
        let budget = self.budget();
        let outcome = self.fold_with(now, |session| Ok(session.compact(&budget, focus)?)).await?;
        self.save().await?;
        Ok(outcome)
    }

    /// What a compaction would do, without doing it.
    ///
    /// # Errors
    /// As [`StoredSession::context`].
    pub async fn preview(&mut self, focus: Option<&str>) -> Result<PlanOutcome, StoredError> {
        let budget = self.budget();
        Ok(self.whole().await?.preview(&budget, focus)?)
    }

    /// The provider said that the last context is too long: gives a shorter one to send instead, once.
    ///
    /// # Errors
    /// When there is nothing else to send: then the provider's error should be shown.
    pub async fn recover(
        &mut self,
        overflow: ReportedOverflow,
        now: Millis,
    ) -> Result<Context, StoredError> {
        let budget = self.budget();
        let context =
            self.fold_with(now, |session| Ok(session.recover(&budget, overflow, now)?)).await?;
        self.save().await?;
        Ok(context)
    }

    /// What the provider counted for a call. Anchors the meter, judges the last fold, and queues
    /// a span to narrate where the buffer line is crossed.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn observe(
        &mut self,
        usage: Usage,
        call: Option<u64>,
        now: Millis,
    ) -> Result<(), StoredError> {
        // First, because it may read the session again.
        self.learn(now).await?;
        let everything = self.everything().await?;
        match &mut self.inner {
            LoadedParts::Brief(brief) => {
                let folded = brief.carried(everything);
                brief.observe(usage, now);
                brief.spend(usage, folded);
            }
            LoadedParts::Whole(session) => {
                let folded = session.carried(everything);
                session.observe(usage, now);
                session.spend(usage, folded);
            }
        }
        if let Some(call) = call {
            let settled = rows::json(&ReportedCost { usage })?;
            self.store.settle_call(&self.row.new.id, call, &settled).await?;
        }
        if let Some(wanted) = self.wanted(now).await? {
            let job = self.job(&wanted, now)?;
            let key = job.key.clone();
            // Queued before, and not noted: that is where somebody was interrupted.
            if self.store.enqueue(job).await?
                || self.store.job(&self.row.new.id, &key).await?.is_some()
            {
                self.note_asked(wanted).await?;
                return Ok(());
            }
        }
        self.save().await
    }

    /// Tokens of all messages and of what travels beside them, as the provider would count them.
    async fn everything(&self) -> Result<u64, StoredError> {
        Ok(match &self.inner {
            LoadedParts::Brief(brief) => {
                let activity = self.store.activity(&self.row.new.id).await?;
                brief.meter().calibrated(activity.tokens + brief.envelope_tokens())
            }
            LoadedParts::Whole(session) => session.meter().calibrated(session.log().tokens()),
        })
    }

    /// Takes back a fold, and those after it; without an id the active one.
    ///
    /// # Errors
    /// When there is no such fold, or the store fails.
    pub async fn undo(&mut self, fold: Option<Hash>) -> Result<(), StoredError> {
        for _ in 0..ROUNDS {
            let session = self.whole().await?;
            session.undo(fold)?;
            let active = session.active().map(|fold| fold.id);
            match self.store.activate(&self.row.new.id, self.row.active, active).await {
                Ok(()) => {
                    self.row.active = active;
                    self.ledger = None;
                    return self.save().await;
                }
                Err(StoreError::StaleFold { .. }) => self.reload().await?,
                Err(error) => return Err(error.into()),
            }
        }
        Err(StoredError::Busy(self.row.new.id.clone()))
    }

    /// What the session is at.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn status(&mut self, now: Millis) -> Result<SessionStatus, StoredError> {
        let budget = self.budget();
        // When it was learned counts for how long a model is left alone: it is kept.
        self.learn(now).await?;
        self.save().await?;
        let requests = self.requests().await?;
        Ok(self.whole().await?.status_beside(&budget, now, &requests))
    }

    /// The whole session, loaded where it was not.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn whole(&mut self) -> Result<&mut Session, StoredError> {
        self.hydrate().await?;
        match &mut self.inner {
            LoadedParts::Whole(session) => Ok(session),
            LoadedParts::Brief(_) => Err(StoredError::Busy(self.row.new.id.clone())),
        }
    }

    /// Saves what is neither log nor fold. Where another node saved first, its state is kept:
    /// this node reads all of it again.
    async fn save(&mut self) -> Result<(), StoredError> {
        match self.try_save().await {
            Err(StoredError::Store(StoreError::StaleState { .. })) => self.reload().await,
            other => other,
        }
    }

    /// As [`StoredSession::save`], but says so where another node saved first.
    pub(crate) async fn keep(&mut self) -> Result<(), StoredError> {
        self.try_save().await
    }

    async fn try_save(&mut self) -> Result<(), StoredError> {
        let state = rows::json(&self.state())?;
        if state == self.row.state {
            return Ok(());
        }
        let version = self.row.state_version;
        self.row.state_version = self.store.save_state(&self.row.new.id, version, &state).await?;
        self.row.state = state;
        Ok(())
    }
}

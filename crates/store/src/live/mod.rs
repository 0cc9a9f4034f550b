//! A stored session: the engine on top of a store. Appended messages are durable before anybody sees them, a
//! context is read in O(head + tail), and all nodes agree on each fold.

mod append;
mod change;
mod commit;
mod error;
mod ledger;
mod meta;
mod narrate;
mod open;
pub(crate) mod rows;

use std::sync::Arc;

use midfold_core::Hash;
use midfold_core::budget::Budget;
use midfold_core::engine::{
    BriefSession, NarrationQueue, ReportedOverflow, Session, SessionState, SessionStatus,
};
use midfold_core::event::Usage;
use midfold_core::hooks::FoldHooks;
use midfold_core::inject::{InjectedContext, Injections};
use midfold_core::ledger::Ledger;
use midfold_core::plan::PlanOutcome;
use midfold_core::policy::Policy;
use midfold_core::project::Context;

pub use error::StoredError;
pub use ledger::InjectedRequest;
pub use meta::SessionMeta;

use crate::changes::SessionChanges;
use crate::error::StoreError;
use crate::store::Store;
use crate::types::{Millis, SessionRow};

/// How often an operation is tried again where other nodes change the session, before it fails with
/// [`StoredError::Busy`].
pub(crate) const ROUNDS: usize = 4;

/// A session in a store. It is loaded as far as needed, and its changes are saved to the store.
pub struct StoredSession {
    store: Arc<dyn Store>,
    /// The row as this node last read or wrote it.
    row: SessionRow,
    meta: SessionMeta,
    inner: LoadedParts,
    /// How many of the folds in memory are in the store.
    stored_folds: usize,
    /// The end of the ledger; `None` until it is needed.
    ledger: Option<Ledger>,
    /// Hooks that add texts at the end of a request.
    injections: Injections,
    /// The host's hooks for folds that are made here.
    hooks: Option<Arc<dyn FoldHooks>>,
    /// Whether the loaded part has events or changes that the store may not have, because a commit failed and the session
    /// was not read again. Nothing goes on from them: it is read again first.
    is_torn: bool,
}

/// The part of the session that was loaded so far.
enum LoadedParts {
    /// The head, the active fold and the tail.
    Brief(Box<BriefSession>),
    /// All events and folds.
    Whole(Box<Session>),
}

/// A context to send, and its number in the ledger.
#[derive(Debug)]
pub struct NumberedContext {
    /// The context to send.
    pub context: Context,
    /// The number of the recorded call; `None` where it was not recorded.
    pub call: Option<u64>,
    /// The fold that was made for this context; `None` where none was due.
    pub folded: Option<Hash>,
}

/// A call whose usage is recorded.
#[derive(Clone, Copy, Debug)]
struct SettledCall {
    /// Whether the usage was not recorded before.
    is_new: bool,
    /// Whether no later call is recorded. Only then the usage is of the context that was sent last.
    is_newest: bool,
}

impl StoredSession {
    /// The session's row in the store.
    #[must_use]
    pub fn row(&self) -> &SessionRow {
        &self.row
    }

    /// The description of the session beside its log.
    #[must_use]
    pub fn meta(&self) -> &SessionMeta {
        &self.meta
    }

    /// Sets aside room for the texts that these hooks add at the end of a request.
    #[must_use]
    pub fn with_injections(mut self, injections: Injections) -> Self {
        self.set_injections(injections);
        self
    }

    /// Sets aside room for the texts of these hooks, as [`StoredSession::with_injections`] does.
    pub fn set_injections(&mut self, injections: Injections) {
        self.injections = injections;
    }

    /// Sets the host's hooks for folds that are made here.
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

    /// Passes the hooks to the session in memory. A brief session cannot fold, so it needs none.
    fn hook(&mut self) {
        if let (LoadedParts::Whole(session), Some(hooks)) = (&mut self.inner, &self.hooks) {
            session.set_hooks(Arc::clone(hooks));
        }
    }

    /// The session's budget, with the reserve for its hooks.
    #[must_use]
    pub fn budget(&self) -> Budget {
        let mut budget = self.meta.budget.clone();
        budget.injection_reserve = budget.injection_reserve.max(self.injections.reserve());
        budget
    }

    /// The window that the session was made with, or that a host has set since: without what refusals taught.
    #[must_use]
    pub fn named_window(&self) -> u64 {
        self.state().gate.window.unwrap_or(self.meta.budget.window)
    }

    /// The model that contexts go to; empty where none is known.
    #[must_use]
    pub fn model(&self) -> String {
        self.state().model
    }

    /// The policy, from the next fold on.
    ///
    /// # Errors
    /// Fails where it was stored by another build that knows more.
    pub fn policy(&self) -> Result<Policy, StoredError> {
        self.state().policy.map_or_else(|| rows::policy(&self.row), |new| Ok(new.policy))
    }

    pub(super) fn narration(&self) -> &NarrationQueue {
        match &self.inner {
            LoadedParts::Brief(brief) => brief.narration(),
            LoadedParts::Whole(session) => session.narration(),
        }
    }

    /// The session's state: everything beside its log and its folds.
    pub(super) fn state(&self) -> SessionState {
        match &self.inner {
            LoadedParts::Brief(brief) => brief.state(),
            LoadedParts::Whole(session) => session.state(),
        }
    }

    /// The active fold in memory.
    fn active(&self) -> Option<Hash> {
        match &self.inner {
            LoadedParts::Brief(brief) => Some(brief.fold().id),
            LoadedParts::Whole(session) => session.active().map(|fold| fold.id),
        }
    }

    /// The context to send. It is folded first where a fold is due, and recorded in the ledger where `record` is set.
    /// Never waits for a model.
    ///
    /// # Errors
    /// Fails where the store fails, or no context that fits can be made.
    pub async fn context(
        &mut self,
        record: bool,
        now: Millis,
    ) -> Result<NumberedContext, StoredError> {
        let before = self.row.active;
        let (context, _, call) = self.request(None, record, now).await?;
        let folded = self.row.active.filter(|fold| Some(*fold) != before);
        Ok(NumberedContext { context, call, folded })
    }

    /// The context to send, with the output of hooks at its end, and the number of its call. Its fold, its call and the
    /// state are one commit.
    async fn request(
        &mut self,
        outputs: Option<&[(&str, &str)]>,
        record: bool,
        now: Millis,
    ) -> Result<(Context, Option<InjectedContext>, Option<u64>), StoredError> {
        for _ in 0..ROUNDS {
            let context = match self.current(now).await {
                Err(error @ StoredError::Plan(_)) => {
                    // The host may send its messages all the same. Then it reports a count that is not of the context
                    // before.
                    self.commit_or_yield(&self.changes(now)?).await?;
                    return Err(error);
                }
                outcome => outcome?,
            };
            let mut changes = self.changes(now)?;
            let injected = match outputs.map(|outputs| self.inject(&context, outputs)).transpose() {
                Ok(injected) => injected,
                Err(error) => {
                    // The hook has nothing to do with the fold, which stays.
                    self.commit_or_yield(&changes).await?;
                    return Err(error.into());
                }
            };
            if record {
                changes.calls.push(self.next_call(&context, injected.as_ref(), now).await?);
            }
            let call = changes.calls.first().map(|call| call.number);
            if self.commit_or_yield(&changes).await? {
                return Ok((context, injected, call));
            }
        }
        Err(StoredError::Busy(self.row.new.id.clone()))
    }

    /// The context to send, folded first where a fold is due.
    async fn current(&mut self, now: Millis) -> Result<Context, StoredError> {
        self.mend().await?;
        let budget = self.budget();
        if let LoadedParts::Brief(brief) = &mut self.inner
            && let Some(context) = brief.context(&budget, now)
        {
            return Ok(context);
        }
        self.fold_with(now, |session| Ok(session.context(&budget, now)?)).await
    }

    /// Runs work that may fold. Its fold is in memory only, until it is committed.
    async fn fold_with<T>(
        &mut self,
        now: Millis,
        work: impl FnOnce(&mut Session) -> Result<T, StoredError>,
    ) -> Result<T, StoredError> {
        self.learn(now).await?;
        let outcome = work(self.whole().await?)?;
        if self.active() != self.row.active {
            // The ledger's end was read through the fold before, so it is read again for the next call.
            self.ledger = None;
        }
        Ok(outcome)
    }

    /// Runs work that may fold, and commits its fold. Where another node folded first, that fold is kept, and the work
    /// runs again on top of it.
    async fn fold_and_commit<T>(
        &mut self,
        now: Millis,
        work: impl Fn(&mut Session) -> Result<T, StoredError>,
    ) -> Result<T, StoredError> {
        for _ in 0..ROUNDS {
            let outcome = self.fold_with(now, &work).await?;
            if self.commit_or_yield(&self.changes(now)?).await? {
                return Ok(outcome);
            }
        }
        Err(StoredError::Busy(self.row.new.id.clone()))
    }

    /// Folds now, because a person asked for it.
    ///
    /// # Errors
    /// Fails as [`StoredSession::context`] does.
    pub async fn compact(
        &mut self,
        focus: Option<&str>,
        now: Millis,
    ) -> Result<PlanOutcome, StoredError> {
        self.compact_within(None, focus, now).await
    }

    /// As [`StoredSession::compact`], as if the budget had no more than `room` tokens.
    ///
    /// # Errors
    /// Fails as [`StoredSession::context`] does.
    pub async fn compact_within(
        &mut self,
        room: Option<u64>,
        focus: Option<&str>,
        now: Millis,
    ) -> Result<PlanOutcome, StoredError> {
        let budget = self.budget();
        let fold = |session: &mut Session| Ok(session.compact_within(&budget, room, focus)?);
        self.fold_and_commit(now, fold).await
    }

    /// The result that a compaction would have, without making it.
    ///
    /// # Errors
    /// Fails as [`StoredSession::context`] does.
    pub async fn preview(&mut self, focus: Option<&str>) -> Result<PlanOutcome, StoredError> {
        let budget = self.budget();
        Ok(self.whole().await?.preview(&budget, focus)?)
    }

    /// Returns a shorter context, once, after the provider said that the last one is too long.
    ///
    /// # Errors
    /// Fails where there is nothing else to send. Then the provider's error should be shown.
    pub async fn recover(
        &mut self,
        overflow: ReportedOverflow,
        now: Millis,
    ) -> Result<Context, StoredError> {
        let budget = self.budget();
        self.fold_and_commit(now, |session| Ok(session.recover(&budget, overflow, now)?)).await
    }

    /// Takes in the provider's count for a call. The count anchors the meter and judges the last fold. A narration
    /// job is queued where the buffer line is crossed. With the number of the call, a retry counts nothing twice.
    ///
    /// # Errors
    /// Fails where the call is not recorded or has another count already, and where the store fails.
    pub async fn observe(
        &mut self,
        usage: Usage,
        call: Option<u64>,
        now: Millis,
    ) -> Result<(), StoredError> {
        let mut asks = true;
        for _ in 0..ROUNDS {
            // This comes first, because it may read the session again.
            self.learn(now).await?;
            let changes = match self.observed(usage, call, asks, now).await {
                Ok(changes) => changes,
                Err(error) => return Err(self.torn(error).await),
            };
            match self.commit(&changes).await {
                Err(StoredError::Store(StoreError::OtherJob)) => asks = false,
                Err(StoredError::Store(error)) if error.is_stale() => {}
                other => return other.map(drop),
            }
        }
        Err(StoredError::Busy(self.row.new.id.clone()))
    }

    /// Counts a call's usage in memory, and returns the changes.
    async fn observed(
        &mut self,
        usage: Usage,
        call: Option<u64>,
        asks: bool,
        now: Millis,
    ) -> Result<SessionChanges, StoredError> {
        // Before anything is counted: a count that the ledger refuses must not move the meter.
        let (settled, usages) = match call {
            Some(call) => self.settle(call, usage).await?,
            None => (SettledCall { is_new: true, is_newest: true }, Vec::new()),
        };
        self.count(usage, settled, now).await?;
        let job = if asks { self.ask(now).await? } else { None };
        Ok(SessionChanges { usages, job, ..self.changes(now)? })
    }

    /// Counts a call's usage in memory: as spent where it is new, and in the meter where the call is the newest one. The
    /// meter compares the count with the context that was sent last.
    async fn count(
        &mut self,
        usage: Usage,
        SettledCall { is_new, is_newest }: SettledCall,
        now: Millis,
    ) -> Result<(), StoredError> {
        let everything = if is_newest { Some(self.everything().await?) } else { None };
        match &mut self.inner {
            LoadedParts::Brief(brief) => {
                let prompt = everything.map(|all| brief.last_prompt(all, now));
                is_newest.then(|| brief.observe(usage, now));
                is_new.then(|| brief.spend(usage, prompt));
            }
            LoadedParts::Whole(session) => {
                let prompt = everything.map(|all| session.last_prompt(all, now));
                is_newest.then(|| session.observe(usage, now));
                is_new.then(|| session.spend(usage, prompt));
            }
        }
        Ok(())
    }

    /// Tokens of all messages and of the envelope, in midfold's own count.
    async fn everything(&self) -> Result<u64, StoredError> {
        Ok(match &self.inner {
            LoadedParts::Brief(brief) => {
                // The folded events are not loaded, so the sum comes from the store.
                let activity = self.store.activity(&self.row.new.id).await?;
                activity.tokens + brief.envelope_tokens()
            }
            LoadedParts::Whole(session) => session.log().tokens(),
        })
    }

    /// Undoes a fold and all folds after it; without an id, the active one.
    ///
    /// # Errors
    /// Fails where there is no such fold, or the store fails.
    pub async fn undo(&mut self, fold: Option<Hash>) -> Result<(), StoredError> {
        for _ in 0..ROUNDS {
            self.whole().await?.undo(fold)?;
            self.ledger = None;
            if self.commit_or_yield(&self.changes(0)?).await? {
                return Ok(());
            }
        }
        Err(StoredError::Busy(self.row.new.id.clone()))
    }

    /// The session's current status.
    ///
    /// # Errors
    /// Fails where the store fails.
    pub async fn status(&mut self, now: Millis) -> Result<SessionStatus, StoredError> {
        let budget = self.budget();
        // The time at which a failure was learned decides how long a model is left alone, so it is saved.
        self.learn(now).await?;
        self.commit_or_yield(&self.changes(now)?).await?;
        let requests = self.requests().await?;
        Ok(self.whole().await?.status_beside(&budget, now, &requests))
    }

    /// The whole session, which is loaded where it was not yet.
    ///
    /// # Errors
    /// Fails where the store fails.
    pub async fn whole(&mut self) -> Result<&mut Session, StoredError> {
        self.hydrate().await?;
        match &mut self.inner {
            LoadedParts::Whole(session) => Ok(session),
            LoadedParts::Brief(_) => Err(StoredError::Busy(self.row.new.id.clone())),
        }
    }
}

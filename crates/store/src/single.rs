//! Single changes of a session, each a commit of its own. They are for tests: midfold commits all changes of a step at
//! once.

use async_trait::async_trait;
use midfold_core::Hash;

use crate::changes::{ActiveChange, CallUsage, SessionChanges, SessionIdentity, StateChange};
use crate::error::StoreError;
use crate::store::Store;
use crate::types::{
    AppendOutcome, AppendRequest, JobEnd, JobOutcome, Lease, Millis, NewCall, NewFold, NewJob,
    NewSession, SessionRow,
};

/// Commits one change of a session.
#[async_trait]
pub trait SingleChange: Store {
    /// Creates a session without events.
    async fn create(&self, new: NewSession) -> Result<SessionRow, StoreError> {
        let id = new.id.clone();
        self.commit(&id, &SessionChanges::created(new)).await?;
        self.session(&id).await
    }

    /// Appends events.
    async fn append(&self, id: &str, append: AppendRequest) -> Result<AppendOutcome, StoreError> {
        let changes = SessionChanges { appended: Some(append), ..SessionChanges::default() };
        let outcome = self.commit(id, &changes).await?;
        outcome.appended.ok_or_else(|| StoreError::Damaged("an append has no place".to_owned()))
    }

    /// Saves a state, and returns its version.
    async fn save_state(&self, id: &str, version: u64, state: &str) -> Result<u64, StoreError> {
        let state = Some(StateChange { version, state: state.to_owned() });
        self.commit(id, &SessionChanges { state, ..SessionChanges::default() }).await?;
        Ok(version + 1)
    }

    /// Adds a fold.
    async fn put_fold(&self, id: &str, fold: &NewFold) -> Result<(), StoreError> {
        let folds = vec![fold.clone()];
        self.commit(id, &SessionChanges { folds, ..SessionChanges::default() }).await.map(drop)
    }

    /// Changes the active fold.
    async fn activate(
        &self,
        id: &str,
        before: Option<Hash>,
        after: Option<Hash>,
    ) -> Result<(), StoreError> {
        let active = Some(ActiveChange { before, after });
        self.commit(id, &SessionChanges { active, ..SessionChanges::default() }).await.map(drop)
    }

    /// Queues a job. Returns false where it was queued before, or another one of its session is under way.
    async fn enqueue(&self, job: NewJob) -> Result<bool, StoreError> {
        let (id, key) = (job.session.clone(), job.key.clone());
        if self.job(&id, Some(&key)).await?.is_some() {
            return Ok(false);
        }
        let changes = SessionChanges { job: Some(job), ..SessionChanges::default() };
        match self.commit(&id, &changes).await {
            Err(StoreError::OtherJob) => Ok(false),
            other => other.map(|_| true),
        }
    }

    /// Records a call, and returns its number.
    async fn record_call(&self, id: &str, call: &NewCall) -> Result<u64, StoreError> {
        let calls = vec![call.clone()];
        self.commit(id, &SessionChanges { calls, ..SessionChanges::default() }).await?;
        Ok(call.number)
    }

    /// Records the usage of a call.
    async fn settle_call(&self, id: &str, call: u64, usage: &str) -> Result<(), StoreError> {
        let usages = vec![CallUsage { call, usage: usage.to_owned() }];
        self.commit(id, &SessionChanges { usages, ..SessionChanges::default() }).await.map(drop)
    }

    /// Ends a job.
    async fn finish(&self, lease: &Lease, outcome: &JobOutcome) -> Result<bool, StoreError> {
        self.end(lease, &JobEnd::Done(Box::new(outcome.clone()))).await
    }

    /// Gives a job back after a failure.
    async fn fail(
        &self,
        lease: &Lease,
        reason: &str,
        retry_at: Option<Millis>,
    ) -> Result<bool, StoreError> {
        self.end(lease, &JobEnd::Failed { reason: reason.to_owned(), retry_at }).await
    }

    /// Notes an identity.
    async fn identify(&self, id: &str, identity: Hash, events: u64) -> Result<(), StoreError> {
        let identity = Some(SessionIdentity { identity, events });
        self.commit(id, &SessionChanges { identity, ..SessionChanges::default() }).await.map(drop)
    }
}

impl<S: Store + ?Sized> SingleChange for S {}

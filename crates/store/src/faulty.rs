//! A store whose writes fail on request, as with a full disk or a lost connection, and in which others write between
//! two reads. It is used to test code that works on a store.

use std::ops::Range;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use midfold_core::Hash;

use crate::changes::{CommitOutcome, SessionChanges};
use crate::error::{FailureKind, StoreError};
use crate::store::Store;
use crate::types::{
    AnswerHistory, CallRow, EventRow, FoldRow, Hit, IdentifiedSession, JobClaim, JobEnd,
    LearnedWindow, Lease, LoadedSession, LogSearch, Millis, NewestQuery, ReadCounts,
    SessionActivity, SessionExtent, SessionRow, StoreJob, TransferParts,
};

/// Whether a failing write takes effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteFailure {
    /// Nothing is written.
    Before,
    /// The write takes effect, and only its answer is lost.
    After,
}

/// The work of others, and the name of the read before which it is done.
type OthersWork = (&'static str, Pin<Box<dyn Future<Output = ()> + Send>>);

/// A store around another one, some of whose writes fail.
pub struct FaultyStore {
    inner: Arc<dyn Store>,
    failure: WriteFailure,
    /// The numbers of the failing writes, counted from 0.
    fails: Range<u64>,
    writes: AtomicU64,
    looks: AtomicU64,
    lists: AtomicU64,
    is_away: AtomicBool,
    meanwhile: Mutex<Option<OthersWork>>,
    hidden: Mutex<Option<String>>,
}

impl FaultyStore {
    /// Makes the writes with these numbers fail, counted from 0. With an empty range, none fails.
    #[must_use]
    pub fn new(inner: Arc<dyn Store>, failure: WriteFailure, fails: Range<u64>) -> Self {
        let (writes, looks, lists) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
        let (is_away, meanwhile, hidden) =
            (AtomicBool::new(false), Mutex::default(), Mutex::default());
        Self { inner, failure, fails, writes, looks, lists, is_away, meanwhile, hidden }
    }

    /// How many writes there were so far, failed ones included.
    #[must_use]
    pub fn writes(&self) -> u64 {
        self.writes.load(Ordering::SeqCst)
    }

    /// How many times an answer was looked up so far.
    #[must_use]
    pub fn looks(&self) -> u64 {
        self.looks.load(Ordering::SeqCst)
    }

    /// How many times sessions were listed by their last change so far.
    #[must_use]
    pub fn lists(&self) -> u64 {
        self.lists.load(Ordering::SeqCst)
    }

    /// Makes every write and every load of a session fail from now on, as if nobody answered; `false` ends that.
    pub fn set_away(&self, is_away: bool) {
        self.is_away.store(is_away, Ordering::SeqCst);
    }

    /// Leaves this session out of lists by the last change, as a database does while a change is not committed; `None`
    /// ends that.
    pub fn set_hidden(&self, id: Option<&str>) {
        let mut hidden = self.hidden.lock().unwrap_or_else(PoisonError::into_inner);
        *hidden = id.map(str::to_owned);
    }

    /// Does the work of others right before the next read by the method `read`, such as `folds`, and only once.
    pub fn set_meanwhile(
        &self,
        read: &'static str,
        work: impl Future<Output = ()> + Send + 'static,
    ) {
        let mut meanwhile = self.meanwhile.lock().unwrap_or_else(PoisonError::into_inner);
        *meanwhile = Some((read, Box::pin(work)));
    }

    /// Does the work of others where it is due before this read.
    async fn do_meanwhile(&self, read: &str) {
        let work = {
            let mut meanwhile = self.meanwhile.lock().unwrap_or_else(PoisonError::into_inner);
            meanwhile.take_if(|(due, _)| *due == read)
        };
        if let Some((_, work)) = work {
            work.await;
        }
    }

    fn check_away(&self) -> Result<(), StoreError> {
        let text = || "nobody answers".to_owned();
        match self.is_away.load(Ordering::SeqCst) {
            true => Err(StoreError::Backend { kind: FailureKind::Busy, text: text() }),
            false => Ok(()),
        }
    }

    /// Runs a write of the inner store, unless it is one that has to fail.
    async fn write<T: Send>(
        &self,
        operation: &str,
        work: impl Future<Output = Result<T, StoreError>> + Send,
    ) -> Result<T, StoreError> {
        self.check_away()?;
        let number = self.writes.fetch_add(1, Ordering::SeqCst);
        if !self.fails.contains(&number) {
            return work.await;
        }
        if self.failure == WriteFailure::After {
            // A refusal of the inner store is passed on. A write that took effect is reported as failed.
            work.await?;
        }
        let text = format!("the disk is full (write {number}: {operation})");
        Err(StoreError::Backend { kind: FailureKind::Full, text })
    }
}

#[async_trait]
impl Store for FaultyStore {
    fn place(&self) -> String {
        format!("faulty {}", self.inner.place())
    }

    async fn commit(
        &self,
        id: &str,
        changes: &SessionChanges,
    ) -> Result<CommitOutcome, StoreError> {
        self.write("commit", self.inner.commit(id, changes)).await
    }

    async fn session(&self, id: &str) -> Result<SessionRow, StoreError> {
        self.do_meanwhile("session").await;
        self.inner.session(id).await
    }

    async fn sessions(
        &self,
        after: Option<&str>,
        limit: u32,
    ) -> Result<Vec<SessionRow>, StoreError> {
        self.do_meanwhile("sessions").await;
        self.inner.sessions(after, limit).await
    }

    async fn sessions_beginning(
        &self,
        start: &str,
        limit: u32,
    ) -> Result<Vec<SessionRow>, StoreError> {
        self.do_meanwhile("sessions_beginning").await;
        self.inner.sessions_beginning(start, limit).await
    }

    async fn newest(&self, query: &NewestQuery) -> Result<Vec<SessionActivity>, StoreError> {
        self.lists.fetch_add(1, Ordering::SeqCst);
        let mut sessions = self.inner.newest(query).await?;
        let hidden = self.hidden.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.retain(|session| hidden.as_ref() != Some(&session.id));
        Ok(sessions)
    }

    async fn activity(&self, id: &str) -> Result<SessionActivity, StoreError> {
        self.inner.activity(id).await
    }

    async fn identified(
        &self,
        identities: &[Hash],
    ) -> Result<Option<IdentifiedSession>, StoreError> {
        self.inner.identified(identities).await
    }

    async fn put_answer(
        &self,
        key: Hash,
        answer: &AnswerHistory,
        now: Millis,
    ) -> Result<(), StoreError> {
        self.write("put_answer", self.inner.put_answer(key, answer, now)).await
    }

    async fn answer(&self, key: Hash) -> Result<Option<AnswerHistory>, StoreError> {
        self.looks.fetch_add(1, Ordering::SeqCst);
        self.inner.answer(key).await
    }

    async fn forget_answers(&self, since: Millis) -> Result<u64, StoreError> {
        self.write("forget_answers", self.inner.forget_answers(since)).await
    }

    async fn old_answers(&self, since: Millis) -> Result<u64, StoreError> {
        self.inner.old_answers(since).await
    }

    async fn put_window(&self, key: Hash, window: &LearnedWindow) -> Result<(), StoreError> {
        self.write("put_window", self.inner.put_window(key, window)).await
    }

    async fn raise_window(&self, key: Hash, tokens: u64) -> Result<(), StoreError> {
        self.write("raise_window", self.inner.raise_window(key, tokens)).await
    }

    async fn window(&self, key: Hash) -> Result<Option<LearnedWindow>, StoreError> {
        self.inner.window(key).await
    }

    async fn windows(&self, since: Millis) -> Result<u64, StoreError> {
        self.inner.windows(since).await
    }

    async fn events(&self, id: &str, range: Range<u64>) -> Result<Vec<EventRow>, StoreError> {
        self.do_meanwhile("events").await;
        self.inner.events(id, range).await
    }

    async fn load(&self, id: &str) -> Result<LoadedSession, StoreError> {
        self.check_away()?;
        self.inner.load(id).await
    }

    async fn folds(&self, id: &str) -> Result<Vec<FoldRow>, StoreError> {
        self.do_meanwhile("folds").await;
        self.inner.folds(id).await
    }

    async fn claim(&self, claim: &JobClaim) -> Result<Vec<StoreJob>, StoreError> {
        self.write("claim", self.inner.claim(claim)).await
    }

    async fn heartbeat(&self, lease: &Lease, until: Millis) -> Result<bool, StoreError> {
        self.write("heartbeat", self.inner.heartbeat(lease, until)).await
    }

    async fn end(&self, lease: &Lease, end: &JobEnd) -> Result<bool, StoreError> {
        self.write("end", self.inner.end(lease, end)).await
    }

    async fn job(&self, id: &str, key: Option<&str>) -> Result<Option<StoreJob>, StoreError> {
        self.inner.job(id, key).await
    }

    async fn jobs(&self, id: Option<&str>, limit: u32) -> Result<Vec<StoreJob>, StoreError> {
        self.do_meanwhile("jobs").await;
        self.inner.jobs(id, limit).await
    }

    async fn call(&self, id: &str, number: Option<u64>) -> Result<Option<CallRow>, StoreError> {
        self.inner.call(id, number).await
    }

    async fn calls(&self, id: &str) -> Result<Vec<CallRow>, StoreError> {
        self.do_meanwhile("calls").await;
        self.inner.calls(id).await
    }

    async fn requests(&self, id: &str) -> Result<Vec<(Option<Hash>, u64)>, StoreError> {
        self.inner.requests(id).await
    }

    async fn extent(&self, id: &str) -> Result<SessionExtent, StoreError> {
        self.inner.extent(id).await
    }

    async fn idle(
        &self,
        since: Millis,
        after: Option<&str>,
        limit: u32,
    ) -> Result<Vec<String>, StoreError> {
        self.inner.idle(since, after, limit).await
    }

    async fn delete(
        &self,
        id: &str,
        idle_since: Option<Millis>,
    ) -> Result<SessionExtent, StoreError> {
        self.write("delete", self.inner.delete(id, idle_since)).await
    }

    async fn scrub(&self) -> Result<(), StoreError> {
        self.write("scrub", self.inner.scrub()).await
    }

    async fn restore(&self, parts: TransferParts<'_>, now: Millis) -> Result<(), StoreError> {
        self.write("restore", self.inner.restore(parts, now)).await
    }

    async fn search(&self, id: &str, query: &LogSearch) -> Result<Vec<Hit>, StoreError> {
        self.inner.search(id, query).await
    }

    fn reads(&self) -> ReadCounts {
        self.inner.reads()
    }
}

//! The one trait that every store implements.

use std::ops::Range;

use async_trait::async_trait;
use midfold_core::Hash;

use crate::error::StoreError;
use crate::types::{
    AnswerHistory, AppendOutcome, AppendRequest, CallRow, EventRow, FoldRow, Hit,
    IdentifiedSession, JobClaim, JobOutcome, LearnedWindow, Lease, LoadedSession, LogSearch,
    Millis, NewCall, NewFold, NewJob, NewSession, NewestQuery, PutOutcome, ReadCounts,
    SessionActivity, SessionExtent, SessionRow, StoreJob, TransferParts,
};

/// Answers of one session that are found: those that came last.
pub const MOST_ANSWERS: u32 = 256;
/// Answers without a session that are found.
pub const MOST_LONE_ANSWERS: u32 = 4_096;
/// Windows that are found.
pub const MOST_WINDOWS: u32 = 4_096;

/// Where sessions live. Every method is one transaction; what returned `Ok` is durable.
///
/// Time comes in as milliseconds since 1970, ids and keys as values: a store has no clock.
#[async_trait]
pub trait Store: Send + Sync {
    /// Where this store is, for messages: never with a password.
    fn place(&self) -> String;
    /// Whether it is where it was opened. A file that was removed or replaced takes no writes any more: they would
    /// be in nobody's hands. Looks at the place and asks nobody.
    fn is_there(&self) -> Result<(), StoreError> {
        Ok(())
    }

    // Sessions.

    /// Creates a session. [`StoreError::Exists`] when the id is taken.
    async fn create(&self, new: NewSession) -> Result<SessionRow, StoreError>;
    /// A session. [`StoreError::NoSession`] when there is none.
    async fn session(&self, id: &str) -> Result<SessionRow, StoreError>;
    /// Sessions in the order of their ids, after this one.
    async fn sessions(
        &self,
        after: Option<&str>,
        limit: u32,
    ) -> Result<Vec<SessionRow>, StoreError>;
    /// Sessions by their last change, the newest first. Reads one small row each.
    async fn newest(&self, asked: &NewestQuery) -> Result<Vec<SessionActivity>, StoreError>;
    /// What one session does. [`StoreError::NoSession`] when there is none.
    async fn activity(&self, id: &str) -> Result<SessionActivity, StoreError>;
    /// Replaces the session's state where its version is still `expected`; returns the new one.
    async fn save_state(&self, id: &str, expected: u64, state: &str) -> Result<u64, StoreError>;

    // Events.

    /// Appends events, and queues a job in the same transaction. A retry with the same key
    /// returns the first answer. [`StoreError::Conflict`] when `expected` is not the head.
    async fn append(&self, id: &str, append: AppendRequest) -> Result<AppendOutcome, StoreError>;
    /// Events of a range of seqs, in order.
    async fn events(&self, id: &str, range: Range<u64>) -> Result<Vec<EventRow>, StoreError>;
    /// All that rendering needs: the session, its active fold, the events before its span, those
    /// of the span that it keeps, and those after. O(head + tail) rows and bytes.
    async fn load(&self, id: &str) -> Result<LoadedSession, StoreError>;

    // Identities.

    /// Notes by what the first `events` messages of a session are recognised when they come again. Of
    /// several sessions that begin alike, the one that was noted last is found.
    async fn identify(&self, id: &str, identity: Hash, events: u64) -> Result<(), StoreError>;
    /// Of the sessions that were noted for these identities, the one that was noted with the most messages.
    async fn identified(
        &self,
        identities: &[Hash],
    ) -> Result<Option<IdentifiedSession>, StoreError>;

    // Answers.

    /// Notes which history an answer ends, for a request that names the answer; of the same key, the last note
    /// counts. Beyond 256 of a session, or 4,096 of none, those that came first go.
    /// [`StoreError::NoSession`] where its session is not there.
    async fn put_answer(
        &self,
        key: Hash,
        answer: &AnswerHistory,
        now: Millis,
    ) -> Result<(), StoreError>;
    /// The answer that was noted so. It is gone with its session.
    async fn answer(&self, key: Hash) -> Result<Option<AnswerHistory>, StoreError>;
    /// Deletes the answers without a session that came before `since`; returns how many.
    async fn forget_answers(&self, since: Millis) -> Result<u64, StoreError>;
    /// How many answers [`Store::forget_answers`] would delete.
    async fn old_answers(&self, since: Millis) -> Result<u64, StoreError>;

    // Windows.

    /// Notes what a provider said of a window; of the same key, the last note counts. Beyond 4,096 of them,
    /// those that were learned first go.
    async fn put_window(&self, key: Hash, window: &LearnedWindow) -> Result<(), StoreError>;
    /// A window that was noted turned out to be no smaller than this many tokens. One that was not noted stays so.
    async fn raise_window(&self, key: Hash, tokens: u64) -> Result<(), StoreError>;
    /// The window that was noted so.
    async fn window(&self, key: Hash) -> Result<Option<LearnedWindow>, StoreError>;
    /// How many windows are noted that were learned at this time or later.
    async fn windows(&self, since: Millis) -> Result<u64, StoreError>;

    // Folds.

    /// Adds a fold. A fold is its id: one of the same id is there at most once, and the first stands.
    async fn put_fold(&self, id: &str, fold: &NewFold) -> Result<PutOutcome, StoreError>;
    /// Makes a fold (or none) the active one, where `expected` still is.
    /// [`StoreError::StaleFold`] when it is not.
    async fn activate(
        &self,
        id: &str,
        expected: Option<Hash>,
        fold: Option<Hash>,
    ) -> Result<(), StoreError>;
    /// All folds of a session in the order they came in.
    async fn folds(&self, id: &str) -> Result<Vec<FoldRow>, StoreError>;

    // Jobs.

    /// Queues a job. False when a job of this key exists, or another job of the session is live.
    async fn enqueue(&self, job: NewJob) -> Result<bool, StoreError>;
    /// Leases up to `limit` jobs that are due, oldest first; expired leases are due again.
    async fn claim(&self, claim: &JobClaim) -> Result<Vec<StoreJob>, StoreError>;
    /// Extends a lease. False when it was lost.
    async fn heartbeat(&self, lease: &Lease, until: Millis) -> Result<bool, StoreError>;
    /// Ends a job and stores its fold, in one transaction. False when the lease was lost: then
    /// nothing is stored.
    async fn finish(&self, lease: &Lease, done: &JobOutcome) -> Result<bool, StoreError>;
    /// Gives a job back. Tried again at `retry_at`; without one it is dead, with the reason.
    async fn fail(
        &self,
        lease: &Lease,
        reason: &str,
        retry_at: Option<Millis>,
    ) -> Result<bool, StoreError>;
    /// The job of a session with this key.
    async fn job(&self, id: &str, key: &str) -> Result<Option<StoreJob>, StoreError>;
    /// The job of a session that was queued last.
    async fn newest_job(&self, id: &str) -> Result<Option<StoreJob>, StoreError>;
    /// Jobs of a session, oldest first; of all sessions without one.
    async fn jobs(&self, id: Option<&str>, limit: u32) -> Result<Vec<StoreJob>, StoreError>;

    // Ledger.

    /// Records a model call; returns its number in the session, from 1. `prev` of the body's chain
    /// is checked: [`StoreError::StaleCall`] when another call came between.
    async fn record_call(&self, id: &str, call: &NewCall) -> Result<u64, StoreError>;
    /// Writes down what the provider reported for a call. Once.
    async fn settle_call(&self, id: &str, call: u64, usage: &str) -> Result<(), StoreError>;
    /// The newest call of a session.
    async fn last_call(&self, id: &str) -> Result<Option<CallRow>, StoreError>;
    /// Calls of a session, in order.
    async fn calls(&self, id: &str) -> Result<Vec<CallRow>, StoreError>;
    /// What the calls of a session were read through: folds (none: the whole log), each with the fewest events
    /// that there were at one of its calls.
    async fn requests(&self, id: &str) -> Result<Vec<(Option<Hash>, u64)>, StoreError>;

    // Deleting.

    /// What a session holds.
    async fn extent(&self, id: &str) -> Result<SessionExtent, StoreError>;
    /// Ids of the sessions that last changed before `since`, in order, after this one.
    async fn idle(
        &self,
        since: Millis,
        after: Option<&str>,
        limit: u32,
    ) -> Result<Vec<String>, StoreError>;
    /// Deletes a session with all that belongs to it, in one transaction; returns what it held. Forks
    /// share nothing with it and stay whole. A worker that has one of its jobs stores nothing more.
    /// With `idle_since` only where it last changed before that: else [`StoreError::Changed`].
    ///
    /// Its bytes may stay on the disk until [`Store::scrub`].
    async fn delete(
        &self,
        id: &str,
        idle_since: Option<Millis>,
    ) -> Result<SessionExtent, StoreError>;
    /// Takes the bytes of what was deleted off the disk, where that is the store's to do. It costs
    /// as much as the store is large, and next to nothing where nothing was deleted since the last
    /// one.
    async fn scrub(&self) -> Result<(), StoreError>;

    // Transfer.

    /// Brings in sessions of another store: all of it in one transaction, or nothing, where a
    /// session is there already or a part is an error. Its events count as appended `now`. Nothing
    /// is checked beside what the tables refuse: [`import`](crate::transfer::import) does that before.
    async fn restore(&self, parts: TransferParts<'_>, now: Millis) -> Result<(), StoreError>;

    // Recall.

    /// Events whose text matches, best (full text) or newest (literal, regex) first.
    async fn search(&self, id: &str, query: &LogSearch) -> Result<Vec<Hit>, StoreError>;

    /// Rows and bytes that this store has read so far: what the flatness test counts.
    fn reads(&self) -> ReadCounts;
}

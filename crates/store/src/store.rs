//! The trait that every store implements.

use std::ops::Range;

use async_trait::async_trait;
use midfold_core::Hash;

use crate::changes::{CommitOutcome, SessionChanges};
use crate::error::StoreError;
use crate::types::{
    AnswerHistory, CallRow, EventRow, FoldRow, Hit, IdentifiedSession, JobClaim, JobEnd,
    LearnedWindow, Lease, LoadedSession, LogSearch, Millis, NewestQuery, ReadCounts,
    SessionActivity, SessionExtent, SessionRow, StoreJob, TransferParts,
};

/// At most this many answers of one session are kept: the newest ones.
pub const MOST_ANSWERS: u32 = 256;
/// At most this many answers without a session are kept.
pub const MOST_LONE_ANSWERS: u32 = 4_096;
/// At most this many windows are kept.
pub const MOST_WINDOWS: u32 = 4_096;

/// Keeps sessions. Every method is one transaction, and a change that returned `Ok` is durable.
///
/// A store has no clock: times come in as milliseconds since 1970. Ids and keys come in as values, too.
#[async_trait]
pub trait Store: Send + Sync {
    /// The place of this store, for messages. It never holds a password.
    fn place(&self) -> String;
    /// Fails where the store is no longer where it was opened. A file that was removed or replaced accepts no more
    /// writes, because they would be lost. Only looks at the place, and sends no query.
    fn is_there(&self) -> Result<(), StoreError> {
        Ok(())
    }

    /// Fails where the disk of the store is full, as far as this process can see its disk. May block for a moment.
    fn has_room(&self) -> Result<(), StoreError> {
        Ok(())
    }

    // Sessions.

    /// Stores all changes of a session, or nothing of them. A retry of an append with the same key stores nothing, and
    /// returns the first answer.
    ///
    /// Fails with [`StoreError::Exists`] where a new session's id is taken, and with [`StoreError::NoSession`] where the
    /// session is not new and not there. [`StoreError::Conflict`], [`StoreError::StaleFold`], [`StoreError::StaleCall`]
    /// and [`StoreError::StaleState`] say that somebody else was first: read the session again. With
    /// [`StoreError::OtherJob`], another job of the session is ready or leased.
    async fn commit(&self, id: &str, changes: &SessionChanges)
    -> Result<CommitOutcome, StoreError>;
    /// Returns a session. Fails with [`StoreError::NoSession`] where there is none.
    async fn session(&self, id: &str) -> Result<SessionRow, StoreError>;
    /// Returns at most `limit` sessions with ids greater than `after`, in the order of their ids.
    async fn sessions(
        &self,
        after: Option<&str>,
        limit: u32,
    ) -> Result<Vec<SessionRow>, StoreError>;
    /// Returns at most `limit` sessions whose ids begin with `start`, in the order of their ids.
    async fn sessions_beginning(
        &self,
        start: &str,
        limit: u32,
    ) -> Result<Vec<SessionRow>, StoreError>;
    /// Returns sessions by their last change, the newest first. Reads one small row for each.
    async fn newest(&self, query: &NewestQuery) -> Result<Vec<SessionActivity>, StoreError>;
    /// Returns the activity of one session. Fails with [`StoreError::NoSession`] where there is none.
    async fn activity(&self, id: &str) -> Result<SessionActivity, StoreError>;

    // Events.

    /// Returns the events in a range of seqs, in order, as far as they exist.
    async fn events(&self, id: &str, range: Range<u64>) -> Result<Vec<EventRow>, StoreError>;
    /// Returns everything that a context needs: the session, its active fold, the events before the fold's span, the
    /// events of the span that the fold keeps, and the events after it. Reads O(head + tail) rows and bytes.
    async fn load(&self, id: &str) -> Result<LoadedSession, StoreError>;

    // Identities.

    /// Of the sessions that were noted for these identities, returns the one with the most messages.
    async fn identified(
        &self,
        identities: &[Hash],
    ) -> Result<Option<IdentifiedSession>, StoreError>;

    // Answers.

    /// Notes the history that an answer ends, for requests that name the answer. A later note for the same key
    /// replaces it. Above 256 for a session, or 4,096 without one, the oldest are dropped. Fails with [`StoreError::NoSession`] where its session does not exist.
    async fn put_answer(
        &self,
        key: Hash,
        answer: &AnswerHistory,
        now: Millis,
    ) -> Result<(), StoreError>;
    /// Returns the answer that was noted for this key. An answer is deleted together with its session.
    async fn answer(&self, key: Hash) -> Result<Option<AnswerHistory>, StoreError>;
    /// Deletes the answers without a session that came before `since`, and returns how many there were.
    async fn forget_answers(&self, since: Millis) -> Result<u64, StoreError>;
    /// Returns how many answers [`Store::forget_answers`] would delete.
    async fn old_answers(&self, since: Millis) -> Result<u64, StoreError>;

    // Windows.

    /// Notes the window that a provider stated. A later note for the same key replaces it. Above 4,096, the
    /// oldest are dropped.
    async fn put_window(&self, key: Hash, window: &LearnedWindow) -> Result<(), StoreError>;
    /// Raises a noted window to at least this many tokens, because that many were accepted. Does nothing where no
    /// window is noted.
    async fn raise_window(&self, key: Hash, tokens: u64) -> Result<(), StoreError>;
    /// Returns the window that was noted for this key.
    async fn window(&self, key: Hash) -> Result<Option<LearnedWindow>, StoreError>;
    /// Returns how many of the noted windows were learned at `since` or later.
    async fn windows(&self, since: Millis) -> Result<u64, StoreError>;

    // Folds.

    /// Returns all folds of a session, in the order in which they were added.
    async fn folds(&self, id: &str) -> Result<Vec<FoldRow>, StoreError>;

    // Jobs.

    /// Leases up to `limit` due jobs, the oldest first. Jobs with expired leases are due again.
    async fn claim(&self, claim: &JobClaim) -> Result<Vec<StoreJob>, StoreError>;
    /// Extends a lease. Returns false where the lease was lost.
    async fn heartbeat(&self, lease: &Lease, until: Millis) -> Result<bool, StoreError>;
    /// Ends an attempt at a job, and stores the job's fold in the same transaction. Returns false where the lease was
    /// lost; nothing is stored then.
    async fn end(&self, lease: &Lease, end: &JobEnd) -> Result<bool, StoreError>;
    /// Returns the job of a session with this key; with `None`, the one that was queued last.
    async fn job(&self, id: &str, key: Option<&str>) -> Result<Option<StoreJob>, StoreError>;
    /// Returns jobs of a session, the oldest first; of all sessions where `id` is `None`.
    async fn jobs(&self, id: Option<&str>, limit: u32) -> Result<Vec<StoreJob>, StoreError>;

    // Ledger.

    /// Returns the call of a session with this number; with `None`, the newest one.
    async fn call(&self, id: &str, number: Option<u64>) -> Result<Option<CallRow>, StoreError>;
    /// Returns the calls of a session, in order.
    async fn calls(&self, id: &str) -> Result<Vec<CallRow>, StoreError>;
    /// Returns the folds through which calls of a session were read (`None`: the whole log), each with the lowest
    /// number of events at one of its calls.
    async fn requests(&self, id: &str) -> Result<Vec<(Option<Hash>, u64)>, StoreError>;

    // Deleting.

    /// Returns the extent of a session.
    async fn extent(&self, id: &str) -> Result<SessionExtent, StoreError>;
    /// Returns the ids greater than `after` of the sessions that last changed before `since`, in order.
    async fn idle(
        &self,
        since: Millis,
        after: Option<&str>,
        limit: u32,
    ) -> Result<Vec<String>, StoreError>;
    /// Deletes a session with everything that belongs to it, in one transaction, and returns its extent. Its forks
    /// stay complete, because they share nothing with it. A worker with one of its jobs can store nothing any more.
    /// With `idle_since`, fails with [`StoreError::Changed`] unless the session last changed before that time.
    ///
    /// The deleted bytes may stay on the disk until [`Store::scrub`].
    async fn delete(
        &self,
        id: &str,
        idle_since: Option<Millis>,
    ) -> Result<SessionExtent, StoreError>;
    /// Removes the bytes of deleted data from the disk, where the store controls that. Costs as much as the store is
    /// large, but next to nothing where nothing was deleted since the last time.
    async fn scrub(&self) -> Result<(), StoreError>;

    // Transfer.

    /// Imports the sessions of another store in one transaction. Nothing is stored where a session exists already or a
    /// part is an error. The events count as appended at `now`. Only the tables' own rules are checked here;
    /// [`import`](crate::transfer::import) checks the rest before.
    async fn restore(&self, parts: TransferParts<'_>, now: Millis) -> Result<(), StoreError>;

    // Recall.

    /// Returns the events whose text matches: the best first for full text, the newest first for a literal or a regex.
    async fn search(&self, id: &str, query: &LogSearch) -> Result<Vec<Hit>, StoreError>;

    /// Returns how many rows and bytes this store has read so far. Tests compare these counts.
    fn reads(&self) -> ReadCounts;
}

//! Implements the trait `Store` with the shared statements, for both databases.

use std::ops::Range;

use async_trait::async_trait;
use midfold_core::Hash;

use super::database::{SqlDatabase, no_session, number, row, still};
use super::db::SqlConnection;
use super::search::{scan, search_words};
use super::{
    activity, answers, calls, commit, delete, events, folds, jobs, restore, sessions, windows,
};
use crate::changes::{CommitOutcome, SessionChanges};
use crate::error::StoreError;
use crate::store::Store;
use crate::text::Matcher;
use crate::types::{
    AnswerHistory, AppendOutcome, AppendRequest, CallRow, EventRow, FoldRow, Hit,
    IdentifiedSession, JobClaim, JobEnd, LearnedWindow, Lease, LoadedSession, LogSearch, Millis,
    NewestQuery, ReadCounts, SessionActivity, SessionExtent, SessionRow, StoreJob, TransferParts,
};
use crate::{assemble, check};

#[async_trait]
impl<S: SqlDatabase> Store for S {
    fn place(&self) -> String {
        SqlDatabase::place(self).to_owned()
    }

    fn is_there(&self) -> Result<(), StoreError> {
        SqlDatabase::is_there(self)
    }

    fn has_room(&self) -> Result<(), StoreError> {
        SqlDatabase::has_room(self)
    }

    async fn commit(
        &self,
        id: &str,
        changes: &SessionChanges,
    ) -> Result<CommitOutcome, StoreError> {
        check::changes(id, changes)?;
        if let Some(append) = changes.events_alone()
            && (1..=S::Db::AT_ONCE).contains(&append.events.len())
        {
            return append_alone(self, id, append).await;
        }
        let mut db = self.writer().await?;
        commit::commit(&mut *db, id, changes).await.inspect_err(|error| {
            if matches!(error, StoreError::NoSession(_)) {
                self.notes().forget(id);
            }
        })
    }

    async fn session(&self, id: &str) -> Result<SessionRow, StoreError> {
        let (_, row) = row(self, id).await?;
        self.notes().count(1, row.content_len());
        Ok(row)
    }

    async fn sessions(
        &self,
        after: Option<&str>,
        limit: u32,
    ) -> Result<Vec<SessionRow>, StoreError> {
        // Ids are never empty, so the empty text comes before all of them.
        let after = after.unwrap_or_default();
        let all = sessions::sessions(&mut *self.reader().await?, after, limit).await?;
        self.notes().count(all.len(), all.iter().map(SessionRow::content_len).sum());
        Ok(all)
    }

    async fn sessions_beginning(
        &self,
        start: &str,
        limit: u32,
    ) -> Result<Vec<SessionRow>, StoreError> {
        let all = sessions::sessions_beginning(&mut *self.reader().await?, start, limit).await?;
        self.notes().count(all.len(), all.iter().map(SessionRow::content_len).sum());
        Ok(all)
    }

    async fn newest(&self, query: &NewestQuery) -> Result<Vec<SessionActivity>, StoreError> {
        activity::newest(&mut *self.reader().await?, query).await
    }

    async fn activity(&self, id: &str) -> Result<SessionActivity, StoreError> {
        let no = number(self, id).await?;
        let session_activity = activity::one(&mut *self.reader().await?, no).await?;
        session_activity.ok_or_else(|| no_session(self, id))
    }

    async fn identified(
        &self,
        identities: &[Hash],
    ) -> Result<Option<IdentifiedSession>, StoreError> {
        sessions::identified(&mut *self.reader().await?, identities).await
    }

    async fn put_answer(
        &self,
        key: Hash,
        answer: &AnswerHistory,
        now: Millis,
    ) -> Result<(), StoreError> {
        let no = match &answer.session {
            Some(id) => Some(number(self, id).await?),
            None => None,
        };
        if answers::put(&mut *self.writer().await?, key, no, answer, now).await? {
            return Ok(());
        }
        Err(no_session(self, answer.session.as_deref().unwrap_or_default()))
    }

    async fn answer(&self, key: Hash) -> Result<Option<AnswerHistory>, StoreError> {
        answers::answer(&mut *self.reader().await?, key).await
    }

    async fn forget_answers(&self, since: Millis) -> Result<u64, StoreError> {
        answers::forget(&mut *self.writer().await?, since).await
    }

    async fn old_answers(&self, since: Millis) -> Result<u64, StoreError> {
        answers::count_old(&mut *self.reader().await?, since).await
    }

    async fn put_window(&self, key: Hash, window: &LearnedWindow) -> Result<(), StoreError> {
        windows::put(&mut *self.writer().await?, key, window).await
    }

    async fn raise_window(&self, key: Hash, tokens: u64) -> Result<(), StoreError> {
        windows::raise(&mut *self.writer().await?, key, tokens).await
    }

    async fn window(&self, key: Hash) -> Result<Option<LearnedWindow>, StoreError> {
        windows::window(&mut *self.reader().await?, key).await
    }

    async fn windows(&self, since: Millis) -> Result<u64, StoreError> {
        windows::count(&mut *self.reader().await?, since).await
    }

    async fn events(&self, id: &str, range: Range<u64>) -> Result<Vec<EventRow>, StoreError> {
        let no = number(self, id).await?;
        let mut db = self.reader().await?;
        let rows = events::events(&mut *db, no, &range).await?;
        if rows.is_empty() {
            still(self, &mut *db, id, no).await?;
        }
        self.notes().count_events(&rows);
        Ok(rows)
    }

    async fn load(&self, id: &str) -> Result<LoadedSession, StoreError> {
        let mut no = number(self, id).await?;
        let mut db = self.reader().await?;
        // Events and folds never change, so the session's row alone is a consistent snapshot.
        let mut rows = folds::session_and_fold(&mut *db, no).await?;
        if rows.is_none() {
            // The remembered number is outdated: the session was deleted, and perhaps created again.
            self.notes().forget(id);
            no = sessions::find_number(&mut *db, id).await?;
            rows = folds::session_and_fold(&mut *db, no).await?;
        }
        let (session, fold) = rows.ok_or_else(|| no_session(self, id))?;
        self.notes().count(1, session.content_len());
        if let Some(row) = &fold {
            self.notes().count(1, row.fold.body.len());
        }
        let runs = assemble::runs(&session, fold.as_ref());
        let events = db.run_events(no, &runs).await?;
        if events.is_empty() {
            still(self, &mut *db, id, no).await?;
        }
        self.notes().count_events(&events);
        Ok(assemble::loaded(session, fold, events))
    }

    async fn folds(&self, id: &str) -> Result<Vec<FoldRow>, StoreError> {
        let no = number(self, id).await?;
        let mut db = self.reader().await?;
        let rows = folds::folds(&mut *db, no).await?;
        if rows.is_empty() {
            still(self, &mut *db, id, no).await?;
        }
        let bytes = rows.iter().map(|row| row.fold.body.len()).sum();
        self.notes().count(rows.len(), bytes);
        Ok(rows)
    }

    async fn claim(&self, wanted: &JobClaim) -> Result<Vec<StoreJob>, StoreError> {
        jobs::claim(&mut *self.writer().await?, wanted).await
    }

    async fn heartbeat(&self, lease: &Lease, until: Millis) -> Result<bool, StoreError> {
        jobs::heartbeat(&mut *self.writer().await?, lease, until).await
    }

    async fn end(&self, lease: &Lease, end: &JobEnd) -> Result<bool, StoreError> {
        let mut db = self.writer().await?;
        match end {
            JobEnd::Done(outcome) => jobs::finish(&mut *db, lease, outcome).await,
            JobEnd::Failed { reason, retry_at } => {
                jobs::fail(&mut *db, lease, reason, *retry_at).await
            }
        }
    }

    async fn jobs(&self, id: Option<&str>, limit: u32) -> Result<Vec<StoreJob>, StoreError> {
        let Some(id) = id else {
            return jobs::jobs(&mut *self.reader().await?, None, limit).await;
        };
        let no = number(self, id).await?;
        let mut db = self.reader().await?;
        let rows = jobs::jobs(&mut *db, Some(no), limit).await?;
        if rows.is_empty() {
            still(self, &mut *db, id, no).await?;
        }
        Ok(rows)
    }

    async fn job(&self, id: &str, key: Option<&str>) -> Result<Option<StoreJob>, StoreError> {
        let no = number(self, id).await?;
        let mut db = self.reader().await?;
        let job = match key {
            Some(key) => jobs::job(&mut *db, no, key).await?,
            None => jobs::newest_job(&mut *db, no).await?,
        };
        if job.is_none() {
            still(self, &mut *db, id, no).await?;
        }
        Ok(job)
    }

    async fn call(&self, id: &str, call: Option<u64>) -> Result<Option<CallRow>, StoreError> {
        let no = number(self, id).await?;
        let mut db = self.reader().await?;
        let call = calls::call(&mut *db, no, call).await?;
        if call.is_none() {
            still(self, &mut *db, id, no).await?;
        }
        self.notes()
            .count(usize::from(call.is_some()), call.as_ref().map_or(0, |row| row.call.body.len()));
        Ok(call)
    }

    async fn calls(&self, id: &str) -> Result<Vec<CallRow>, StoreError> {
        let no = number(self, id).await?;
        let mut db = self.reader().await?;
        let rows = calls::calls(&mut *db, no).await?;
        if rows.is_empty() {
            still(self, &mut *db, id, no).await?;
        }
        let bytes = rows.iter().map(|row| row.call.body.len()).sum();
        self.notes().count(rows.len(), bytes);
        Ok(rows)
    }

    async fn requests(&self, id: &str) -> Result<Vec<(Option<Hash>, u64)>, StoreError> {
        let no = number(self, id).await?;
        let rows = calls::requests(&mut *self.reader().await?, no).await?;
        self.notes().count(rows.len(), 0);
        Ok(rows)
    }

    async fn extent(&self, id: &str) -> Result<SessionExtent, StoreError> {
        let mut db = self.reader().await?;
        // Read anew: a remembered number may be that of a deleted session with the same id.
        let no = sessions::find_number(&mut *db, id).await?;
        delete::extent(&mut *db, no).await?.ok_or_else(|| no_session(self, id))
    }

    async fn idle(
        &self,
        since: Millis,
        after: Option<&str>,
        limit: u32,
    ) -> Result<Vec<String>, StoreError> {
        // Ids are never empty, so the empty text comes before all of them.
        let after = after.unwrap_or_default();
        delete::idle(&mut *self.reader().await?, since, after, limit).await
    }

    async fn delete(
        &self,
        id: &str,
        idle_since: Option<Millis>,
    ) -> Result<SessionExtent, StoreError> {
        let extent = delete::delete(&mut *self.writer().await?, id, idle_since).await?;
        self.notes().forget(id);
        extent.ok_or_else(|| StoreError::NoSession(id.to_owned()))
    }

    async fn scrub(&self) -> Result<(), StoreError> {
        SqlDatabase::scrub(self).await
    }

    async fn restore(&self, parts: TransferParts<'_>, now: Millis) -> Result<(), StoreError> {
        restore::restore(&mut *self.writer().await?, parts, now).await
    }

    async fn search(&self, id: &str, query: &LogSearch) -> Result<Vec<Hit>, StoreError> {
        let matcher = Matcher::new(query)?;
        let (no, row) = row(self, id).await?;
        // The head of this row bounds the search, so events that are appended meanwhile do not count in one half of it.
        let asked_range = query.range.clone().unwrap_or(0..row.head);
        let range = asked_range.start..asked_range.end.min(row.head);
        let dialect = &row.new.dialect;
        match &matcher {
            Matcher::Words(words, phrase) => {
                let wanted = (words.as_slice(), phrase.as_str());
                search_words(self, (id, no), dialect, &range, wanted, query.limit).await
            }
            _ => scan(self, no, dialect, range, &matcher, query.limit).await,
        }
    }

    fn reads(&self) -> ReadCounts {
        self.notes().reads()
    }
}

/// Appends events with a single statement. It is atomic by itself, which saves the transaction for the most frequent
/// commit.
async fn append_alone<S: SqlDatabase>(
    store: &S,
    id: &str,
    append: &AppendRequest,
) -> Result<CommitOutcome, StoreError> {
    let AppendRequest { expected, events, now, .. } = append;
    let no = number(store, id).await?;
    let mut db = store.writer().await?;
    if db.insert_events(no, *expected, events, *now).await? {
        let count = events.len() as u64;
        let appended = AppendOutcome { first: *expected, count, repeated: false };
        return Ok(CommitOutcome { appended: Some(appended) });
    }
    // A refused append may also mean that the session is gone, which is no conflict for the caller.
    still(store, &mut *db, id, no).await?;
    // The session is there, so the events were refused because they do not follow its head.
    let actual = events::head(&mut *db, no).await?;
    Err(StoreError::Conflict { expected: *expected, actual })
}

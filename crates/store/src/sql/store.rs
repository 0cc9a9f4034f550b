//! Implements the trait `Store` with the shared statements, for both databases.

use std::ops::Range;

use async_trait::async_trait;
use midfold_core::Hash;

use super::database::{SqlDatabase, gone, number, row, still};
use super::db::SqlConnection;
use super::search::{scan, search_words};
use super::{activity, answers, calls, delete, events, folds, jobs, restore, sessions, windows};
use crate::error::StoreError;
use crate::store::Store;
use crate::text::Matcher;
use crate::types::{
    AnswerHistory, AppendOutcome, AppendRequest, CallRow, EventRow, FoldRow, Hit,
    IdentifiedSession, JobClaim, JobOutcome, LearnedWindow, Lease, LoadedSession, LogSearch,
    Millis, NewCall, NewFold, NewJob, NewSession, NewestQuery, PutOutcome, ReadCounts,
    SessionActivity, SessionExtent, SessionRow, StoreJob, TransferParts,
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

    async fn create(&self, new: NewSession) -> Result<SessionRow, StoreError> {
        check::session(&new)?;
        if !sessions::create(&mut *self.writer().await?, &new).await? {
            return Err(StoreError::Exists(new.id));
        }
        Ok(SessionRow { new, ..SessionRow::default() })
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

    async fn newest(&self, asked: &NewestQuery) -> Result<Vec<SessionActivity>, StoreError> {
        activity::newest(&mut *self.reader().await?, asked).await
    }

    async fn activity(&self, id: &str) -> Result<SessionActivity, StoreError> {
        let no = number(self, id).await?;
        let found = activity::one(&mut *self.reader().await?, no).await?;
        found.ok_or_else(|| gone(self, id))
    }

    async fn save_state(&self, id: &str, expected: u64, state: &str) -> Result<u64, StoreError> {
        let no = number(self, id).await?;
        let mut db = self.writer().await?;
        if sessions::save_state(&mut *db, no, expected, state).await? {
            return Ok(expected + 1);
        }
        let row = sessions::session(&mut *db, no).await?.ok_or_else(|| gone(self, id))?;
        Err(StoreError::StaleState { expected, actual: row.state_version })
    }

    async fn identify(&self, id: &str, identity: Hash, events: u64) -> Result<(), StoreError> {
        let no = number(self, id).await?;
        let mut db = self.writer().await?;
        if sessions::identify(&mut *db, no, identity, events).await? {
            return Ok(());
        }
        Err(gone(self, id))
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
        Err(gone(self, answer.session.as_deref().unwrap_or_default()))
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

    async fn append(&self, id: &str, append: AppendRequest) -> Result<AppendOutcome, StoreError> {
        check::append(id, &append)?;
        let no = number(self, id).await?;
        let AppendRequest { expected, events, key, job, now } = &append;
        let count = events.len() as u64;
        let mut db = self.writer().await?;
        // A single statement is atomic by itself. That saves the transaction for the most frequent append.
        let one = key.is_none() && job.is_none() && (1..=S::Db::AT_ONCE).contains(&events.len());
        let answer = match one {
            true => db.insert_events(no, *expected, events, *now).await?.then_some(AppendOutcome {
                first: *expected,
                count,
                repeated: false,
            }),
            false => events::append_all(&mut *db, no, &append).await?,
        };
        match answer {
            Some(answer) => Ok(answer),
            None => {
                // A refused append may also mean that the session is gone, which is no conflict for the caller.
                still(self, &mut *db, id, no).await?;
                // The session is there, so the events were refused because they do not follow its head.
                let actual = events::head(&mut *db, no).await?;
                Err(StoreError::Conflict { expected: *expected, actual })
            }
        }
    }

    async fn events(&self, id: &str, range: Range<u64>) -> Result<Vec<EventRow>, StoreError> {
        let no = number(self, id).await?;
        let mut db = self.reader().await?;
        let found = events::events(&mut *db, no, &range).await?;
        if found.is_empty() {
            still(self, &mut *db, id, no).await?;
        }
        self.notes().count_events(&found);
        Ok(found)
    }

    async fn load(&self, id: &str) -> Result<LoadedSession, StoreError> {
        let mut no = number(self, id).await?;
        let mut db = self.reader().await?;
        // Events and folds never change, so the session's row alone is a consistent snapshot.
        let mut found = folds::session_and_fold(&mut *db, no).await?;
        if found.is_none() {
            // The remembered number is outdated: the session was deleted, and perhaps created again.
            self.notes().forget(id);
            no = sessions::find_number(&mut *db, id).await?;
            found = folds::session_and_fold(&mut *db, no).await?;
        }
        let (session, fold) = found.ok_or_else(|| gone(self, id))?;
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

    async fn put_fold(&self, id: &str, fold: &NewFold) -> Result<PutOutcome, StoreError> {
        let no = number(self, id).await?;
        let put = folds::put_fold(&mut *self.writer().await?, no, fold).await?;
        put.ok_or_else(|| gone(self, id))
    }

    async fn activate(
        &self,
        id: &str,
        expected: Option<Hash>,
        fold: Option<Hash>,
    ) -> Result<(), StoreError> {
        let no = number(self, id).await?;
        let mut db = self.writer().await?;
        let outcome = folds::activate(&mut *db, no, expected, fold).await;
        if outcome.is_err() {
            still(self, &mut *db, id, no).await?;
        }
        outcome
    }

    async fn folds(&self, id: &str) -> Result<Vec<FoldRow>, StoreError> {
        let no = number(self, id).await?;
        let mut db = self.reader().await?;
        let found = folds::folds(&mut *db, no).await?;
        if found.is_empty() {
            still(self, &mut *db, id, no).await?;
        }
        let bytes = found.iter().map(|row| row.fold.body.len()).sum();
        self.notes().count(found.len(), bytes);
        Ok(found)
    }

    async fn enqueue(&self, job: NewJob) -> Result<bool, StoreError> {
        let no = number(self, &job.session).await?;
        let mut db = self.writer().await?;
        let queued = jobs::enqueue(&mut *db, no, &job).await?;
        if !queued {
            still(self, &mut *db, &job.session, no).await?;
        }
        Ok(queued)
    }

    async fn claim(&self, wanted: &JobClaim) -> Result<Vec<StoreJob>, StoreError> {
        jobs::claim(&mut *self.writer().await?, wanted).await
    }

    async fn heartbeat(&self, lease: &Lease, until: Millis) -> Result<bool, StoreError> {
        jobs::heartbeat(&mut *self.writer().await?, lease, until).await
    }

    async fn finish(&self, lease: &Lease, done: &JobOutcome) -> Result<bool, StoreError> {
        jobs::finish(&mut *self.writer().await?, lease, done).await
    }

    async fn fail(
        &self,
        lease: &Lease,
        reason: &str,
        retry_at: Option<Millis>,
    ) -> Result<bool, StoreError> {
        jobs::fail(&mut *self.writer().await?, lease, reason, retry_at).await
    }

    async fn jobs(&self, id: Option<&str>, limit: u32) -> Result<Vec<StoreJob>, StoreError> {
        let Some(id) = id else {
            return jobs::jobs(&mut *self.reader().await?, None, limit).await;
        };
        let no = number(self, id).await?;
        let mut db = self.reader().await?;
        let found = jobs::jobs(&mut *db, Some(no), limit).await?;
        if found.is_empty() {
            still(self, &mut *db, id, no).await?;
        }
        Ok(found)
    }

    async fn job(&self, id: &str, key: &str) -> Result<Option<StoreJob>, StoreError> {
        let no = number(self, id).await?;
        let mut db = self.reader().await?;
        let found = jobs::job(&mut *db, no, key).await?;
        if found.is_none() {
            still(self, &mut *db, id, no).await?;
        }
        Ok(found)
    }

    async fn newest_job(&self, id: &str) -> Result<Option<StoreJob>, StoreError> {
        let no = number(self, id).await?;
        let mut db = self.reader().await?;
        let found = jobs::newest_job(&mut *db, no).await?;
        if found.is_none() {
            still(self, &mut *db, id, no).await?;
        }
        Ok(found)
    }

    async fn record_call(&self, id: &str, call: &NewCall) -> Result<u64, StoreError> {
        let no = number(self, id).await?;
        let mut db = self.writer().await?;
        match calls::record_call(&mut *db, no, call).await? {
            true => Ok(call.number),
            false => {
                still(self, &mut *db, id, no).await?;
                Err(StoreError::StaleCall { actual: calls::last_call(&mut *db, no).await? })
            }
        }
    }

    async fn settle_call(&self, id: &str, call: u64, usage: &str) -> Result<bool, StoreError> {
        let no = number(self, id).await?;
        let mut db = self.writer().await?;
        let outcome = calls::settle_call(&mut *db, no, call, usage).await;
        if outcome.is_err() {
            still(self, &mut *db, id, no).await?;
        }
        outcome
    }

    async fn last_call(&self, id: &str) -> Result<Option<CallRow>, StoreError> {
        let no = number(self, id).await?;
        let mut db = self.reader().await?;
        let found = calls::newest_call(&mut *db, no).await?;
        if found.is_none() {
            still(self, &mut *db, id, no).await?;
        }
        self.notes().count(
            usize::from(found.is_some()),
            found.as_ref().map_or(0, |row| row.call.body.len()),
        );
        Ok(found)
    }

    async fn calls(&self, id: &str) -> Result<Vec<CallRow>, StoreError> {
        let no = number(self, id).await?;
        let mut db = self.reader().await?;
        let found = calls::calls(&mut *db, no).await?;
        if found.is_empty() {
            still(self, &mut *db, id, no).await?;
        }
        let bytes = found.iter().map(|row| row.call.body.len()).sum();
        self.notes().count(found.len(), bytes);
        Ok(found)
    }

    async fn requests(&self, id: &str) -> Result<Vec<(Option<Hash>, u64)>, StoreError> {
        let no = number(self, id).await?;
        let found = calls::requests(&mut *self.reader().await?, no).await?;
        self.notes().count(found.len(), 0);
        Ok(found)
    }

    async fn extent(&self, id: &str) -> Result<SessionExtent, StoreError> {
        let mut db = self.reader().await?;
        // Read anew: a remembered number may be that of a deleted session with the same id.
        let no = sessions::find_number(&mut *db, id).await?;
        delete::extent(&mut *db, no).await?.ok_or_else(|| gone(self, id))
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
        let asked = query.range.clone().unwrap_or(0..row.head);
        let range = asked.start..asked.end.min(row.head);
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

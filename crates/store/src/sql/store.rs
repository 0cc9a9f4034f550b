//! The trait `Store` over the statements, the same for both databases.

use std::ops::{DerefMut, Range};

use async_trait::async_trait;
use midfold_core::Hash;

use super::db::Db;
use super::{Notes, calls, events, folds, index, jobs, restore, sessions};
use crate::error::StoreError;
use crate::text::{Matcher, Postings, Ranking};
use crate::types::{
    Append, Appended, CallRow, Claim, Done, EventRow, FoldRow, Hit, Job, Lease, Loaded, Millis,
    NewCall, NewFold, NewJob, NewSession, Parts, Put, Reads, Search, SessionRow,
};
use crate::{Store, assemble, check};

/// A store in a database: where it is, and its connections.
pub trait Sql: Send + Sync {
    /// A connection.
    type Db: Db;
    /// Holds one that writes.
    type Writer<'a>: DerefMut<Target = Self::Db> + Send
    where
        Self: 'a;
    /// Holds one that reads.
    type Reader<'a>: DerefMut<Target = Self::Db> + Send
    where
        Self: 'a;

    /// Where it is, without a password.
    fn place(&self) -> &str;
    /// What it remembers.
    fn notes(&self) -> &Notes;
    /// A connection that writes.
    fn writer(&self) -> impl Future<Output = Result<Self::Writer<'_>, StoreError>> + Send;
    /// A connection that reads.
    fn reader(&self) -> impl Future<Output = Result<Self::Reader<'_>, StoreError>> + Send;
}

/// The number of a session.
async fn number<S: Sql>(store: &S, id: &str) -> Result<i64, StoreError> {
    if let Some(no) = store.notes().number(id) {
        return Ok(no);
    }
    let no = sessions::find_number(&mut *store.reader().await?, id).await?;
    store.notes().remember(id, no);
    Ok(no)
}

/// Takes into the index what was appended since the last search.
async fn catch_up<S: Sql>(store: &S, no: i64, dialect: &str) -> Result<(), StoreError> {
    loop {
        let (from, head) = index::indexed(&mut *store.reader().await?, no).await?;
        if from >= head {
            return Ok(());
        }
        let page = from..head.min(from + super::PAGE as u64);
        let events = events::events(&mut *store.reader().await?, no, &page).await?;
        store.notes().count_events(&events);
        let words = |row: &EventRow| {
            let text = crate::text::searched_text(dialect, &row.event.bytes);
            (row.seq, crate::text::distinct_words(&text))
        };
        let texts: Vec<_> = events.iter().map(words).collect();
        index::index(&mut *store.writer().await?, no, from, &texts).await?;
    }
}

async fn search_words<S: Sql>(
    store: &S,
    no: i64,
    dialect: &str,
    range: &Range<u64>,
    (words, phrase): (&[String], &str),
    limit: u32,
) -> Result<Vec<Hit>, StoreError> {
    catch_up(store, no, dialect).await?;
    let mut postings = Postings::new(range.end.saturating_sub(range.start));
    for word in words {
        postings.push(store.reader().await?.posting(no, range, word).await?);
    }
    let mut ranking = Ranking::new(words, phrase, &postings);
    let mut best = postings.best();
    // One pass over the log's pages, whatever the order of the scores.
    best.sort_unstable();
    for some in best.chunks(super::RANKED_AT_ONCE) {
        let runs: Vec<_> = some.iter().map(|seq| *seq..*seq + 1).collect();
        let events = store.reader().await?.run_events(no, &runs).await?;
        store.notes().count_events(&events);
        for row in &events {
            let text = crate::text::searched_text(dialect, &row.event.bytes);
            ranking.push(row.seq, &text);
        }
    }
    Ok(ranking.finish(limit))
}

async fn scan<S: Sql>(
    store: &S,
    no: i64,
    dialect: &str,
    mut range: Range<u64>,
    matcher: &Matcher,
    limit: u32,
) -> Result<Vec<Hit>, StoreError> {
    let mut hits = Vec::new();
    while range.start < range.end && hits.len() < limit as usize {
        let page = events::newest(&mut *store.reader().await?, no, &range).await?;
        store.notes().count_events(&page);
        let Some(last) = page.last() else { break };
        range.end = last.seq;
        let found = page.iter().filter_map(|row| {
            let text = crate::text::searched_text(dialect, &row.event.bytes);
            matcher.scan(row.seq, &text)
        });
        hits.extend(found.take(limit as usize - hits.len()));
    }
    Ok(hits)
}

#[async_trait]
impl<S: Sql> Store for S {
    fn place(&self) -> String {
        Sql::place(self).to_owned()
    }

    async fn create(&self, new: NewSession) -> Result<SessionRow, StoreError> {
        check::session(&new)?;
        if !sessions::create(&mut *self.writer().await?, &new).await? {
            return Err(StoreError::Exists(new.id));
        }
        Ok(SessionRow { new, ..SessionRow::default() })
    }

    async fn session(&self, id: &str) -> Result<SessionRow, StoreError> {
        let no = number(self, id).await?;
        let row = sessions::session(&mut *self.reader().await?, no).await?;
        self.notes().count(1, row.content_len());
        Ok(row)
    }

    async fn sessions(
        &self,
        after: Option<&str>,
        limit: u32,
    ) -> Result<Vec<SessionRow>, StoreError> {
        // No id is empty.
        let after = after.unwrap_or_default();
        let all = sessions::sessions(&mut *self.reader().await?, after, limit).await?;
        self.notes().count(all.len(), all.iter().map(SessionRow::content_len).sum());
        Ok(all)
    }

    async fn save_state(&self, id: &str, expected: u64, state: &str) -> Result<u64, StoreError> {
        let no = number(self, id).await?;
        let mut db = self.writer().await?;
        if sessions::save_state(&mut *db, no, expected, state).await? {
            return Ok(expected + 1);
        }
        let actual = sessions::session(&mut *db, no).await?.state_version;
        Err(StoreError::StaleState { expected, actual })
    }

    async fn append(&self, id: &str, append: Append) -> Result<Appended, StoreError> {
        check::append(id, &append)?;
        let no = number(self, id).await?;
        let Append { expected, events, key, job, .. } = &append;
        let count = events.len() as u64;
        let mut db = self.writer().await?;
        let one = key.is_none() && job.is_none() && (1..=S::Db::AT_ONCE).contains(&events.len());
        let answer = match one {
            true => db.insert_events(no, *expected, events).await?.then_some(Appended {
                first: *expected,
                count,
                repeated: false,
            }),
            false => events::append_all(&mut *db, no, &append).await?,
        };
        match answer {
            Some(answer) => Ok(answer),
            None => {
                let actual = events::head(&mut *db, no).await?;
                Err(StoreError::Conflict { expected: *expected, actual })
            }
        }
    }

    async fn events(&self, id: &str, range: Range<u64>) -> Result<Vec<EventRow>, StoreError> {
        let no = number(self, id).await?;
        let found = events::events(&mut *self.reader().await?, no, &range).await?;
        self.notes().count_events(&found);
        Ok(found)
    }

    async fn load(&self, id: &str) -> Result<Loaded, StoreError> {
        let no = number(self, id).await?;
        let mut db = self.reader().await?;
        // Events and folds never change: the session's row alone is the snapshot.
        let (session, fold) = folds::session_and_fold(&mut *db, no).await?;
        self.notes().count(1, session.content_len());
        if let Some(row) = &fold {
            self.notes().count(1, row.fold.body.len());
        }
        let runs = assemble::runs(&session, fold.as_ref());
        let events = db.run_events(no, &runs).await?;
        self.notes().count_events(&events);
        Ok(assemble::loaded(session, fold, events))
    }

    async fn put_fold(&self, id: &str, fold: &NewFold) -> Result<Put, StoreError> {
        let no = number(self, id).await?;
        folds::put_fold(&mut *self.writer().await?, no, fold).await
    }

    async fn activate(
        &self,
        id: &str,
        expected: Option<Hash>,
        fold: Option<Hash>,
    ) -> Result<(), StoreError> {
        let no = number(self, id).await?;
        folds::activate(&mut *self.writer().await?, no, expected, fold).await
    }

    async fn folds(&self, id: &str) -> Result<Vec<FoldRow>, StoreError> {
        let no = number(self, id).await?;
        let found = folds::folds(&mut *self.reader().await?, no).await?;
        let bytes = found.iter().map(|row| row.fold.body.len()).sum();
        self.notes().count(found.len(), bytes);
        Ok(found)
    }

    async fn enqueue(&self, job: NewJob) -> Result<bool, StoreError> {
        let no = number(self, &job.session).await?;
        jobs::enqueue(&mut *self.writer().await?, no, &job).await
    }

    async fn claim(&self, wanted: &Claim) -> Result<Vec<Job>, StoreError> {
        jobs::claim(&mut *self.writer().await?, wanted).await
    }

    async fn heartbeat(&self, lease: &Lease, until: Millis) -> Result<bool, StoreError> {
        jobs::heartbeat(&mut *self.writer().await?, lease, until).await
    }

    async fn finish(&self, lease: &Lease, done: &Done) -> Result<bool, StoreError> {
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

    async fn jobs(&self, id: Option<&str>, limit: u32) -> Result<Vec<Job>, StoreError> {
        let no = match id {
            Some(id) => Some(number(self, id).await?),
            None => None,
        };
        jobs::jobs(&mut *self.reader().await?, no, limit).await
    }

    async fn job(&self, id: &str, key: &str) -> Result<Option<Job>, StoreError> {
        let no = number(self, id).await?;
        jobs::job(&mut *self.reader().await?, no, key).await
    }

    async fn newest_job(&self, id: &str) -> Result<Option<Job>, StoreError> {
        let no = number(self, id).await?;
        jobs::newest_job(&mut *self.reader().await?, no).await
    }

    async fn record_call(&self, id: &str, call: &NewCall) -> Result<u64, StoreError> {
        let no = number(self, id).await?;
        let mut db = self.writer().await?;
        match calls::record_call(&mut *db, no, call).await? {
            true => Ok(call.number),
            false => Err(StoreError::StaleCall { actual: calls::last_call(&mut *db, no).await? }),
        }
    }

    async fn settle_call(&self, id: &str, call: u64, usage: &str) -> Result<(), StoreError> {
        let no = number(self, id).await?;
        calls::settle_call(&mut *self.writer().await?, no, call, usage).await
    }

    async fn last_call(&self, id: &str) -> Result<Option<CallRow>, StoreError> {
        let no = number(self, id).await?;
        let found = calls::newest_call(&mut *self.reader().await?, no).await?;
        self.notes().count(
            usize::from(found.is_some()),
            found.as_ref().map_or(0, |row| row.call.body.len()),
        );
        Ok(found)
    }

    async fn calls(&self, id: &str) -> Result<Vec<CallRow>, StoreError> {
        let no = number(self, id).await?;
        let found = calls::calls(&mut *self.reader().await?, no).await?;
        let bytes = found.iter().map(|row| row.call.body.len()).sum();
        self.notes().count(found.len(), bytes);
        Ok(found)
    }

    async fn restore(&self, parts: Parts<'_>) -> Result<(), StoreError> {
        restore::restore(&mut *self.writer().await?, parts).await
    }

    async fn search(&self, id: &str, query: &Search) -> Result<Vec<Hit>, StoreError> {
        let matcher = Matcher::new(query)?;
        let no = number(self, id).await?;
        let row = sessions::session(&mut *self.reader().await?, no).await?;
        let asked = query.range.clone().unwrap_or(0..row.head);
        let range = asked.start..asked.end.min(row.head);
        let dialect = &row.new.dialect;
        match &matcher {
            Matcher::Words(words, phrase) => {
                let wanted = (words.as_slice(), phrase.as_str());
                search_words(self, no, dialect, &range, wanted, query.limit).await
            }
            _ => scan(self, no, dialect, range, &matcher, query.limit).await,
        }
    }

    fn reads(&self) -> Reads {
        self.notes().reads()
    }
}

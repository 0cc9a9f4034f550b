//! A store in the memory of one process, behind one lock. It is for tests, and for programs that keep no history.

mod kept;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use midfold_core::Hash;

use crate::error::StoreError;
use crate::store::Store;
use crate::text::{CandidateRanking, Matcher, Postings, searched_text};
use crate::types::{
    AnswerHistory, AppendOutcome, AppendRequest, CallRow, EventRow, FoldRow, Hit,
    IdentifiedSession, JobClaim, JobOutcome, JobState, LearnedWindow, Lease, LoadedSession,
    LogSearch, Millis, NewCall, NewFold, NewJob, NewSession, NewestQuery, PutOutcome, ReadCounts,
    SessionActivity, SessionExtent, SessionRow, StoreJob, TransferPart, TransferParts,
};
use crate::{assemble, check};
use kept::{MemoryInner, MemorySession};

/// Sessions in memory. They are gone when the store is dropped.
#[derive(Default)]
pub struct MemoryStore {
    inner: Mutex<MemoryInner>,
    rows: AtomicU64,
    bytes: AtomicU64,
}

impl MemoryStore {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// No change can panic half-way, so the data behind a poisoned lock is still valid.
    fn lock(&self) -> MutexGuard<'_, MemoryInner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts rows and bytes that were read.
    fn count(&self, rows: usize, bytes: usize) {
        self.rows.fetch_add(rows as u64, Ordering::Relaxed);
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    fn count_events(&self, events: &[EventRow]) {
        self.count(events.len(), events.iter().map(|row| row.event.bytes.len()).sum());
    }
}

#[async_trait]
impl Store for MemoryStore {
    fn place(&self) -> String {
        "memory".to_owned()
    }

    async fn create(&self, new: NewSession) -> Result<SessionRow, StoreError> {
        check::session(&new)?;
        let mut inner = self.lock();
        if inner.sessions.contains_key(&new.id) {
            return Err(StoreError::Exists(new.id));
        }
        let row = SessionRow { new, ..SessionRow::default() };
        inner.insert(MemorySession::of(row.clone()));
        Ok(row)
    }

    async fn session(&self, id: &str) -> Result<SessionRow, StoreError> {
        let row = self.lock().kept(id)?.row.clone();
        self.count(1, row.content_len());
        Ok(row)
    }

    async fn sessions(
        &self,
        after: Option<&str>,
        limit: u32,
    ) -> Result<Vec<SessionRow>, StoreError> {
        let copied = |(_, kept): (_, &MemorySession)| kept.row.clone();
        let rows: Vec<_> = self.lock().after(after).take(limit as usize).map(copied).collect();
        self.count(rows.len(), rows.iter().map(SessionRow::content_len).sum());
        Ok(rows)
    }

    async fn newest(&self, asked: &NewestQuery) -> Result<Vec<SessionActivity>, StoreError> {
        Ok(self.lock().newest(asked))
    }

    async fn activity(&self, id: &str) -> Result<SessionActivity, StoreError> {
        Ok(self.lock().kept(id)?.activity())
    }

    async fn save_state(&self, id: &str, expected: u64, state: &str) -> Result<u64, StoreError> {
        let mut inner = self.lock();
        let row = &mut inner.kept_mut(id)?.row;
        if row.state_version != expected {
            return Err(StoreError::StaleState { expected, actual: row.state_version });
        }
        row.state = state.to_owned();
        row.state_version += 1;
        Ok(row.state_version)
    }

    async fn identify(&self, id: &str, identity: Hash, events: u64) -> Result<(), StoreError> {
        let mut inner = self.lock();
        inner.kept(id)?;
        inner.identities.insert(identity, (id.to_owned(), events));
        Ok(())
    }

    async fn identified(
        &self,
        identities: &[Hash],
    ) -> Result<Option<IdentifiedSession>, StoreError> {
        self.lock().identified(identities)
    }

    async fn put_answer(
        &self,
        key: Hash,
        answer: &AnswerHistory,
        now: Millis,
    ) -> Result<(), StoreError> {
        let mut inner = self.lock();
        if let Some(id) = &answer.session {
            inner.kept(id)?;
        }
        inner.put_answer(key, answer.clone(), now);
        Ok(())
    }

    async fn answer(&self, key: Hash) -> Result<Option<AnswerHistory>, StoreError> {
        Ok(self.lock().answers.get(&key).map(|(_, answer)| answer.clone()))
    }

    async fn forget_answers(&self, since: Millis) -> Result<u64, StoreError> {
        let answers = &mut self.lock().answers;
        let before = answers.len();
        answers.retain(|_, (made, answer)| answer.session.is_some() || *made >= since);
        Ok((before - answers.len()) as u64)
    }

    async fn old_answers(&self, since: Millis) -> Result<u64, StoreError> {
        Ok(self.lock().old_answers(since))
    }

    async fn put_window(&self, key: Hash, window: &LearnedWindow) -> Result<(), StoreError> {
        self.lock().put_window(key, *window);
        Ok(())
    }

    async fn raise_window(&self, key: Hash, tokens: u64) -> Result<(), StoreError> {
        if let Some(window) = self.lock().windows.get_mut(&key) {
            window.tokens = window.tokens.max(tokens);
        }
        Ok(())
    }

    async fn window(&self, key: Hash) -> Result<Option<LearnedWindow>, StoreError> {
        Ok(self.lock().windows.get(&key).copied())
    }

    async fn windows(&self, since: Millis) -> Result<u64, StoreError> {
        Ok(self.lock().windows.values().filter(|it| it.learned >= since).count() as u64)
    }

    async fn append(&self, id: &str, append: AppendRequest) -> Result<AppendOutcome, StoreError> {
        check::append(id, &append)?;
        let mut inner = self.lock();
        let kept = inner.kept_mut(id)?;
        let fingerprint = append.key.as_ref().map(|_| check::fingerprint(&append.events));
        if let Some(key) = &append.key
            && let Some((before, answer)) = kept.keys.get(key)
        {
            if Some(*before) != fingerprint {
                return Err(StoreError::KeyReused(key.clone()));
            }
            return Ok(AppendOutcome { repeated: true, ..*answer });
        }
        if kept.row.head != append.expected {
            return Err(StoreError::Conflict { expected: append.expected, actual: kept.row.head });
        }
        let count = append.events.len() as u64;
        let answer = AppendOutcome { first: append.expected, count, repeated: false };
        for (seq, event) in (append.expected..).zip(append.events) {
            kept.push(seq, event);
        }
        kept.row.head += count;
        if count > 0 {
            kept.appended = append.now;
        }
        if let (Some(key), Some(fingerprint)) = (append.key, fingerprint) {
            kept.keys.insert(key, (fingerprint, answer));
        }
        if let Some(job) = append.job {
            inner.enqueue(job);
        }
        Ok(answer)
    }

    async fn events(&self, id: &str, range: Range<u64>) -> Result<Vec<EventRow>, StoreError> {
        let found = self.lock().kept(id)?.slice(&range).to_vec();
        self.count_events(&found);
        Ok(found)
    }

    async fn load(&self, id: &str) -> Result<LoadedSession, StoreError> {
        let inner = self.lock();
        let kept = inner.kept(id)?;
        let fold = match kept.row.active {
            Some(active) => kept.folds.iter().find(|row| row.fold.id == active).cloned(),
            None => None,
        };
        let session = kept.row.clone();
        let runs = assemble::runs(&session, fold.as_ref());
        let events: Vec<EventRow> = runs.iter().flat_map(|run| kept.slice(run)).cloned().collect();
        self.count(1, session.content_len());
        self.count(usize::from(fold.is_some()), fold.as_ref().map_or(0, |row| row.fold.body.len()));
        self.count_events(&events);
        Ok(assemble::loaded(session, fold, events))
    }

    async fn put_fold(&self, id: &str, fold: &NewFold) -> Result<PutOutcome, StoreError> {
        Ok(self.lock().kept_mut(id)?.put(fold))
    }

    async fn activate(
        &self,
        id: &str,
        expected: Option<Hash>,
        fold: Option<Hash>,
    ) -> Result<(), StoreError> {
        let mut inner = self.lock();
        let kept = inner.kept_mut(id)?;
        if let Some(wanted) = fold
            && !kept.folds.iter().any(|row| row.fold.id == wanted)
        {
            return Err(StoreError::NoFold(wanted));
        }
        if kept.row.active != expected {
            return Err(StoreError::StaleFold { actual: kept.row.active });
        }
        kept.row.active = fold;
        Ok(())
    }

    async fn folds(&self, id: &str) -> Result<Vec<FoldRow>, StoreError> {
        let found = self.lock().kept(id)?.folds.clone();
        self.count(found.len(), found.iter().map(|row| row.fold.body.len()).sum());
        Ok(found)
    }

    async fn enqueue(&self, job: NewJob) -> Result<bool, StoreError> {
        let mut inner = self.lock();
        inner.kept(&job.session)?;
        Ok(inner.enqueue(job))
    }

    async fn claim(&self, claim: &JobClaim) -> Result<Vec<StoreJob>, StoreError> {
        Ok(self.lock().claim(claim))
    }

    async fn heartbeat(&self, lease: &Lease, until: Millis) -> Result<bool, StoreError> {
        let mut inner = self.lock();
        let Some(job) = inner.mark_leased(lease) else { return Ok(false) };
        job.lease_until = Some(until);
        Ok(true)
    }

    async fn finish(&self, lease: &Lease, done: &JobOutcome) -> Result<bool, StoreError> {
        let mut inner = self.lock();
        let Some(session) = inner.mark_leased(lease).map(|job| job.job.session.clone()) else {
            return Ok(false);
        };
        let kept = inner.kept_mut(&session)?;
        kept.live = false;
        if let Some(fold) = &done.fold {
            kept.put(fold);
        }
        if let Some(job) = inner.mark_leased(lease) {
            job.state = JobState::Done;
            job.outcome = Some(done.verdict.clone());
            job.lease_until = None;
            job.fold = done.fold.as_ref().map(|fold| fold.id);
        }
        inner.live.remove(&lease.job);
        Ok(true)
    }

    async fn fail(
        &self,
        lease: &Lease,
        reason: &str,
        retry_at: Option<Millis>,
    ) -> Result<bool, StoreError> {
        let mut inner = self.lock();
        let Some(job) = inner.mark_leased(lease) else { return Ok(false) };
        job.outcome = Some(check::plain(reason).into_owned());
        job.lease_until = None;
        job.failures += 1;
        match retry_at {
            Some(at) => {
                job.state = JobState::Ready;
                job.job.run_at = at;
            }
            None => {
                job.state = JobState::Dead;
                let session = job.job.session.clone();
                inner.kept_mut(&session)?.live = false;
                inner.live.remove(&lease.job);
            }
        }
        Ok(true)
    }

    async fn jobs(&self, id: Option<&str>, limit: u32) -> Result<Vec<StoreJob>, StoreError> {
        let inner = self.lock();
        if let Some(id) = id {
            inner.kept(id)?;
        }
        let of = |job: &&StoreJob| id.is_none_or(|id| job.job.session == id);
        Ok(inner.jobs.values().filter(of).take(limit as usize).cloned().collect())
    }

    async fn job(&self, id: &str, key: &str) -> Result<Option<StoreJob>, StoreError> {
        let inner = self.lock();
        inner.kept(id)?;
        Ok(inner.jobs.values().find(|job| job.job.session == id && job.job.key == key).cloned())
    }

    async fn newest_job(&self, id: &str) -> Result<Option<StoreJob>, StoreError> {
        let inner = self.lock();
        inner.kept(id)?;
        Ok(inner.jobs.values().rev().find(|job| job.job.session == id).cloned())
    }

    async fn record_call(&self, id: &str, call: &NewCall) -> Result<u64, StoreError> {
        let mut inner = self.lock();
        let calls = &mut inner.kept_mut(id)?.calls;
        let actual = calls.len() as u64;
        if call.number != actual + 1 {
            return Err(StoreError::StaleCall { actual });
        }
        calls.push(CallRow { call: call.clone(), usage: None });
        Ok(call.number)
    }

    async fn settle_call(&self, id: &str, call: u64, usage: &str) -> Result<bool, StoreError> {
        let mut inner = self.lock();
        let calls = &mut inner.kept_mut(id)?.calls;
        let found = calls.iter_mut().find(|row| row.call.number == call);
        let row = found.ok_or(StoreError::NoCall(call))?;
        match &row.usage {
            Some(before) if before != usage => Err(StoreError::Settled(call)),
            _ => Ok(row.usage.replace(usage.to_owned()).is_none()),
        }
    }

    async fn last_call(&self, id: &str) -> Result<Option<CallRow>, StoreError> {
        let found = self.lock().kept(id)?.calls.last().cloned();
        self.count(
            usize::from(found.is_some()),
            found.as_ref().map_or(0, |row| row.call.body.len()),
        );
        Ok(found)
    }

    async fn calls(&self, id: &str) -> Result<Vec<CallRow>, StoreError> {
        let found = self.lock().kept(id)?.calls.clone();
        self.count(found.len(), found.iter().map(|row| row.call.body.len()).sum());
        Ok(found)
    }

    async fn requests(&self, id: &str) -> Result<Vec<(Option<Hash>, u64)>, StoreError> {
        let found = self.lock().kept(id)?.requests();
        self.count(found.len(), 0);
        Ok(found)
    }

    async fn extent(&self, id: &str) -> Result<SessionExtent, StoreError> {
        self.lock().extent(id)
    }

    async fn idle(
        &self,
        since: Millis,
        after: Option<&str>,
        limit: u32,
    ) -> Result<Vec<String>, StoreError> {
        let inner = self.lock();
        let idle = inner.after(after).filter(|(_, kept)| kept.changed() < since);
        Ok(idle.take(limit as usize).map(|(id, _)| id.clone()).collect())
    }

    async fn delete(
        &self,
        id: &str,
        idle_since: Option<Millis>,
    ) -> Result<SessionExtent, StoreError> {
        let mut inner = self.lock();
        let extent = inner.extent(id)?;
        if idle_since.is_some_and(|since| extent.changed >= since) {
            return Err(StoreError::Changed(id.to_owned()));
        }
        let MemoryInner { sessions, jobs, live, identities, answers, .. } = &mut *inner;
        identities.retain(|_, (session, _)| session != id);
        answers.retain(|_, (_, answer)| answer.session.as_deref() != Some(id));
        sessions.remove(id);
        jobs.retain(|_, job| job.job.session != id);
        live.retain(|job| jobs.contains_key(job));
        Ok(extent)
    }

    /// Does nothing: data in memory leaves no traces on a disk.
    async fn scrub(&self) -> Result<(), StoreError> {
        Ok(())
    }

    async fn restore(&self, parts: TransferParts<'_>, now: Millis) -> Result<(), StoreError> {
        // Filled aside, so that a fault in a later part changes nothing in this store.
        let fresh = MemoryStore::new();
        let mut at = String::new();
        let mut head = 0;
        for part in parts {
            match part? {
                TransferPart::Session(new) => {
                    (at, head) = (new.id.clone(), 0);
                    fresh.create(new).await?;
                }
                TransferPart::Events(events) => {
                    let append =
                        AppendRequest { expected: head, events, now, ..AppendRequest::default() };
                    head += fresh.append(&at, append).await?.count;
                }
                TransferPart::Fold(fold) => {
                    fresh.put_fold(&at, &fold).await?;
                }
                TransferPart::Call(call, usage) => {
                    fresh.record_call(&at, &call).await?;
                    if let Some(usage) = usage {
                        fresh.settle_call(&at, call.number, &usage).await?;
                    }
                }
                TransferPart::Done(active, state) => {
                    fresh.activate(&at, None, active).await?;
                    if !state.is_empty() {
                        fresh.save_state(&at, 0, &state).await?;
                    }
                }
            }
        }
        let new = std::mem::take(&mut fresh.lock().sessions);
        let mut inner = self.lock();
        if let Some(id) = new.keys().find(|id| inner.sessions.contains_key(*id)) {
            return Err(StoreError::Exists(id.clone()));
        }
        new.into_values().for_each(|kept| inner.insert(kept));
        Ok(())
    }

    async fn search(&self, id: &str, query: &LogSearch) -> Result<Vec<Hit>, StoreError> {
        let matcher = Matcher::new(query)?;
        let (events, dialect) = {
            let inner = self.lock();
            let kept = inner.kept(id)?;
            let range = query.range.clone().unwrap_or(0..u64::MAX);
            (kept.slice(&range).to_vec(), kept.row.new.dialect.clone())
        };
        self.count_events(&events);
        let text = |row: &EventRow| searched_text(&dialect, &row.event.bytes).into_owned();
        let Matcher::Words(wanted, phrase) = &matcher else {
            let newest = events.iter().rev().filter_map(|row| matcher.scan(row.seq, &text(row)));
            return Ok(newest.take(query.limit as usize).collect());
        };
        let texts = events.iter().map(|row| (row.seq, Cow::Owned(text(row))));
        let postings = Postings::of_texts(texts, wanted);
        let mut ranking = CandidateRanking::new(wanted, phrase, &postings);
        for seq in postings.best() {
            if let Ok(at) = events.binary_search_by_key(&seq, |row| row.seq) {
                ranking.push(seq, &text(&events[at]));
            }
        }
        Ok(ranking.finish(query.limit))
    }

    fn reads(&self) -> ReadCounts {
        ReadCounts {
            rows: self.rows.load(Ordering::Relaxed),
            bytes: self.bytes.load(Ordering::Relaxed),
        }
    }
}

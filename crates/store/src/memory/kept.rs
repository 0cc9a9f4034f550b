//! The contents of the store in memory, and small operations on them. The store holds the lock.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::{Bound, Range};

use midfold_core::Hash;

use crate::error::StoreError;
use crate::store::{MOST_ANSWERS, MOST_LONE_ANSWERS, MOST_WINDOWS};
use crate::types::{
    AnswerHistory, AppendOutcome, CallRow, EventRow, FoldRow, IdentifiedSession, JobClaim,
    JobState, LearnedWindow, Lease, Millis, NewEvent, NewFold, NewJob, NewestQuery, PutOutcome,
    SessionActivity, SessionExtent, SessionRow, StoreJob,
};

/// Everything that the store holds.
#[derive(Default)]
pub(super) struct MemoryInner {
    pub(super) sessions: BTreeMap<String, MemorySession>,
    /// Jobs by id. An id is never used again.
    pub(super) jobs: BTreeMap<u64, StoreJob>,
    /// For each identity, the session that has it, and the number of its events at that point.
    pub(super) identities: HashMap<Hash, (String, u64)>,
    /// Answers that later requests may name, each with the time when it was stored.
    pub(super) answers: HashMap<Hash, (Millis, AnswerHistory)>,
    /// Windows that providers stated.
    pub(super) windows: HashMap<Hash, LearnedWindow>,
    /// The highest id that a job has had.
    pub(super) last_job: u64,
    /// Ids of the jobs that are ready or leased.
    pub(super) live: BTreeSet<u64>,
    /// How many changes the store has seen.
    tick: u64,
}

/// A session with its events, folds and calls.
#[derive(Default)]
pub(super) struct MemorySession {
    pub(super) row: SessionRow,
    /// The number of the session's last change, among all changes of the store.
    tick: u64,
    /// Tokens of all events.
    tokens: u64,
    pub(super) events: Vec<EventRow>,
    /// When its newest event was appended.
    pub(super) appended: Millis,
    /// For each key of an append, the append's fingerprint and its answer.
    pub(super) keys: HashMap<String, (Hash, AppendOutcome)>,
    pub(super) folds: Vec<FoldRow>,
    pub(super) calls: Vec<CallRow>,
    /// Keys of all jobs that the session has had.
    pub(super) job_keys: HashSet<String>,
    /// Whether one of its jobs is ready or leased. A session has at most one such job.
    pub(super) live: bool,
}

impl MemoryInner {
    /// The session with this id. Fails where there is none.
    pub(super) fn kept(&self, id: &str) -> Result<&MemorySession, StoreError> {
        self.sessions.get(id).ok_or_else(|| StoreError::NoSession(id.to_owned()))
    }

    /// The session, for a change. The change is counted.
    pub(super) fn kept_mut(&mut self, id: &str) -> Result<&mut MemorySession, StoreError> {
        let kept = self.sessions.get_mut(id).ok_or_else(|| StoreError::NoSession(id.to_owned()))?;
        self.tick += 1;
        kept.tick = self.tick;
        Ok(kept)
    }

    /// Adds a new session.
    pub(super) fn insert(&mut self, mut kept: MemorySession) {
        self.tick += 1;
        kept.tick = self.tick;
        self.sessions.insert(kept.row.new.id.clone(), kept);
    }

    /// Adds an answer. Of the answers of the same session, only the newest are kept.
    pub(super) fn put_answer(&mut self, key: Hash, answer: AnswerHistory, now: Millis) {
        let most = if answer.session.is_some() { MOST_ANSWERS } else { MOST_LONE_ANSWERS };
        let session = answer.session.clone();
        self.answers.insert(key, (now, answer));
        let others = self.answers.iter().filter(|(_, (_, it))| it.session == session);
        let mut others: Vec<_> = others.map(|(key, (made, _))| (Reverse(*made), *key)).collect();
        others.sort_unstable();
        for (_, key) in others.iter().skip(most as usize) {
            self.answers.remove(key);
        }
    }

    /// How many answers belong to no session and are older than `since`.
    pub(super) fn old_answers(&self, since: Millis) -> u64 {
        let is_old =
            |(made, answer): &&(Millis, AnswerHistory)| answer.session.is_none() && *made < since;
        self.answers.values().filter(is_old).count() as u64
    }

    /// Of the histories that end with one of these identities, the one with the most events. `None` where there is
    /// none.
    pub(super) fn identified(
        &self,
        identities: &[Hash],
    ) -> Result<Option<IdentifiedSession>, StoreError> {
        let noted = identities.iter().filter_map(|identity| self.identities.get(identity));
        let Some((id, events)) = noted.max_by_key(|(_, events)| *events) else { return Ok(None) };
        let row = &self.kept(id)?.row;
        let (active, state_version) = (row.active, row.state_version);
        Ok(Some(IdentifiedSession { id: id.clone(), events: *events, active, state_version }))
    }

    /// Adds a window, and drops the oldest one where there are too many.
    pub(super) fn put_window(&mut self, key: Hash, window: LearnedWindow) {
        self.windows.insert(key, window);
        if self.windows.len() > MOST_WINDOWS as usize {
            // Of windows of the same time, the same one is dropped as in a database.
            let oldest = self.windows.iter().min_by_key(|(key, it)| (it.learned, Reverse(**key)));
            let oldest = oldest.map(|(key, _)| *key);
            oldest.and_then(|key| self.windows.remove(&key));
        }
    }

    /// Sessions by their last change, the newest first.
    pub(super) fn newest(&self, asked: &NewestQuery) -> Vec<SessionActivity> {
        let before = asked.before.unwrap_or(u64::MAX);
        let all = self.sessions.values().filter(|kept| kept.tick < before);
        let all = all.map(MemorySession::activity);
        let mut found: Vec<_> =
            all.filter(|it| asked.owner.is_none() || it.owner == asked.owner).collect();
        found.sort_unstable_by_key(|it| Reverse(it.tick));
        found.truncate(asked.limit as usize);
        found
    }

    /// The sessions with ids greater than `id`, in order; all sessions for `None`.
    pub(super) fn after<'a>(
        &'a self,
        id: Option<&str>,
    ) -> impl Iterator<Item = (&'a String, &'a MemorySession)> {
        let from = id.map_or(Bound::Unbounded, Bound::Excluded);
        self.sessions.range::<str, _>((from, Bound::Unbounded))
    }

    pub(super) fn extent(&self, id: &str) -> Result<SessionExtent, StoreError> {
        let kept = self.kept(id)?;
        let jobs: Vec<&StoreJob> = self.jobs.values().filter(|job| job.job.session == id).collect();
        let bytes = kept.events.iter().map(|row| row.event.bytes.len()).sum::<usize>()
            + kept.folds.iter().map(|row| row.fold.body.len()).sum::<usize>()
            + kept.calls.iter().map(|row| row.call.body.len()).sum::<usize>()
            + jobs.iter().map(|job| job.job.body.len()).sum::<usize>();
        Ok(SessionExtent {
            session: id.to_owned(),
            events: kept.row.head,
            folds: kept.folds.len() as u64,
            calls: kept.calls.len() as u64,
            jobs: jobs.len() as u64,
            bytes: bytes as u64,
            changed: kept.changed(),
        })
    }

    /// Queues a job. Returns false where its key was used, or another job of the session is ready or leased.
    pub(super) fn enqueue(&mut self, job: NewJob) -> bool {
        let Some(kept) = self.sessions.get_mut(&job.session) else { return false };
        // In this order: a job that is refused because another one is live leaves its key free.
        if kept.live || !kept.job_keys.insert(job.key.clone()) {
            return false;
        }
        kept.live = true;
        self.last_job += 1;
        let id = self.last_job;
        self.live.insert(id);
        let job = StoreJob {
            id,
            job,
            state: JobState::Ready,
            attempt: 0,
            failures: 0,
            worker: None,
            lease_until: None,
            outcome: None,
            fold: None,
        };
        self.jobs.insert(id, job);
        true
    }

    /// Leases due jobs, the oldest first.
    pub(super) fn claim(&mut self, claim: &JobClaim) -> Vec<StoreJob> {
        let Self { jobs, live, .. } = self;
        let mut claimed = Vec::new();
        // Ended jobs stay in `jobs`, so only live ones are looked at. Their ids are in the order of queueing.
        for id in live.iter() {
            if claimed.len() >= claim.limit as usize {
                break;
            }
            let Some(job) = jobs.get_mut(id) else { continue };
            let due = match job.state {
                JobState::Ready => job.job.run_at <= claim.now,
                _ => job.lease_until.is_some_and(|until| until <= claim.now),
            };
            if due {
                job.state = JobState::Leased;
                job.attempt += 1;
                job.worker = Some(claim.worker.clone());
                job.lease_until = Some(claim.until);
                claimed.push(job.clone());
            }
        }
        claimed
    }

    /// The job of a lease; `None` where the lease does not hold any more.
    pub(super) fn mark_leased(&mut self, lease: &Lease) -> Option<&mut StoreJob> {
        let job = self.jobs.get_mut(&lease.job)?;
        (job.state == JobState::Leased && job.attempt == lease.attempt).then_some(job)
    }
}

impl MemorySession {
    pub(super) fn of(row: SessionRow) -> Self {
        Self { row, ..Self::default() }
    }

    pub(super) fn push(&mut self, seq: u64, event: NewEvent) {
        self.row.head_hash = event.hash;
        self.row.turn = event.turn;
        self.tokens += u64::from(event.tokens);
        self.events.push(EventRow { seq, event });
    }

    /// The folds through which the session's calls were read, each with the lowest head of such a call.
    pub(super) fn requests(&self) -> Vec<(Option<Hash>, u64)> {
        let mut found: Vec<(Option<Hash>, u64)> = Vec::new();
        for CallRow { call, .. } in &self.calls {
            match found.iter_mut().find(|(fold, _)| *fold == call.fold) {
                Some((_, head)) => *head = call.head.min(*head),
                None => found.push((call.fold, call.head)),
            }
        }
        found.sort_by_key(|(_, head)| *head);
        found
    }

    /// The number of the active fold; `None` where no fold is active.
    fn number(&self) -> Option<u64> {
        let active = self.folds.iter().find(|row| Some(row.fold.id) == self.row.active);
        active.map(|row| row.number)
    }

    pub(super) fn activity(&self) -> SessionActivity {
        SessionActivity {
            id: self.row.new.id.clone(),
            owner: crate::check::owner(&self.row.new),
            tick: self.tick,
            changed: self.changed(),
            head: self.row.head,
            active: self.row.active,
            active_number: self.number(),
            tokens: self.tokens,
            folds: self.folds.len() as u64,
            calls: self.calls.len() as u64,
        }
    }

    /// Adds a fold, unless one with this id is stored.
    pub(super) fn put(&mut self, fold: &NewFold) -> PutOutcome {
        if self.folds.iter().any(|row| row.fold.id == fold.id) {
            return PutOutcome::Same;
        }
        let number = self.folds.len() as u64 + 1;
        self.folds.push(FoldRow { number, fold: fold.clone() });
        PutOutcome::New
    }

    /// When the session last changed.
    pub(super) fn changed(&self) -> Millis {
        let fold = self.folds.iter().map(|row| row.fold.now).max();
        let call = self.calls.iter().map(|row| row.call.now).max();
        let newest = [Some(self.row.new.created), Some(self.appended), fold, call];
        newest.into_iter().flatten().max().unwrap_or_default()
    }

    /// The events of a range, as far as they exist.
    pub(super) fn slice(&self, range: &Range<u64>) -> &[EventRow] {
        let clamp = |at: u64| usize::try_from(at).unwrap_or(usize::MAX).min(self.events.len());
        let (from, to) = (clamp(range.start), clamp(range.end));
        self.events.get(from..to).unwrap_or_default()
    }
}

//! Checks a store: computes again every hash chain, every position, the figures of every event, and the accounts of every
//! fold.
//!
//! Events are read in pages. The log of one session at a time is kept in memory: turns and tokens follow from the
//! messages before. The figures of a fold are computed by projecting it over the log as it was then.

use std::collections::{HashMap, HashSet};

use midfold_core::Hash;
use midfold_core::fold::{Fold, VERSION};
use midfold_core::ledger::CallRecord;
use midfold_core::log::EventLog;
use midfold_core::project::{PieceFate, project};
use midfold_formats::{DialectKind, profile};
use serde::Serialize;

use crate::error::StoreError;
use crate::store::Store;
use crate::types::{
    CallRow, EventRow, FoldRow, JobState, NewCall, NewEvent, NewFold, NewSession, SessionRow,
    StoreJob, kept_runs,
};

/// How many events are read at a time.
const PAGE: u64 = 64;
/// How many sessions are read at a time.
const SESSIONS: u32 = 256;

/// A fault that was found in a store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FsckFinding {
    /// The session with the fault.
    pub session: String,
    /// The place in the session: `event 12`, `fold 3f2a…`, `job 7`, `call 2`.
    pub place: String,
    /// A description of the fault.
    pub problem: String,
    /// What to do about it.
    pub advice: &'static str,
}

impl std::fmt::Display for FsckFinding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { session, place, problem, advice } = self;
        write!(f, "session `{session}`, {place}: {problem}; {advice}")
    }
}

/// The extent of a check, and its findings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FsckReport {
    /// How many sessions were checked.
    pub sessions: u64,
    /// How many events were checked.
    pub events: u64,
    /// How many folds were checked.
    pub folds: u64,
    /// How many folds had their figures computed again. That needs a dialect, a profile and a counter that this build
    /// knows.
    pub projected: u64,
    /// How many jobs were checked.
    pub jobs: u64,
    /// How many model calls were checked.
    pub calls: u64,
    /// The faults that were found; empty where the store is sound.
    pub findings: Vec<FsckFinding>,
}

impl FsckReport {
    /// Whether no fault was found.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.findings.is_empty()
    }

    /// Adds the report of another part of the store.
    fn add(&mut self, other: Self) {
        let Self { sessions, events, folds, projected, jobs, calls, findings } = other;
        self.sessions += sessions;
        self.events += events;
        self.folds += folds;
        self.projected += projected;
        self.jobs += jobs;
        self.calls += calls;
        self.findings.extend(findings);
    }
}

/// Advice where events or calls are damaged.
const RESTORE: &str = "restore the session from an export or a backup";
/// Advice where only a fold is damaged.
const REFOLD: &str = "no event is lost: undo to no fold, and compact again";
/// Advice where only a job is damaged.
const REQUEUE: &str = "no event is lost: the next turn queues the span again";

/// Checks every session of a store, without changing anything. The store may be in use: sessions that are deleted in
/// the meantime are left out.
///
/// # Errors
/// Fails where the store cannot be read at all. Damaged data is not an error but a finding.
pub async fn fsck(store: &dyn Store) -> Result<FsckReport, StoreError> {
    let mut report = FsckReport::default();
    let mut after: Option<String> = None;
    loop {
        let page = store.sessions(after.as_deref(), SESSIONS).await?;
        let Some(last) = page.last() else { return Ok(report) };
        after = Some(last.new.id.clone());
        for row in page {
            match check_session(store, row).await {
                Ok(part) => report.add(part),
                Err(StoreError::NoSession(_)) => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// Checks one session. Fails with [`StoreError::NoSession`] where it was deleted in the meantime.
async fn check_session(store: &dyn Store, row: SessionRow) -> Result<FsckReport, StoreError> {
    let report = FsckReport { sessions: 1, ..FsckReport::default() };
    let mut check = StoreCheck { store, row, report };
    match check.check_records().await {
        Ok(()) => {}
        Err(StoreError::Damaged(problem)) => check.add_finding("rows".into(), problem, RESTORE),
        Err(error) => return Err(error),
    }
    let StoreCheck { row, report, .. } = check;
    if !report.is_clean() {
        // Records of a deleted session do not fit those of a new one with the same id. That is no damage.
        let now = store.session(&row.new.id).await?;
        if now.new != row.new || now.head < row.head {
            return Err(StoreError::NoSession(row.new.id));
        }
    }
    Ok(report)
}

/// Checks one session, and collects its findings.
struct StoreCheck<'a> {
    store: &'a dyn Store,
    /// The session's row. Everything that was read before it refers to events before its head.
    row: SessionRow,
    report: FsckReport,
}

impl StoreCheck<'_> {
    /// Adds a finding.
    fn add_finding(&mut self, place: String, problem: impl Into<String>, advice: &'static str) {
        let (session, problem) = (self.row.new.id.clone(), problem.into());
        self.report.findings.push(FsckFinding { session, place, problem, advice });
    }

    /// Checks the events, folds, jobs and calls of the session.
    async fn check_records(&mut self) -> Result<(), StoreError> {
        let id = self.row.new.id.clone();
        // A session in use grows between two reads. So whatever refers to other records is read before them: calls and
        // jobs before folds, and all of them before the row with the head of the log.
        let before = self.store.session(&id).await?;
        let calls = self.store.calls(&id).await?;
        let jobs = self.store.jobs(Some(&id), u32::MAX).await?;
        let rows = self.store.folds(&id).await?;
        self.row = self.store.session(&id).await?;
        if self.row.new != before.new {
            return Err(StoreError::NoSession(id));
        }
        let folds = self.parse_folds(&rows);
        let hashes = self.check_events(&folds).await?;
        for (row, fold) in &folds {
            self.check_fold(row, fold, &folds, &hashes);
        }
        self.check_active(&rows).await?;
        for job in &jobs {
            self.check_job(job, &rows);
        }
        self.check_calls(&calls);
        Ok(())
    }

    /// Checks that the active fold exists: among the folds that were read before the row, or as a newer one.
    async fn check_active(&mut self, folds: &[FoldRow]) -> Result<(), StoreError> {
        let Some(active) = self.row.active else { return Ok(()) };
        let is_among = |folds: &[FoldRow]| folds.iter().any(|row| row.fold.id == active);
        if !is_among(folds) && !is_among(&self.store.folds(&self.row.new.id).await?) {
            let problem = format!("the active fold {active:?} is not there");
            self.add_finding("session".into(), problem, REFOLD);
        }
        Ok(())
    }

    /// The records of the folds that can be parsed. Others are findings.
    fn parse_folds<'r>(&mut self, rows: &'r [FoldRow]) -> Vec<(&'r FoldRow, Fold)> {
        let mut folds = Vec::with_capacity(rows.len());
        self.report.folds += rows.len() as u64;
        for (row, number) in rows.iter().zip(1u64..) {
            let place = || format!("fold {:?}", row.fold.id);
            if row.number != number {
                self.add_finding(
                    place(),
                    format!("its number is {}, not {number}", row.number),
                    REFOLD,
                );
            }
            match serde_json::from_str::<Fold>(&row.fold.body) {
                Ok(fold) => folds.push((row, fold)),
                Err(error) => {
                    self.add_finding(place(), format!("no record of a fold: {error}"), REFOLD)
                }
            }
        }
        folds
    }

    /// Reads all events, and checks the chain, the positions, the figures, and those of each fold over the log as it was
    /// when the fold was made. Returns the chain hashes at both ends of each fold's span, as far as the events are there.
    async fn check_events(
        &mut self,
        folds: &[(&FoldRow, Fold)],
    ) -> Result<HashMap<u64, Hash>, StoreError> {
        let ends: HashSet<u64> =
            folds.iter().flat_map(|(row, _)| [row.fold.start, row.fold.end]).collect();
        let mut made_at: HashMap<u64, Vec<&(&FoldRow, Fold)>> = HashMap::new();
        for fold in folds {
            made_at.entry(fold.1.accounts.events.into()).or_default().push(fold);
        }
        let mut span_hashes = HashMap::from([(0, Hash::ROOT)]);
        let mut replay = empty_log(&self.row.new);
        let (id, head) = (self.row.new.id.clone(), self.row.head);
        let (mut seq, mut hash, mut turn, mut is_counted) = (0u64, Hash::ROOT, 0, true);
        while seq < head {
            let to = head.min(seq + PAGE);
            let page = self.store.events(&id, seq..to).await?;
            if page.len() as u64 != to - seq {
                let problem = format!("{} of {} events are there", page.len(), to - seq);
                self.add_finding(format!("events {seq} to {}", to - 1), problem, RESTORE);
                return Ok(span_hashes);
            }
            for row in &page {
                self.report.events += 1;
                self.check_event(row, seq, &mut hash);
                turn = row.event.turn;
                let problem = replay.as_mut().and_then(|log| wrong_figure(log, &row.event));
                // The figures behind a wrong one may follow from it.
                if let Some(problem) = problem.filter(|_| std::mem::take(&mut is_counted)) {
                    self.add_finding(format!("event {seq}"), problem, RESTORE);
                }
                seq += 1;
                if ends.contains(&seq) {
                    span_hashes.insert(seq, hash);
                }
                for (row, fold) in made_at.remove(&seq).unwrap_or_default() {
                    replay.iter().for_each(|log| self.check_figures(row, fold, log));
                }
            }
        }
        if (hash, turn) != (self.row.head_hash, self.row.turn) {
            self.add_finding("session".into(), "its head is not its last event", RESTORE);
        }
        Ok(span_hashes)
    }

    /// Checks the position and the hash of an event.
    fn check_event(&mut self, row: &EventRow, seq: u64, hash: &mut Hash) {
        let place = || format!("event {}", row.seq);
        if row.seq != seq {
            self.add_finding(place(), format!("it stands where {seq} should"), RESTORE);
        }
        *hash = hash.chain(&row.event.bytes);
        if row.event.hash != *hash {
            self.add_finding(place(), "its bytes are not those of its hash", RESTORE);
            // The chain goes on from the stored hash, so that one damaged event gives one finding, and not one for
            // each event behind it.
            *hash = row.event.hash;
        }
    }

    /// Checks a fold's row and record, and that the fold before it exists.
    fn check_fold(
        &mut self,
        row: &FoldRow,
        fold: &Fold,
        folds: &[(&FoldRow, Fold)],
        hashes: &HashMap<u64, Hash>,
    ) {
        let place = format!("fold {:?}", row.fold.id);
        let at = |seq: u64| hashes.get(&seq).copied();
        let known = |id: Hash| folds.iter().any(|(other, _)| other.fold.id == id);
        for problem in of_fold(&row.fold, fold, self.row.head, at) {
            self.add_finding(place.clone(), problem, REFOLD);
        }
        if !fold.prev.is_none_or(known) {
            self.add_finding(place, "the fold before it is not there", REFOLD);
        }
    }

    /// Projects a fold over the log as it was when the fold was made, and compares the figures.
    fn check_figures(&mut self, row: &FoldRow, fold: &Fold, log: &EventLog) {
        if fold.counter != self.row.new.counter || !fold.applies_to(log) {
            return;
        }
        self.report.projected += 1;
        let context = project(log, Some(fold));
        let (mut verbatim, mut edited) = (0, 0);
        for piece in context.pieces() {
            match piece.fate {
                PieceFate::Verbatim(_) => verbatim += 1,
                PieceFate::Edited(_) | PieceFate::Repaired(..) => edited += 1,
                _ => {}
            }
        }
        // The tokens of the head include the envelope, which is not stored, so it is the difference.
        let head = fold.layout.head.start as usize..fold.layout.head.end as usize;
        let envelope = fold.head_tokens.saturating_sub(log.tokens_in(head));
        let figures = [
            ("tokens after", fold.tokens_after, context.tokens() + envelope),
            ("messages after", u64::from(fold.messages_after), context.len() as u64),
            ("events verbatim", u64::from(fold.accounts.verbatim), verbatim),
            ("events edited", u64::from(fold.accounts.edited), edited),
        ];
        for (name, says, is) in figures {
            if says != is {
                let problem = format!("{name}: its record says {says}, the log says {is}");
                self.add_finding(format!("fold {:?}", row.fold.id), problem, REFOLD);
            }
        }
    }

    /// Checks that the state of a job agrees with its lease, its outcome and its fold.
    fn check_job(&mut self, job: &StoreJob, folds: &[FoldRow]) {
        self.report.jobs += 1;
        let there = |id: &Hash| folds.iter().any(|row| row.fold.id == *id);
        let leased = job.state == JobState::Leased;
        let ended = matches!(job.state, JobState::Done | JobState::Dead);
        let checks = [
            (job.fold.as_ref().is_none_or(there), "the fold that it led to is not there"),
            (job.fold.is_none() || job.state == JobState::Done, "it led to a fold and is not done"),
            (
                !leased || (job.worker.is_some() && job.lease_until.is_some() && job.attempt > 0),
                "it is leased to nobody",
            ),
            (leased || job.lease_until.is_none(), "it has a lease and is not leased"),
            (!ended || job.outcome.is_some(), "it ended without a verdict or a reason"),
            (job.job.end <= self.row.head, "its span is not in the log"),
        ];
        for (holds, problem) in checks {
            if !holds {
                self.add_finding(format!("job {}", job.id), problem, REQUEUE);
            }
        }
    }

    /// Checks the numbers and the hash chain of the ledger.
    fn check_calls(&mut self, calls: &[CallRow]) {
        let mut before = Hash::ROOT;
        for (row, number) in calls.iter().zip(1u64..) {
            self.report.calls += 1;
            let advice = "the ledger was changed after the fact: compare it with a backup";
            let place = || format!("call {}", row.call.number);
            if row.call.number != number {
                self.add_finding(place(), format!("it stands where {number} should"), advice);
            }
            if !is_call_sound(&row.call, before) {
                self.add_finding(place(), "its record is not that of its hash", advice);
            }
            before = row.call.hash;
            if row.call.head > self.row.head {
                self.add_finding(place(), "it saw more events than there are", RESTORE);
            }
        }
    }
}

/// The faults of a fold's record, alone and compared with a log of `head` events. `hash_before` gives the chain hash
/// before an event; `None` where the events up to it cannot be read.
pub(crate) fn of_fold(
    row: &NewFold,
    fold: &Fold,
    head: u64,
    hash_before: impl Fn(u64) -> Option<Hash>,
) -> impl Iterator<Item = &'static str> {
    let span = (u64::from(fold.span.start), u64::from(fold.span.end));
    let recap = fold.recap.as_ref().map_or(Hash::ROOT, |recap| recap.hash);
    let text = fold.recap.as_ref().map_or(Hash::ROOT, |r| Hash::ROOT.chain(r.text.as_bytes()));
    let checks = [
        (fold.id == row.id, "its record is that of another fold"),
        (fold.version <= VERSION, "its record was written by a newer midfold"),
        (fold.compute_id() == fold.id, "its hash is not that of its record"),
        (fold.accounts.add_up(), "its accounts do not add up"),
        (span == (row.start, row.end), "its span is not that of its record"),
        (span.0 <= span.1 && span.1 <= head, "its span is not in the log"),
        (
            (fold.span.before, fold.span.through) == (row.before, row.through)
                && hash_before(span.0).is_none_or(|hash| hash == row.before)
                && hash_before(span.1).is_none_or(|hash| hash == row.through),
            "its span's hashes are not on the chain of the log",
        ),
        (
            fold.policy_fingerprint == row.policy && recap == row.recap,
            "its policy or recap is not that of its record",
        ),
        (kept_runs(fold) == row.kept, "the events that it keeps are not those of its record"),
        (recap == text, "its recap's hash is not that of its text"),
        (fold.lost_pin().is_none(), "it does not keep an event that was pinned"),
    ];
    checks.into_iter().filter(|(holds, _)| !holds).map(|(_, problem)| problem)
}

/// Whether a call's record fits its hash and follows the call with the hash `before`.
pub(crate) fn is_call_sound(call: &NewCall, before: Hash) -> bool {
    serde_json::from_str(&call.body).is_ok_and(|record: CallRecord| {
        record.prev == before
            && record.hash == call.hash
            && record.compute_hash() == record.hash
            && (record.number, u64::from(record.events)) == (call.number, call.head)
            && record.fold == call.fold
    })
}

/// Appends an event to the log, and returns a difference between its recorded turn or tokens and those computed from its
/// bytes; `None` where they are equal.
pub(crate) fn wrong_figure(log: &mut EventLog, event: &NewEvent) -> Option<String> {
    log.append(event.raw());
    let read = log.events().last()?;
    let figures = [("turn", read.turn, event.turn), ("tokens", read.tokens.total, event.tokens)];
    let (field, is, says) = figures.into_iter().find(|(_, is, says)| is != says)?;
    let how = match field {
        "tokens" => format!("`{}` counts {is}", log.counter().name()),
        _ => format!("it is in turn {is}"),
    };
    Some(format!("its `{field}` is {says}, and {how}: the record was changed"))
}

/// An empty log that counts tokens as the session does; `None` where this build does not know its dialect, profile or
/// counter.
pub(crate) fn empty_log(new: &NewSession) -> Option<EventLog> {
    let dialect = DialectKind::from_name(&new.dialect)?.shared();
    let profile = *profile::by_name(&new.profile)?;
    let counter = midfold_tokens::by_name(&new.counter).ok()?;
    Some(EventLog::new(dialect, profile, counter).append_only())
}

//! Converts the columns of rows to values and back.

use std::ops::Range;

use midfold_core::{Hash, TextOrigin};

use super::db::SqlRow;
use crate::error::StoreError;
use crate::types::{
    CallRow, EventRow, FoldRow, JobState, NewCall, NewEvent, NewFold, NewJob, NewSession,
    SessionRow, StoreJob,
};

/// The columns of an event, in the order in which `event_row` reads them.
macro_rules! event_columns {
    () => {
        "e.seq, e.turn, e.tokens, e.hash, e.usage, e.bytes, e.origin"
    };
}

/// The columns of a fold, in the order in which they are read and written.
macro_rules! fold_columns {
    () => {
        "number, id, span_start, span_end, hash_before, hash_end, policy, recap, kept, made, body, \
         base, packed"
    };
}

/// The columns of a job, in the order in which `job_row` reads them.
macro_rules! job_columns {
    () => {
        "jobs.id, jobs.key, (SELECT s.id FROM sessions s WHERE s.no = jobs.session_no), \
         jobs.span_start, jobs.span_end, jobs.hash_end, jobs.body, jobs.run_at, jobs.state, \
         jobs.attempt, jobs.worker, jobs.lease_until, jobs.outcome, jobs.fold, \
         jobs.failures"
    };
}

/// Selects a session with the end of its log; `$rest` selects the sessions.
macro_rules! select_session {
    ($rest:literal) => {
        concat!(
            "SELECT s.id, s.dialect, s.profile, s.counter, s.policy, s.meta, s.created, \
             a.active, a.state, a.state_version, e.seq, e.hash, e.turn \
             FROM sessions s JOIN activity a ON a.session_no = s.no LEFT JOIN events e ON e.session_no = s.no AND e.seq = \
             (SELECT max(seq) FROM events WHERE session_no = s.no) ",
            $rest
        )
    };
}

pub(super) use {event_columns, fold_columns, job_columns, select_session};

fn hash(bytes: &[u8]) -> Result<Hash, StoreError> {
    bytes.try_into().map(Hash).map_err(|_| {
        StoreError::Damaged(format!("a hash of {} bytes; run `midfold check store`", bytes.len()))
    })
}

/// Converts a number of the database. A negative one, which is never written, becomes 0.
pub(super) fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

pub(super) fn small(number: i64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Formats runs as `[[2,5],[7,8]]`, which a database can read, too.
pub(super) fn runs_text(runs: &[Range<u64>]) -> String {
    let pairs: Vec<[i64; 2]> =
        runs.iter().map(|run| [super::signed(run.start), super::signed(run.end)]).collect();
    serde_json::to_string(&pairs).unwrap_or_else(|_| "[]".to_owned())
}

/// Reads what [`runs_text`] wrote.
fn runs(text: &str) -> Result<Vec<Range<u64>>, StoreError> {
    let pairs: Vec<[u64; 2]> = serde_json::from_str(text)
        .map_err(|error| StoreError::Damaged(format!("the runs that a fold keeps: {error}")))?;
    Ok(pairs.into_iter().map(|[from, to]| from..to).collect())
}

fn state(name: &str) -> Result<JobState, StoreError> {
    [JobState::Ready, JobState::Leased, JobState::Done, JobState::Dead]
        .into_iter()
        .find(|state| super::state_name(*state) == name)
        .ok_or_else(|| StoreError::Damaged(format!("a job in state `{name}`")))
}

fn origin(name: &str) -> Result<TextOrigin, StoreError> {
    TextOrigin::from_name(name)
        .ok_or_else(|| StoreError::Damaged(format!("an event of origin `{name}`")))
}

/// The value of a column that must not be NULL.
fn there<T>(value: Option<T>, at: usize) -> Result<T, StoreError> {
    value.ok_or_else(|| StoreError::Damaged(format!("column {at} of a row is empty")))
}

/// The number in a column. Fails for NULL, as do the functions below without `none` in their names.
pub(super) fn integer_of<R: SqlRow>(row: &R, at: usize) -> Result<i64, StoreError> {
    there(row.integer(at)?, at)
}

pub(super) fn number_of<R: SqlRow>(row: &R, at: usize) -> Result<u64, StoreError> {
    integer_of(row, at).map(unsigned)
}

fn small_of<R: SqlRow>(row: &R, at: usize) -> Result<u32, StoreError> {
    integer_of(row, at).map(small)
}

fn text_of<R: SqlRow>(row: &R, at: usize) -> Result<String, StoreError> {
    there(row.text(at)?, at).map(str::to_owned)
}

fn text_or_none<R: SqlRow>(row: &R, at: usize) -> Result<Option<String>, StoreError> {
    Ok(row.text(at)?.map(str::to_owned))
}

fn bytes_of<R: SqlRow>(row: &R, at: usize) -> Result<&[u8], StoreError> {
    there(row.bytes(at)?, at)
}

pub(super) fn hash_of<R: SqlRow>(row: &R, at: usize) -> Result<Hash, StoreError> {
    hash(bytes_of(row, at)?)
}

pub(super) fn hash_or_none<R: SqlRow>(row: &R, at: usize) -> Result<Option<Hash>, StoreError> {
    row.bytes(at)?.map(hash).transpose()
}

pub(super) fn session_row<R: SqlRow>(row: &R) -> Result<SessionRow, StoreError> {
    let last = row.integer(10)?;
    let turn = row.integer(12)?;
    Ok(SessionRow {
        new: NewSession {
            id: text_of(row, 0)?,
            dialect: text_of(row, 1)?,
            profile: text_of(row, 2)?,
            counter: text_of(row, 3)?,
            policy: text_of(row, 4)?,
            meta: text_of(row, 5)?,
            created: number_of(row, 6)?,
        },
        head: last.map_or(0, |last| unsigned(last) + 1),
        head_hash: hash_or_none(row, 11)?.unwrap_or(Hash::ROOT),
        turn: turn.map_or(0, small),
        active: hash_or_none(row, 7)?,
        state: text_of(row, 8)?,
        state_version: number_of(row, 9)?,
    })
}

pub(super) fn event_row<R: SqlRow>(row: &R) -> Result<EventRow, StoreError> {
    Ok(EventRow {
        seq: number_of(row, 0)?,
        event: NewEvent {
            turn: small_of(row, 1)?,
            tokens: small_of(row, 2)?,
            hash: hash_of(row, 3)?,
            usage: text_or_none(row, 4)?,
            bytes: bytes_of(row, 5)?.to_vec().into(),
            origin: row.text(6)?.map(origin).transpose()?,
        },
    })
}

/// A fold as its row has it.
pub(super) struct FoldColumns {
    /// The fold; its body is empty where it is `packed`.
    pub row: FoldRow,
    /// The compressed body, and the number of the fold that it was compressed with.
    pub packed: Option<(Vec<u8>, Option<u64>)>,
}

/// Reads a fold whose columns start at index `at`.
pub(super) fn read_fold<R: SqlRow>(row: &R, at: usize) -> Result<FoldColumns, StoreError> {
    let fold = NewFold {
        id: hash_of(row, at + 1)?,
        start: number_of(row, at + 2)?,
        end: number_of(row, at + 3)?,
        before: hash_of(row, at + 4)?,
        through: hash_of(row, at + 5)?,
        policy: hash_of(row, at + 6)?,
        recap: hash_of(row, at + 7)?,
        kept: runs(&text_of(row, at + 8)?)?,
        now: number_of(row, at + 9)?,
        body: text_of(row, at + 10)?,
    };
    let base = row.integer(at + 11)?.map(unsigned);
    let packed = row.bytes(at + 12)?.map(|packed| (packed.to_vec(), base));
    Ok(FoldColumns { row: FoldRow { number: number_of(row, at)?, fold }, packed })
}

pub(super) fn job_row<R: SqlRow>(row: &R) -> Result<StoreJob, StoreError> {
    Ok(StoreJob {
        id: number_of(row, 0)?,
        job: NewJob {
            key: text_of(row, 1)?,
            session: text_of(row, 2)?,
            start: number_of(row, 3)?,
            end: number_of(row, 4)?,
            through: hash_of(row, 5)?,
            body: text_of(row, 6)?,
            run_at: number_of(row, 7)?,
        },
        state: state(&text_of(row, 8)?)?,
        attempt: small_of(row, 9)?,
        worker: text_or_none(row, 10)?,
        lease_until: row.integer(11)?.map(unsigned),
        outcome: text_or_none(row, 12)?,
        fold: hash_or_none(row, 13)?,
        failures: small_of(row, 14)?,
    })
}

pub(super) fn call_row<R: SqlRow>(row: &R) -> Result<CallRow, StoreError> {
    let call = NewCall {
        number: number_of(row, 0)?,
        head: number_of(row, 1)?,
        fold: hash_or_none(row, 2)?,
        hash: hash_of(row, 3)?,
        now: number_of(row, 4)?,
        body: text_of(row, 6)?,
    };
    Ok(CallRow { call, usage: text_or_none(row, 5)? })
}

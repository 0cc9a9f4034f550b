//! Columns and what they hold.

use std::ops::Range;

use midfold_core::Hash;

use crate::error::StoreError;
use crate::types::JobState;

/// Columns of an event, in the order that they are read.
macro_rules! event_columns {
    () => {
        "e.seq, e.turn, e.tokens, e.hash, e.usage, e.bytes"
    };
}

/// Columns of a fold, as they are read and written.
macro_rules! fold_columns {
    () => {
        "number, id, span_start, span_end, hash_before, hash_end, policy, recap, kept, made, body"
    };
}

/// Columns of a job.
macro_rules! job_columns {
    () => {
        "jobs.id, jobs.key, (SELECT s.id FROM sessions s WHERE s.no = jobs.session_no), \
         jobs.span_start, jobs.span_end, jobs.hash_end, jobs.body, jobs.run_at, jobs.state, \
         jobs.attempt, jobs.worker, jobs.lease_until, jobs.outcome, jobs.fold, \
         jobs.failures"
    };
}

pub(super) use {event_columns, fold_columns, job_columns};

pub(super) fn hash(bytes: &[u8]) -> Result<Hash, StoreError> {
    bytes.try_into().map(Hash).map_err(|_| {
        StoreError::Damaged(format!("a hash of {} bytes; run `midfold store fsck`", bytes.len()))
    })
}

pub(super) fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

pub(super) fn small(number: i64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Runs as `[[2,5],[7,8]]`, which a database can read too.
pub(super) fn runs_text(runs: &[Range<u64>]) -> String {
    let pairs: Vec<[i64; 2]> =
        runs.iter().map(|run| [super::signed(run.start), super::signed(run.end)]).collect();
    serde_json::to_string(&pairs).unwrap_or_else(|_| "[]".to_owned())
}

pub(super) fn runs(text: &str) -> Result<Vec<Range<u64>>, StoreError> {
    let pairs: Vec<[u64; 2]> = serde_json::from_str(text)
        .map_err(|error| StoreError::Damaged(format!("the runs that a fold keeps: {error}")))?;
    Ok(pairs.into_iter().map(|[from, to]| from..to).collect())
}

pub(super) fn state(name: &str) -> Result<JobState, StoreError> {
    [JobState::Ready, JobState::Leased, JobState::Done, JobState::Dead]
        .into_iter()
        .find(|state| super::state_name(*state) == name)
        .ok_or_else(|| StoreError::Damaged(format!("a job in state `{name}`")))
}

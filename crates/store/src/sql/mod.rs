//! The code that both databases share: the rows, and all SQL that both understand, as functions over a connection
//! (`db`). They differ in how events are inserted, how words are indexed, and how many connections may write.

mod activity;
mod answers;
mod calls;
mod commit;
mod database;
mod db;
mod delete;
mod events;
mod folds;
mod index;
mod jobs;
pub mod memory;
mod open_file;
pub mod packed;
mod restore;
mod rows;
mod search;
mod sessions;
mod store;
mod windows;

#[cfg(feature = "postgres")]
pub mod postgres;
pub mod sqlite;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::error::{FailureKind, StoreError};
use crate::types::{EventRow, JobState, ReadCounts};

/// At most this many numbers of sessions are remembered.
const NUMBERS: usize = 65_536;
/// How many events are read at a time where a whole session is read, because one event may have 5 MB.
const PAGE: i64 = 64;
/// How many candidates of a search have their texts in memory at a time.
const RANKED_AT_ONCE: usize = 16;

/// Data that a store keeps in memory beside its database.
#[derive(Default)]
pub struct StoreNotes {
    /// Rows read so far.
    rows: AtomicU64,
    /// Bytes read so far.
    bytes: AtomicU64,
    /// The numbers of sessions. A session keeps its number, and the number is never used again.
    numbers: Mutex<HashMap<String, i64>>,
}

impl StoreNotes {
    /// Counts rows and bytes that were read.
    fn count(&self, rows: usize, bytes: usize) {
        self.rows.fetch_add(rows as u64, Ordering::Relaxed);
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    fn count_events(&self, events: &[EventRow]) {
        self.count(events.len(), events.iter().map(|row| row.event.bytes.len()).sum());
    }

    fn reads(&self) -> ReadCounts {
        ReadCounts {
            rows: self.rows.load(Ordering::Relaxed),
            bytes: self.bytes.load(Ordering::Relaxed),
        }
    }

    /// The remembered number of a session; `None` where it has to be read.
    fn number(&self, id: &str) -> Option<i64> {
        self.numbers.lock().unwrap_or_else(PoisonError::into_inner).get(id).copied()
    }

    fn forget(&self, id: &str) {
        self.numbers.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
    }

    /// Remembers the number of a session. Where too many are remembered, all others are forgotten.
    fn remember(&self, id: &str, number: i64) {
        let mut numbers = self.numbers.lock().unwrap_or_else(PoisonError::into_inner);
        if numbers.len() >= NUMBERS {
            numbers.clear();
        }
        numbers.insert(id.to_owned(), number);
    }
}

/// Converts to the signed numbers of databases.
fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn state_name(state: JobState) -> &'static str {
    match state {
        JobState::Ready => "ready",
        JobState::Leased => "leased",
        JobState::Done => "done",
        JobState::Dead => "dead",
    }
}

/// The error for a failure of the database, with advice.
fn failed(error: sqlx::Error) -> StoreError {
    let (kind, text) = match &error {
        sqlx::Error::Database(inner) => (kind_of(&**inner), inner.message().to_owned()),
        sqlx::Error::PoolTimedOut => {
            (FailureKind::Busy, "no connection became free in time".to_owned())
        }
        other => (FailureKind::Other, other.to_string()),
    };
    let hint = match kind {
        FailureKind::Full => ": nothing was written; free some space and try again",
        FailureKind::Locked => ": another process has been writing for too long; try again",
        FailureKind::NotAStore => ": the file is something else",
        _ => "",
    };
    StoreError::Backend { kind, text: format!("{text}{hint}") }
}

/// The kind of a failure, from the database's own code. For `SQLite`, that is the extended result code, whose low
/// byte is the kind; for PostgreSQL, it is the five characters of an SQLSTATE.
fn kind_of(error: &dyn sqlx::error::DatabaseError) -> FailureKind {
    let code = error.code().unwrap_or_default();
    match &*code {
        "53100" => return FailureKind::Full,
        "55P03" => return FailureKind::Locked,
        "25006" => return FailureKind::ReadOnly,
        state if state.len() == 5 => return FailureKind::Other,
        _ => {}
    }
    match code.parse::<u32>().unwrap_or(0) & 0xff {
        5 | 6 => FailureKind::Locked,
        8 => FailureKind::ReadOnly,
        13 => FailureKind::Full,
        14 => FailureKind::Unreadable,
        26 => FailureKind::NotAStore,
        _ => FailureKind::Other,
    }
}

/// The error of an open, with the place of the store in its text.
fn at(place: &str, error: StoreError) -> StoreError {
    match error {
        StoreError::Backend { kind, text } => {
            StoreError::Backend { kind, text: format!("{place}: {text}") }
        }
        StoreError::Url(text) => StoreError::Url(format!("{place}: {text}")),
        StoreError::Foreign(text) => StoreError::Foreign(format!("{place}: {text}")),
        other => other,
    }
}

/// Whether an insert failed because the key is taken in `table`. The message is `UNIQUE constraint failed: events.…`
/// in `SQLite` and `duplicate key … "events_pkey"` in `PostgreSQL`.
fn is_taken(error: &sqlx::Error, table: &str) -> bool {
    error.as_database_error().is_some_and(|error| {
        error.is_unique_violation()
            && error.table().map_or_else(|| error.message().contains(table), |name| name == table)
    })
}

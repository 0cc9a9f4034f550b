//! Sessions in PostgreSQL, for many stateless nodes. A connection pooler may be in between, because nothing depends
//! on the state of a connection: there are no session variables, no `LISTEN`, and no advisory locks except during
//! migrations. READ COMMITTED is enough.
//!
//! An append of events is one statement: an insert of several rows that requires the event before the first one. Where
//! two appends want the same position, the primary key refuses one of them, and its client gets an error. Adding rows
//! to a session locks its row against deletion only.

use std::ops::Range;
use std::str::FromStr;
use std::time::Duration;

use midfold_core::TextOrigin;
use sqlx::pool::PoolConnection;
use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions, PgRow};
use sqlx::{ConnectOptions, Connection as _, PgConnection, Postgres, Row as _};

use super::database::SqlDatabase;
use super::db::{SqlConnection, SqlQuery, SqlRow};
use super::rows::{event_columns, event_row, number_of};
use super::{StoreNotes, failed, is_taken, signed};
use crate::error::StoreError;
use crate::types::{EventRow, Millis, NewEvent};

/// The migrations, in order. The table `midfold_schema` records which of them the database has seen.
const MIGRATIONS: [&str; 8] = [
    include_str!("../../migrations/postgres/0001_tables.sql"),
    include_str!("../../migrations/postgres/0002_fold_identity.sql"),
    include_str!("../../migrations/postgres/0003_deletion.sql"),
    include_str!("../../migrations/postgres/0004_identities.sql"),
    include_str!("../../migrations/postgres/0005_activity.sql"),
    include_str!("../../migrations/postgres/0006_origin.sql"),
    include_str!("../../migrations/postgres/0007_answers.sql"),
    include_str!("../../migrations/postgres/0008_windows.sql"),
];
/// The advisory lock (`mfld` in ASCII) with which nodes that start at once migrate one after the other.
const LOCK: i64 = 0x6d66_6c64;
/// Most connections of one node.
const CONNECTIONS: u32 = 16;
/// How long a call waits for a connection.
const WAIT: Duration = Duration::from_secs(20);
/// Most bytes of words in one `tsvector`. A `tsvector` holds 1 MB, including what it adds to each word.
const PART: usize = 400_000;

/// A store in a PostgreSQL database.
pub struct PostgresStore {
    place: String,
    pool: PgPool,
    notes: StoreNotes,
}

impl PostgresStore {
    /// Connects to `postgres://user:password@host/database`, or through a unix socket with
    /// `postgres:///database?host=/folder`. Creates the tables where they do not exist.
    ///
    /// # Errors
    /// Fails where the URL is not valid, the server does not answer, or a newer midfold made the tables.
    pub async fn open(url: &str) -> Result<Self, StoreError> {
        let options = PgConnectOptions::from_str(url)
            .map_err(|error| StoreError::Url(format!("not a PostgreSQL URL: {error}")))?
            .disable_statement_logging();
        let place = place_of(&options);
        let at = |error: StoreError| super::at(&place, error);
        // The pool would try an unreachable server again and again, so one connection is tried first.
        let first = tokio::time::timeout(WAIT, options.connect()).await;
        let first = first.map_err(|_| at(failed(sqlx::Error::PoolTimedOut)))?;
        let mut db = first.map_err(|error| at(failed(error)))?;
        migrate(&mut db).await.map_err(at)?;
        // The migrations are committed, so a failed goodbye loses nothing.
        let _ = db.close().await;
        let pool = PgPoolOptions::new()
            .max_connections(CONNECTIONS)
            .acquire_timeout(WAIT)
            .test_before_acquire(false)
            .connect_lazy_with(options);
        Ok(Self { place, pool, notes: StoreNotes::default() })
    }
}

/// The place of the store for messages, without the password.
fn place_of(options: &PgConnectOptions) -> String {
    let database = options.get_database().unwrap_or_else(|| options.get_username());
    let (user, port) = (options.get_username(), options.get_port());
    match options.get_socket() {
        Some(folder) => format!("postgres://{user}@/{database}?host={}", folder.display()),
        None => format!("postgres://{user}@{}:{port}/{database}", options.get_host()),
    }
}

/// Runs the missing migrations in one transaction, under an advisory lock.
async fn migrate(db: &mut PgConnection) -> Result<(), StoreError> {
    let mut tx = db.begin_with(PgConnection::BEGIN).await.map_err(failed)?;
    sqlx::query("SELECT pg_advisory_xact_lock($1)")
        .bind(LOCK)
        .execute(&mut *tx)
        .await
        .map_err(failed)?;
    sqlx::raw_sql("CREATE TABLE IF NOT EXISTS midfold_schema (version BIGINT PRIMARY KEY)")
        .execute(&mut *tx)
        .await
        .map_err(failed)?;
    let row = sqlx::query("SELECT coalesce(max(version), 0) FROM midfold_schema");
    let version: i64 =
        row.fetch_one(&mut *tx).await.and_then(|row| row.try_get(0)).map_err(failed)?;
    let latest = MIGRATIONS.len() as i64;
    if version > latest {
        return Err(StoreError::Foreign(format!(
            "the tables have version {version}, this midfold knows up to {latest}: update midfold"
        )));
    }
    for (migration, seen) in MIGRATIONS.iter().zip(1i64..) {
        if seen > version {
            sqlx::raw_sql(*migration).execute(&mut *tx).await.map_err(failed)?;
            sqlx::query("INSERT INTO midfold_schema (version) VALUES ($1)")
                .bind(seen)
                .execute(&mut *tx)
                .await
                .map_err(failed)?;
        }
    }
    tx.commit().await.map_err(failed)
}

impl SqlDatabase for PostgresStore {
    type Db = PgConnection;
    type Writer<'a> = PoolConnection<Postgres>;
    type Reader<'a> = PoolConnection<Postgres>;

    fn place(&self) -> &str {
        &self.place
    }

    fn notes(&self) -> &StoreNotes {
        &self.notes
    }

    async fn writer(&self) -> Result<Self::Writer<'_>, StoreError> {
        self.pool.acquire().await.map_err(failed)
    }

    async fn reader(&self) -> Result<Self::Reader<'_>, StoreError> {
        self.writer().await
    }

    /// Does nothing, because the server's `VACUUM` decides when the space of deleted rows is overwritten.
    async fn scrub(&self) -> Result<(), StoreError> {
        Ok(())
    }
}

impl SqlConnection for PgConnection {
    type Row = PgRow;

    const BEGIN: &'static str = "BEGIN";
    const SKIP_LOCKED: &'static str = " FOR UPDATE SKIP LOCKED";
    const HOLD: &'static str = " FOR KEY SHARE";
    const TAKE: &'static str = " FOR UPDATE";
    /// Most events that may be inserted outside a transaction.
    const AT_ONCE: usize = 10_000;

    async fn execute(&mut self, query: SqlQuery<'_>) -> Result<u64, sqlx::Error> {
        Ok(query.bound().execute(self).await?.rows_affected())
    }

    async fn fetch(&mut self, query: SqlQuery<'_>) -> Result<Vec<PgRow>, sqlx::Error> {
        query.bound().fetch_all(self).await
    }

    async fn insert_events(
        &mut self,
        no: i64,
        expected: u64,
        events: &[NewEvent],
        now: Millis,
    ) -> Result<bool, StoreError> {
        let numbers = |of: fn(&NewEvent) -> u32| -> Vec<i64> {
            events.iter().map(|event| i64::from(of(event))).collect()
        };
        let hashes: Vec<&[u8]> = events.iter().map(|event| &event.hash.0[..]).collect();
        let usages: Vec<Option<&str>> = events.iter().map(|event| event.usage.as_deref()).collect();
        let bytes: Vec<&[u8]> = events.iter().map(|event| &event.bytes[..]).collect();
        let origins: Vec<Option<&str>> =
            events.iter().map(|event| event.origin.map(TextOrigin::name)).collect();
        let outcome = sqlx::query(
            "INSERT INTO events (session_no, seq, turn, tokens, hash, usage, bytes, made, origin) \
             SELECT $1, $2 + n - 1, turn, tokens, hash, usage, bytes, $8, origin \
             FROM unnest($3::bigint[], $4::bigint[], $5::bytea[], $6::text[], $7::bytea[], \
             $9::text[]) WITH ORDINALITY \
             AS new (turn, tokens, hash, usage, bytes, origin, n) \
             WHERE EXISTS (SELECT no FROM sessions WHERE no = $1 FOR KEY SHARE) AND \
             ($2 = 0 OR EXISTS (SELECT 1 FROM events WHERE session_no = $1 AND seq = $2 - 1))",
        )
        .bind(no)
        .bind(signed(expected))
        .bind(numbers(|event| event.turn))
        .bind(numbers(|event| event.tokens))
        .bind(hashes)
        .bind(usages)
        .bind(bytes)
        .bind(signed(now))
        .bind(origins)
        .execute(&mut *self)
        .await;
        match outcome {
            Ok(done) => Ok(done.rows_affected() == events.len() as u64),
            Err(error) if is_taken(&error, "events") => Ok(false),
            Err(error) => Err(failed(error)),
        }
    }

    async fn run_events(
        &mut self,
        no: i64,
        runs: &[Range<u64>],
    ) -> Result<Vec<EventRow>, StoreError> {
        let ends = |of: fn(&Range<u64>) -> u64| -> Vec<i64> {
            runs.iter().map(|run| signed(of(run))).collect()
        };
        let all = sqlx::query(concat!(
            "SELECT ",
            event_columns!(),
            " FROM unnest($2::bigint[], $3::bigint[]) AS run (first, past) CROSS JOIN LATERAL \
             (SELECT * FROM events WHERE session_no = $1 AND seq >= first AND seq < past \
             ORDER BY seq OFFSET 0) AS e ORDER BY e.seq"
        ))
        .bind(no)
        .bind(ends(|run| run.start))
        .bind(ends(|run| run.end))
        .fetch_all(&mut *self)
        .await
        .map_err(failed)?;
        all.iter().map(event_row).collect()
    }

    async fn insert_words(
        &mut self,
        no: i64,
        seq: u64,
        words: &[String],
    ) -> Result<(), StoreError> {
        let mut from = 0;
        for part in 0i64.. {
            let mut bytes = 0;
            let fits = |word: &&String| {
                bytes += word.len() + 8;
                bytes <= PART
            };
            // A word has at most `WORD` characters, so each part takes at least one word, and the loop ends.
            let to = from + words[from..].iter().take_while(fits).count();
            sqlx::query(
                "INSERT INTO words (session_no, seq, part, words) \
                 VALUES ($1, $2, $3, array_to_tsvector($4::text[]))",
            )
            .bind(no)
            .bind(signed(seq))
            .bind(part)
            .bind(&words[from..to])
            .execute(&mut *self)
            .await
            .map_err(failed)?;
            if to >= words.len() {
                break;
            }
            from = to;
        }
        Ok(())
    }

    async fn delete_words(&mut self, no: i64) -> Result<(), StoreError> {
        sqlx::query("DELETE FROM words WHERE session_no = $1")
            .bind(no)
            .execute(&mut *self)
            .await
            .map(drop)
            .map_err(failed)
    }

    async fn posting(
        &mut self,
        no: i64,
        range: &Range<u64>,
        word: &str,
    ) -> Result<Vec<u64>, StoreError> {
        let all = sqlx::query(
            "SELECT seq FROM words WHERE session_no = $1 AND seq >= $2 AND seq < $3 \
             AND words @@ $4::tsquery ORDER BY seq",
        )
        .bind(no)
        .bind(signed(range.start))
        .bind(signed(range.end))
        // Words are letters and digits, so nothing in them needs an escape.
        .bind(format!("'{word}'"))
        .fetch_all(&mut *self)
        .await
        .map_err(failed)?;
        all.iter().map(|row| number_of(row, 0)).collect()
    }
}

impl SqlRow for PgRow {
    fn integer(&self, at: usize) -> Result<Option<i64>, StoreError> {
        self.try_get(at).map_err(failed)
    }

    fn text(&self, at: usize) -> Result<Option<&str>, StoreError> {
        self.try_get(at).map_err(failed)
    }

    fn bytes(&self, at: usize) -> Result<Option<&[u8]>, StoreError> {
        self.try_get(at).map_err(failed)
    }
}

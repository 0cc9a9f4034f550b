//! Sessions in PostgreSQL, for many stateless nodes. A connection pooler may be in between, because nothing depends
//! on the state of a connection. There are no session variables and no `LISTEN`. The one advisory lock ends with the
//! transaction of the migrations. The isolation level READ COMMITTED is enough.
//!
//! One statement appends events: it inserts several rows, and does so only where the event before the first one
//! exists. If two clients append at the same position, the primary key refuses the second insert, and its client gets
//! an error. An append locks the row of its session (`FOR KEY SHARE`), so that the session cannot be deleted meanwhile;
//! other appends to the session need not wait.

use std::ops::Range;
use std::str::FromStr;
use std::time::Duration;

use midfold_core::TextOrigin;
use sqlx::pool::PoolConnection;
use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions, PgRow};
use sqlx::{ConnectOptions, Connection as _, PgConnection, Postgres, Row as _};
use tokio::time::timeout;

use super::database::SqlDatabase;
use super::db::{SqlConnection, SqlQuery, SqlRow};
use super::rows::{event_columns, event_row, number_of};
use super::{StoreNotes, failed, is_taken, signed};
use crate::error::StoreError;
use crate::text::WORD;
use crate::types::{EventRow, Millis, NewEvent};

/// The migrations, in order. The table `midfold_schema` records which of them the database has seen.
const MIGRATIONS: [&str; 9] = [
    include_str!("../../migrations/postgres/0001_tables.sql"),
    include_str!("../../migrations/postgres/0002_fold_identity.sql"),
    include_str!("../../migrations/postgres/0003_deletion.sql"),
    include_str!("../../migrations/postgres/0004_identities.sql"),
    include_str!("../../migrations/postgres/0005_activity.sql"),
    include_str!("../../migrations/postgres/0006_origin.sql"),
    include_str!("../../migrations/postgres/0007_answers.sql"),
    include_str!("../../migrations/postgres/0008_windows.sql"),
    include_str!("../../migrations/postgres/0009_pages.sql"),
];
/// Advisory lock (`mfld` in ASCII): makes nodes that start at the same time migrate one after another.
const LOCK: i64 = 0x6d66_6c64;
/// Most connections of one node.
const CONNECTIONS: u32 = 16;
/// How long a call waits for a connection.
const WAIT: Duration = Duration::from_secs(20);
/// A server needs at least this long to stop and start again.
const RESTART: Duration = Duration::from_millis(50);
/// How long the test of a connection may take. Another one is made then.
const PING: Duration = Duration::from_secs(2);
/// Most bytes of words in one `tsvector`, with `WORD_OVERHEAD` for each word. A `tsvector` holds at most 1 MB.
const PART: usize = 400_000;
/// Bytes that a `tsvector` adds to a word, about.
const WORD_OVERHEAD: usize = 8;
/// Any word fits in a part: it has at most `WORD` characters, and each has at most 12 bytes in lower case.
const _: () = assert!(WORD * 12 + WORD_OVERHEAD <= PART);

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
        let first = timeout(WAIT, options.connect()).await;
        let first = first.map_err(|_| at(failed(sqlx::Error::PoolTimedOut)))?;
        let mut db = first.map_err(|error| at(failed(error)))?;
        migrate(&mut db).await.map_err(at)?;
        // The migrations are committed, so a failed goodbye loses nothing.
        let _ = db.close().await;
        let pool = PgPoolOptions::new()
            .max_connections(CONNECTIONS)
            .acquire_timeout(WAIT)
            // A test costs a round trip, so only a connection is tested that was idle for long enough for a restart.
            .test_before_acquire(false)
            .before_acquire(|db, used| {
                Box::pin(async move {
                    Ok(used.idle_for < RESTART
                        || timeout(PING, db.ping()).await.is_ok_and(|pong| pong.is_ok()))
                })
            })
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
    let query = sqlx::query("SELECT coalesce(max(version), 0) FROM midfold_schema");
    let version: i64 =
        query.fetch_one(&mut *tx).await.and_then(|row| row.try_get(0)).map_err(failed)?;
    let latest = MIGRATIONS.len() as i64;
    if version > latest {
        return Err(StoreError::Foreign(format!(
            "the tables have version {version}, this midfold knows up to {latest}: update midfold"
        )));
    }
    for (migration, number) in MIGRATIONS.iter().zip(1i64..) {
        if number > version {
            sqlx::raw_sql(*migration).execute(&mut *tx).await.map_err(failed)?;
            sqlx::query("INSERT INTO midfold_schema (version) VALUES ($1)")
                .bind(number)
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
    const CHANGE: &'static str = " FOR NO KEY UPDATE";
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
        // As `bigint`, because the upper half of `u32` does not fit PostgreSQL's `integer`.
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
            Ok(inserted) => Ok(inserted.rows_affected() == events.len() as u64),
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
        // `OFFSET 0` keeps the planner from merging the inner query into the outer one. Each run is therefore one scan of
        // the primary key, whatever the planner's statistics say.
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
        for (words, part) in parts(words).zip(0i64..) {
            sqlx::query(
                // `to_tsvector` would split and stem the words again, and they would differ from those of a query.
                "INSERT INTO words (session_no, seq, part, words) \
                 VALUES ($1, $2, $3, array_to_tsvector($4::text[]))",
            )
            .bind(no)
            .bind(signed(seq))
            .bind(part)
            .bind(words)
            .execute(&mut *self)
            .await
            .map_err(failed)?;
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
        // A word holds letters and digits only (`text::words`), so it cannot end the quotes.
        .bind(format!("'{word}'"))
        .fetch_all(&mut *self)
        .await
        .map_err(failed)?;
        all.iter().map(|row| number_of(row, 0)).collect()
    }
}

/// Splits words into parts of at most `PART` bytes each. Each part has at least one word, so the splitting ends.
fn parts(mut words: &[String]) -> impl Iterator<Item = &[String]> {
    std::iter::from_fn(move || {
        let mut bytes = 0;
        let fits = |word: &&String| {
            bytes += word.len() + WORD_OVERHEAD;
            bytes <= PART
        };
        let count = words.iter().take_while(fits).count().max(1);
        let (part, rest) = words.split_at_checked(count)?;
        words = rest;
        Some(part)
    })
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

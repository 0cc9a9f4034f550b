//! Sessions in one `SQLite` file, which is the default store. It uses WAL, `synchronous=FULL` and one writer.
//!
//! An append of one event without key or job is one autocommitted insert; any other append is a transaction. The
//! primary key refuses a seq that is taken. An append also requires the event before it, or the session where it is
//! the first one. The insert checks that for a single event, and a query before it checks that for several.
//!
//! The full-text index (FTS5, without contents) is filled by searches, so that an append writes only the log. The
//! first search in a session reads its events once.

use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use midfold_core::TextOrigin;
use sqlx::pool::PoolConnection;
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteRow,
    SqliteSynchronous,
};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection as _, Row as _, Sqlite, SqliteConnection};
use tokio::sync::{Mutex, MutexGuard};

use super::database::SqlDatabase;
use super::db::{SqlConnection, SqlQuery, SqlRow};
use super::open_file::OpenedFile;
use super::rows::{event_columns, event_row, number_of, runs_text};
use super::{StoreNotes, failed, is_taken, kind_of, signed};
use crate::error::{FailureKind, StoreError};
use crate::private;
use crate::types::{EventRow, Millis, NewEvent};

/// The migrations, in order. The file's `user_version` says how many of them it has seen.
const MIGRATIONS: [&str; 10] = [
    include_str!("../../migrations/sqlite/0001_tables.sql"),
    include_str!("../../migrations/sqlite/0002_fold_identity.sql"),
    include_str!("../../migrations/sqlite/0003_deletion.sql"),
    include_str!("../../migrations/sqlite/0004_identities.sql"),
    include_str!("../../migrations/sqlite/0005_activity.sql"),
    include_str!("../../migrations/sqlite/0006_origin.sql"),
    include_str!("../../migrations/sqlite/0007_answers.sql"),
    include_str!("../../migrations/sqlite/0008_windows.sql"),
    include_str!("../../migrations/sqlite/0009_ticks.sql"),
    include_str!("../../migrations/sqlite/0010_pages.sql"),
];
/// The `application_id` that marks a file as midfold's (`mfld` in ASCII).
const APPLICATION: i64 = 0x6d66_6c64;
/// Bytes of a page. A commit writes each page that it changes as a whole, so large pages are written for small changes.
const PAGE_SIZE: u32 = 4_096;
/// Pages of the write-ahead log before it is copied into the file: 2 MB. A full disk should not be full of log.
const LOG_PAGES: u32 = 512;
/// The largest page limit that `SQLite` accepts.
const MOST_PAGES: u32 = 4_294_967_294;
/// How long a writer waits for another process.
const BUSY: Duration = Duration::from_secs(20);
/// Most connections that read at the same time.
const READERS: u32 = 4;

/// A store in a `SQLite` file.
pub struct SqliteStore {
    place: String,
    writer: Mutex<SqliteConnection>,
    readers: SqlitePool,
    notes: StoreNotes,
    options: SqliteConnectOptions,
    /// The most pages that the file may have.
    pages: AtomicU32,
    /// How long a writer waits for another process, in milliseconds.
    wait: AtomicU32,
    /// The opened file, to notice where it is removed or replaced.
    file: OpenedFile,
}

impl SqliteStore {
    /// Opens a file. Where it does not exist, it is created with its folder, readable by its user only.
    ///
    /// # Errors
    /// Fails where the file cannot be created, is no `SQLite` database, belongs to another program, or was written by
    /// a newer midfold.
    pub async fn open(path: &Path) -> Result<Self, StoreError> {
        let place = format!("sqlite:{}", path.display());
        let at = |error: StoreError| super::at(&place, error);
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            private::folder(folder).map_err(|error| {
                let text = format!("{place}: cannot make the folder: {error}");
                StoreError::Backend { kind: FailureKind::Unreadable, text }
            })?;
        }
        // An empty file is an empty database. Files that SQLite puts beside it get the same permissions.
        match private::file(path) {
            Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
                let text = format!("{place}: unable to open the file: {error}");
                return Err(StoreError::Backend { kind: FailureKind::Unreadable, text });
            }
            _ => {}
        }
        let options = SqliteConnectOptions::new()
            .filename(path)
            .create_if_missing(true)
            .page_size(PAGE_SIZE)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .busy_timeout(BUSY)
            .statement_cache_capacity(256)
            .pragma("cache_size", "-16000")
            .pragma("wal_autocheckpoint", LOG_PAGES.to_string())
            // After a large commit the log shrinks again.
            .pragma("journal_size_limit", (LOG_PAGES * PAGE_SIZE).to_string())
            // Statements hold events, which must not get into a log.
            .disable_statement_logging();
        let mut writer = connect(&options).await.map_err(at)?;
        migrate(&mut writer).await.map_err(at)?;
        let file = OpenedFile::at(path);
        let readers = SqlitePoolOptions::new()
            .max_connections(READERS)
            // A connection to a local file does not break while it waits.
            .test_before_acquire(false)
            // A reader must not bring a removed file back as an empty one.
            .connect_lazy_with(options.clone().create_if_missing(false).pragma("query_only", "on"));
        Ok(Self {
            place,
            writer: Mutex::new(writer),
            readers,
            notes: StoreNotes::default(),
            options,
            pages: AtomicU32::new(MOST_PAGES),
            wait: AtomicU32::new(u32::try_from(BUSY.as_millis()).unwrap_or(u32::MAX)),
            file,
        })
    }

    /// Limits the file to this many pages of 4 KB (`None`: no limit). This works as a quota, and simulates a full
    /// disk in tests.
    ///
    /// # Errors
    /// Fails where the database refuses.
    pub async fn limit_pages(&self, pages: Option<u32>) -> Result<(), StoreError> {
        let pages = pages.unwrap_or(MOST_PAGES);
        self.pages.store(pages, Ordering::Relaxed);
        limit(&mut *self.writer().await?, pages).await
    }

    /// Sets how long a writer waits for another process before it fails; 20 seconds by default.
    ///
    /// # Errors
    /// Fails where the database refuses.
    pub async fn wait_at_most(&self, wait: Duration) -> Result<(), StoreError> {
        let millis = u32::try_from(wait.as_millis()).unwrap_or(u32::MAX);
        self.wait.store(millis, Ordering::Relaxed);
        be_patient(&mut *self.writer().await?, millis).await
    }

    /// Ends a transaction that was left open. Usually its rollback is already queued. When the disk is full, however,
    /// `SQLite` rolls back by itself. Then sqlx's own rollback fails, and sqlx takes the connection to be in a
    /// transaction forever, so the connection is replaced.
    async fn settle(&self, db: &mut SqliteConnection) -> Result<(), StoreError> {
        let pinged = db.ping().await;
        if pinged.is_err() || db.is_in_transaction() {
            *db = connect(&self.options).await?;
            limit(db, self.pages.load(Ordering::Relaxed)).await?;
            be_patient(db, self.wait.load(Ordering::Relaxed)).await?;
        }
        Ok(())
    }
}

async fn limit(db: &mut SqliteConnection, pages: u32) -> Result<(), StoreError> {
    let text = format!("PRAGMA max_page_count = {pages}");
    sqlx::raw_sql(AssertSqlSafe(text)).execute(db).await.map(drop).map_err(failed)
}

/// Sets how long the connection waits for another process.
async fn be_patient(db: &mut SqliteConnection, millis: u32) -> Result<(), StoreError> {
    let text = format!("PRAGMA busy_timeout = {millis}");
    sqlx::raw_sql(AssertSqlSafe(text)).execute(db).await.map(drop).map_err(failed)
}

/// Connects, and tries again while the file is locked: where two processes create it at once, the switch to WAL
/// ignores the busy timeout.
async fn connect(options: &SqliteConnectOptions) -> Result<SqliteConnection, StoreError> {
    let mut tries = 0;
    loop {
        match options.connect().await {
            Ok(connection) => return Ok(connection),
            Err(error) if tries < 40 && is_locked(&error) => {
                tries += 1;
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            Err(error) => return Err(failed(error)),
        }
    }
}

fn is_locked(error: &sqlx::Error) -> bool {
    error.as_database_error().is_some_and(|error| kind_of(error) == FailureKind::Locked)
}

/// The number that a pragma returns.
async fn pragma(db: &mut SqliteConnection, query: &'static str) -> Result<i64, StoreError> {
    let row = sqlx::query(query).fetch_one(db).await.map_err(failed)?;
    row.try_get(0).map_err(failed)
}

/// Runs the missing migrations in one transaction. Refuses files of other programs and of newer versions.
pub(super) async fn migrate(db: &mut SqliteConnection) -> Result<(), StoreError> {
    let latest = MIGRATIONS.len() as i64;
    if pragma(db, "PRAGMA user_version").await? == latest
        && pragma(db, "PRAGMA application_id").await? == APPLICATION
    {
        return Ok(());
    }
    let mut tx = db.begin_with(SqliteConnection::BEGIN).await.map_err(failed)?;
    // Read again inside the transaction: another process may have migrated the file since the first look.
    let version = pragma(&mut tx, "PRAGMA user_version").await?;
    let application = pragma(&mut tx, "PRAGMA application_id").await?;
    let tables = pragma(&mut tx, "SELECT count(*) FROM sqlite_master").await?;
    if application != APPLICATION && (tables > 0 || version != 0) {
        let why = "the file is a database of another program; choose another path";
        return Err(StoreError::Foreign(why.to_owned()));
    }
    if version > latest {
        return Err(StoreError::Foreign(format!(
            "the file has version {version}, this midfold knows up to {latest}: update midfold"
        )));
    }
    for (migration, seen) in MIGRATIONS.iter().zip(1i64..) {
        if seen > version {
            sqlx::raw_sql(*migration).execute(&mut *tx).await.map_err(failed)?;
        }
    }
    let marks = format!("PRAGMA user_version = {latest}; PRAGMA application_id = {APPLICATION}");
    sqlx::raw_sql(AssertSqlSafe(marks)).execute(&mut *tx).await.map_err(failed)?;
    tx.commit().await.map_err(failed)
}

/// The columns of an inserted event.
const COLUMNS: &str = "(session_no, seq, turn, tokens, hash, usage, bytes, made, origin)";
/// Events of one insert. Each takes nine variables, and a statement may have 32,766.
const ROWS: usize = 128;

/// The index has one number for an event, made of its session and its seq.
fn rowid(no: i64, seq: u64) -> i64 {
    // The session is in the high bits, so that its events are one range of the index.
    (no << 32) | signed(seq.min(u64::from(u32::MAX)))
}

impl SqlDatabase for SqliteStore {
    type Db = SqliteConnection;
    type Writer<'a> = MutexGuard<'a, SqliteConnection>;
    type Reader<'a> = PoolConnection<Sqlite>;

    fn place(&self) -> &str {
        &self.place
    }

    fn notes(&self) -> &StoreNotes {
        &self.notes
    }

    fn is_there(&self) -> Result<(), StoreError> {
        self.file.is_there().map_err(|error| super::at(&self.place, error))
    }

    fn has_room(&self) -> Result<(), StoreError> {
        self.file.has_room().map_err(|error| super::at(&self.place, error))
    }

    async fn writer(&self) -> Result<Self::Writer<'_>, StoreError> {
        self.is_there()?;
        let mut db = self.writer.lock().await;
        // A future that was dropped in the middle of a transaction leaves it open.
        if db.is_in_transaction() {
            self.settle(&mut db).await?;
        }
        Ok(db)
    }

    async fn reader(&self) -> Result<Self::Reader<'_>, StoreError> {
        self.is_there()?;
        self.readers.acquire().await.map_err(failed)
    }

    /// Rewrites the file, because pages that were split or merged keep copies of deleted data. Then the write-ahead
    /// log is copied into the file and truncated.
    async fn scrub(&self) -> Result<(), StoreError> {
        let mut db = self.writer().await?;
        let mark = sqlx::query_scalar::<_, i64>("SELECT due FROM scrub ORDER BY due LIMIT 1");
        let Some(mark) = mark.fetch_optional(&mut *db).await.map_err(failed)? else {
            return Ok(());
        };
        sqlx::raw_sql("VACUUM").execute(&mut *db).await.map_err(failed)?;
        // The first column is 1 where a reader keeps the log from being truncated.
        if pragma(&mut db, "PRAGMA wal_checkpoint(TRUNCATE)").await? != 0 {
            let text = "another process is reading an older state of it; end that and try again";
            return Err(StoreError::Backend { kind: FailureKind::Locked, text: text.to_owned() });
        }
        // The mark is removed last, so that an interrupted scrub is repeated. A mark that another process has set in the
        // meantime stays.
        let delete = sqlx::query("DELETE FROM scrub WHERE due = $1").bind(mark);
        delete.execute(&mut *db).await.map(drop).map_err(failed)
    }
}

impl SqlConnection for SqliteConnection {
    type Row = SqliteRow;

    // Takes the write lock at once. A transaction that reads first and writes later fails where another process wrote
    // in between, and the busy timeout does not help there.
    const BEGIN: &'static str = "BEGIN IMMEDIATE";
    const SKIP_LOCKED: &'static str = "";
    const HOLD: &'static str = "";
    const CHANGE: &'static str = "";
    const TAKE: &'static str = "";
    // An insert of several rows may leave a part of them behind (`OR FAIL`), so it needs a transaction to roll back.
    const AT_ONCE: usize = 1;

    async fn execute(&mut self, query: SqlQuery<'_>) -> Result<u64, sqlx::Error> {
        Ok(query.bound().execute(self).await?.rows_affected())
    }

    async fn fetch(&mut self, query: SqlQuery<'_>) -> Result<Vec<SqliteRow>, sqlx::Error> {
        query.bound().fetch_all(self).await
    }

    /// Adds events. More than one event needs a transaction.
    async fn insert_events(
        &mut self,
        no: i64,
        expected: u64,
        events: &[NewEvent],
        now: Millis,
    ) -> Result<bool, StoreError> {
        let mut seq = signed(expected);
        // Several events come in a transaction, so nobody can append between this check and the inserts.
        if events.len() > 1 && seq > 0 {
            let before = sqlx::query("SELECT 1 FROM events WHERE session_no = $1 AND seq = $2 - 1")
                .bind(no)
                .bind(seq);
            if before.fetch_optional(&mut *self).await.map_err(failed)?.is_none() {
                return Ok(false);
            }
        }
        for some in events.chunks(ROWS) {
            let mut query = if events.len() == 1 {
                sqlx::query(
                    "INSERT INTO events (session_no, seq, turn, tokens, hash, usage, bytes, made, origin) \
                     SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9 WHERE CASE ?2 \
                     WHEN 0 THEN EXISTS (SELECT 1 FROM sessions WHERE no = ?1) \
                     ELSE EXISTS (SELECT 1 FROM events WHERE session_no = ?1 AND seq = ?2 - 1) END",
                )
            } else {
                // `OR FAIL` may leave a part of the rows behind, so SQLite keeps no copies of the changed pages. That
                // is safe here, because the whole transaction is rolled back.
                let rows = vec!["(?, ?, ?, ?, ?, ?, ?, ?, ?)"; some.len()].join(", ");
                let sql = format!("INSERT OR FAIL INTO events {COLUMNS} VALUES {rows}");
                sqlx::query(AssertSqlSafe(sql))
            };
            for event in some {
                query = query
                    .bind(no)
                    .bind(seq)
                    .bind(i64::from(event.turn))
                    .bind(i64::from(event.tokens))
                    .bind(&event.hash.0[..])
                    .bind(event.usage.as_deref())
                    .bind(&event.bytes[..])
                    .bind(signed(now))
                    .bind(event.origin.map(TextOrigin::name));
                seq = seq.saturating_add(1);
            }
            match query.execute(&mut *self).await {
                Ok(outcome) if outcome.rows_affected() == some.len() as u64 => {}
                Ok(_) => return Ok(false),
                Err(error) if is_taken(&error, "events") => return Ok(false),
                Err(error) => return Err(failed(error)),
            }
        }
        Ok(true)
    }

    async fn run_events(
        &mut self,
        no: i64,
        runs: &[Range<u64>],
    ) -> Result<Vec<EventRow>, StoreError> {
        let all = sqlx::query(concat!(
            "SELECT ",
            event_columns!(),
            " FROM json_each($2) r CROSS JOIN events e WHERE e.session_no = $1 \
             AND e.seq >= r.value ->> 0 AND e.seq < r.value ->> 1 ORDER BY r.key, e.seq"
        ))
        .bind(no)
        .bind(runs_text(runs))
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
        sqlx::query("INSERT INTO words (rowid, text) VALUES ($1, $2)")
            .bind(rowid(no, seq))
            .bind(words.join(" "))
            .execute(&mut *self)
            .await
            .map(drop)
            .map_err(failed)
    }

    /// Empties the whole index, because FTS5 without contents cannot delete single events. The next search fills it
    /// again. `scrub` removes the traces that are left.
    async fn delete_words(&mut self, no: i64) -> Result<(), StoreError> {
        let indexed = sqlx::query("SELECT 1 FROM sessions WHERE no = $1 AND indexed > 0").bind(no);
        let indexed = indexed.fetch_optional(&mut *self).await.map_err(failed)?.is_some();
        // With `secure_delete`, little of the deleted data remains even where the file is not rewritten afterwards.
        // Each deletion sets its own mark, so that a scrub which began before it does not remove that.
        let mut sql = "PRAGMA secure_delete = ON; \
             DELETE FROM scrub; INSERT INTO scrub (due) VALUES (random());"
            .to_owned();
        if indexed {
            sql += "INSERT INTO words (words) VALUES ('delete-all'); \
                    UPDATE sessions SET indexed = 0 WHERE indexed > 0;";
        }
        sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut *self).await.map(drop).map_err(failed)
    }

    async fn posting(
        &mut self,
        no: i64,
        range: &Range<u64>,
        word: &str,
    ) -> Result<Vec<u64>, StoreError> {
        let all = sqlx::query(
            "SELECT rowid FROM words WHERE words MATCH $1 AND rowid >= $2 AND rowid < $3 \
             ORDER BY rowid",
        )
        // A word holds letters and digits only (`text::words`), so it cannot end the quotes.
        .bind(format!("\"{word}\""))
        .bind(rowid(no, range.start))
        .bind(rowid(no, range.end))
        .fetch_all(&mut *self)
        .await
        .map_err(failed)?;
        // The lower half of the number is the seq: see `rowid`.
        all.iter().map(|row| Ok(number_of(row, 0)? & u64::from(u32::MAX))).collect()
    }
}

impl SqlRow for SqliteRow {
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

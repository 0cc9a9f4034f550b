//! What midfold's store is measured against: the same rows into a plain table with a primary key,
//! over the same library, at the same durability.

use std::str::FromStr;

use anyhow::{Result, bail};
use midfold_store::NewEvent;
use sqlx::postgres::PgConnectOptions;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};
use sqlx::{AssertSqlSafe, ConnectOptions, PgConnection, Row as _, SqliteConnection};

/// A connection with the table `bare`.
pub enum Bare {
    /// A file of its own beside the store's.
    Sqlite(Box<SqliteConnection>),
    /// The same database as the store's.
    Postgres(Box<PgConnection>),
}

macro_rules! bound {
    ($sql:expr, $session:expr, $first:expr, $events:expr) => {{
        let mut query = sqlx::query(AssertSqlSafe($sql));
        for (event, seq) in $events.iter().zip($first..) {
            query = query
                .bind($session)
                .bind(seq)
                .bind(i64::from(event.turn))
                .bind(i64::from(event.tokens))
                .bind(&event.hash.0[..])
                .bind(event.usage.as_deref())
                .bind(&event.bytes[..]);
        }
        query
    }};
}

const SELECT: &str = "SELECT seq, turn, tokens, hash, usage, bytes FROM bare \
    WHERE session_no = $1 AND seq < $2 \
    UNION ALL SELECT seq, turn, tokens, hash, usage, bytes FROM bare \
    WHERE session_no = $1 AND seq >= $3";

impl Bare {
    /// Opens it beside the store of this URL, and makes the table.
    pub async fn open(url: &str) -> Result<Self> {
        if let Some(path) = url.strip_prefix("sqlite:") {
            let mut db = SqliteConnectOptions::new()
                .filename(format!("{path}.bare"))
                .create_if_missing(true)
                .page_size(16_384)
                .journal_mode(SqliteJournalMode::Wal)
                .synchronous(SqliteSynchronous::Full)
                .pragma("cache_size", "-16000")
                .disable_statement_logging()
                .connect()
                .await?;
            sqlx::raw_sql(
                "CREATE TABLE bare (session_no INTEGER NOT NULL, seq INTEGER NOT NULL, \
                 turn INTEGER NOT NULL, tokens INTEGER NOT NULL, hash BLOB NOT NULL, usage TEXT, \
                 bytes BLOB NOT NULL, PRIMARY KEY (session_no, seq)) STRICT, WITHOUT ROWID",
            )
            .execute(&mut db)
            .await?;
            return Ok(Self::Sqlite(Box::new(db)));
        }
        let options = PgConnectOptions::from_str(url)?.disable_statement_logging();
        let mut db = options.connect().await?;
        sqlx::raw_sql(
            "CREATE TABLE bare (session_no BIGINT NOT NULL, seq BIGINT NOT NULL, \
             turn BIGINT NOT NULL, tokens BIGINT NOT NULL, hash BYTEA NOT NULL, usage TEXT, \
             bytes BYTEA NOT NULL, PRIMARY KEY (session_no, seq))",
        )
        .execute(&mut db)
        .await?;
        Ok(Self::Postgres(Box::new(db)))
    }

    /// One insert with so many rows.
    pub async fn insert(&mut self, session: i64, first: i64, events: &[NewEvent]) -> Result<()> {
        let rows = |row: &dyn Fn(usize) -> String| {
            (0..events.len()).map(row).collect::<Vec<_>>().join(", ")
        };
        let written = match self {
            Self::Sqlite(db) => {
                let rows = rows(&|_| "(?, ?, ?, ?, ?, ?, ?)".to_owned());
                let sql = format!("INSERT INTO bare VALUES {rows}");
                bound!(sql, session, first, events).execute(&mut **db).await?.rows_affected()
            }
            Self::Postgres(db) => {
                let rows = rows(&|row| {
                    let names: Vec<_> = (1..=7).map(|n| format!("${}", row * 7 + n)).collect();
                    format!("({})", names.join(", "))
                });
                let sql = format!("INSERT INTO bare VALUES {rows}");
                bound!(sql, session, first, events).execute(&mut **db).await?.rows_affected()
            }
        };
        if written != events.len() as u64 {
            bail!("{written} of {} rows were written", events.len());
        }
        Ok(())
    }

    /// The events before one place and from another on, in one statement; returns their bytes.
    pub async fn select(&mut self, session: i64, head: i64, tail: i64) -> Result<usize> {
        let mut bytes = 0;
        macro_rules! read {
            ($db:expr) => {{
                let query = sqlx::query(SELECT).bind(session).bind(head).bind(tail);
                for row in query.fetch_all(&mut **$db).await? {
                    bytes += row.try_get::<Vec<u8>, _>(5)?.len();
                }
            }};
        }
        match self {
            Self::Sqlite(db) => read!(db),
            Self::Postgres(db) => read!(db),
        }
        Ok(bytes)
    }
}

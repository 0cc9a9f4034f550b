//! What an append costs beside a bare insert into the same kind of table, same durability, same
//! run: `cargo run --release -p midfold-store --example append_cost -- /folder`. Prints ratios.

use std::time::Instant;

use midfold_core::Hash;
use midfold_store::{Append, NewEvent, NewSession};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};
use sqlx::{AssertSqlSafe, ConnectOptions};

const ROUNDS: usize = 40;
const EACH: usize = 50;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| ".".to_owned());
    let stem = format!("{folder}/append-cost-{}", std::process::id());
    let store = midfold_store::open(&format!("sqlite:{stem}.db")).await?;
    let mut bare = SqliteConnectOptions::new()
        .filename(format!("{stem}-bare.db"))
        .create_if_missing(true)
        .page_size(16_384)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .disable_statement_logging()
        .connect()
        .await?;
    sqlx::query(
        "CREATE TABLE events (session_no INTEGER NOT NULL, seq INTEGER NOT NULL, turn INTEGER, \
         tokens INTEGER, hash BLOB, usage TEXT, bytes BLOB, PRIMARY KEY (session_no, seq)) \
         STRICT, WITHOUT ROWID",
    )
    .execute(&mut bare)
    .await?;
    let body: Vec<u8> = (0..2_046u32).map(|n| b'a' + (n * 7 % 26) as u8).collect();
    for batch in [1, 20, 100] {
        let id = format!("batch {batch}");
        store.create(NewSession { id: id.clone(), ..NewSession::default() }).await?;
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        let (mut hash, mut head) = (Hash::ROOT, 0u64);
        let sql = format!(
            "INSERT INTO events VALUES {}",
            vec!["(?, ?, ?, ?, ?, ?, ?)"; batch].join(", ")
        );
        // In turns, so that a slow moment of the disk falls on both.
        for _ in 0..ROUNDS {
            for _ in 0..EACH {
                let event = |_| {
                    hash = hash.chain(&body);
                    NewEvent { bytes: body.clone().into(), hash, turn: 1, tokens: 9, usage: None }
                };
                let events: Vec<NewEvent> = (0..batch).map(event).collect();
                let append = Append { expected: head, events, ..Append::default() };
                let start = Instant::now();
                head += store.append(&id, append).await?.count;
                ours.push(start.elapsed());
            }
            for _ in 0..EACH {
                let start = Instant::now();
                let mut query = sqlx::query(AssertSqlSafe(sql.as_str()));
                let first = theirs.len() * batch;
                for at in 0..batch {
                    query = query
                        .bind(batch as i64)
                        .bind((first + at) as i64)
                        .bind(1i64)
                        .bind(9i64)
                        .bind(&hash.0[..])
                        .bind(None::<&str>)
                        .bind(&body[..]);
                }
                query.execute(&mut bare).await?;
                theirs.push(start.elapsed());
            }
        }
        ours.sort_unstable();
        theirs.sort_unstable();
        let (us, them) = (ours[ours.len() / 2], theirs[theirs.len() / 2]);
        let ratio = us.as_secs_f64() / them.as_secs_f64();
        let p99 = (ours[ours.len() * 99 / 100], theirs[theirs.len() * 99 / 100]);
        #[expect(clippy::print_stdout, reason = "an example prints")]
        {
            println!("{batch:4} a batch: {us:?} beside {them:?} bare, {ratio:.2}; p99 {p99:?}");
        }
    }
    for end in [".db", ".db-wal", ".db-shm", "-bare.db", "-bare.db-wal", "-bare.db-shm"] {
        let _ = std::fs::remove_file(format!("{stem}{end}"));
    }
    Ok(())
}

//! What only the two databases can get wrong when a session is deleted: bytes that stay in the file,
//! numbers that are given again, rows that a writer adds just then.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::sync::Arc;

use midfold_core::Hash;
use midfold_store::single::SingleChange as _;
use midfold_store::{
    AnswerHistory, AppendRequest, JobClaim, JobOutcome, NewCall, NewEvent, NewFold, NewJob,
    NewSession, SessionChanges, Store, StoreError,
};

fn new(id: &str) -> NewSession {
    let dialect = "openai-chat".to_owned();
    NewSession { id: id.to_owned(), dialect, created: 1, ..NewSession::default() }
}

/// Messages of this text, after `hash`.
fn events(mut hash: Hash, texts: impl IntoIterator<Item = String>) -> Vec<NewEvent> {
    let event = |text: String| {
        let bytes = format!("{{\"role\":\"user\",\"content\":\"{text}\"}}").into_bytes();
        hash = hash.chain(&bytes);
        NewEvent { bytes: bytes.into(), hash, turn: 1, tokens: 1, usage: Some(text), origin: None }
    };
    texts.into_iter().map(event).collect()
}

fn job(session: &str, key: String, body: &str) -> NewJob {
    let (session, body) = (session.to_owned(), body.to_owned());
    NewJob { key, session, start: 0, end: 1, through: Hash::ROOT, body, run_at: 0 }
}

fn fold(name: &str) -> NewFold {
    let id = Hash::ROOT.chain(name.as_bytes());
    let body = format!("{{\"recap\":\"{name}\"}}");
    let [before, through, policy, recap] = [id; 4];
    NewFold { id, start: 0, end: 1, before, through, policy, recap, kept: vec![], body, now: 3 }
}

/// Fills a session with a text, in every place that has room for one.
async fn fill(store: &dyn Store, id: &str, text: &str) {
    store.create(new(id)).await.unwrap();
    let (mut head, mut hash) = (0, Hash::ROOT);
    for round in 0..40 {
        // Small ones, and one that needs pages of its own.
        let long = if round == 20 { text.repeat(9_000) } else { text.repeat(round * 7 + 1) };
        let new = events(hash, [format!("{text} {round}"), long]);
        hash = new[1].hash;
        let key = (round % 3 == 0).then(|| format!("key {text} {round}"));
        let queued = (round == 5).then(|| job(id, format!("{text} job"), text));
        let append = AppendRequest { expected: head, key, events: new, now: 2 };
        let appended = Some(append);
        let changes = SessionChanges { appended, job: queued, ..SessionChanges::default() };
        head += store.commit(id, &changes).await.unwrap().appended.unwrap().count;
        store.identify(id, hash, head).await.unwrap();
        let rest = text.repeat(round + 1).into();
        let answer = AnswerHistory { session: Some(id.to_owned()), events: head, rest };
        store.put_answer(hash, &answer, 2).await.unwrap();
        store.put_fold(id, &fold(&format!("{text} {round}"))).await.unwrap();
        let state = format!("{{\"said\":\"{}\"}}", text.repeat(round + 1));
        store.save_state(id, round as u64, &state).await.unwrap();
        let body = format!("{{\"model\":\"{text} {round}\"}}");
        let (number, hash) = (round as u64 + 1, Hash::ROOT.chain(body.as_bytes()));
        let call = NewCall { number, head, fold: None, hash, body, now: 2 };
        store.record_call(id, &call).await.unwrap();
        store.settle_call(id, number, text).await.unwrap();
    }
    let claim = JobClaim { worker: text.to_owned(), now: 5, until: 9, limit: 1 };
    let claimed = store.claim(&claim).await.unwrap().remove(0);
    let done = JobOutcome { verdict: text.to_owned(), fold: Some(fold(&format!("{text} done"))) };
    assert!(store.finish(&claimed.lease(), &done).await.unwrap());
}

/// Writers of everything, on a session that is deleted and made again under their hands.
async fn race(store: &Arc<dyn Store>, rounds: u64) {
    let writer = |kind: u64| {
        let store = store.clone();
        tokio::spawn(async move {
            for round in 0..rounds * 4 {
                let name = format!("{kind}-{round}");
                let head = store.session("s").await.map_or(0, |row| row.head);
                let new = events(Hash::ROOT, [name.clone()]);
                let append =
                    AppendRequest { expected: head, events: new, ..AppendRequest::default() };
                let keyed = AppendRequest { key: Some(name.clone()), ..append.clone() };
                let queued = SessionChanges {
                    appended: Some(append.clone()),
                    job: Some(job("s", name.clone(), "{}")),
                    ..SessionChanges::default()
                };
                let done = match (kind + round) % 8 {
                    0 => store.append("s", append).await.map(drop),
                    1 => store.append("s", keyed).await.map(drop),
                    2 => store.commit("s", &queued).await.map(drop),
                    3 => store.put_fold("s", &fold(&name)).await.map(drop),
                    6 => {
                        let answer =
                            AnswerHistory { session: Some("s".into()), ..AnswerHistory::default() };
                        let key = Hash::ROOT.chain(name.as_bytes());
                        store.put_answer(key, &answer, round).await
                    }
                    4 => store.enqueue(job("s", name, "{}")).await.map(drop),
                    5 => {
                        let body = name;
                        let number = store.calls("s").await.map_or(0, |all| all.len()) as u64 + 1;
                        let hash = Hash::ROOT;
                        let call = NewCall { number, head, fold: None, hash, body, now: 1 };
                        store.record_call("s", &call).await.map(drop)
                    }
                    _ => {
                        let claim = JobClaim { worker: name, now: round, until: round, limit: 1 };
                        let claimed = store.claim(&claim).await.unwrap().pop();
                        let done = JobOutcome { verdict: "done".into(), fold: Some(fold("late")) };
                        match claimed {
                            Some(job) => store.finish(&job.lease(), &done).await.map(drop),
                            None => Ok(()),
                        }
                    }
                };
                let fine = matches!(
                    done,
                    Ok(())
                        | Err(StoreError::NoSession(_)
                            | StoreError::Conflict { .. }
                            | StoreError::StaleCall { .. }
                            | StoreError::OtherJob)
                );
                assert!(fine, "{done:?}");
            }
        })
    };
    let writers: Vec<_> = (0..6).map(writer).collect();
    for _ in 0..rounds {
        store.create(new("s")).await.unwrap();
        tokio::task::yield_now().await;
        store.search("s", &midfold_store::LogSearch::default()).await.unwrap_err();
        tokio::time::sleep(std::time::Duration::from_millis(3)).await;
        store.delete("s", None).await.unwrap();
    }
    for writer in writers {
        writer.await.unwrap();
    }
}

mod sqlite {
    use std::path::Path;

    use midfold_store::{LogSearch, SqliteStore, fsck};
    use sqlx::{AssertSqlSafe, Connection, SqliteConnection};

    use super::*;

    async fn connect(path: &Path) -> SqliteConnection {
        SqliteConnection::connect(&format!("sqlite:{}", path.display())).await.unwrap()
    }

    async fn count(db: &mut SqliteConnection, sql: &str) -> i64 {
        sqlx::query_scalar(AssertSqlSafe(sql.to_owned())).fetch_one(db).await.unwrap()
    }

    /// The tables that hold rows of a session.
    async fn tables(db: &mut SqliteConnection) -> Vec<String> {
        sqlx::query_scalar(
            "SELECT name FROM sqlite_master m WHERE type = 'table' AND EXISTS \
             (SELECT 1 FROM pragma_table_info(m.name) WHERE name = 'session_no') ORDER BY name",
        )
        .fetch_all(db)
        .await
        .unwrap()
    }

    /// How often a text is in the files of a database.
    fn planted(folder: &Path, text: &str) -> usize {
        let mut times = 0;
        for entry in std::fs::read_dir(folder).unwrap() {
            let bytes = std::fs::read(entry.unwrap().path()).unwrap();
            times += bytes.windows(text.len()).filter(|at| *at == text.as_bytes()).count();
        }
        times
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn nothing_of_a_deleted_session_is_left_in_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        let store = SqliteStore::open(&path).await.unwrap();
        // Their rows lie between each other.
        fill(&store, "a", "beforehand").await;
        fill(&store, "m quagmire", "quagmire").await;
        fill(&store, "z", "afterwards").await;
        let search =
            |query: &str| LogSearch { query: query.into(), limit: 90, ..LogSearch::default() };
        for (id, text) in [("a", "beforehand"), ("m quagmire", "quagmire"), ("z", "afterwards")] {
            assert!(store.search(id, &search(text)).await.unwrap().len() > 1);
        }
        assert!(planted(folder.path(), "quagmire") > 9_000);
        // Things moved in the file: copies of rows are where nothing points to any more.
        store.delete("a", None).await.unwrap();
        store.scrub().await.unwrap();
        fill(&store, "n", "meanwhile").await;

        let extent = store.delete("m quagmire", None).await.unwrap();
        assert_eq!((extent.events, extent.folds, extent.calls, extent.jobs), (80, 41, 40, 1));
        let mut db = connect(&path).await;
        assert_eq!(count(&mut db, "SELECT count(*) FROM scrub").await, 1, "a scrub is due");
        let tables = tables(&mut db).await;
        assert_eq!(
            tables,
            [
                "activity",
                "answers",
                "append_keys",
                "calls",
                "events",
                "folds",
                "identities",
                "jobs"
            ]
        );
        for table in tables {
            let rows = "NOT IN (SELECT no FROM sessions)";
            let sql = format!("SELECT count(*) FROM {table} WHERE session_no {rows}");
            assert_eq!(count(&mut db, &sql).await, 0, "rows of nobody in {table}");
        }
        db.close().await.unwrap();
        store.scrub().await.unwrap();
        for text in ["quagmire", "beforehand"] {
            assert_eq!(planted(folder.path(), text), 0, "`{text}` is still in the files");
        }
        assert!(planted(folder.path(), "afterwards") > 9_000);

        let found = store.search("z", &search("afterwards")).await.unwrap();
        assert!(found.len() > 1, "the other sessions are searched as before");
        assert!(store.search("z", &search("quagmire")).await.unwrap().is_empty());
        let mut db = connect(&path).await;
        assert_eq!(count(&mut db, "SELECT count(*) FROM scrub").await, 0);
        let whole: String =
            sqlx::query_scalar("PRAGMA integrity_check").fetch_one(&mut db).await.unwrap();
        assert_eq!(whole, "ok");
        assert_eq!(planted(folder.path(), "quagmire"), 0);
    }

    /// A reader that keeps an older state open holds the log of writes back: that is said, and done
    /// the next time.
    #[tokio::test(flavor = "multi_thread")]
    async fn a_scrub_that_cannot_be_done_is_said_and_done_later() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        let store = SqliteStore::open(&path).await.unwrap();
        store.wait_at_most(std::time::Duration::from_millis(50)).await.unwrap();
        fill(&store, "s", "quagmire").await;
        let mut reader = connect(&path).await;
        let mut reading = reader.begin().await.unwrap();
        sqlx::query("SELECT count(*) FROM events").fetch_one(&mut *reading).await.unwrap();
        store.delete("s", None).await.unwrap();
        let error = store.scrub().await.unwrap_err();
        assert!(error.to_string().contains("reading an older state"), "{error}");
        reading.rollback().await.unwrap();
        store.scrub().await.unwrap();
        assert_eq!(planted(folder.path(), "quagmire"), 0);
        assert!(fsck(&store).await.unwrap().is_clean());
    }

    /// Another process deletes something while a scrub is under way: the scrub removes its own mark only.
    #[tokio::test]
    async fn a_scrub_leaves_the_mark_of_a_later_deletion() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        let store = SqliteStore::open(&path).await.unwrap();
        for id in ["s", "t"] {
            fill(&store, id, "quagmire").await;
        }
        store.delete("s", None).await.unwrap();
        let mut other = connect(&path).await;
        // Stands in for the other process: its deletion comes right before the mark would be removed.
        let deletion = "CREATE TRIGGER later BEFORE DELETE ON scrub WHEN old.due <> 5 BEGIN \
             INSERT INTO scrub (due) VALUES (5); END";
        sqlx::raw_sql(deletion).execute(&mut other).await.unwrap();
        store.scrub().await.unwrap();
        assert_eq!(count(&mut other, "SELECT due FROM scrub").await, 5);
        sqlx::raw_sql("DROP TRIGGER later").execute(&mut other).await.unwrap();
        let before = count(&mut other, "SELECT due FROM scrub").await;
        store.delete("t", None).await.unwrap();
        assert_eq!(count(&mut other, "SELECT count(*) FROM scrub").await, 1);
        assert_ne!(count(&mut other, "SELECT due FROM scrub").await, before);
        store.scrub().await.unwrap();
        assert_eq!(count(&mut other, "SELECT count(*) FROM scrub").await, 0);
        assert_eq!(planted(folder.path(), "quagmire"), 0);
    }

    /// Damage is found by fsck. A search finds what is left, and ends.
    #[tokio::test]
    async fn a_search_ends_where_a_page_of_events_is_missing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        let store = SqliteStore::open(&path).await.unwrap();
        store.create(new("s")).await.unwrap();
        let texts = (0..200).map(|at| format!("quagmire {at}"));
        let append =
            AppendRequest { events: events(Hash::ROOT, texts), ..AppendRequest::default() };
        store.append("s", append).await.unwrap();
        let mut db = connect(&path).await;
        sqlx::raw_sql("DELETE FROM events WHERE seq < 150").execute(&mut db).await.unwrap();
        let asked = LogSearch { query: "quagmire".to_owned(), limit: 500, ..LogSearch::default() };
        assert_eq!(store.search("s", &asked).await.unwrap().len(), 50);
    }

    #[tokio::test]
    async fn a_number_is_nobody_elses_for_who_remembers_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        let (one, two) =
            (SqliteStore::open(&path).await.unwrap(), SqliteStore::open(&path).await.unwrap());
        let append = |expected| AppendRequest {
            expected,
            events: events(Hash::ROOT, ["hi".to_owned()]),
            ..AppendRequest::default()
        };
        one.create(new("a")).await.unwrap();
        one.append("a", append(0)).await.unwrap();
        // Another process deletes it, the newest of all, and makes others.
        two.delete("a", None).await.unwrap();
        two.create(new("b")).await.unwrap();
        let refused = one.append("a", append(0)).await.unwrap_err();
        assert!(matches!(refused, StoreError::NoSession(_)), "{refused}");
        assert_eq!(two.session("b").await.unwrap().head, 0, "it went to another session");
        // And one of the same name, which is met under its own number.
        one.append("b", append(0)).await.unwrap();
        two.delete("b", None).await.unwrap();
        two.create(new("b")).await.unwrap();
        assert_eq!(one.session("b").await.unwrap().head, 0);
        assert_eq!(one.load("b").await.unwrap().tail, []);
        one.append("b", append(0)).await.unwrap();
        two.delete("b", None).await.unwrap();
        two.create(new("b")).await.unwrap();
        assert_eq!(one.load("b").await.unwrap().tail, []);
        one.append("b", append(0)).await.unwrap();
        assert_eq!(two.session("b").await.unwrap().head, 1);
    }

    /// Of what an older midfold stored, nobody knows when it came in: it is as old as the session, its
    /// folds and its calls.
    #[tokio::test]
    async fn an_older_database_knows_no_times_of_its_events() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("old.db");
        let url = format!("sqlite:{}?mode=rwc", path.display());
        let mut db = SqliteConnection::connect(&url).await.unwrap();
        for sql in [
            include_str!("../../migrations/sqlite/0001_tables.sql"),
            include_str!("../../migrations/sqlite/0002_fold_identity.sql"),
            "PRAGMA user_version = 2; PRAGMA application_id = 0x6d666c64;
             INSERT INTO sessions (no, id, dialect, profile, counter, policy, meta, created, state)
                VALUES (7, 'a', '', '', '', '', '', 100, 'kept');
             INSERT INTO events VALUES (7, 0, 1, 1, zeroblob(32), NULL, x'7b7d');",
        ] {
            sqlx::raw_sql(sql).execute(&mut db).await.unwrap();
        }
        db.close().await.unwrap();
        let store = SqliteStore::open(&path).await.unwrap();
        let row = store.session("a").await.unwrap();
        assert_eq!((row.head, &*row.state, row.new.created), (1, "kept", 100));
        assert_eq!(store.extent("a").await.unwrap().changed, 100);
        assert_eq!(store.idle(101, None, 9).await.unwrap(), ["a"]);
        let new_events = events(Hash([0; 32]), ["hi".to_owned()]);
        let append =
            AppendRequest { expected: 1, events: new_events, now: 900, ..AppendRequest::default() };
        store.append("a", append).await.unwrap();
        assert_eq!(store.extent("a").await.unwrap().changed, 900);
        store.delete("a", None).await.unwrap();
        store.create(new("b")).await.unwrap();
        let mut db = connect(&path).await;
        assert_eq!(count(&mut db, "SELECT no FROM sessions").await, 8, "a number given again");
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn no_writer_leaves_a_row_behind() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        let store: Arc<dyn Store> = Arc::new(SqliteStore::open(&path).await.unwrap());
        race(&store, 40).await;
        let mut db = connect(&path).await;
        for table in tables(&mut db).await {
            // The highest tick stays in a row that belongs to no session.
            let rest = if table == "activity" { " WHERE session_no > 0" } else { "" };
            let sql = format!("SELECT count(*) FROM {table}{rest}");
            assert_eq!(count(&mut db, &sql).await, 0, "rows of nobody in {table}");
        }
    }
}

#[cfg(feature = "postgres")]
#[tokio::test(flavor = "multi_thread")]
async fn no_writer_leaves_a_row_behind_on_postgres() {
    use sqlx::{AssertSqlSafe, Connection, PgConnection};

    let cluster = match midfold_testkit::postgres::Cluster::start() {
        Ok(cluster) => cluster,
        Err(why) => return println!("skipped: {why}"),
    };
    let url = cluster.schema().unwrap();
    let store = midfold_store::open(&url).await.unwrap();
    fill(&*store, "full", "quagmire").await;
    race(&store, 60).await;
    store.delete("full", None).await.unwrap();
    let mut db = PgConnection::connect(&url).await.unwrap();
    let tables: Vec<String> = sqlx::query_scalar(
        "SELECT table_name::text FROM information_schema.columns \
         WHERE column_name = 'session_no' AND table_schema = current_schema() ORDER BY 1",
    )
    .fetch_all(&mut db)
    .await
    .unwrap();
    assert_eq!(
        tables,
        [
            "activity",
            "answers",
            "append_keys",
            "calls",
            "events",
            "folds",
            "identities",
            "jobs",
            "words"
        ]
    );
    for table in tables {
        let sql = format!("SELECT count(*) FROM {table}");
        let rows: i64 = sqlx::query_scalar(AssertSqlSafe(sql)).fetch_one(&mut db).await.unwrap();
        assert_eq!(rows, 0, "rows of nobody in {table}");
    }
    db.close().await.unwrap();
    drop(store);
    cluster.drop_schema(&url);
}

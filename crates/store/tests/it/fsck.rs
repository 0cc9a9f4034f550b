//! Real folds in a real file: fsck finds what was changed behind its back, and an export goes
//! through another store without losing a byte.
#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

use midfold_store::single::SingleChange as _;
use std::sync::Arc;

use bytes::Bytes;
use midfold_core::budget::Budget;
use midfold_core::engine::Session;
use midfold_core::event::Usage;
use midfold_core::fold::{Fold, FoldJoin};
use midfold_core::ledger::{CallInput, Ledger, ReportedCost};
use midfold_core::log::EventLog;
use midfold_core::meter::Meter;
use midfold_core::plan::PlanOutcome;
use midfold_core::policy::Policy;
use midfold_core::{Counter, Hash, RawEvent};
use midfold_formats::{DialectKind, profile};
use midfold_store::faulty::{FaultyStore, WriteFailure};
use midfold_store::{
    AppendRequest, JobClaim, JobOutcome, MemoryStore, NewCall, NewEvent, NewFold, NewJob,
    NewSession, SessionMeta, Store, fsck, transfer,
};
use sqlx::{AssertSqlSafe, Connection, SqliteConnection};

fn counter_of() -> Arc<dyn Counter> {
    midfold_tokens::by_name("chars:4").unwrap()
}

fn meta() -> SessionMeta {
    SessionMeta {
        budget: Budget::new(8_000),
        envelope: Vec::new(),
        parent: None,
        source: None,
        model: None,
        client: None,
        owner: None,
        cache_lifetime: None,
    }
}

/// Two sessions: one with two folds, a done job and two calls, one with odd bytes.
async fn fill(store: &dyn Store) {
    let counter = counter_of();
    let dialect = DialectKind::OpenAiChat.shared();
    let policy = Policy::preset("default").unwrap();
    let mut session =
        Session::new("s", policy, dialect, profile::OPENAI, counter, Meter::chars_over_four());
    let new = NewSession {
        id: "s".to_owned(),
        dialect: "openai-chat".to_owned(),
        profile: profile::OPENAI.name.to_owned(),
        counter: "chars:4".to_owned(),
        policy: session.policy().to_toml(),
        meta: serde_json::to_string(&meta()).unwrap(),
        ..NewSession::default()
    };
    let odd = NewSession { id: "odd \"ä\"".to_owned(), ..new.clone() };
    store.create(new).await.unwrap();
    let messages = midfold_testkit::coding_session(7, 6);
    let (mut active, mut head) = (None, 0);
    for (part, messages) in messages.chunks(messages.len() / 2 + 1).enumerate() {
        for message in messages {
            session.append(RawEvent::new(Bytes::from(message.clone())));
        }
        let event = |event: &midfold_core::log::Event| NewEvent {
            bytes: event.bytes.clone(),
            hash: event.hash,
            turn: event.turn,
            tokens: event.tokens.total,
            usage: None,
            origin: None,
        };
        let events = session.log().events()[head..].iter().map(event).collect();
        let append = AppendRequest { expected: head as u64, events, ..AppendRequest::default() };
        store.append("s", append).await.unwrap();
        head = session.log().len();
        let budget = Budget::new(session.log().tokens() / 2);
        let PlanOutcome::Folded(fold) = session.compact(&budget, None).unwrap() else {
            panic!("part {part} folds nothing")
        };
        let row = NewFold::of(&fold, 1).unwrap();
        if part == 0 {
            let job = NewJob {
                key: "k".to_owned(),
                session: "s".to_owned(),
                start: row.start,
                end: row.end,
                through: row.through,
                body: "{}".to_owned(),
                run_at: 0,
            };
            assert!(store.enqueue(job).await.unwrap());
            let claim = JobClaim { worker: "w".to_owned(), now: 1, until: 2, limit: 1 };
            let lease = store.claim(&claim).await.unwrap()[0].lease();
            let done = JobOutcome { verdict: "accepted".to_owned(), fold: Some(row) };
            assert!(store.finish(&lease, &done).await.unwrap());
        } else {
            store.put_fold("s", &row).await.unwrap();
        }
        store.activate("s", active, Some(fold.id)).await.unwrap();
        active = Some(fold.id);
    }
    let mut ledger = Ledger::default();
    let meter = Meter::exact();
    for number in 1..3 {
        let call = CallInput {
            joining: &FoldJoin::default(),
            events: u32::try_from(head).unwrap(),
            head_hash: Hash::ROOT,
            fold: None,
            void: None,
            pins: &[],
            meter: &meter,
            client: None,
            newest_room: None,
        };
        let record = ledger.record(&session.view(), &call);
        let body = serde_json::to_string(&record).unwrap();
        let call =
            NewCall { number, head: head as u64, fold: None, hash: record.hash, body, now: 3 };
        store.record_call("s", &call).await.unwrap();
    }
    let cost = serde_json::to_string(&ReportedCost { usage: Usage::default() }).unwrap();
    store.settle_call("s", 1, &cost).await.unwrap();
    let state = serde_json::to_string(&session.state()).unwrap();
    store.save_state("s", 0, &state).await.unwrap();

    store.create(odd).await.unwrap();
    let bytes = Bytes::from_static(b"\xff\0\x80 not text");
    let hash = Hash::ROOT.chain(&bytes);
    let mut log = EventLog::new(DialectKind::OpenAiChat.shared(), profile::OPENAI, counter_of());
    log.append(RawEvent::new(bytes.clone()));
    let (turn, tokens) = log.events().last().map(|event| (event.turn, event.tokens.total)).unwrap();
    let usage = serde_json::to_string(&Usage::default()).ok();
    let event = NewEvent { bytes, hash, turn, tokens, usage, origin: None };
    let append = AppendRequest { events: vec![event], ..AppendRequest::default() };
    store.append("odd \"ä\"", append).await.unwrap();
}

async fn export(store: &dyn Store) -> Vec<u8> {
    let mut out = Vec::new();
    transfer::export(store, None, &mut out).await.unwrap();
    out
}

#[tokio::test]
async fn fsck_finds_every_change_made_behind_the_stores_back() {
    let folder = tempfile::tempdir().unwrap();
    let original = folder.path().join("original.db");
    let url = |path: &std::path::Path| format!("sqlite:{}", path.display());
    {
        let store = midfold_store::open(&url(&original)).await.unwrap();
        fill(&*store).await;
        let report = fsck(&*store).await.unwrap();
        assert!(report.is_clean(), "{:?}", report.findings);
        assert_eq!((report.sessions, report.folds, report.projected), (2, 2, 2));
        assert_eq!((report.jobs, report.calls), (1, 2));
    }
    // All of it out of the write-ahead log and into the file that is copied.
    let store = midfold_store::open(&url(&original)).await.unwrap();
    let mut db = SqliteConnection::connect(&url(&original)).await.unwrap();
    for session in store.sessions(None, 9).await.unwrap() {
        for row in store.folds(&session.new.id).await.unwrap() {
            // As an older midfold wrote them, so that statements can change them.
            sqlx::query("UPDATE folds SET body = $1, packed = NULL, base = NULL WHERE id = $2")
                .bind(&row.fold.body)
                .bind(&row.fold.id.0[..])
                .execute(&mut db)
                .await
                .unwrap();
        }
    }
    drop(store);
    sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)").execute(&mut db).await.unwrap();
    db.close().await.unwrap();
    let changes = [
        ("UPDATE events SET bytes = CAST(bytes || ' ' AS BLOB) WHERE seq = 3", "event 3", "bytes"),
        ("UPDATE events SET hash = zeroblob(32) WHERE seq = 4", "event 4", "bytes"),
        ("UPDATE events SET hash = x'00' WHERE seq = 4", "rows", "a hash of 1 bytes"),
        ("DELETE FROM events WHERE seq = 5", "events 0", "are there"),
        ("UPDATE folds SET body = '{}' WHERE number = 1", "fold", "no record"),
        (
            "UPDATE folds SET body = replace(body, '\"kind\":\"recap\",\"bytes\":\"{', \
         '\"kind\":\"recap\",\"bytes\":\" {') WHERE number = 2",
            "fold",
            "hash",
        ),
        ("UPDATE folds SET body = json_set(body, '$.accounts.verbatim', 0)", "fold", "add up"),
        ("UPDATE folds SET body = json_set(body, '$.messages_after', 1)", "fold", "messages after"),
        ("UPDATE folds SET span_end = span_end - 1 WHERE number = 2", "fold", "span"),
        ("UPDATE folds SET hash_end = zeroblob(32) WHERE number = 2", "fold", "on the chain"),
        ("UPDATE folds SET kept = '[]'", "fold", "that it keeps"),
        ("UPDATE events SET tokens = tokens + 1 WHERE seq = 6", "event 6", "its `tokens`"),
        ("UPDATE events SET turn = turn + 1 WHERE seq = 6", "event 6", "its `turn`"),
        ("UPDATE calls SET head = head - 1 WHERE number = 1", "call 1", "hash"),
        ("UPDATE calls SET fold = zeroblob(32) WHERE number = 2", "call 2", "hash"),
        ("DELETE FROM folds WHERE number = 1", "fold", "before it is not there"),
        ("UPDATE folds SET packed = x'4b04' WHERE number = 2", "rows", "the record of a fold"),
        ("UPDATE folds SET packed = x'0300', base = 9 WHERE number = 2", "rows", "is not there"),
        ("DELETE FROM folds WHERE number = 2", "session", "active fold"),
        ("UPDATE jobs SET fold = zeroblob(32)", "job 1", "led to is not there"),
        ("UPDATE jobs SET state = 'leased', worker = NULL", "job 1", "leased to nobody"),
        ("UPDATE calls SET body = '{\"call\":3}' WHERE number = 1", "call 1", "hash"),
        ("DELETE FROM calls WHERE number = 1", "call 2", "stands where 1"),
    ];
    for (change, place, problem) in changes {
        let path = folder.path().join("changed.db");
        std::fs::copy(&original, &path).unwrap();
        let mut db = SqliteConnection::connect(&url(&path)).await.unwrap();
        let done = sqlx::query(AssertSqlSafe(change)).execute(&mut db).await.unwrap();
        assert!(done.rows_affected() > 0, "{change} changes nothing");
        db.close().await.unwrap();
        let store = midfold_store::open(&url(&path)).await.unwrap();
        let report = fsck(&*store).await.unwrap();
        let says = |finding: &fsck::FsckFinding| {
            finding.place.starts_with(place) && finding.problem.contains(problem)
        };
        assert!(report.findings.iter().any(says), "{change}: {:#?}", report.findings);
        // The hashes behind a lost event are unknown, and the tokens behind a wrong figure may be right.
        if change.starts_with("DELETE FROM events") || change.contains("SET tokens") {
            assert_eq!(report.findings.len(), 1, "{change}: {:#?}", report.findings);
        }
        drop(store);
        for end in ["", "-wal", "-shm"] {
            let _ = std::fs::remove_file(folder.path().join(format!("changed.db{end}")));
        }
    }
}

#[tokio::test]
async fn an_export_goes_through_another_store_unchanged_and_half_of_one_is_refused() {
    let first: Arc<dyn Store> = Arc::new(MemoryStore::new());
    fill(&*first).await;
    let text = export(&*first).await;
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}", folder.path().join("a.db").display());
    let second = midfold_store::open(&url).await.unwrap();
    let moved = transfer::import(&*second, 7, || Ok(text.as_slice())).await.unwrap();
    assert_eq!((moved.sessions, moved.folds, moved.calls), (2, 2, 2));
    assert!(export(&*second).await == text, "the second export differs from the first");
    let report = fsck(&*second).await.unwrap();
    assert!(report.is_clean(), "{:?}", report.findings);
    // A cut at any line, and in the middle of one: refused, and nothing is there afterwards.
    let lines: Vec<usize> =
        text.iter().enumerate().filter(|(_, b)| **b == b'\n').map(|(at, _)| at + 1).collect();
    for cut in lines[..lines.len() - 1].iter().copied().chain([0, 10, text.len() - 9]) {
        let store = MemoryStore::new();
        let outcome = transfer::import(&store, 7, || Ok(&text[..cut])).await;
        assert!(outcome.is_err(), "a cut at {cut} of {} was taken", text.len());
        assert!(store.sessions(None, 9).await.unwrap().is_empty());
    }
    let again = transfer::import(&*second, 7, || Ok(text.as_slice())).await;
    assert!(again.unwrap_err().to_string().contains("exists already"));
}

/// An export with one thing wrong in it.
fn damaged(text: &str) -> Vec<(&'static str, String, &'static str)> {
    let lines: Vec<&str> = text.lines().collect();
    let place = |kind: &str| {
        let mark = format!("{{\"record\":\"{kind}\"");
        lines.iter().position(|line| line.starts_with(&mark)).unwrap()
    };
    // The session with folds comes second.
    let session =
        lines.iter().rposition(|line| line.starts_with("{\"record\":\"session\"")).unwrap();
    let swapped = |a: usize, b: usize| {
        let mut lines = lines.clone();
        lines.swap(a, b);
        lines.join("\n") + "\n"
    };
    let changed = |at: usize, from: &str, to: &str| {
        let mut lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        assert!(lines[at].contains(from), "{from} is not in line {at}");
        lines[at] = lines[at].replacen(from, to, 1);
        lines.join("\n") + "\n"
    };
    let (event, fold, call) = (session + 1, place("fold"), place("call"));
    vec![
        ("a letter of an event", changed(event + 1, "role", "rolE"), "event 1"),
        (
            "other tokens of an event",
            changed(event + 1, "\"tokens\":", "\"tokens\":9"),
            "its `tokens` is 9",
        ),
        (
            "another turn of an event",
            changed(event + 1, "\"turn\":", "\"turn\":9"),
            "its `turn` is 9",
        ),
        ("two events swapped", swapped(event + 2, event + 5), "event 2"),
        ("a promise of more events", changed(session, "\"head\":", "\"head\":9"), "events, not 9"),
        (
            "a letter of a recap",
            changed(
                fold,
                "\\\"recap\\\",\\\"bytes\\\":\\\"{",
                "\\\"recap\\\",\\\"bytes\\\":\\\" {",
            ),
            "fold",
        ),
        ("another end of a span", changed(fold, "\"end\":", "\"end\":9"), "fold"),
        ("two folds swapped", swapped(fold, fold + 1), "fold before it"),
        ("two calls swapped", swapped(call, call + 1), "call 2"),
        ("an unknown dialect", changed(session, "openai-chat", "zz"), "dialect `zz`"),
        (
            "an unknown profile",
            changed(session, "\"profile\":\"", "\"profile\":\"zz"),
            "profile `zz",
        ),
        ("an unknown counter", changed(session, "chars:4", "zz"), "counter `zz`"),
        ("no policy", changed(session, "\"policy\":\"", "\"policy\":\"zz "), "the policy of"),
        ("no description", changed(session, "\"meta\":\"", "\"meta\":\"zz"), "the meta of"),
        ("no state", changed(session, "\"state\":\"", "\"state\":\"zz"), "the state of"),
        ("an unknown member", changed(place("fold"), "{", "{\"zz\":1,"), "unknown field `zz`"),
        ("an unknown count", changed(place("end"), "{", "{\"zz\":1,"), "unknown field `zz`"),
        ("no usage", changed(event, "\"usage\":null", "\"usage\":\"zz\""), "the usage of"),
    ]
}

#[tokio::test]
async fn an_export_that_was_changed_is_refused_whole() {
    let first = MemoryStore::new();
    fill(&first).await;
    let text = String::from_utf8(export(&first).await).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}", folder.path().join("a.db").display());
    let file = midfold_store::open(&url).await.unwrap();
    let memory: Arc<dyn Store> = Arc::new(MemoryStore::new());
    for store in [file, memory] {
        for (what, text, says) in damaged(&text) {
            let error = transfer::import(&*store, 7, || Ok(text.as_bytes())).await.unwrap_err();
            assert!(error.to_string().contains(says), "{what}: {error}");
            assert!(error.to_string().starts_with("line "), "{what}: {error}");
            assert!(store.sessions(None, 9).await.unwrap().is_empty(), "{what}");
        }
        // One session is there: the other one does not come in either.
        let taken = NewSession { id: "s".to_owned(), ..NewSession::default() };
        store.create(taken).await.unwrap();
        let error = transfer::import(&*store, 7, || Ok(text.as_bytes())).await.unwrap_err();
        assert!(error.to_string().contains("exists already"), "{error}");
        assert_eq!(store.sessions(None, 9).await.unwrap().len(), 1);
    }
}

/// A copy of session `s` of a filled store as it was before its second fold, and the rest of it.
async fn halve(full: &dyn Store) -> (Arc<MemoryStore>, HalfSession) {
    let row = full.session("s").await.unwrap();
    let folds = full.folds("s").await.unwrap();
    let [first, second] = folds.as_slice() else { panic!("two folds") };
    let record: Fold = serde_json::from_str(&first.fold.body).unwrap();
    let middle = u64::from(record.accounts.events);
    let events = |rows: Vec<midfold_store::EventRow>| rows.into_iter().map(|row| row.event);
    let events_before = events(full.events("s", 0..middle).await.unwrap()).collect();
    let half = Arc::new(MemoryStore::new());
    half.create(row.new).await.unwrap();
    let append = AppendRequest { events: events_before, ..AppendRequest::default() };
    half.append("s", append).await.unwrap();
    half.put_fold("s", &first.fold).await.unwrap();
    half.activate("s", None, Some(first.fold.id)).await.unwrap();
    let rest = HalfSession {
        middle,
        head: row.head,
        events: events(full.events("s", middle..row.head).await.unwrap()).collect(),
        active: first.fold.id,
        fold: second.fold.clone(),
        calls: full.calls("s").await.unwrap().into_iter().map(|row| row.call).collect(),
    };
    (half, rest)
}

/// What a session gets later.
#[derive(Clone)]
struct HalfSession {
    middle: u64,
    head: u64,
    events: Vec<NewEvent>,
    active: Hash,
    fold: NewFold,
    calls: Vec<NewCall>,
}

impl HalfSession {
    async fn append_to(self, store: Arc<MemoryStore>) {
        let append = AppendRequest {
            expected: self.middle,
            events: self.events,
            ..AppendRequest::default()
        };
        store.append("s", append).await.unwrap();
        let job = NewJob {
            key: "late".to_owned(),
            session: "s".to_owned(),
            start: self.fold.start,
            end: self.fold.end,
            through: self.fold.through,
            body: "{}".to_owned(),
            run_at: 0,
        };
        assert!(store.enqueue(job).await.unwrap());
        let claim = JobClaim { worker: "w".to_owned(), now: 1, until: 2, limit: 1 };
        let lease = store.claim(&claim).await.unwrap()[0].lease();
        let (verdict, id) = ("accepted".to_owned(), self.fold.id);
        let done = JobOutcome { verdict, fold: Some(self.fold) };
        assert!(store.finish(&lease, &done).await.unwrap());
        store.activate("s", Some(self.active), Some(id)).await.unwrap();
        for call in self.calls {
            store.record_call("s", &NewCall { head: self.head, ..call }).await.unwrap();
        }
    }
}

/// The reads of a check or an export, one after the other.
const READS: [&str; 5] = ["session", "jobs", "folds", "calls", "events"];

#[tokio::test]
async fn a_session_that_grows_between_two_reads_is_sound_and_is_exported_whole() {
    let full = MemoryStore::new();
    fill(&full).await;
    for read in READS {
        let (half, rest) = halve(&full).await;
        let store = FaultyStore::new(half.clone(), WriteFailure::Before, 0..0);
        store.set_meanwhile(read, rest.clone().append_to(half.clone()));
        let report = fsck(&store).await.unwrap();
        assert!(report.is_clean(), "before {read}: {:#?}", report.findings);
        assert!(report.events >= rest.middle, "before {read}: {report:?}");
        assert_eq!(half.session("s").await.unwrap().head, rest.head, "{read} was never read");

        let (half, rest) = halve(&full).await;
        let store = FaultyStore::new(half.clone(), WriteFailure::Before, 0..0);
        store.set_meanwhile(read, rest.append_to(half.clone()));
        let text = export(&store).await;
        let copy = MemoryStore::new();
        transfer::import(&copy, 7, || Ok(text.as_slice())).await.unwrap();
    }
}

#[tokio::test]
async fn an_export_fails_where_a_session_is_deleted_in_the_middle_of_its_events() {
    let full = Arc::new(MemoryStore::new());
    fill(&*full).await;
    let store = FaultyStore::new(full.clone(), WriteFailure::Before, 0..0);
    let deleted = async move {
        full.delete("s", None).await.unwrap();
    };
    let mut out = DeletingWriter { store: &store, deleted: Some(deleted), written: Vec::new() };
    let error = transfer::export(&store, None, &mut out).await.unwrap_err();
    assert!(matches!(error, transfer::TransferError::Deleted(ref id) if id == "s"), "{error}");
}

/// Has a session deleted before the next page of events is read, once events of it are written.
struct DeletingWriter<'a, F> {
    store: &'a FaultyStore,
    deleted: Option<F>,
    written: Vec<u8>,
}

impl<F: Future<Output = ()> + Send + 'static> std::io::Write for DeletingWriter<'_, F> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.written.extend_from_slice(bytes);
        let is_of_s = self.written.windows(8).any(|part| part == b"\"id\":\"s\"");
        if let Some(deleted) = self.deleted.take_if(|_| is_of_s) {
            self.store.set_meanwhile("events", deleted);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn a_session_that_is_deleted_between_two_reads_is_left_out() {
    let full = MemoryStore::new();
    fill(&full).await;
    for (read, is_recreated) in READS.into_iter().flat_map(|read| [(read, false), (read, true)]) {
        let filled = async || {
            let (half, rest) = halve(&full).await;
            rest.append_to(half.clone()).await;
            let new = full.session("s").await.unwrap().new;
            half.create(NewSession { id: "z".to_owned(), ..new }).await.unwrap();
            let store = FaultyStore::new(half.clone(), WriteFailure::Before, 0..0);
            store.set_meanwhile(read, async move {
                half.delete("s", None).await.unwrap();
                if is_recreated {
                    let new =
                        NewSession { id: "s".to_owned(), created: 9, ..NewSession::default() };
                    half.create(new).await.unwrap();
                }
            });
            store
        };
        let report = fsck(&filled().await).await.unwrap();
        assert!(report.is_clean(), "before {read}: {:#?}", report.findings);
        assert!((1..=2).contains(&report.sessions), "before {read}: {report:?}");
        if !is_recreated {
            let text = export(&filled().await).await;
            let copy = MemoryStore::new();
            let moved = transfer::import(&copy, 7, || Ok(text.as_slice())).await.unwrap();
            let deleted = u64::from(read != "jobs");
            assert_eq!(moved.sessions, 2 - deleted, "before {read}");
        }
    }
}

//! Sessions that are deleted by name or by age: told first, done with `--yes`, and gone from the file.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::path::Path;

use midfold::core::Hash;
use midfold::store::single::SingleChange as _;
use midfold::store::{AnswerHistory, AppendRequest, NewEvent, NewSession, SessionMeta};
use midfold::{Budget, Policy};

use crate::session::{at, ok, parsed, shown, store};
use crate::{regex_of, seen, sees};

const DAY: u64 = 24 * 3_600_000;

/// Sessions that last changed so many days ago.
fn aged(url: &str, sessions: &[(&str, u64)]) {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let now = u64::try_from(now.as_millis()).unwrap();
    let meta = SessionMeta {
        budget: Budget::new(8_000),
        envelope: vec![],
        parent: None,
        source: None,
        owner: None,
        model: None,
        client: None,
        cache_lifetime: None,
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let store = midfold::store::open(url).await.unwrap();
        for (id, days) in sessions {
            let then = now - days * DAY;
            let new = NewSession {
                id: (*id).to_owned(),
                dialect: "openai-chat".to_owned(),
                profile: "openai".to_owned(),
                counter: "chars:4".to_owned(),
                policy: Policy::preset("default").unwrap().to_toml(),
                meta: serde_json::to_string(&meta).unwrap(),
                created: then - DAY,
            };
            store.create(new).await.unwrap();
            let bytes = br#"{"role":"user","content":"a quagmire of a file"}"#;
            let hash = Hash::ROOT.chain(bytes);
            let event = NewEvent {
                bytes: bytes.to_vec().into(),
                hash,
                turn: 1,
                tokens: 9,
                usage: None,
                origin: None,
            };
            let append =
                AppendRequest { events: vec![event], now: then, ..AppendRequest::default() };
            store.append(id, append).await.unwrap();
        }
    });
}

/// How often the word of all these messages is in the file, and in what lies beside it.
fn planted(store: &str) -> usize {
    let file = Path::new(store.strip_prefix("sqlite:").unwrap());
    let files = std::fs::read_dir(file.parent().unwrap()).unwrap();
    let times = |entry: std::io::Result<std::fs::DirEntry>| {
        // What lies beside it goes away when the last connection is closed.
        let bytes = std::fs::read(entry.unwrap().path()).unwrap_or_default();
        bytes.windows(8).filter(|at| at == b"quagmire").count()
    };
    files.map(times).sum()
}

fn ids(store: &str) -> Vec<String> {
    let list = parsed(&ok(store, &["session", "list", "--json"], b""));
    let all = list.as_array().unwrap().iter();
    all.map(|row| row["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn sessions_are_deleted_by_name() {
    let store = &store("delete");
    aged(store, &[("monday", 3), ("tuesday", 2), ("wednesday", 1)]);
    shown!("delete-dry", store, ["session", "delete", "monday", "tuesday", "monday"]);
    shown!("delete-unknown", store, ["session", "delete", "monday", "tusday", "--yes"]);
    assert!(planted(store) >= 3);
    assert_eq!(ids(store), ["wednesday", "tuesday", "monday"], "the newest change first");
    let dry = at(store, &["session", "delete", "monday", "--json"], b"");
    assert_eq!(dry.status.code(), Some(1));
    let told = parsed(std::str::from_utf8(&dry.stdout).unwrap());
    assert_eq!((&told["deleted"], &told["sessions"][0]["events"]), (&false.into(), &1.into()));

    shown!("delete", store, ["session", "delete", "monday", "tuesday", "--yes"]);
    assert_eq!(ids(store), ["wednesday"]);
    assert_eq!(planted(store), 1);
    shown!("delete-again", store, ["session", "delete", "monday", "--yes"]);
    let done = ok(store, &["session", "delete", "wednesday", "--yes", "--json"], b"");
    let done = parsed(&done);
    assert_eq!(
        (&done["deleted"], &done["sessions"][0]["session"]),
        (&true.into(), &"wednesday".into())
    );
    assert_eq!(planted(store), 0);
    shown!("delete-none-left", store, ["session", "delete", "wednesday"]);
    ok(store, &["check", "store"], b"");
    sees!("delete-nothing-named", ["session", "delete", "--yes"]);
}

#[test]
fn a_fork_stays_and_a_late_append_is_told() {
    let store = &store("delete-fork");
    ok(store, &["session", "new", "--id", "a", "--window", "16k"], b"");
    let text = std::fs::read(crate::root().join("examples/coding-session.jsonl")).unwrap();
    ok(store, &["session", "append", "a", "-"], &text);
    ok(store, &["session", "compact", "a"], b"");
    ok(store, &["session", "fork", "a", "--id", "b"], b"");
    let before = ok(store, &["session", "context", "b", "--no-record"], b"");
    let told = parsed(&ok(store, &["session", "delete", "a", "--yes", "--json"], b""));
    assert_eq!(told["sessions"][0]["folds"], 1);
    assert_eq!(ok(store, &["session", "context", "b", "--no-record"], b""), before);
    ok(store, &["check", "store"], b"");
    ok(store, &["check", "session", "b"], b"");
    shown!(
        "append-deleted",
        store,
        ["session", "append", "a", "-"],
        br#"{"role":"user","content":"x"}"#
    );
}

/// Answers of no session go with old sessions, and are told before.
#[test]
fn old_answers_of_no_session_are_counted() {
    let place = &store("prune-answers");
    aged(place, &[("old", 31)]);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let store = midfold::store::open(place).await.unwrap();
        let lone = AnswerHistory { session: None, events: 0, rest: b"[1]".to_vec().into() };
        for number in 0..3_u64 {
            let key = Hash::ROOT.chain(&number.to_be_bytes());
            store.put_answer(key, &lone, 1).await.unwrap();
        }
        let key = Hash::ROOT.chain(b"new");
        store.put_answer(key, &lone, u64::try_from(i64::MAX).unwrap()).await.unwrap();
    });
    let prune = ["store", "prune", "--older-than", "30d", "--json"];
    let told = at(place, &prune, b"");
    assert_eq!(told.status.code(), Some(1));
    assert_eq!(parsed(&String::from_utf8_lossy(&told.stdout))["answers"], 3);
    let text = at(place, &prune[..4], b"");
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    assert!(text.contains("Would delete 1 session and 3 answers of no session"), "{text}");
    let done = parsed(&ok(place, &[&prune[..], &["--yes"]].concat(), b""));
    assert_eq!((&done["deleted"], &done["answers"]), (&true.into(), &3.into()));
    assert_eq!(parsed(&ok(place, &prune, b""))["answers"], 0);
}

#[test]
fn old_sessions_are_pruned() {
    let store = &store("prune");
    aged(store, &[("ancient", 400), ("old", 31), ("recent", 29), ("new", 0)]);
    shown!("prune-dry", store, ["store", "prune", "--older-than", "30d"]);
    assert_eq!(ids(store).len(), 4);
    shown!("prune", store, ["store", "prune", "--older-than", "30d", "--yes"]);
    assert_eq!(ids(store), ["new", "recent"]);
    assert_eq!(planted(store), 2);
    shown!("prune-nothing", store, ["store", "prune", "--older-than", "30d"]);
    shown!("prune-nothing-yes", store, ["store", "prune", "--older-than", "5w", "--yes"]);
    let none = parsed(&ok(store, &["store", "prune", "--older-than", "30d", "--json"], b""));
    assert_eq!((&none["deleted"], &none["sessions"]), (&false.into(), &serde_json::json!([])));
    // Who reads and folds works with it: that counts as well as a message.
    ok(store, &["session", "context", "recent"], b"");
    let weeks =
        parsed(&ok(store, &["store", "prune", "--older-than", "4w", "--yes", "--json"], b""));
    assert_eq!(weeks["sessions"], serde_json::json!([]));
    let hours = at(store, &["store", "prune", "--older-than", "1h", "--json"], b"");
    assert_eq!(hours.status.code(), Some(0));
    ok(store, &["check", "store"], b"");
    for (name, age) in [("unit", "30m"), ("none", "soon"), ("zero", "0d"), ("sign", "+3d")] {
        shown!(format!("prune-{name}"), store, ["store", "prune", "--older-than", age]);
    }
    sees!("prune-no-age", ["store", "prune", "--yes"]);
}

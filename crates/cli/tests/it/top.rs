//! `midfold top` in a pipe: one frame, or JSON.

use std::fs;

use crate::session::{at, ok, parsed, shown, store};
use crate::{regex_of, root, seen};

const SESSION: &str = "examples/coding-session.jsonl";

/// A store with two sessions; `demo` has a fold.
fn made(name: &str) -> String {
    let store = store(name);
    let text = fs::read(root().join(SESSION)).unwrap();
    let lines: Vec<&[u8]> = text.split(|byte| *byte == b'\n').filter(|l| !l.is_empty()).collect();
    ok(&store, &["session", "new", "--id", "demo", "--window", "64k", "--model", "gpt-5"], b"");
    ok(&store, &["session", "append", "demo", "-"], &lines[..100].join(&b'\n'));
    ok(&store, &["session", "compact", "demo"], b"");
    ok(&store, &["session", "new", "--id", "empty", "--window", "8k"], b"");
    store
}

#[test]
fn in_a_pipe_it_prints_one_frame() {
    let store = &made("top");
    let list = ok(store, &["top"], b"");
    let lines: Vec<&str> = list.lines().collect();
    assert!(lines[0].starts_with(" midfold top: 2 sessions, newest change first"), "{list}");
    assert!(lines[1].contains("TOKENS/WINDOW") && lines.len() == 4, "{list}");
    assert!(lines[2].contains("0/8k") && lines[2].ends_with("empty"), "{list}");
    assert!(lines[3].contains("/64k") && lines[3].contains('┃'), "{list}");
    let text = ok(store, &["top", "demo"], b"");
    for expected in ["█", "fold 1 of 1", "## Conversation Summary"] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    assert!(!text.contains('\x1b'));
}

#[test]
fn programs_get_json() {
    let store = &made("top-json");
    let list = parsed(&ok(store, &["top", "--json"], b""));
    let ids: Vec<&str> =
        list["sessions"].as_array().unwrap().iter().map(|it| it["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["empty", "demo"], "the newest change first");
    assert_eq!(list["sessions"][1]["folds"], 1);
    let one = parsed(&ok(store, &["top", "demo", "--json"], b""));
    assert_eq!((&one["session"]["id"], &one["fabric"]["events"]), (&"demo".into(), &100.into()));
}

#[test]
fn what_is_not_there_is_named() {
    let store = &made("top-wrong");
    shown!("top-no-session", store, ["top", "domo"]);
    let folder = crate::folder("top-no-store").join("none.db");
    let url = format!("sqlite:{}", folder.display());
    shown!("top-no-store", &url, ["top"]);
}

#[test]
fn a_server_that_is_not_there_is_named() {
    // A port that was free a moment ago.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let output = crate::run(&["top", "--server", &url], b"");
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(text.contains(&format!("{url} cannot be reached")), "{text}");
    let output = crate::run(&["top", "--server", &url, "--store", "memory"], b"");
    assert_eq!(output.status.code(), Some(2), "one of them");
}

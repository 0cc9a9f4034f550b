//! One clear error for each thing that can be wrong with a store, a session or its input.

use std::fs;

use crate::session::{appended, at, ok, shown, store};
use crate::{folder, regex_of, seen, sees};

#[test]
fn stores() {
    let tmp = folder("bad-stores");
    let url = |name: &str| format!("sqlite:{}", tmp.join(name).display());
    let new = ["session", "new", "--id", "x"];
    shown!("store-missing", &url("none.db"), ["session", "list"]);
    shown!("store-directory", &url(""), new);
    fs::write(tmp.join("notes.db"), "Dear diary, this is long enough to be looked at. ".repeat(40))
        .unwrap();
    shown!("store-no-database", &url("notes.db"), new);
    fs::write(tmp.join("later.db"), of_version(99)).unwrap();
    shown!("store-later", &url("later.db"), new);
    shown!("store-path", "./sessions.db", new);
    shown!("store-scheme", "mysql://root:secret@db/x", new);
    shown!("store-memory", "memory", ["session", "status", "x"]);
    sees!("store-nowhere", ["session", "list"]);
    let refused = "postgres://joe:secret@127.0.0.1:9/midfold";
    let output = at(refused, &new, b"");
    let text = seen(&output);
    assert!(text.starts_with("exit 1") && text.contains("joe:***@127.0.0.1:9"), "{text}");
    assert!(!text.contains("secret") && text.contains("hint:"), "{text}");
}

#[test]
fn sessions() {
    let store = &store("bad-sessions");
    ok(store, &["session", "new", "--id", "tuesday"], b"");
    let hello = br#"{"role":"user","content":"hello"}"#;
    ok(store, &["session", "append", "tuesday", "-"], hello);
    shown!("session-unknown", store, ["session", "status", "tusday"]);
    shown!("session-exists", store, ["session", "new", "--id", "tuesday"]);
    shown!("session-bad-id", store, ["session", "new", "--id", ""]);
    shown!("session-dialect", store, ["session", "new", "--dialect", "antropic"]);
    shown!("session-unknown-command", store, ["session", "statsu", "tuesday"]);
    shown!("pin-missing", store, ["session", "pin", "tuesday", "7"]);
    shown!("fork-missing", store, ["session", "fork", "tuesday", "--at", "7"]);
    shown!("undo-unfolded", store, ["session", "undo", "tuesday"]);
    shown!("undo-missing", store, ["session", "undo", "tuesday", "3"]);
    shown!("explain-no-call", store, ["explain", "tuesday", "hello", "--call", "3"]);
    shown!(
        "observe-no-call",
        store,
        ["session", "observe", "tuesday", "--prompt", "5", "--call", "2"]
    );
    shown!("observe-no-usage", store, ["session", "observe", "tuesday", "-"], br#"{"id":"x"}"#);
    shown!("recall-unfolded", store, ["recall", "describe", "tuesday"]);
    shown!("recall-what", store, ["recall", "show", "tuesday", "the file"]);
    shown!("recall-regex", store, ["recall", "find", "tuesday", "a(b", "--regex"]);
    shown!("recall-none", store, ["recall", "find", "tuesday", "zebra"]);
}

#[test]
fn messages() {
    let store = &store("bad-messages");
    ok(store, &["session", "new", "--id", "s"], b"");
    ok(store, &["session", "new", "--id", "claude", "--dialect", "anthropic"], b"");
    let append = ["session", "append", "s", "-"];
    shown!("append-empty", store, append);
    shown!("append-not-json", store, append, b"hello there");
    shown!("append-truncated", store, append, br#"{"role":"user","content":"he"#);
    shown!("append-no-message", store, append, br#"{"name":"x","version":"1"}"#);
    let half = b"{\"role\":\"user\",\"content\":\"a\"}\n{\"role\":\"user\",\n";
    shown!("append-bad-line", store, append, half);
    let odd = br#"[{"role":"user","content":"a"},"b"]"#;
    shown!("append-odd", store, append, odd);
    let block =
        br#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"x"}]}"#;
    shown!("append-foreign", store, append, block);
    let chat = br#"{"role":"tool","tool_call_id":"a","content":"x"}"#;
    shown!("append-foreign-chat", store, ["session", "append", "claude", "-"], chat);
    let alien = br#"[{"role":"user","content":"hi"},{"role":"alien","content":"hi"}]"#;
    shown!("append-alien", store, append, alien);
    shown!("append-missing-file", store, ["session", "append", "s", "no/such.json"]);
    // None of it left anything behind.
    shown!("append-nothing", store, ["session", "log", "s", "--json"]);
    let plain = br#"{"role":"user","content":"hi"}"#;
    assert_eq!(appended(store, &["claude", "-"], plain), [0]);
}

/// An empty SQLite file of midfold's (`mfld`), as a later version would leave it: a header, and a
/// page without a table.
fn of_version(version: u32) -> Vec<u8> {
    let mut page = vec![0; 4096];
    page[..24].copy_from_slice(b"SQLite format 3\0\x10\0\x01\x01\0\x40\x20\x20");
    for (at, value) in
        [(24, 1), (28, 1), (44, 4), (56, 1), (60, version), (68, 0x6d66_6c64), (92, 1)]
    {
        page[at..at + 4].copy_from_slice(&value.to_be_bytes());
    }
    // A leaf without cells, whose contents start at the end of the page.
    page[100] = 13;
    page[105..107].copy_from_slice(&4096u16.to_be_bytes());
    page
}

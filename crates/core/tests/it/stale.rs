//! Which reads a later call makes stale.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::sync::Arc;

use bytes::Bytes;
use midfold_core::RawEvent;
use midfold_core::log::EventLog;
use midfold_core::policy::Policy;
use midfold_core::survey::survey;
use midfold_formats::{DialectKind, profile};
use serde_json::{Value, json};

use crate::quarter::Quarter;

/// A tool, its arguments, and its result with the error flag.
type Call<'a> = (&'a str, Value, &'a str, bool);

/// The number of results that a later call made stale.
fn stale(calls: &[Call<'_>]) -> u64 {
    let mut messages = vec![json!({"role": "user", "content": "Mend the parser."})];
    for (at, (name, input, text, flag)) in calls.iter().enumerate() {
        messages.push(json!({"role": "assistant", "content": [
            {"type": "tool_use", "id": format!("t{at}"), "name": name, "input": input}]}));
        messages.push(json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": format!("t{at}"), "content": text, "is_error": flag}]}));
    }
    let events = messages.iter().map(|message| RawEvent::new(Bytes::from(message.to_string())));
    let kind = DialectKind::Anthropic;
    let log = EventLog::of(kind.shared(), profile::for_dialect(kind)[0], Arc::new(Quarter), events);
    survey(&log, &Policy::preset("default").unwrap()).superseded.items
}

fn long(line: &str) -> String {
    format!("{line}\n").repeat(60)
}

fn read() -> Value {
    json!({"file_path": "a.rs"})
}

fn edit() -> Value {
    json!({"file_path": "a.rs", "old_string": "x", "new_string": "y"})
}

fn bash(command: &str) -> Value {
    json!({"command": command})
}

#[test]
fn a_later_read_or_write_makes_a_read_stale() {
    let text = long("let a = 1;");
    let first = ("Read", read(), &*text, false);
    let stale_by = |later: Call<'_>| stale(&[first.clone(), later]);
    assert_eq!(stale_by(("Read", read(), "let a = 2;", false)), 1);
    assert_eq!(stale_by(("Bash", bash("cat a.rs"), "let a = 2;", false)), 1);
    assert_eq!(stale_by(("Edit", edit(), "The file a.rs has been updated.", false)), 1);
    // The change is made before the check fails.
    let mended = bash("sed -i s/x/y/ a.rs && cargo test");
    assert_eq!(stale_by(("Bash", mended, "test result: FAILED. 1 passed; 1 failed", true)), 1);
    let logged = bash("cargo test > a.rs");
    assert_eq!(stale_by(("Bash", logged, "error: test failed", true)), 1);
}

#[test]
fn what_failed_later_makes_nothing_stale() {
    let text = long("let a = 1;");
    let first = ("Read", read(), &*text, false);
    let rejected =
        "The user doesn't want to proceed with this tool use. The tool use was rejected.";
    for later in [
        ("Read", read(), "File does not exist.", true),
        ("Read", read(), rejected, true),
        ("Edit", edit(), "String to replace not found in file.", true),
        ("Edit", edit(), rejected, true),
        ("Bash", bash("cat a.rs"), "cat: a.rs: No such file or directory", true),
        (
            "Bash",
            bash("sed -i 's/x/y' a.rs"),
            "sed: -e expression #1: unterminated `s' command",
            true,
        ),
        ("Bash", bash("sed -i s/x/y/ a.rs && cargo test"), rejected, true),
    ] {
        assert_eq!(stale(&[first.clone(), later.clone()]), 0, "{later:?}");
    }
}

#[test]
fn a_command_that_does_more_than_read_stays() {
    let text = long("let a = 1;");
    for (command, wanted) in
        [("cat a.rs", 1), ("cat a.rs && cargo test", 0), ("cargo test; cat a.rs", 0)]
    {
        let first = ("Bash", bash(command), &*text, false);
        assert_eq!(stale(&[first.clone(), ("Read", read(), "x", false)]), wanted, "{command}");
        let edited = ("Edit", edit(), "The file a.rs has been updated.", false);
        assert_eq!(stale(&[first, edited]), wanted, "{command}");
    }
}

/// Two searches in a file show different lines of it.
#[test]
fn parts_that_are_not_known_are_not_the_same() {
    let text = long("let a = 1;");
    let again = |first: &str, then: &str| {
        stale(&[("Bash", bash(first), &*text, false), ("Bash", bash(then), "let b = 1;", false)])
    };
    assert_eq!(again("grep -n fold a.rs", "grep -n cut a.rs"), 0);
    assert_eq!(again("sed -n '1,60p' a.rs", "sed -n '1,60p' a.rs"), 1);
    assert_eq!(again("sed -n '1,60p' a.rs", "sed -n '1,9p' a.rs"), 0);
    assert_eq!(again("grep -n fold a.rs", "cat a.rs"), 1);
    // The range is that of the second file alone.
    assert_eq!(again("cat a.rs; head -n 5 b.rs", "head -n 5 a.rs; head -n 5 b.rs"), 0);
}

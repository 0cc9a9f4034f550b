//! What a policy's engine, feedback, the cache check and injections look like from the command line.

use std::fs;

use crate::session::{at, ok, parsed, store};
use crate::{folder, run, stdout};

const SESSION: &str = "examples/coding-session.jsonl";

fn policy(test: &str, text: &str) -> String {
    let path = folder(test).join("policy.toml");
    fs::write(&path, text).unwrap();
    path.display().to_string()
}

#[test]
fn passthrough_sends_everything_and_says_so() {
    let policy = policy("engine-through", "base = \"default\"\nengine = \"passthrough\"");
    let output = run(&["compact", SESSION, "--window", "32k", "--policy", &policy], b"");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("passthrough"), "{said}");
    assert_eq!(output.stdout, fs::read(crate::root().join(SESSION)).unwrap(), "byte for byte");
}

#[test]
fn a_command_as_engine_compacts_what_it_is_sent() {
    let echo = policy("engine-command", "base = \"default\"\nengine = { command = [\"cat\"] }");
    let output = run(&["compact", SESSION, "--window", "32k", "--policy", &echo], b"");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let sent: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(sent.as_array().unwrap().len(), 312, "cat gives back what it got");
    let gone = policy("engine-missing", "base = \"default\"\nengine = { command = [\"nowhere\"] }");
    let output = run(&["compact", SESSION, "--policy", &gone], b"");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && said.contains("`nowhere` cannot be started"), "{said}");
    // A session and a server cannot run it, and say so when they are made with it.
    let store = &store("engine-session");
    for args in [
        &["session", "new", "--id", "e", "--window", "8k", "--policy", &echo][..],
        &["serve", "--listen", "127.0.0.1:0", "--policy", &echo],
        &["run", "--policy", &echo, "--", "true"],
    ] {
        let output = at(store, args, b"");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && said.contains("names the engine `cat`"), "{said}");
        assert!(said.contains("midfold compact"), "where it works: {said}");
    }
}

/// `--focus` that nobody heeds says so.
#[test]
fn a_focus_without_effect_says_so() {
    let said = |preset: &str| {
        let args = ["compact", SESSION, "--window", "32k", "--focus", "retry", "--preset", preset];
        String::from_utf8_lossy(&run(&args, b"").stderr).into_owned()
    };
    assert!(said("head-tail").contains("--focus has no effect"), "{}", said("head-tail"));
    assert!(!said("default").contains("no effect"));
    let store = &store("focus");
    ok(store, &["session", "new", "--id", "f", "--window", "32k", "--preset", "hermes"], b"");
    ok(store, &["session", "append", "f", SESSION], b"");
    let output = at(store, &["session", "compact", "f", "--focus", "retry"], b"");
    assert!(String::from_utf8_lossy(&output.stderr).contains("--focus has no effect"));
}

#[test]
fn a_cache_check_compares_marker_recap_and_fold() {
    let args = ["compact", SESSION, "--window", "32k", "--cache-check", "--json"];
    let check = parsed(&stdout(&args, b""))[0].clone();
    let figure = |name: &str| check[name].as_u64().unwrap();
    assert_eq!(figure("frozen"), figure("prompt"));
    assert_eq!(figure("marker"), figure("marker_prompt"));
    assert!(figure("regenerated") * 5 < figure("regenerated_prompt"), "{check}");
    let page = stdout(&args[..5], b"");
    assert!(page.contains("marker") && page.contains("regenerated"), "{page}");
}

#[test]
fn a_preview_has_the_words_of_hosts_and_the_cache() {
    let store = &store("feedback");
    ok(store, &["session", "new", "--id", "f", "--window", "32k"], b"");
    ok(store, &["session", "append", "f", SESSION], b"");
    let preview = parsed(&ok(store, &["session", "compact", "--dry-run", "f", "--json"], b""));
    let said = &preview;
    assert_eq!(said["outcome"], "folded");
    assert!(said["headline"].as_str().unwrap().starts_with("Compressed: 312 → "), "{said}");
    assert!(said["token_line"].as_str().unwrap().starts_with("Rough transcript estimate: ~"));
    assert!(said["note"].is_null() && said["instead"].as_str().unwrap().contains("computed"));
    assert!(preview["cache"]["frozen"].as_u64().unwrap() > 0, "{preview}");
    ok(store, &["session", "compact", "f"], b"");
    let again = parsed(&ok(store, &["session", "compact", "f", "--json"], b""));
    assert_eq!(again["outcome"], "nothing");
    let headline = again["headline"].as_str().unwrap();
    assert!(headline.starts_with("No changes from compression: "), "{headline}");
}

#[test]
fn hooks_inject_behind_the_history_within_their_reserve() {
    let store = &store("inject");
    ok(store, &["session", "new", "--id", "i", "--window", "32k"], b"");
    ok(store, &["session", "append", "i", SESSION], b"");
    let note = folder("inject-note").join("memory.txt");
    fs::write(&note, "The user prefers short answers.").unwrap();
    let inject = format!("memory={}", note.display());
    let args = ["session", "context", "i", "--inject", &inject, "--reserve", "memory=60", "--json"];
    let sent = parsed(&ok(store, &args, b""));
    let last = sent["messages"].as_array().unwrap().last().unwrap().to_string();
    assert!(last.contains("prefers short answers"), "beside the newest request: {last}");
    assert_eq!(sent["injections"][0]["hook"], "memory");
    let plain = ok(store, &["session", "context", "i"], b"");
    assert!(!plain.contains("prefers short answers"), "it is sent and not kept");
    for (reserve, says) in
        [("memory=2", "`memory` added"), ("other=60", "--inject memory has no reserve")]
    {
        let output =
            at(store, &["session", "context", "i", "--inject", &inject, "--reserve", reserve], b"");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && said.contains(says), "{said}");
    }
}

//! Stored sessions, from a new one to a checked export.

use std::fs;
use std::process::{Command, Output, Stdio};

use crate::{folder, midfold, regex_of, root, run, seen, stdout};

const SESSION: &str = "examples/coding-session.jsonl";

/// A store of one test.
pub fn store(name: &str) -> String {
    format!("sqlite:{}", folder(name).join("store.db").display())
}

/// Runs a command on a store.
pub fn at(store: &str, args: &[&str], stdin: &[u8]) -> Output {
    run(&[args, &["--store", store]].concat(), stdin)
}

/// The same, where it has to succeed.
pub fn ok(store: &str, args: &[&str], stdin: &[u8]) -> String {
    stdout(&[args, &["--store", store]].concat(), stdin)
}

pub fn parsed(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap()
}

/// Appends, and returns the places of the messages.
pub fn appended(store: &str, args: &[&str], stdin: &[u8]) -> Vec<u64> {
    let args = [&["session", "append"], args, &["--json"]].concat();
    seqs_of(&parsed(&ok(store, &args, stdin)))
}

fn seqs_of(answer: &serde_json::Value) -> Vec<u64> {
    answer["seqs"].as_array().unwrap().iter().map(|seq| seq.as_u64().unwrap()).collect()
}

/// What a person sees, without times and hashes.
macro_rules! shown {
    ($name:expr, $store:expr, $args:expr) => {
        shown!($name, $store, $args, b"")
    };
    ($name:expr, $store:expr, $args:expr, $stdin:expr) => {{
        let output = at($store, &$args, $stdin);
        let mut settings = insta::Settings::clone_current();
        settings.add_filter(&regex_of(env!("CARGO_TARGET_TMPDIR")), "[TMP]");
        settings.add_filter(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC", "[TIME]");
        settings.add_filter(r"\b[0-9a-f]{12}\b", "[HASH]");
        // Which identifiers come first is the engine's business, and tested there.
        settings.add_filter($crate::RECAP, "[RECAP]");
        settings.add_filter(r"(still named|not named) .*(\n {15}.*)*", "$1 …");
        settings.set_omit_expression(true);
        settings.set_prepend_module_to_snapshot(false);
        settings.bind(|| insta::assert_snapshot!($name, seen(&output)));
    }};
}
pub(crate) use shown;

#[test]
fn from_new_to_a_checked_export() {
    let store = &store("flow");
    shown!(
        "session-new",
        store,
        ["session", "new", "--id", "demo", "--window", "64k", "--model", "gpt-5"]
    );
    shown!("session-empty", store, ["session", "status", "demo"]);
    let text = fs::read(root().join(SESSION)).unwrap();
    let lines: Vec<&[u8]> = text.split(|byte| *byte == b'\n').filter(|l| !l.is_empty()).collect();
    let first = lines[..40].join(&b'\n');
    let done = at(store, &["session", "append", "demo", "-", "-v"], &first);
    let told = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(done.status.success() && done.stdout.is_empty() && told.lines().count() == 1, "{told}");
    assert!(told.contains("appended") && told.contains("messages=40"), "{told}");
    shown!("session-small", store, ["session", "compact", "demo"]);
    let next = ok(store, &["session", "append", "demo", "--json"], lines[40]);
    assert_eq!(parsed(&next), serde_json::json!({ "seqs": [40], "repeated": false }));
    let done = at(store, &["session", "append", "demo", "-"], &lines[41..100].join(&b'\n'));
    assert!(done.status.success() && done.stdout.is_empty() && done.stderr.is_empty());
    shown!("session-pin", store, ["session", "pin", "demo", "4"]);
    shown!("session-preview", store, ["session", "compact", "--dry-run", "demo"]);
    let preview = parsed(&ok(store, &["session", "compact", "--dry-run", "demo", "--json"], b""));
    assert!(preview["recap"].as_str().unwrap().starts_with("## Conversation Summary"));
    shown!("session-compact", store, ["session", "compact", "demo", "--focus", "retry"]);
    shown!("session-again", store, ["session", "compact", "demo"]);
    let context = ok(store, &["session", "context", "demo"], b"");
    let count = parsed(&context).as_array().unwrap().len();
    shown!(
        "session-observe",
        store,
        ["session", "observe", "demo", "--prompt", "20k", "--cache-read", "500"]
    );
    shown!("session-status", store, ["session", "status", "demo"]);
    let log = ["session", "log", "demo", "--from", "0", "--to", "7"];
    shown!("session-log", store, log);
    shown!("explain", store, ["explain", "demo", "LED-4101"]);
    shown!("explain-call", store, ["explain", "demo", "LED-4100", "--call", "1"]);
    shown!("explain-nothing", store, ["explain", "demo", "zebra"]);
    shown!("audit", store, ["check", "session", "demo"]);
    shown!("recall-grep", store, ["recall", "find", "demo", "LED-4101"]);
    shown!("recall-names", store, ["recall", "names", "demo", "the ledger", "--max-chars", "200"]);
    shown!("recall-expand", store, ["recall", "show", "demo", "6-9", "--max-chars", "300"]);
    recalls(store);
    let described = ok(store, &["recall", "describe", "demo", "1"], b"");
    assert!(described.starts_with("fold 1 (") && described.contains("## Conversation Summary"));
    let id = described["fold 1 (".len()..].split(')').next().unwrap();
    let short = (1..4).map(|end| &id[..end]).find(|id| id.contains(char::is_alphabetic)).unwrap();
    let refused = at(store, &["recall", "describe", "demo", short], b"");
    let told = String::from_utf8(refused.stderr).unwrap();
    assert!(told.contains("too short for the id") && told.contains("at least 4 digits"), "{told}");
    shown!("session-fork", store, ["session", "fork", "demo", "--at", "12", "--id", "other"]);
    shown!("session-undo", store, ["session", "undo", "demo"]);
    shown!("session-undone", store, ["session", "undo", "demo"]);
    let whole = parsed(&ok(store, &["session", "context", "demo", "--json"], b""));
    assert!(whole["count"].as_u64().unwrap() > count as u64, "{count}");
    assert_eq!((&whole["call"], &whole["fold"]), (&2.into(), &serde_json::Value::Null));
    shown!("session-list", store, ["session", "list"]);
    shown!("audit-all", store, ["check", "session", "--all"]);
    let file = folder("flow-export").join("all.jsonl").display().to_string();
    shown!("store-export", store, ["store", "export", &file]);
    shown!("store-fsck", store, ["check", "store"]);
    let copy = &self::store("flow-copy");
    shown!("store-import", copy, ["store", "load", &file]);
    shown!("store-import-again", copy, ["store", "load", &file]);
    let log = |store: &str| ok(store, &["session", "log", "demo", "--json"], b"");
    assert_eq!(log(store), log(copy));
    assert!(at(copy, &["check", "session", "--all"], b"").status.success());
}

/// What an agent at a shell sees of a folded session.
fn recalls(store: &str) {
    shown!(
        "recall-outline",
        store,
        ["recall", "outline", "demo", "--from", "@20", "--limit", "12"]
    );
    shown!(
        "recall-outline-folded",
        store,
        ["recall", "outline", "demo", "--folded", "--limit", "3"]
    );
    shown!("recall-errors", store, ["recall", "find", "demo", "--errors", "--limit", "4"]);
    let filters = ["--literal", "--role=user", "--range=2-90", "--folded", "--limit=1", "--skip=1"];
    shown!("recall-filters", store, [&["recall", "find", "demo", "LED"], &filters[..]].concat());
    let around = ["--regex", "--tool", "read", "--context", "1", "--limit", "2"];
    shown!("recall-context", store, [&["recall", "find", "demo", "^ +2\t"], &around[..]].concat());
    shown!("recall-list", store, ["recall", "show", "demo", "@21, 1", "23"]);
    shown!("recall-from", store, ["recall", "show", "demo", "6", "--from=6:L12", "--max-chars=80"]);
    shown!("recall-past", store, ["recall", "outline", "demo", "--from", "4000"]);
    shown!("recall-role", store, ["recall", "find", "demo", "--role", "robot"]);
    shown!("recall-nothing", store, ["recall", "find", "demo"]);
    let page = ok(store, &["recall", "show", "demo", "6-9", "--max-chars", "300"], b"");
    let next = page.lines().last().unwrap().strip_prefix("next: midfold ").unwrap();
    let words: Vec<&str> = next.split(' ').collect();
    let second = stdout(&words, b"");
    assert!(second.starts_with("── @6 tool") && second.contains("characters "), "{second}");
    let rows = parsed(&ok(store, &["recall", "outline", "demo", "--limit", "2", "--json"], b""));
    assert_eq!((&rows["rows"][1]["event"], &rows["next"]), (&1.into(), &2.into()));
}

#[test]
fn messages_come_back_as_the_bytes_that_went_in() {
    let store = &store("bytes");
    ok(store, &["session", "new", "--id", "s"], b"");
    // Order, duplicates, escapes, spaces and large numbers: all of it is the sender's.
    let odd = [
        r#"{ "role" : "user", "content":"\u00e9 é \/ x", "n":1e400, "n": 12345678901234567890 }"#,
        r#"{"content":null,"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{ }"}}]}"#,
        r#"{"role":"tool","tool_call_id":"lost","content":"a result without its call"}"#,
    ];
    let list = format!("[{}]", odd[1..].join(" ,\n"));
    assert_eq!(appended(store, &["s", "-"], odd[0].as_bytes()), [0]);
    assert_eq!(appended(store, &["s", "-"], list.as_bytes()), [1, 2]);
    let log = ok(store, &["session", "log", "s", "--json"], b"");
    assert_eq!(log, format!("[\n{}\n]\n", odd.join(",\n")));
    let part = ok(store, &["session", "log", "s", "--json", "--from", "1", "--to", "1"], b"");
    assert_eq!(part, format!("[\n{}\n]\n", odd[1]));
    // The context is valid all the same, and what it carries verbatim is the same bytes.
    let context = ok(store, &["session", "context", "s", "--no-record"], b"");
    assert!(context.contains(odd[0]) && context.contains(odd[1]));

    ok(store, &["import", SESSION, "--id", "whole"], b"");
    let log = ok(store, &["session", "log", "whole", "--json"], b"");
    let input = fs::read_to_string(root().join(SESSION)).unwrap();
    let lines: Vec<_> = input.lines().collect();
    assert_eq!(log, format!("[\n{}\n]\n", lines.join(",\n")));
}

#[test]
fn eight_processes_append_to_one_session() {
    let store = &store("concurrent");
    ok(store, &["session", "new", "--id", "s", "--tokenizer", "chars:4"], b"");
    let script = r#"for i in 0 1 2 3 4 5 6 7 8 9; do
        echo "{\"role\":\"user\",\"content\":\"$2-$i\"}" | "$0" session append s - --store "$1" --json || exit 1
    done"#;
    let spawn = |writer: usize| {
        Command::new("sh")
            .args(["-c", script, env!("CARGO_BIN_EXE_midfold"), store, &writer.to_string()])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    };
    let children: Vec<_> = (0..8).map(spawn).collect();
    let mut seqs = Vec::new();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout).unwrap();
        let own: Vec<u64> = text.lines().flat_map(|line| seqs_of(&parsed(line))).collect();
        assert!(own.len() == 10 && own.is_sorted(), "{own:?}");
        seqs.extend(own);
    }
    seqs.sort_unstable();
    assert_eq!(seqs, (0..80).collect::<Vec<u64>>());
    let log = parsed(&ok(store, &["session", "log", "s", "--json"], b""));
    let mut texts: Vec<_> =
        log.as_array().unwrap().iter().map(|m| m["content"].to_string()).collect();
    texts.sort();
    texts.dedup();
    assert_eq!(texts.len(), 80);
    assert!(at(store, &["check", "store"], b"").status.success());
}

#[test]
fn keys_and_places_guard_an_append() {
    let store = &store("keys");
    ok(store, &["session", "new", "--id", "s"], b"");
    let message = |text: &str| format!("{{\"role\":\"user\",\"content\":\"{text}\"}}").into_bytes();
    let keyed = ["session", "append", "s", "-", "--key", "k1"];
    assert_eq!(appended(store, &keyed[2..], &message("one")), [0]);
    assert_eq!(appended(store, &["s", "-"], &message("two")), [1]);
    assert_eq!(appended(store, &keyed[2..], &message("one")), [0]);
    let again = at(store, &keyed, &message("one"));
    assert!(String::from_utf8_lossy(&again.stderr).contains("nothing was appended"));
    shown!("append-key-reused", store, keyed, &message("three"));
    shown!(
        "append-conflict",
        store,
        ["session", "append", "s", "-", "--expect", "1"],
        &message("x")
    );
    assert_eq!(appended(store, &["s", "-", "--expect", "2"], &message("x")), [2]);
}

#[test]
fn an_import_is_done_once_and_goes_on() {
    let store = &store("import");
    let text = fs::read_to_string(root().join(SESSION)).unwrap();
    let path = folder("import-file").join("run.jsonl");
    let lines: Vec<_> = text.lines().collect();
    fs::write(&path, lines[..50].join("\n")).unwrap();
    let file = path.display().to_string();
    shown!("import", store, ["import", &file]);
    shown!("import-again", store, ["import", &file]);
    fs::write(&path, lines[..60].join("\n")).unwrap();
    shown!("import-more", store, ["import", &file]);
    shown!("import-other", store, ["import", "fixtures/openai-chat.json", "--id", "run"]);
    shown!("import-several", store, ["import", "fixtures/tau-bench.json"]);
    let ids =
        parsed(&ok(store, &["import", "fixtures/claude-code.jsonl", "--json", "--id", "c"], b""));
    assert_eq!((&ids[0]["id"], &ids[0]["dialect"]), (&"c".into(), &"anthropic".into()));
    assert!(at(store, &["check", "store"], b"").status.success());
}

#[test]
fn a_refused_request_is_recovered_once() {
    let store = &store("recover");
    ok(store, &["import", SESSION, "--id", "s", "--window", "400k"], b"");
    ok(store, &["session", "context", "s"], b"");
    let recover = ["session", "recover", "s", "--status", "400", "--body", "-"];
    let busy = br#"{"error":{"message":"Rate limit reached","type":"rate_limit_error"}}"#;
    shown!("recover-busy", store, recover, busy);
    let long = br#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 213462 tokens > 200000 maximum"}}"#;
    let before = ok(store, &["session", "context", "s", "--no-record"], b"").len();
    let output = at(store, &recover, long);
    assert!(output.status.success(), "{}", seen(&output));
    let note = String::from_utf8(output.stderr).unwrap();
    assert!(
        note.starts_with("too long: 213,462 tokens, and 200,000 are allowed; compacted\n"),
        "{note}"
    );
    assert!(output.stdout.len() < before);
    shown!("recover-twice", store, recover, long);
    assert!(at(store, &["check", "session", "s"], b"").status.success());
}

/// llama.cpp says how long the prompt was, and not how long it may be.
#[test]
fn what_the_provider_counted_is_said() {
    let store = &store("recover-count");
    ok(store, &["import", SESSION, "--id", "s", "--window", "400k"], b"");
    let body = br#"{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_prompt_tokens":213462}}"#;
    let output = at(store, &["session", "recover", "s", "--status", "400", "--body", "-"], body);
    let note = String::from_utf8(output.stderr).unwrap();
    assert!(note.starts_with("too long: 213,462 tokens; compacted\n"), "{note}");
}

/// A call that is recorded is a request that somebody can send.
#[test]
fn a_file_that_cannot_be_written_leaves_the_session_alone() {
    let store = &store("unwritable");
    ok(store, &["import", SESSION, "--id", "s", "--window", "32k"], b"");
    let long = br#"{"error":{"message":"prompt is too long: 213462 tokens > 200000 maximum"}}"#;
    let before = ok(store, &["session", "status", "s", "--json"], b"");
    for command in [
        &["session", "context", "s", "-o", "/nonexistent/x"][..],
        &[
            "session",
            "context",
            "s",
            "--inject",
            "a=Cargo.toml",
            "--reserve",
            "a=9000",
            "-o",
            "/nonexistent/x",
        ],
        &["session", "recover", "s", "--status", "400", "--body", "-", "-o", "/nonexistent/x"],
    ] {
        let output = at(store, command, long);
        let said = seen(&output);
        assert!(
            output.status.code() == Some(1) && said.contains("/nonexistent/x cannot be written"),
            "{said}"
        );
        assert_eq!(ok(store, &["session", "status", "s", "--json"], b""), before, "{command:?}");
    }
    let first = at(store, &["session", "context", "s"], b"");
    assert!(seen(&first).contains("; call 1\n"), "{}", String::from_utf8_lossy(&first.stderr));
}

#[test]
fn the_default_store_lies_in_the_data_folder() {
    let data = folder("data");
    let output =
        midfold(&["session", "new", "--json"]).env("XDG_DATA_HOME", &data).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let id = parsed(&text)["id"].as_str().unwrap().to_owned();
    assert!(id.len() == 26 && text.lines().count() == 1, "{text}");
    assert!(data.join("midfold/midfold.db").is_file());
    let url = format!("sqlite:{}", data.join("midfold/midfold.db").display());
    let output = midfold(&["session", "list"]).env("MIDFOLD_STORE", &url).output().unwrap();
    assert!(String::from_utf8(output.stdout).unwrap().contains(&id));
    let limited = ["session", "list", "--limit", "0"];
    let output = midfold(&limited).env("MIDFOLD_STORE", &url).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains(&id) && !text.contains("more before"), "{text}");
}

#[test]
fn postgres_does_the_same() {
    let cluster = match midfold_testkit::postgres::Cluster::start() {
        Ok(cluster) => cluster,
        Err(why) => return eprintln!("skipped: {why}"),
    };
    let url = cluster.schema().unwrap();
    let sqlite = store("same");
    let contexts = [&url, &sqlite].map(|store| {
        ok(store, &["session", "new", "--id", "s", "--window", "40k"], b"");
        ok(store, &["session", "append", "s", SESSION], b"");
        let context = ok(store, &["session", "context", "s"], b"");
        ok(store, &["session", "observe", "s", "--prompt", "12k"], b"");
        let found = ok(store, &["recall", "find", "s", "LED-4101", "--json"], b"");
        ok(store, &["check", "session", "s"], b"");
        ok(store, &["session", "undo", "s"], b"");
        ok(store, &["check", "store"], b"");
        (context, found, ok(store, &["session", "log", "s", "--json"], b""))
    });
    assert_eq!(contexts[0], contexts[1]);
    cluster.drop_schema(&url);
}

//! `midfold worker` against a scripted model.

use std::process::{Output, Stdio};

use midfold_testkit::model_server::{ModelServer, ScriptedAnswer};

use crate::session::{at, ok, parsed, store};
use crate::{folder, midfold, seen};

const SESSION: &str = "examples/coding-session.jsonl";

/// A store with one session that waits for a narration.
fn waiting(name: &str) -> String {
    let store = store(name);
    let text = std::fs::read_to_string(crate::root().join(SESSION)).unwrap();
    ok(
        &store,
        &["session", "new", "--id", "s", "--window", "64k", "--narrate", "--tokenizer", "chars:4"],
        b"",
    );
    // Above the line for a narration (60 %), below that for a fold (80 %).
    let mut lines = text.lines();
    let mut size = 54;
    loop {
        let page: Vec<_> = lines.by_ref().take(std::mem::replace(&mut size, 6)).collect();
        assert!(!page.is_empty(), "no narration was asked for");
        ok(&store, &["session", "append", "s", "-"], page.join("\n").as_bytes());
        let status = parsed(&ok(&store, &["session", "status", "s", "--json"], b""));
        if status["status"]["narration_asked"] == true {
            return store;
        }
    }
}

fn serve(answer: ScriptedAnswer) -> (tokio::runtime::Runtime, ModelServer) {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let server = runtime.block_on(ModelServer::always(answer)).unwrap();
    (runtime, server)
}

fn once(store: &str, url: &str, more: &[&str]) -> Output {
    let args = ["worker", "--base-url", url, "--model", "small", "--once", "--store", store];
    let mut command = midfold(&[&args, more].concat());
    command.env("THE_KEY", "sk-very-secret-1234567890").output().unwrap()
}

#[test]
fn a_narration_is_ready_before_it_is_needed() {
    let store = waiting("worker");
    let (_runtime, server) = serve(ScriptedAnswer::text(
        "## Conversation Summary\n### Task\n- The settlement books some things twice.\n",
    ));
    let output = once(&store, server.url(), &["--key-env", "THE_KEY"]);
    let text = seen(&output);
    assert!(text.contains("  job 1  s  messages ") && text.contains("attempt 1"), "{text}");
    assert!(text.contains("1 job: "), "{text}");
    assert!(output.status.success(), "{text}");
    assert!(!text.contains("secret"), "{text}");
    let asked = server.seen();
    assert_eq!(asked[0].header("authorization"), Some("Bearer sk-very-secret-1234567890"));
    // Whatever the verdict, the session goes on, and nothing is left to do.
    assert!(at(&store, &["session", "context", "s"], b"").status.success());
    let again = once(&store, server.url(), &[]);
    assert_eq!(String::from_utf8(again.stderr).unwrap(), "no job was due\n");
    assert!(at(&store, &["check", "store"], b"").status.success());
}

#[test]
fn a_failing_model_costs_nothing_but_the_narration() {
    let store = waiting("worker-fails");
    let (_runtime, server) =
        serve(ScriptedAnswer::refusal(401, "invalid_api_key", "Incorrect API key"));
    let key = folder("worker-key").join("key");
    std::fs::write(&key, "sk-very-secret-1234567890\n").unwrap();
    let output = once(&store, server.url(), &["--key-file", &key.display().to_string(), "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let report = parsed(&String::from_utf8(output.stdout).unwrap());
    assert_eq!((&report["code"], &report["folded"]), (&"auth".into(), &false.into()));
    assert!(at(&store, &["session", "context", "s"], b"").status.success());
    let status = ok(&store, &["session", "status", "s"], b"");
    assert!(status.contains("1 given up"), "{status}");
    assert!(at(&store, &["check", "store"], b"").status.success());
}

#[cfg(unix)]
#[test]
fn a_worker_that_is_told_to_stop_ends() {
    let store = waiting("worker-stops");
    let (runtime, server) = serve(ScriptedAnswer::Held(Box::new(ScriptedAnswer::text("late"))));
    let args = [
        "worker",
        "--base-url",
        server.url(),
        "--model",
        "small",
        "--poll",
        "20",
        "--store",
        &store,
    ];
    let child = midfold(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    runtime.block_on(server.arrival());
    let pid = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    server.release();
    let output = child.wait_with_output().unwrap();
    let text = seen(&output);
    assert!(output.status.success() && text.contains("1 job: "), "{text}");
}

#[test]
fn wrong_settings_are_told_at_once() {
    let store = store("worker-settings");
    for (more, says) in [
        (&["--key-env", "NO_SUCH_KEY"][..], "NO_SUCH_KEY"),
        (&["--key-file", "no/such/key"], "no such file"),
    ] {
        let output = once(&store, "http://127.0.0.1:9", more);
        let text = seen(&output);
        assert!(!output.status.success() && text.contains(says), "{text}");
    }
    let text = seen(&once(&store, "not a url", &[]));
    assert!(text.starts_with("exit 2") && text.contains("base URL"), "{text}");
}

#[test]
fn what_session_compact_is_told_to_keep_reaches_the_model() {
    let store = waiting("worker-focus");
    ok(&store, &["session", "compact", "s", "--focus", "the retry logic of zq-gateway"], b"");
    let (_runtime, server) = serve(ScriptedAnswer::text("## Conversation Summary\n"));
    once(&store, server.url(), &["--key-env", "THE_KEY"]);
    let asked = server.seen()[0].body.to_string();
    assert!(asked.contains(" focus>>\\nthe retry logic of zq-gateway\\n"), "{asked}");
}

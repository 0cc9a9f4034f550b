//! What is changed on a live session: policy, model, window. And what is asked of it afterwards.

use std::fs;

use crate::session::{at, ok, parsed, shown, store};
use crate::{folder, regex_of, root, seen};

const SESSION: &str = "examples/coding-session.jsonl";

fn made(name: &str) -> String {
    let store = store(name);
    ok(&store, &["session", "new", "--id", "demo", "--window", "64k"], b"");
    let text = fs::read(root().join(SESSION)).unwrap();
    ok(&store, &["session", "append", "demo", "-"], &text);
    store
}

/// What the engine says of the session.
fn status(store: &str) -> serde_json::Value {
    parsed(&ok(store, &["session", "status", "demo", "--json"], b""))["status"].take()
}

#[test]
fn a_policy_is_changed_on_record() {
    let store = &made("policy");
    let before = status(store);
    assert_eq!((&before["policy"], before.get("policy_since")), (&"default".into(), None));
    shown!("session-policy", store, ["session", "policy", "demo", "--preset", "head-tail"]);
    let after = status(store);
    assert_eq!(
        (&after["policy"], &after["policy_since"]),
        (&"head-tail".into(), &before["events"])
    );
    ok(store, &["session", "compact", "demo"], b"");
    let file = folder("policy-file").join("mine.toml");
    fs::write(&file, "base = \"default\"\nname = \"mine\"\n[budget.tiers]\nresults = 0.3\n")
        .unwrap();
    let file = file.display().to_string();
    let told = ["session", "policy", "demo", "--policy", &file, "--narrate", "--json"];
    let told = parsed(&ok(store, &told, b""));
    let side = |name: &str| told[name]["policy"].as_str();
    assert_eq!((side("before"), side("after")), (Some("head-tail"), Some("mine")));
    assert_eq!(told["before"]["fingerprint"], after["policy_fingerprint"]);
    assert_eq!(told["after"]["fingerprint"], status(store)["policy_fingerprint"]);
    // Without one it is printed: a file that says the same.
    let printed = ok(store, &["session", "policy", "demo"], b"");
    assert!(printed.contains("results = 0.3") && printed.contains("name = \"mine\""), "{printed}");
    let audited = parsed(&ok(store, &["check", "session", "demo", "--json"], b""));
    assert_eq!(audited["receipts"][0]["policy"], "head-tail");
    let page = ok(store, &["session", "status", "demo"], b"");
    assert!(page.contains("policy       mine, changed after "), "{page}");
    shown!("session-policy-narrate", store, ["session", "policy", "demo", "--narrate"]);
    shown!("session-policy-unknown", store, ["session", "policy", "demo", "--preset", "headtail"]);
}

#[test]
fn a_model_brings_its_window() {
    let store = &made("model");
    shown!("session-model", store, ["session", "model", "demo", "gpt-4o"]);
    assert_eq!(
        (&status(store)["model"], &status(store)["context_length"]),
        (&"gpt-4o".into(), &128_000.into())
    );
    shown!("session-model-unknown", store, ["session", "model", "demo", "mine"]);
    let small = ["session", "model", "demo", "mine", "--window", "20k", "--json"];
    let small = parsed(&ok(store, &small, b""));
    assert_eq!((&small["before"]["window"], &small["window"]), (&128_000.into(), &20_000.into()));
    let context = parsed(&ok(store, &["session", "context", "demo", "--json"], b""));
    assert!(context["tokens"].as_u64().unwrap() <= 20_000);
    shown!("session-model-zero", store, ["session", "model", "demo", "mine", "--window", "0"]);
    assert_eq!(status(store)["context_length"], 20_000);
}

/// `recall describe`, `explain` and `audit` say the same of a name that was needed after all.
#[test]
fn a_lost_name_that_is_asked_for_again_is_told() {
    let store = &made("again");
    ok(store, &["session", "policy", "demo", "--preset", "head-tail"], b"");
    ok(store, &["session", "compact", "demo"], b"");
    let events = status(store)["events"].as_u64().unwrap();
    let described = parsed(&ok(store, &["recall", "describe", "demo", "--json"], b""));
    let lost = described["lost_ids"].as_array().unwrap();
    let name = lost.iter().filter_map(|name| name.as_str()).find(|name| name.len() > 6).unwrap();
    let asks = serde_json::json!({ "role": "user", "content": format!("What was {name}?") });
    ok(store, &["session", "append", "demo", "-"], asks.to_string().as_bytes());
    let explained = ok(store, &["explain", "demo", name], b"");
    let told = format!("folded at {events}, asked for again at {events}");
    assert!(explained.contains(&told), "{explained}");
    let described = ok(store, &["recall", "describe", "demo"], b"");
    let told = format!("folded at {events}, asked for again: {name} @{events}");
    assert!(described.contains(&told), "{described}");
    let audited = ok(store, &["check", "session", "demo"], b"");
    assert!(audited.contains(&format!("{name} at {events}")), "{audited}");
    let message = ok(store, &["explain", "demo", "@0"], b"");
    assert!(message.contains("the model sees it now, word for word"), "{message}");
}

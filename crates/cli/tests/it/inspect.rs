//! `midfold inspect`.

use crate::{regex_of, sees, stdout};

#[test]
fn pictures() {
    let session = "examples/coding-session.jsonl";
    sees!("inspect", ["inspect", session]);
    sees!("inspect-window", ["inspect", session, "--window", "2k", "--preset", "nucleic"]);
    sees!("inspect-several", ["inspect", "fixtures/tau-bench.json"]);
    sees!("inspect-only", ["inspect", "fixtures/tau-bench.json", "--only", "2"]);
    sees!("inspect-anthropic", ["inspect", "fixtures/anthropic.json"]);
}

#[test]
fn json_has_the_same_figures() {
    let text = stdout(&["inspect", "examples/coding-session.jsonl", "--json"], b"");
    let found: serde_json::Value = serde_json::from_str(&text).unwrap();
    let sum = |list: &str| -> u64 {
        found[list].as_array().unwrap().iter().map(|one| one["tokens"].as_u64().unwrap()).sum()
    };
    assert_eq!(found["tokens"].as_u64().unwrap(), sum("classes"));
    let regions = found["layout"]["regions"].as_array().unwrap();
    let messages: u64 = regions.iter().map(|one| one["messages"].as_u64().unwrap()).sum();
    assert_eq!(found["messages"].as_u64().unwrap(), messages);
    assert_eq!(found["presets"].as_array().unwrap().len(), 8);
    let lines = stdout(&["inspect", "fixtures/tau-bench.json", "--json"], b"");
    assert_eq!(lines.lines().count(), 2);
}

#[test]
fn no_window_is_too_large_to_inspect() {
    let window = u64::MAX.to_string();
    for preset in ["lean", "hermes"] {
        let session = "examples/coding-session.jsonl";
        let args = ["inspect", session, "--window", &window, "--preset", preset];
        let output = crate::run(&args, b"");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

//! `midfold tune`.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::{folder, regex_of, run, sees, stdout};

/// A folder of generated sessions.
fn corpus(name: &str, sessions: u64) -> String {
    let tmp = folder(name);
    for seed in 0..sessions {
        let lines = midfold_testkit::coding_session(seed, 3).join("\n");
        fs::write(tmp.join(format!("{seed}.jsonl")), lines + "\n").unwrap();
    }
    tmp.display().to_string()
}

fn json(args: &[&str]) -> Value {
    serde_json::from_str(&stdout(args, b"")).unwrap()
}

#[test]
fn reports() {
    let tmp = corpus("tune-reports", 5);
    let one = Path::new(&tmp).join("1.jsonl").display().to_string();
    let small = ["--window", "6k", "--tries", "12"];
    sees!("tune", [&["tune", &tmp][..], &small].concat());
    sees!("tune-cost", [&["tune", &tmp, "--prefer", "cost"][..], &small].concat());
    sees!("tune-one", [&["tune", &one, "--prefer", "balance"][..], &small].concat());
    sees!("tune-base-only", ["tune", &one, "--window", "6k", "--tries", "1"]);
    sees!("tune-short", ["tune", &one, "--window", "900k"]);
    sees!("tune-no-tries", ["tune", &one, "--window", "6k", "--tries", "0"]);
}

#[test]
fn the_file_replays_as_the_search_said() {
    let tmp = corpus("tune-file", 2);
    let one = Path::new(&tmp).join("1.jsonl").display().to_string();
    let policy = Path::new(&tmp).join("policy.toml").display().to_string();
    let args = ["--window", "8k", "--tries", "12", "--prefer", "balance", "--json", "-o", &policy];
    let found = json(&[&["tune", &one][..], &args].concat());
    assert_eq!(found["verdict"]["is"], "better", "{}", found["verdict"]);
    let text = fs::read_to_string(&policy).unwrap();
    assert_eq!(found["policy"], text.as_str());
    assert!(text.contains("\nbase = \"default\"\nname = \"tuned\"\n"), "{text}");
    assert!(text.lines().take_while(|line| line.starts_with("# ")).count() >= 4, "{text}");
    let again = json(&["replay", &one, "--window", "8k", "--policy", &policy, "--json"]);
    let again = &again["runs"][0]["totals"];
    let chosen = usize::try_from(found["chosen"].as_u64().unwrap()).unwrap();
    let figures = &found["trials"][chosen]["figures"];
    assert_eq!(again["requests"], figures["requests"]);
    assert_eq!(again["folds"], figures["folds"]);
    for key in ["at_risk", "recall", "rare", "rules", "cost"] {
        let (a, b) = (again[key].as_f64().unwrap(), figures[key].as_f64().unwrap());
        // A replay writes four digits.
        assert!((a - b).abs() < 6e-5, "{key}: {a} {b}");
    }
}

#[test]
fn a_search_is_the_same_every_time_and_on_any_number_of_cores() {
    let tmp = corpus("tune-same", 3);
    let args = ["tune", &tmp, "--window", "6k,8k", "--tries", "9", "--json", "--jobs"];
    let runs = ["1", "3"].map(|jobs| stdout(&[&args[..], &[jobs]].concat(), b""));
    assert_eq!(runs[0], runs[1]);
    let found: Value = serde_json::from_str(&runs[0]).unwrap();
    assert_eq!(found["trials"].as_array().unwrap().len(), 9);
    assert_eq!(found["trials"][0]["changes"], serde_json::json!({}));
    assert!(found["trials"][found["chosen"].as_u64().unwrap() as usize]["fit"].as_bool().unwrap());
}

#[test]
fn a_policy_that_is_no_better_is_not_written_over_default() {
    let tmp = corpus("tune-keep", 2);
    let policy = Path::new(&tmp).join("policy.toml").display().to_string();
    let output = run(&["tune", &tmp, "--window", "6k", "--tries", "1", "-o", &policy], b"");
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("it says `default`"));
    let text = fs::read_to_string(&policy).unwrap();
    assert_eq!(text.lines().last(), Some("base = \"default\""), "{text}");
}

#[test]
fn what_a_client_compacted_is_measured_and_stays_in_one_half() {
    let item = |role: &str, text: &str| {
        let content = serde_json::json!([{"type": "input_text", "text": text}]);
        let payload = serde_json::json!({"type": "message", "role": role, "content": content});
        serde_json::json!({"type": "response_item", "payload": payload}).to_string()
    };
    let stretch = |name: &str| {
        let lines = (0..80).map(|i| {
            let role = if i % 2 == 0 { "user" } else { "assistant" };
            item(role, &format!("{name}/file_{}.rs says {}", i / 4, "something long ".repeat(20)))
        });
        lines.collect::<Vec<_>>()
    };
    let mut lines = vec![r#"{"type":"session_meta","payload":{"id":"S"}}"#.to_owned()];
    lines.extend(stretch("before"));
    lines.push(r#"{"type":"compacted","payload":{"message":"so far"}}"#.to_owned());
    lines.extend(stretch("after"));
    let path = folder("tune-compacted").join("rollout.jsonl");
    fs::write(&path, lines.join("\n")).unwrap();
    let path = path.display().to_string();
    let found = json(&["replay", &path, "--window", "4k", "--preset", "head-tail", "--json"]);
    let all = found["conversations"].as_array().unwrap();
    let named: Vec<_> = all.iter().map(|one| (&one["name"], &one["messages"])).collect();
    assert_eq!(named.len(), 2, "{named:?}");
    assert_eq!((named[0].0.as_str(), named[0].1.as_u64()), (Some("rollout.jsonl#1"), Some(80)));
    assert_eq!((named[1].0.as_str(), named[1].1.as_u64()), (Some("rollout.jsonl#2"), Some(81)));
    let said = stdout(&["tune", &path, "--window", "4k", "--tries", "1"], b"");
    assert!(said.contains("2 conversations of one session; nothing is held out"), "{said}");
}

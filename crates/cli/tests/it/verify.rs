//! `midfold check file`.

use std::fs;

use crate::{folder, regex_of, root, run, sees, stdout};

const SESSION: &str = "examples/coding-session.jsonl";

#[test]
fn a_fold_is_proved_and_a_change_is_found() {
    let tmp = folder("verify");
    let [after, record, bad, prose] = ["after.jsonl", "fold.json", "bad.jsonl", "prose.json"]
        .map(|name| tmp.join(name).display().to_string());
    stdout(&["compact", SESSION, "-o", &after, "--record", &record, "--window", "32k"], b"");
    let files = ["check", "file", "--before", SESSION, "--after", &after];
    sees!("verify", files);
    sees!("verify-window", [&files[..], &["--window", "32k"]].concat());
    sees!("verify-record", [&files[..], &["--record", &record]].concat());
    sees!("verify-over", [&files[..], &["--window", "2k"]].concat());

    let text = fs::read_to_string(&after).unwrap();
    let lines: Vec<_> = text.lines().filter(|line| !line.contains("Checking before")).collect();
    fs::write(&bad, lines.join("\n") + "\n").unwrap();
    let files = ["check", "file", "--before", SESSION, "--after", &bad];
    sees!("verify-bad", files);
    let found = run(&[&files[..], &["--json", "--record", &record]].concat(), b"");
    assert_eq!(found.status.code(), Some(1));
    let found: serde_json::Value = serde_json::from_slice(&found.stdout).unwrap();
    assert_eq!(found["ok"], false);
    assert!(found["violations"].as_array().unwrap().iter().any(|v| v["rule"] == "pairs"));

    fs::write(&prose, "{\"not\":\"a fold\"}").unwrap();
    sees!("verify-no-record", [&files[..], &["--record", &prose]].concat());
    sees!(
        "verify-counts",
        ["check", "file", "--before", "fixtures/tau-bench.json", "--after", &after]
    );
}

#[test]
fn a_record_of_nothing_is_not_asked_for_again() {
    let tmp = folder("verify-null");
    let [before, after, record] = ["before.jsonl", "after.jsonl", "fold.json"]
        .map(|name| tmp.join(name).display().to_string());
    fs::write(&before, "{\"role\":\"user\",\"content\":\"Fix it.\"}\n").unwrap();
    stdout(&["compact", &before, "-o", &after, "--record", &record, "--window", "32k"], b"");
    assert_eq!(fs::read_to_string(&record).unwrap().trim(), "null");
    let files = ["check", "file", "--before", &before, "--after", &after];
    let page = stdout(&[&files[..], &["--record", &record]].concat(), b"");
    assert!(page.contains("it says that nothing was folded"), "{page}");
    assert!(!page.contains("give --record"), "{page}");
    assert!(stdout(&files, b"").contains("give --record"));
}

/// What `compact` makes of every fixture proves, whatever it is converted to.
#[test]
fn every_fixture_proves() {
    let tmp = folder("proofs");
    let [after, record] = ["after", "fold.json"].map(|name| tmp.join(name).display().to_string());
    let mut checked = 0;
    for entry in fs::read_dir(root().join("fixtures")).unwrap() {
        let name = format!("fixtures/{}", entry.unwrap().file_name().into_string().unwrap());
        for to in [&[][..], &["--to", "openai-chat"], &["--to", "anthropic"]] {
            let made = run(
                &[
                    &[
                        "compact",
                        &name,
                        "-o",
                        &after,
                        "--record",
                        &record,
                        "--tokenizer",
                        "chars:4",
                    ],
                    to,
                ]
                .concat(),
                b"",
            );
            if made.status.success() {
                let files =
                    ["check", "file", "--before", &name, "--after", &after, "--record", &record];
                let proof = run(&[&files[..], to].concat(), b"");
                let text = String::from_utf8(proof.stdout).unwrap();
                assert!(proof.status.success(), "{name} {to:?}: {text}");
                checked += 1;
            }
        }
    }
    assert!(checked >= 30, "{checked}");
}

//! `midfold measure replay` of a session whose file tells times: what a cache that went cold costs.

use std::fs;

use serde_json::Value;

use crate::{folder, stdout};

/// Three requests: the second ten minutes after the first, the third two hours after that.
fn session(test: &str) -> String {
    let line = |time: &str, role: &str, kind: &str| {
        let text = "we went on as before and nothing came of it ".repeat(200);
        format!(
            r#"{{"timestamp":"2026-09-21T{time}Z","type":"response_item","payload":{{"type":"message","role":"{role}","content":[{{"type":"{kind}","text":"{text}"}}]}}}}"#
        )
    };
    let talk = [("10:00:00", "10:00:09"), ("10:10:00", "10:10:09"), ("12:10:00.5", "12:10:09")];
    let talk = talk.iter().flat_map(|(asked, answered)| {
        [line(asked, "user", "input_text"), line(answered, "assistant", "output_text")]
    });
    let path = folder(test).join("rollout.jsonl");
    fs::write(&path, talk.collect::<Vec<_>>().join("\n")).unwrap();
    path.display().to_string()
}

#[test]
fn a_cache_that_went_cold_is_paid_for_and_said() {
    let file = session("replay-cold");
    let args =
        ["measure", "replay", &file, "--window", "32k", "--longer-than", "0", "--preset", "raw"];
    let totals = |more: &[&str]| {
        let text = stdout(&[&args[..], &["--json"], more].concat(), b"");
        let found: Value = serde_json::from_str(&text).unwrap();
        found["runs"][0]["totals"].clone()
    };
    let (own, hour, never) =
        (totals(&[]), totals(&["--cache-lifetime", "1h"]), totals(&["--cache-lifetime", "never"]));
    let cold = [&own, &hour, &never].map(|it| (it["timed"].clone(), it["cold"].clone()));
    assert_eq!(cold, [2, 1, 0].map(|cold| (2.into(), cold.into())));
    assert_eq!((&own["hit_share"], &own["price"]), (&0.0.into(), &own["lifetimes"]["5m"]["price"]));
    assert_eq!(hour["price"], own["lifetimes"]["1h"]["price"]);
    assert!(never["price"].as_f64() < own["price"].as_f64());
    let told = stdout(&args, b"").split_whitespace().collect::<Vec<_>>().join(" ");
    let wanted =
        "Of 2 pauses between requests, 2 are longer than 5 minutes and 1 longer than an hour";
    assert!(told.contains(wanted), "{told}");
    assert!(told.contains("Here it lives for 300 s: 2 requests found it so."), "{told}");
}

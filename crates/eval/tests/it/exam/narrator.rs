//! A model behind a command, walked through our own exam.
#![cfg(unix)]
#![expect(clippy::expect_used, reason = "helpers of tests")]

use std::time::Duration;

use midfold::Policy;
use midfold_eval::exam::engine::NoEngine;
use midfold_eval::exam::folder;
use midfold_eval::exam::narrator::{ExamNarrator, NarratorCounts};

/// A walk of our exam with a command that always answers the same: what became of the requests, the score, and
/// the last context.
fn walked(answer: &str) -> (NarratorCounts, f64, String) {
    // A question is one line, and the next one comes after the answer: `head` reads no more than it.
    let script = r#"while [ -n "$(head -n 1)" ]; do printf "%s\n" "$0"; done"#;
    let command = format!("sh -c '{script}' '{answer}'");
    let narrator = ExamNarrator::start(&command, Duration::from_secs(60)).expect("a shell");
    let exams = folder::own().expect("our exam");
    let policy = Policy::preset("default").expect("a preset");
    let row = exams[0].walk_narrated(&policy, &narrator).expect("a walk");
    let last = row.last.iter().map(|bytes| String::from_utf8_lossy(bytes).into_owned()).collect();
    (narrator.counts(), row.score, last)
}

#[test]
fn what_a_command_writes_is_in_the_recaps_that_are_scored() {
    let reply =
        r###"{"text": "## Conversation Summary\n## Values & Facts\n- work went on as planned"}"###;
    let (counts, _, last) = walked(reply);
    assert!(counts.asked > 0 && counts.answered == counts.asked, "{counts}");
    assert!(
        last.contains("### Narrated by a model") && last.contains("went on as planned"),
        "{last}"
    );
}

#[test]
fn a_command_without_an_answer_costs_nothing() {
    let exams = folder::own().expect("our exam");
    let policy = Box::new(Policy::preset("default").expect("a preset"));
    let plain = exams[0]
        .walk(&midfold_eval::exam::sitting::ExamCandidate::Policy(policy), true)
        .expect("a walk");
    for (answer, why) in
        [(r#"{"error": "no reply yet"}"#, "no reply yet"), ("oops", "one line of JSON")]
    {
        let (counts, score, _) = walked(answer);
        assert!(counts.asked > 0 && counts.answered == 0, "{counts}");
        assert!(counts.to_string().contains(why), "{counts}");
        assert!((score - plain.score).abs() < 1e-9, "{answer}: {score} and {}", plain.score);
    }
}

#[test]
fn a_command_that_is_none_says_why() {
    let start =
        |command| ExamNarrator::start(command, Duration::from_secs(1)).expect_err("no command");
    assert!(matches!(start(""), NoEngine::Empty));
    assert!(matches!(start("sh -c 'oops"), NoEngine::Quote));
}

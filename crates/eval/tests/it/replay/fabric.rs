//! What became of every event, fold by fold.

use midfold_core::policy::Policy;
use midfold_eval::replay::{FoldRow, ReplayStrategy};

use super::bench::{Talk, run};

/// Steps of 500 tokens each, under a task with a rule.
fn steps(count: usize) -> Talk {
    let mut talk = Talk::default().say("system", "You are.").say("user", "Never touch db/x.sql.");
    for step in 0..count {
        let id = format!("c{step}");
        talk = talk
            .call(&id, "read_file", &format!(r#"{{"path":"src/m{step}.rs"}}"#))
            .result(&id, &format!("fn m{step}() {{}}\n").repeat(130));
    }
    talk.say("assistant", "Done.")
}

fn letters(fold: &FoldRow) -> String {
    let runs = fold.fates.iter();
    runs.map(|(cell, count)| cell.letter().to_string().repeat(*count as usize)).collect()
}

/// Head, marker, newest messages: simple enough to say beforehand what becomes of every event.
fn head_tail() -> Policy {
    let text = "base = \"head-tail\"\nname = \"t\"\n[tail]\nratio = 0.0\nmin_messages = 4\n";
    Policy::from_toml(text).unwrap()
}

#[test]
fn every_row_has_a_cell_for_every_event_and_what_left_stays_away() {
    let talk = steps(24);
    let recording = talk.recording();
    let policy = head_tail();
    for strategy in [ReplayStrategy::Stateless(&policy), ReplayStrategy::Session(&policy)] {
        let session = matches!(strategy, ReplayStrategy::Session(_));
        let found = run(&recording, strategy, 6_000).unwrap();
        assert!(found.folds.len() >= 2, "session: {session}");
        for fold in &found.folds {
            let row = letters(fold);
            assert_eq!(row.len(), fold.at, "session: {session}");
            // System prompt and first user message, what is behind the marker, the newest four.
            let middle = fold.at - 6;
            assert_eq!(row, format!("vv{}vvvv", "m".repeat(middle)), "session: {session}");
            assert_eq!((fold.recap.is_some(), fold.recap_tokens), (false, 0));
            assert!(fold.after < fold.before && fold.before > 4_800);
        }
        let places: Vec<usize> = found.requests.iter().filter_map(|r| r.fold).collect();
        assert_eq!(places, (0..found.folds.len()).collect::<Vec<_>>());
        assert_eq!(found.measures.breaks as usize, found.folds.len());
    }
}

#[test]
fn recaps_stubs_and_reasons_are_told_apart() {
    let talk = steps(40);
    let policy = Policy::preset("default").unwrap();
    for strategy in [ReplayStrategy::Stateless(&policy), ReplayStrategy::Session(&policy)] {
        let found = run(&talk.recording(), strategy, 8_000).unwrap();
        assert!(found.folds.len() >= 2);
        for fold in &found.folds {
            let row = letters(fold);
            assert_eq!(row.len(), fold.at);
            assert!(row.contains('r') && !row.contains('m'), "{row}");
            assert!(row.ends_with('v'), "{row}");
            let text = fold.recap.as_ref().unwrap();
            assert!(!text.is_empty() && fold.recap_tokens > 0);
            for (seq, why) in &fold.why {
                assert!((*seq as usize) < fold.at && why.contains(": "), "{seq} {why}");
            }
        }
        // What left at the first fold does not come back at the second.
        let [first, second] = [letters(&found.folds[0]), letters(&found.folds[1])];
        let back = first.bytes().zip(second.bytes()).any(|(a, b)| a == b'r' && b == b'v');
        assert!(!back, "{first}\n{second}");
    }
}

#[test]
fn cleared_results_are_stubs_while_their_calls_stay() {
    let policy = Policy::preset("clear").unwrap();
    let found = run(&steps(24).recording(), ReplayStrategy::Session(&policy), 8_000).unwrap();
    let row = letters(&found.folds[0]);
    assert!(row.starts_with("vvvsvsvs") && row.ends_with("vvvvvv"), "{row}");
    assert!(found.folds[0].why.values().all(|why| why.starts_with("retain: ")));
}

#[test]
fn raw_never_folds() {
    let found = run(&steps(24).recording(), ReplayStrategy::Raw, 4_000).unwrap();
    assert!(found.folds.is_empty() && found.measures.folds == 0 && found.losses.is_empty());
    assert!((found.measures.recall.ratio() - 1.0).abs() < 1e-9);
    assert!(found.requests.iter().all(|row| row.tokens == row.raw && row.fold.is_none()));
}

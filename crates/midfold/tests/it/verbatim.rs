//! The preset `verbatim`: words stay whole, results and long inputs are one line with the number of their message.
#![expect(clippy::unwrap_used, clippy::panic, reason = "test helpers may fail loudly")]

use midfold::core::BlockKind;
use midfold::core::policy::{CoverExtent, ReducerName};
use midfold::core::project::PieceFate;
use midfold::formats::profile;
use midfold::{
    Budget, DialectKind, EventLog, Fold, Meter, NoOp, PlanOutcome, Policy, RawEvent, Session,
};
use serde_json::{Value, json};

fn session_of(messages: Vec<String>) -> Session {
    let counter = midfold::tokens::by_name("chars:3.2").unwrap();
    let events = messages.into_iter().map(|message| RawEvent::new(message.into()));
    let log = EventLog::of(DialectKind::OpenAiChat.shared(), profile::OPENAI, counter, events);
    Session::over("s", log, Policy::preset("verbatim").unwrap(), Meter::exact())
}

fn folded(session: &mut Session, window: u64) -> Fold {
    match session.compact(&Budget::new(window), None).unwrap() {
        PlanOutcome::Folded(fold) => *fold,
        PlanOutcome::Nothing(reason) => panic!("no fold: {reason}"),
    }
}

/// The edited messages that are sent, each with its number.
fn edited(session: &Session) -> Vec<(u32, Value)> {
    let of = |fate| match fate {
        PieceFate::Edited(seq) => Some(seq),
        _ => None,
    };
    let view = session.view();
    let found = view.pieces().filter_map(|piece| Some((of(piece.fate)?, piece)));
    found.map(|(seq, piece)| (seq, serde_json::from_slice(&piece.bytes).unwrap())).collect()
}

fn says(role: &str, text: &str) -> String {
    json!({"role": role, "content": text}).to_string()
}

fn step(n: usize, tool: &str, arguments: &Value, result: &str) -> [String; 2] {
    let function = json!({"name": tool, "arguments": arguments.to_string()});
    let call = json!({"id": format!("c{n}"), "type": "function", "function": function});
    [
        json!({"role": "assistant", "content": null, "tool_calls": [call]}).to_string(),
        json!({"role": "tool", "tool_call_id": format!("c{n}"), "content": result}).to_string(),
    ]
}

/// A task, these steps, and enough after them that they are in the middle.
fn work(steps: Vec<[String; 2]>) -> Vec<String> {
    let mut messages = vec![says("system", "You work."), says("user", "Mend the ledger.")];
    messages.extend(steps.into_iter().flatten());
    for n in 0..12 {
        let lines = format!("line of part {n}\n").repeat(60);
        messages.extend(step(
            100 + n,
            "read_file",
            &json!({"path": format!("part_{n}.rs")}),
            &lines,
        ));
    }
    messages
}

/// The line in the place of the result of the first of these steps.
fn line_of(tool: &str, arguments: &Value, result: &str) -> String {
    let mut session = session_of(work(vec![step(0, tool, arguments, result)]));
    folded(&mut session, 4_000);
    let all = edited(&session);
    let (_, message) = all.iter().find(|(seq, _)| *seq == 3).unwrap();
    message["content"].as_str().unwrap().to_owned()
}

#[test]
fn constants() {
    let policy = Policy::preset("verbatim").unwrap();
    let (trigger, fold) = (&policy.trigger, &policy.fold);
    assert_eq!((trigger.threshold.0, fold.target.0, fold.min_reclaim.0), (8_500, 6_000, 1_500));
    assert!(policy.stub.numbers && policy.stub.verdicts && policy.arguments.numbers);
    assert_eq!(policy.recap.cover, CoverExtent::Overflow);
    assert_eq!(policy.reducers.last(), Some(&ReducerName::Recap));
    assert!(!policy.narration.on);
}

#[test]
fn words_stay_and_results_are_a_line_with_their_number() {
    let mut session = session_of(midfold_testkit::coding_session(11, 8));
    let fold = folded(&mut session, 24_000);
    assert!(fold.recap.is_none() && fold.accounts.recap == 0, "no word had to go");
    assert_eq!(session.view().len(), session.log().len());
    let (mut results, mut inputs) = (0, 0);
    for (seq, message) in edited(&session) {
        let original = &session.log().events()[seq as usize];
        let before: Value = serde_json::from_slice(&original.bytes).unwrap();
        if message["role"] == "tool" {
            let line = message["content"].as_str().unwrap();
            assert!(line.starts_with('[') && line.lines().count() == 1, "{line}");
            assert!(line.ends_with(&format!(" @{seq}")), "{line}");
            results += 1;
            continue;
        }
        assert_eq!(message["content"], before["content"], "words stay");
        for (call, whole) in std::iter::zip(
            message["tool_calls"].as_array().unwrap(),
            before["tool_calls"].as_array().unwrap(),
        ) {
            let text = |call: &Value| call["function"]["arguments"].as_str().unwrap().to_owned();
            let (cut, whole) = (text(call), text(whole));
            let arguments: Value = serde_json::from_str(&cut).unwrap();
            let original: Value = serde_json::from_str(&whole).unwrap();
            assert_eq!(arguments["path"], original["path"]);
            if cut != whole {
                assert!(cut.contains(&format!(" more characters, @{seq}]")), "{cut}");
                inputs += 1;
            }
        }
    }
    assert!(results > 20 && inputs > 2, "{results} results, {inputs} inputs");
}

#[test]
fn a_line_says_how_the_call_ended() {
    let output = |end: &str| format!("{}{end}", "collecting tests\n".repeat(40));
    let run =
        |command: &str, end: &str| line_of("bash", &json!({"command": command}), &output(end));
    assert_eq!(
        run("pytest -q", "E   AssertionError: 3 != 4\n1 failed, 10 passed in 2.00s\n"),
        "[bash] ran `pytest -q` -> 42 lines output, error: AssertionError: 3 != 4 / 1 failed, 10 passed in 2.00s @3"
    );
    assert_eq!(
        run("pytest -q", "11 passed in 2.00s\n"),
        "[bash] ran `pytest -q` -> 41 lines output: 11 passed in 2.00s @3"
    );
    assert_eq!(run("ls -R", "src\n"), "[bash] ran `ls -R` -> 41 lines output @3");
    let refused = format!(
        "Error: old_string was not found in src/a.rs. {}",
        "It has other lines. ".repeat(20)
    );
    let edit = json!({"path": "src/a.rs", "old_string": "a", "new_string": "b"});
    let line = line_of("edit", &edit, &refused);
    assert!(line.starts_with("[edit] tried to change src/a.rs ("), "{line}");
    assert!(line.contains(", error): Error: old_string was not found"), "{line}");
}

#[test]
fn where_words_alone_are_too_many_the_oldest_go_behind_a_recap() {
    let mut messages = vec![says("system", "You work."), says("user", "Mend the ledger.")];
    for n in 0..60 {
        messages.push(says(
            "assistant",
            &format!("Part {n} is mended. {}", "It counted in cents. ".repeat(20)),
        ));
        messages.push(says(
            "user",
            &format!("Then take part {}. {}", n + 1, "Mind the rounding. ".repeat(20)),
        ));
    }
    let mut session = session_of(messages);
    let fold = folded(&mut session, 8_000);
    let covered = fold.covered();
    assert!(!covered.is_empty() && fold.edits.is_empty());
    let oldest: Vec<u32> = (2..2 + covered.len() as u32).collect();
    assert_eq!(covered, oldest, "the oldest, without a gap");
    let kept = (session.log().len() - covered.len()) as u32;
    assert_eq!(fold.accounts.verbatim, kept);
    assert!(fold.tokens_after * 10 <= 8_000 * 6 && fold.tokens_after > 8_000 * 4 / 10);
}

#[test]
fn by_hand_what_fits_is_left_alone() {
    let mut session = session_of(midfold_testkit::coding_session(11, 2));
    let window = session.log().tokens() * 2;
    let outcome = session.compact(&Budget::new(window), None).unwrap();
    assert!(
        matches!(outcome, PlanOutcome::Nothing(NoOp::FullyProtected | NoOp::NoGain { .. })),
        "{outcome:?}"
    );
    let half = session.log().tokens() / 2;
    let outcome = session.compact_within(&Budget::new(window), Some(half), None).unwrap();
    let PlanOutcome::Folded(fold) = outcome else { panic!("{outcome:?}") };
    assert!(fold.recap.is_none() && fold.tokens_after <= half);
}

/// A number is that of the log after a second fold, too, and the results in front of it are still there.
#[test]
fn the_numbers_are_those_of_the_log_in_each_fold() {
    let all = midfold_testkit::coding_session(11, 18);
    let mut session = session_of(Vec::new());
    let budget = Budget::new(16_000);
    let mut recaps = 0;
    for message in all {
        session.append(RawEvent::new(message.into()));
        if session.log().has_open_call() {
            continue;
        }
        session.context(&budget, 0).unwrap();
    }
    for fold in session.folds() {
        recaps += usize::from(fold.recap.is_some());
    }
    assert!(
        session.folds().len() > 3 && recaps > 0,
        "{} folds, {recaps} recaps",
        session.folds().len()
    );
    let results: Vec<_> = edited(&session);
    for (seq, message) in results.iter().filter(|(_, message)| message["role"] == "tool") {
        let event = &session.log().events()[*seq as usize];
        assert!(
            event.view.blocks.iter().any(|block| matches!(block.kind, BlockKind::Result { .. }))
        );
        assert!(message["content"].as_str().unwrap().ends_with(&format!(" @{seq}")));
    }
    assert!(!results.is_empty());
}

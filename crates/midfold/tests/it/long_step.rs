//! A newest step that alone is longer than the window: with `tail.cut_results` its results are shown cut.
#![expect(clippy::unwrap_used, clippy::panic, reason = "test helpers may fail loudly")]

use bytes::Bytes;
use midfold::core::plan::PlanError;
use midfold::core::policy::ReducerName;
use midfold::core::profile::ProviderProfile;
use midfold::core::verify::{ProofCase, verify};
use midfold::formats::profile;
use midfold::formats::verify::validator;
use midfold::{Budget, DialectKind, EventLog, Fold, Meter, PlanOutcome, Policy, RawEvent, Session};
use midfold_testkit::emit;
use midfold_testkit::{TestCall, TestMessage};

const WINDOW: u64 = 8_000;

/// A numbered listing, so that a reader sees which lines are there.
fn listing(lines: usize) -> String {
    (1..=lines).map(|line| format!("{line}: value {}\n", line * 7919 % 10_007)).collect()
}

/// A session whose newest step has these results, in parallel.
fn ends_with(results: &[String]) -> Vec<TestMessage> {
    let calls = results.iter().enumerate().map(|(at, _)| TestCall {
        id: format!("call_{at}"),
        name: "bash".to_owned(),
        arguments: r#"{"command":"cat values.txt"}"#.to_owned(),
    });
    let mut all = vec![
        TestMessage::User("Find the odd value in values.txt.".to_owned()),
        TestMessage::Assistant {
            thought: None,
            text: "I read the file.".to_owned(),
            calls: calls.collect(),
        },
    ];
    all.extend(results.iter().enumerate().map(|(at, content)| TestMessage::Tool {
        id: format!("call_{at}"),
        name: "bash".to_owned(),
        content: content.clone(),
    }));
    all
}

fn policy() -> Policy {
    let mut policy = Policy::preset("default").unwrap();
    policy.tail.cut_results = Some(true);
    policy
}

fn session_of(
    kind: DialectKind,
    profile: ProviderProfile,
    messages: &[String],
    policy: Policy,
) -> Session {
    let counter = midfold::tokens::by_name("o200k").unwrap();
    let events = messages.iter().map(|m| RawEvent::new(Bytes::from(m.clone())));
    let log = EventLog::of(kind.shared(), profile, counter, events);
    Session::over("long", log, policy, Meter::exact())
}

fn chat(messages: &[TestMessage], policy: Policy) -> Session {
    session_of(DialectKind::OpenAiChat, profile::OPENAI, &emit::openai_chat(messages), policy)
}

fn fold(session: &mut Session) -> Fold {
    match session.compact(&Budget::new(WINDOW), None).unwrap() {
        PlanOutcome::Folded(fold) => *fold,
        PlanOutcome::Nothing(reason) => panic!("no fold: {reason}"),
    }
}

/// The texts that are sent as results, in a session of Chat Completions.
fn shown(session: &Session) -> Vec<String> {
    let sent: Vec<serde_json::Value> = serde_json::from_slice(&session.view().bytes()).unwrap();
    let results = sent.iter().filter(|message| message["role"] == "tool");
    results.map(|message| message["content"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_long_result_keeps_its_ends_and_says_which_lines_are_left_out() {
    let text = listing(4_000);
    let mut session = chat(&ends_with(std::slice::from_ref(&text)), policy());
    let fold = fold(&mut session);
    assert!(fold.tokens_after <= WINDOW && !fold.tail_verbatim, "{}", fold.tokens_after);
    assert!(fold.edits.iter().all(|edit| edit.reducer == ReducerName::Cut));
    assert_eq!((fold.edits.len(), fold.accounts.edited, fold.evicted), (1, 1, 0));
    let shown = shown(&session).remove(0);
    let gap = shown.lines().position(|line| line.starts_with("[midfold left out lines ")).unwrap();
    let lines: Vec<&str> = shown.lines().collect();
    // The numbers in the line are those of the first and the last line that are left out.
    let said = format!("[midfold left out lines {} to ", thousands(gap + 1));
    assert!(lines[gap].starts_with(&said), "{}", lines[gap]);
    let all: Vec<&str> = text.lines().collect();
    assert_eq!(lines[..gap], all[..gap]);
    let last = lines.len() - gap - 1;
    assert!(gap > 100 && last > 100, "{gap} and {last} lines are left");
    assert_eq!(lines[gap + 1..], all[all.len() - last..]);
    assert!(lines[gap].contains(&format!(" to {} of 4,000:", thousands(4_000 - last))));
}

fn thousands(number: usize) -> String {
    midfold::core::reduce::thousands(number)
}

#[test]
fn without_the_setting_the_floor_is_an_error() {
    let mut session = chat(&ends_with(&[listing(4_000)]), Policy::preset("default").unwrap());
    let error = session.compact(&Budget::new(WINDOW), None).unwrap_err();
    assert!(matches!(error, PlanError::Floor(_)), "{error}");
}

#[test]
fn a_step_that_fits_is_never_cut() {
    let mut messages = ends_with(&[listing(400)]);
    messages.splice(1..1, dialogue(40));
    let mut session = chat(&messages, policy());
    let fold = fold(&mut session);
    assert!(fold.tail_verbatim && fold.edits.is_empty() && fold.evicted > 0);
}

/// A dialogue that a recap can cover.
fn dialogue(turns: usize) -> Vec<TestMessage> {
    let turn = |at: usize| {
        let text = format!("Step {at} is done. {}", "It took a while. ".repeat(40));
        [
            TestMessage::Assistant { thought: None, text, calls: Vec::new() },
            TestMessage::User(format!("Now do step {at}.")),
        ]
    };
    (0..turns).flat_map(turn).collect()
}

#[test]
fn only_the_longest_of_parallel_results_are_cut() {
    let results = [listing(3_000), "all 12 tests passed".to_owned(), listing(2_500)];
    let mut messages = ends_with(&results);
    messages.splice(1..1, dialogue(40));
    let mut session = chat(&messages, policy());
    let fold = fold(&mut session);
    assert!(fold.tokens_after <= WINDOW);
    let shown = shown(&session);
    assert_eq!(shown[1], results[1]);
    // Both long ones end at the same size, although one was longer.
    let sizes = [shown[0].len(), shown[2].len()];
    assert!(sizes[0].abs_diff(sizes[1]) < sizes[0] / 5, "{sizes:?}");
    assert!(fold.evicted > 0, "the rest is covered by the recap as always");
}

#[test]
fn a_result_of_one_line_is_cut_inside() {
    let text = format!("[{}]", (0..20_000).map(|n| n.to_string()).collect::<Vec<_>>().join(","));
    let mut session = chat(&ends_with(std::slice::from_ref(&text)), policy());
    assert!(fold(&mut session).tokens_after <= WINDOW);
    let shown = shown(&session).remove(0);
    assert!(shown.starts_with("[0,1,2,") && shown.ends_with("19998,19999]"));
    assert!(shown.contains("[midfold left out characters "));
}

#[test]
fn nothing_else_is_cut_to_make_a_step_fit() {
    // The user's own text is too long: no result can be cut for it.
    let mut messages = ends_with(&["done".to_owned()]);
    messages.push(TestMessage::User(listing(4_000)));
    let mut session = chat(&messages, policy());
    assert!(session.compact(&Budget::new(WINDOW), None).is_err());
}

#[test]
fn the_next_fold_covers_the_whole_result() {
    let mut messages = ends_with(&[listing(4_000)]);
    let mut session = chat(&messages, policy());
    let first = fold(&mut session);
    messages.extend(dialogue(20));
    for message in emit::openai_chat(&dialogue(20)) {
        session.append(RawEvent::new(Bytes::from(message)));
    }
    let second = fold(&mut session);
    assert_eq!(second.prev, Some(first.id));
    assert!(second.edits.is_empty() && second.evicted > 2 && second.tail_verbatim);
}

#[test]
fn verify_agrees_in_every_dialect() {
    let messages = ends_with(&[listing(3_000), listing(10), listing(2_000)]);
    let anthropic = emit::anthropic(&messages).1;
    let gemini = emit::gemini(&messages).1;
    let bedrock = emit::bedrock(&messages).1;
    let of = [
        (DialectKind::OpenAiChat, profile::OPENAI, emit::openai_chat(&messages)),
        (DialectKind::OpenAiResponses, profile::RESPONSES, emit::responses(&messages)),
        (DialectKind::Anthropic, profile::ANTHROPIC, anthropic),
        (DialectKind::Gemini, profile::GEMINI, gemini),
        (DialectKind::Bedrock, profile::BEDROCK, bedrock),
        (DialectKind::Ollama, profile::OLLAMA, emit::ollama(&messages)),
    ];
    for (kind, profile, messages) in of {
        let mut session = session_of(kind, profile, &messages, policy());
        let fold = fold(&mut session);
        assert_eq!(fold.edits.len(), 2, "{kind:?}");
        verifies(&session, kind, profile, &fold);
    }
}

/// Checks the context of a session against the record of its fold.
fn verifies(session: &Session, kind: DialectKind, profile: ProviderProfile, fold: &Fold) {
    let before: Vec<_> = session.log().events().iter().map(|it| it.bytes.clone()).collect();
    let after: Vec<_> = session.view().pieces().map(|piece| piece.bytes.clone()).collect();
    let validate = validator(kind, profile);
    let found = verify(&ProofCase {
        before: &before,
        after: &after,
        envelope: &[],
        dialect: kind.dialect(),
        counter: &**session.log().counter(),
        validate: &validate,
        budget: Some(WINDOW),
        fold: Some(fold),
    });
    assert!(found.findings.is_empty(), "{kind:?}: {:?}", found.findings);
}

#[test]
fn a_long_result_in_one_message_with_the_users_last_words_is_cut_once_it_is_read() {
    let words = "Please also look at part 7.";
    let step = |at: usize, lines: usize| {
        let id = format!("call_{at}");
        let name = "bash".to_owned();
        let arguments = format!(r#"{{"command":"cat part{at}.txt"}}"#);
        let call = TestCall { id: id.clone(), name: name.clone(), arguments };
        [
            TestMessage::Assistant {
                thought: None,
                text: format!("Part {at}."),
                calls: vec![call],
            },
            TestMessage::Tool { id, name, content: listing(lines) },
        ]
    };
    let mut messages = vec![TestMessage::User("Find the odd value.".to_owned())];
    messages.extend([step(1, 10), step(2, 3_000)].concat());
    let end = messages.len();
    messages.extend([step(3, 10), step(4, 10)].concat());
    let with = |mut sent: Vec<String>, list: &str, part: serde_json::Value| {
        let mut message: serde_json::Value = serde_json::from_str(&sent[end - 1]).unwrap();
        message[list].as_array_mut().unwrap().push(part);
        sent[end - 1] = message.to_string();
        sent
    };
    let text = || serde_json::json!({ "text": words });
    let block = serde_json::json!({ "type": "text", "text": words });
    let anthropic = with(emit::anthropic(&messages).1, "content", block);
    let gemini = with(emit::gemini(&messages).1, "parts", text());
    let bedrock = with(emit::bedrock(&messages).1, "content", text());
    for (kind, profile, messages) in [
        (DialectKind::Anthropic, profile::ANTHROPIC, anthropic),
        (DialectKind::Gemini, profile::GEMINI, gemini),
        (DialectKind::Bedrock, profile::BEDROCK, bedrock),
    ] {
        for preset in ["default", "lean", "generous", "verbatim", "hermes"] {
            let policy = Policy::preset(preset).unwrap();
            let mut session = session_of(kind, profile, &messages, policy);
            let fold = fold(&mut session);
            assert!(fold.tokens_after <= WINDOW, "{kind:?} {preset}: {}", fold.tokens_after);
            verifies(&session, kind, profile, &fold);
            let sent = String::from_utf8(session.view().bytes()).unwrap();
            assert!(sent.contains(words), "{kind:?} {preset}");
        }
    }
}

/// A step that writes a file: a call with long arguments and a short result.
fn writes(arguments: String) -> Vec<TestMessage> {
    let call = TestCall { id: "call_0".to_owned(), name: "write_file".to_owned(), arguments };
    let text = "I write the file.".to_owned();
    vec![
        TestMessage::User("Write all values to values.txt.".to_owned()),
        TestMessage::Assistant { thought: None, text, calls: vec![call] },
        TestMessage::Tool {
            id: "call_0".to_owned(),
            name: "write_file".to_owned(),
            content: "ok".to_owned(),
        },
    ]
}

/// The arguments of the only call, as they are sent.
fn sent_arguments(session: &Session, kind: DialectKind) -> serde_json::Value {
    let view = session.view();
    let calls = view.pieces().flat_map(|piece| {
        let view = kind.dialect().view(&piece.bytes);
        let calls = view.blocks.iter().filter(|block| block.is_call());
        calls.map(|block| block.text(&piece.bytes).into_owned()).collect::<Vec<_>>()
    });
    serde_json::from_str(&calls.collect::<String>()).unwrap()
}

#[test]
fn long_arguments_of_a_call_are_cut_in_every_dialect_and_stay_json() {
    let text = listing(20_000);
    let content = serde_json::json!({ "path": "values.txt", "content": text, "mode": 420 });
    let numbers = serde_json::json!({ "values": (0..40_000).collect::<Vec<u32>>() });
    for (arguments, is_text) in [(content, true), (numbers, false)] {
        let messages = writes(arguments.to_string());
        for (kind, profile, messages) in [
            (DialectKind::OpenAiChat, profile::OPENAI, emit::openai_chat(&messages)),
            (DialectKind::OpenAiResponses, profile::RESPONSES, emit::responses(&messages)),
            (DialectKind::Anthropic, profile::ANTHROPIC, emit::anthropic(&messages).1),
            (DialectKind::Gemini, profile::GEMINI, emit::gemini(&messages).1),
            (DialectKind::Bedrock, profile::BEDROCK, emit::bedrock(&messages).1),
            (DialectKind::Ollama, profile::OLLAMA, emit::ollama(&messages)),
        ] {
            let plain = Policy::preset("default").unwrap();
            let refused =
                session_of(kind, profile, &messages, plain).compact(&Budget::new(WINDOW), None);
            assert!(matches!(refused, Err(PlanError::Floor(_))), "{kind:?}");
            let mut session = session_of(kind, profile, &messages, policy());
            let fold = fold(&mut session);
            assert!(fold.tokens_after <= WINDOW, "{kind:?}: {}", fold.tokens_after);
            let edits: Vec<_> = fold.edits.iter().map(|edit| edit.reducer).collect();
            assert_eq!(edits, [ReducerName::Cut], "{kind:?}");
            let sent = sent_arguments(&session, kind);
            if is_text {
                let shown = sent["content"].as_str().unwrap();
                assert_eq!((&sent["path"], &sent["mode"]), (&"values.txt".into(), &420.into()));
                assert!(shown.starts_with("1: value ") && shown.contains("\n20000: value "));
                assert!(shown.contains("\n[midfold left out lines "), "{kind:?}: {shown}");
            } else {
                assert!(sent["clipped"].as_str().unwrap().starts_with("{\"values\":[0,1,2"));
            }
            let before: Vec<_> = session.log().events().iter().map(|it| it.bytes.clone()).collect();
            assert_eq!(before, messages.iter().map(|it| it.as_bytes()).collect::<Vec<_>>());
        }
    }
}

//! Plain words in a recap (`recap.words`): which, how many, and what never gets there.
#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

use std::collections::BTreeSet;

use bytes::Bytes;
use midfold::core::policy::Fallback;
use midfold::core::recap::words::words;
use midfold::formats::profile;
use midfold::{Budget, DialectKind, Fold, Log, Meter, Outcome, Policy, RawEvent, Session, tokens};
use serde_json::json;

fn policy(words: f64) -> Policy {
    Policy::from_toml(&format!("base = \"default\"\n[recap]\nwords = {words}")).unwrap()
}

fn open(rows: &[String], policy: Policy) -> Session {
    let events = rows.iter().map(|row| RawEvent::new(Bytes::from(row.clone())));
    let counter = tokens::by_name("chars:3.2").unwrap();
    let log = Log::of(DialectKind::OpenAiChat.shared(), profile::OPENAI, counter, events);
    Session::over("s", log, policy, Meter::exact())
}

fn fold(session: &mut Session, window: u64) -> Fold {
    match session.compact(&Budget::new(window), None).unwrap() {
        Outcome::Folded(fold) => *fold,
        Outcome::Nothing(reason) => panic!("{reason}"),
    }
}

fn listed(fold: &Fold) -> Vec<String> {
    let text = &fold.recap.as_ref().unwrap().text;
    let mut lines = text.lines().skip_while(|line| *line != "### Other words").skip(1);
    let line = lines.next().map_or("", |line| line.strip_prefix("words:").unwrap());
    line.split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

#[test]
fn computed_recaps_list_words_and_without_a_share_they_do_not() {
    let rows = midfold_testkit::coding_session(7, 20);
    for name in Policy::preset_names() {
        let preset = Policy::preset(name).unwrap();
        let computed = preset.recap.fallback == Fallback::Computed;
        assert_eq!(preset.recap.words.0 > 0, computed, "{name}");
    }
    let preset = fold(&mut open(&rows, Policy::preset("default").unwrap()), 8_000);
    assert!(listed(&preset).len() > 20);
    assert_eq!(listed(&fold(&mut open(&rows, policy(0.0)), 8_000)), [""; 0]);
}

#[test]
fn words_stand_nowhere_else_and_keep_to_their_share() {
    let rows = midfold_testkit::coding_session(7, 20);
    let mut session = open(&rows, policy(0.1));
    let fold = fold(&mut session, 8_000);
    let listed = listed(&fold);
    assert!(listed.len() > 20, "{listed:?}");
    let recap = fold.recap.as_ref().unwrap();
    let (before, own) = recap.text.split_once("### Other words").unwrap();
    assert!(own.len() * 10 / 32 <= 8_000 * 22 / 1_000 + 20, "a tenth of 0.22 of the window");
    assert!(recap.tokens <= 8_000 * 22 / 100);
    let view = session.view();
    let others =
        view.pieces().filter(|piece| !piece.bytes.windows(11).any(|w| w == b"Other words"));
    let others: String = others.map(|p| String::from_utf8_lossy(&p.bytes).into_owned()).collect();
    let others: BTreeSet<&str> = words(before).chain(words(&others)).collect();
    let twice: Vec<_> = listed.iter().filter(|word| others.contains(word.as_str())).collect();
    assert!(twice.is_empty(), "{twice:?}");
    let once: BTreeSet<&String> = listed.iter().collect();
    assert_eq!(once.len(), listed.len());
}

#[test]
fn a_later_fold_hands_words_on() {
    let rows = midfold_testkit::coding_session(7, 4);
    let (first, rest) = rows.split_at(rows.len() / 2);
    // Said once, early, never again, and behind what the recap tells of a step.
    let text = "Let me look at it. ".repeat(12) + "The marmalade quota is in zephyr.";
    let said = json!({ "role": "assistant", "content": text });
    let (task, steps) = first.split_at(2);
    let first = [task, &[said.to_string()], steps].concat();
    let mut early = open(&first, policy(0.1));
    let once = |fold: &Fold| {
        let listed = listed(fold);
        ["marmalade", "zephyr"].iter().all(|word| listed.iter().any(|other| other == word))
    };
    let before = fold(&mut early, 8_000);
    assert!(once(&before), "{:?}", listed(&before));
    // Stateless: what was sent comes back as the conversation.
    let view = early.view();
    let sent = view.pieces().map(|p| String::from_utf8(p.bytes.to_vec()).unwrap());
    let sent: Vec<String> = sent.chain(rest.iter().cloned()).collect();
    let after = fold(&mut open(&sent, policy(0.1)), 8_000);
    assert!(once(&after), "{:?}", listed(&after));
    let text = &after.recap.as_ref().unwrap().text;
    assert_eq!(text.matches("### Other words").count(), 1);
}

/// What is far back of a long span is not read: the time of a fold does not grow with the log.
#[test]
fn only_the_newest_text_is_read() {
    let row = |role: &str, content: String| json!({ "role": role, "content": content }).to_string();
    let long = |last: &str| "So it goes on and on. ".repeat(4_000) + last;
    let said = |last: &str| [row("assistant", long(last)), row("user", "Go on.".to_owned())];
    let task = [row("user", "Set it up.".to_owned())];
    let rows =
        [&task[..], &said("zephyr"), &said("marmalade"), &said("quota"), &said("x")].concat();
    let listed = listed(&fold(&mut open(&rows, policy(0.1)), 40_000));
    let listed = |word: &str| listed.iter().any(|other| other == word);
    assert!(listed("quota") && listed("marmalade") && !listed("zephyr"));
}

#[test]
fn what_is_hidden_elsewhere_is_no_word() {
    let message =
        |role: &str, content: String| json!({ "role": role, "content": content }).to_string();
    let mut rows = vec![message("user", "Set it up.".to_owned())];
    let secret = "Now password = \"Correcthorse!battery\" for the deployer. ";
    for text in [secret, "Then the rest."] {
        rows.push(message("assistant", text.to_owned() + &"More about it. ".repeat(60)));
        rows.push(message("user", "Go on.".to_owned()));
    }
    let fold = fold(&mut open(&rows, policy(0.5)), 700);
    let recap = fold.recap.unwrap().text;
    assert!(recap.contains("deployer"), "{recap}");
    let (_, list) = recap.split_once("words:").unwrap();
    assert!(!list.contains("about"), "says nothing: {list}");
    assert!(!recap.contains("Correcthorse") && !recap.contains("battery"), "{recap}");
}

/// Reasoning of the tail and of the head is no place where a name or a word stands: providers
/// leave it out of later requests.
#[test]
fn what_only_reasoning_says_again_is_named() {
    let row = |role: &str, content: String| json!({ "role": role, "content": content }).to_string();
    let filler = "So it goes on and on. ".repeat(100);
    let mut rows = vec![row("user", "Set it up.".to_owned())];
    let said = "See settle_window in the marmalade quota. ".to_owned() + &filler;
    rows.push(row("assistant", said));
    for _ in 0..4 {
        rows.push(row("user", "Go on.".to_owned()));
        rows.push(row("assistant", filler.clone()));
    }
    rows.push(row("user", "And then?".to_owned()));
    let thought = "I think of settle_window and the marmalade quota.";
    rows.push(
        json!({ "role": "assistant", "content": "Done.", "reasoning_content": thought })
            .to_string(),
    );
    let mut session = open(&rows, policy(0.3));
    let fold = fold(&mut session, 3_000);
    let kept: String = session
        .view()
        .pieces()
        .map(|piece| String::from_utf8_lossy(&piece.bytes).into_owned())
        .collect();
    assert!(kept.contains(thought), "it is there, and does not count");
    let recap = &fold.recap.as_ref().unwrap().text;
    assert!(recap.contains("names: settle_window"), "{recap}");
    assert!(listed(&fold).contains(&"marmalade".to_owned()), "{recap}");
}

//! What a log is made of.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use bytes::Bytes;
use midfold::core::survey::{LogSurvey, PieceClass, SurveyCount, survey};
use midfold::formats::{profile, read};
use midfold::{EventLog, Policy};

fn surveyed(text: String) -> (EventLog, LogSurvey) {
    let found = read::read(&Bytes::from(text), None).unwrap();
    let conversation = &found.conversations[0];
    let kind = conversation.format.dialect();
    let counter = midfold::tokens::by_name("chars:1").unwrap();
    let events = conversation.events.iter().cloned();
    let mut log = EventLog::of(kind.shared(), profile::for_dialect(kind)[0], counter, events);
    let envelope = &conversation.envelope;
    log.set_envelope([&envelope.system, &envelope.tools].into_iter().flatten().map(|b| &b[..]));
    let survey = survey(&log, &Policy::preset("default").unwrap());
    (log, survey)
}

/// Each of them reads `path` and gets `text`.
fn session(reads: &[(&str, &str)]) -> String {
    let mut out = String::from("{\"role\":\"user\",\"content\":\"look\"}\n");
    for (at, (path, text)) in reads.iter().enumerate() {
        let call = format!(
            r#"{{"id":"c{at}","type":"function","function":{{"name":"read_file","arguments":"{{\"path\":\"{path}\"}}"}}}}"#
        );
        out += &format!("{{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{call}]}}\n");
        out +=
            &format!("{{\"role\":\"tool\",\"tool_call_id\":\"c{at}\",\"content\":\"{text}\"}}\n");
    }
    out
}

#[test]
fn classes_add_up_to_the_log() {
    let example = include_str!("../../../../examples/coding-session.jsonl").to_owned();
    let (log, survey) = surveyed(example);
    let sum: u64 = survey.classes.iter().map(|(_, count)| count.tokens).sum();
    assert_eq!(sum, log.tokens());
    let of = |class| survey.classes.iter().find(|(known, _)| *known == class).map(|(_, n)| *n);
    let results: SurveyCount = of(PieceClass::Results).unwrap();
    let by_tool: u64 = survey.tools.iter().map(|(_, count)| count.tokens).sum();
    assert_eq!(results.tokens, by_tool);
    assert!(survey.tools.windows(2).all(|pair| pair[0].1.tokens >= pair[1].1.tokens));
    assert!(of(PieceClass::Media).is_none() && of(PieceClass::User).unwrap().items == 13);
}

#[test]
fn repetition_is_counted_once() {
    let (a, b) = ("a".repeat(400), "b".repeat(400));
    let (_, twice) = surveyed(session(&[("x.rs", &a), ("y.rs", &b), ("z.rs", &a)]));
    assert_eq!((twice.duplicates.items, twice.superseded.items), (1, 0));
    assert!((300..400).contains(&twice.duplicates.tokens));
    let (_, again) = surveyed(session(&[("x.rs", &a), ("y.rs", &b), ("x.rs", &b)]));
    // The read of `y.rs` is repeated word for word, the first of `x.rs` is stale.
    assert_eq!((again.duplicates.items, again.superseded.items), (1, 1));
    let (_, new) = surveyed(session(&[("x.rs", &a), ("y.rs", &b)]));
    assert_eq!((new.duplicates, new.superseded), (SurveyCount::default(), SurveyCount::default()));
}

/// The least length of 200 is in characters, of which each has three bytes here.
#[test]
fn a_short_text_of_another_script_is_short() {
    let count = |chars: usize, paths: [&str; 2]| {
        let text = "\u{6587}".repeat(chars);
        let (_, survey) = surveyed(session(&[(paths[0], &text), (paths[1], &text)]));
        (survey.duplicates.items, survey.superseded.items)
    };
    assert_eq!(count(199, ["a", "b"]), (0, 0));
    assert_eq!(count(200, ["a", "b"]), (1, 0));
    // Of the same file, the older read is stale, whatever it shows.
    let same = |chars| count(chars, ["a", "a"]);
    assert_eq!((same(199), same(200)), ((0, 0), (0, 1)));
}

//! A picture that is folded leaves a note, and one whose header is broken is told of and counted as any.

use bytes::Bytes;
use midfold::formats::convert::{TARGETS, convert_all};
use midfold::formats::{profile, read};
use midfold::{Budget, DialectKind, EventLog, Meter, Policy, RawEvent, Session, Setup};
use midfold_testkit::emit;

const PICTURE: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// A PNG that says it has 4 billion pixels a side.
const BROKEN: &str = "iVBORw0KGgoAAAANSUhEUv//////////CAYAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";

fn asked(data: &str) -> String {
    format!(
        r#"{{"role":"user","content":[{{"type":"text","text":"Why is the button red?"}},{{"type":"image_url","image_url":{{"url":"data:image/png;base64,{data}"}}}}]}}"#
    )
}

#[test]
fn a_folded_picture_leaves_a_note_in_every_dialect() {
    let chat = DialectKind::OpenAiChat;
    let mut messages = emit::openai_chat(&midfold_testkit::session(3, 4));
    let second = messages.iter().skip(2).position(|m| m.starts_with(r#"{"role":"user""#)).unwrap();
    messages[second + 2] = asked(PICTURE);
    let views: Vec<_> = messages.iter().map(|m| chat.dialect().view(m.as_bytes())).collect();
    let pairs: Vec<_> = messages.iter().map(|m| m.as_bytes()).zip(&views).collect();
    // A turn of `ShareGPT` is a text and has no picture.
    for kind in TARGETS.into_iter().filter(|kind| *kind != DialectKind::ShareGpt) {
        let made = convert_all(&pairs, chat, kind).messages;
        let counter = midfold::tokens::by_name("chars:3.2").unwrap();
        let events = made.into_iter().map(RawEvent::new);
        let log = EventLog::of(kind.shared(), profile::for_dialect(kind)[0], counter, events);
        let budget = Budget::new(log.tokens() / 2);
        let policy = Policy::preset("default").unwrap();
        let mut session = Session::over("s", log, policy, Meter::exact());
        let outcome = session.compact(&budget, None).unwrap();
        let recap = midfold::recap(&outcome).unwrap();
        assert!(recap.contains("button red"), "{kind}: {recap}");
        assert!(recap.contains("an image"), "{kind}: {recap}");
    }
}

/// Steps of an agent that looks at a screen: each result is a picture, far below the window in tokens.
#[test]
fn more_pictures_than_a_provider_takes_are_folded_before_it_refuses() {
    let kind = DialectKind::Anthropic;
    let step = |at: usize| {
        [
            format!(
                r#"{{"role":"assistant","content":[{{"type":"tool_use","id":"t{at}","name":"screenshot","input":{{}}}}]}}"#
            ),
            format!(
                r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t{at}","content":[{{"type":"image","source":{{"type":"base64","media_type":"image/png","data":"{PICTURE}"}}}}]}}]}}"#
            ),
        ]
    };
    let session = |preset: &str| {
        let counter = midfold::tokens::by_name("chars:3.2").unwrap();
        let task = r#"{"role":"user","content":"Click through the settings."}"#;
        let events = [RawEvent::new(Bytes::from_static(task.as_bytes()))];
        let log = EventLog::of(kind.shared(), profile::ANTHROPIC, counter, events);
        Session::over("s", log, Policy::preset(preset).unwrap(), Meter::exact())
    };
    let pictures = |bytes: &[u8]| String::from_utf8_lossy(bytes).matches(PICTURE).count();
    for preset in Policy::preset_names() {
        let (mut narrow, mut wide) = (session(preset), session(preset));
        let mut most = 0;
        for at in 0..260 {
            for message in step(at).map(Bytes::from) {
                narrow.append(RawEvent::new(message.clone()));
                wide.append(RawEvent::new(message));
            }
            let context = narrow.context(&Budget::new(200_000), 0).unwrap();
            assert!(pictures(&context.bytes()) <= 100, "{preset}: step {at}");
            most = most.max(pictures(&context.bytes()));
            wide.context(&Budget::new(1_000_000), 0).unwrap();
        }
        assert_eq!(most, 100, "{preset}: all that the provider takes are sent");
        // At least half of them leave at once, so that the prompt stays the same for the next fifty steps.
        let causes: Vec<_> = narrow.folds().iter().map(|fold| fold.cause.name()).collect();
        assert!((2..=4).contains(&causes.len()), "{preset}: {causes:?}");
        assert!(causes.iter().all(|cause| *cause == "pictures"), "{preset}: {causes:?}");
        assert_eq!(wide.folds().len(), 0, "{preset}");
    }
}

#[test]
fn a_broken_header_is_told_of_and_costs_what_any_picture_does() {
    let input = Bytes::from(format!("[{}]", asked(BROKEN)));
    let source = read::read(&input, None).unwrap().conversations.remove(0);
    let prepared = Setup::default().prepare(source).unwrap();
    let codes: Vec<_> = prepared.problems.iter().map(|p| (p.code, p.at)).collect();
    assert_eq!(codes, [("image-size", Some(0))]);
    let tokens = prepared.log.tokens();
    assert!((1_600..1_700).contains(&tokens), "{tokens}");
}

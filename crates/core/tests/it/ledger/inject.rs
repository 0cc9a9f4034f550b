//! The injection seam.

use midfold_core::fold::FoldJoin;
use midfold_core::inject::{InjectError, InjectedContext, Injections, MessageRules};
use midfold_core::ledger::CallInput;
use midfold_core::meter::Meter;
use midfold_core::policy::Policy;
use midfold_formats::{DialectKind, profile, verify};

use super::talk::Talk;

fn hooks() -> Injections {
    let mut hooks = Injections::default();
    hooks.register("weather", 40).unwrap();
    hooks.register("clock", 30).unwrap();
    hooks
}

fn apply(talk: &Talk, outputs: &[(&str, &str)]) -> Result<InjectedContext, InjectError> {
    let (context, meter) = (talk.session.view(), Meter::exact());
    hooks().apply(&context, outputs, &MessageRules { log: talk.session.log(), meter: &meter })
}

fn talk(profile: midfold_core::ProviderProfile) -> Talk {
    let mut talk = Talk::with(Policy::preset("default").unwrap(), profile, 8_000);
    talk.say("user", "Count the birds.");
    talk.say("assistant", "Nine.");
    talk.say("user", "And now?");
    talk
}

/// History is untouched, in front, and the text appears once, at the very end, in every profile.
#[test]
fn injections_stand_at_the_end_and_are_valid_everywhere() {
    for profile in [profile::OPENAI, profile::STRICT, profile::DEEPSEEK, profile::ANTHROPIC] {
        let kind = DialectKind::from_name(profile.dialect).unwrap();
        let talk = talk(profile);
        let sent = apply(&talk, &[("clock", "It is noon."), ("weather", "It rains.")]).unwrap();
        let before: Vec<_> = talk.session.view().pieces().map(|p| p.bytes.clone()).collect();
        let after: Vec<_> = sent.messages().map(|(bytes, _)| bytes.clone()).collect();
        assert!(after.iter().zip(&before).all(|(a, b)| a.as_ptr() == b.as_ptr()));
        assert_eq!(verify::validator(kind, profile)(&after), []);
        let text = String::from_utf8(after.last().unwrap().to_vec()).unwrap();
        assert!(text.contains(r"It rains.\n\nIt is noon."), "{text}");
        let bridges = usize::from(profile.alternates);
        assert_eq!(after.len(), before.len() + 1 + bridges, "{}", profile.name);
        let tokens: u32 = sent.added().iter().map(|added| added.tokens).sum();
        assert_eq!(sent.tokens(), talk.session.view().tokens() + u64::from(tokens));
        let whole: Vec<serde_json::Value> = serde_json::from_slice(&sent.bytes()).unwrap();
        assert_eq!(whole.len(), after.len());
    }
}

#[test]
fn an_overrun_names_hook_reserve_and_size() {
    let talk = talk(profile::OPENAI);
    let long = "word ".repeat(40);
    let error = apply(&talk, &[("weather", "It rains."), ("clock", &long)]).err().unwrap();
    assert_eq!(error, InjectError::Overrun { hook: "clock".into(), reserve: 30, size: 54 });
    assert_eq!(error.to_string(), "the hook `clock` added 54 tokens, its reserve is 30");
    assert_eq!(hooks().reserve(), 70);
}

/// The margin of the meter counts: a reserve is held against the upper estimate.
#[test]
fn the_reserve_holds_for_the_upper_estimate() {
    let talk = talk(profile::OPENAI);
    let meter = Meter::chars_over_four();
    let rules = MessageRules { log: talk.session.log(), meter: &meter };
    let text = "word ".repeat(20);
    assert!(apply(&talk, &[("clock", &text)]).is_ok());
    let error = hooks().apply(&talk.session.view(), &[("clock", &text)], &rules).err().unwrap();
    assert!(matches!(error, InjectError::Overrun { size: 40.., .. }), "{error}");
}

#[test]
fn strangers_and_repetitions_are_errors() {
    let talk = talk(profile::OPENAI);
    let error = |outputs: &[(&str, &str)]| apply(&talk, outputs).err().unwrap();
    assert_eq!(error(&[("tides", "")]), InjectError::Unknown("tides".into()));
    assert_eq!(error(&[("clock", "a"), ("clock", "b")]), InjectError::Repeated("clock".into()));
    assert_eq!(hooks().register("clock", 1), Err(InjectError::Twice("clock".into())));
}

#[test]
fn nothing_comes_between_a_call_and_its_result() {
    let mut talk = talk(profile::STRICT);
    talk.call("look", "{}");
    assert_eq!(apply(&talk, &[("clock", "It is noon.")]).err(), Some(InjectError::OpenCall));
    assert!(apply(&talk, &[("clock", " ")]).unwrap().added().is_empty(), "nothing to add");
}

#[test]
fn after_a_result_the_profile_gets_its_bridge() {
    let mut talk = talk(profile::STRICT);
    talk.tool("look", "{}", "ten");
    let sent = apply(&talk, &[("clock", "It is noon.")]).unwrap();
    let messages: Vec<_> = sent.messages().map(|(bytes, _)| bytes.clone()).collect();
    assert_eq!(verify::validator(DialectKind::OpenAiChat, profile::STRICT)(&messages), []);
    assert_eq!(sent.added().iter().filter(|added| added.injected).count(), 1);
}

/// The next call shares everything before the injection, and the record proves the history.
#[test]
fn the_ledger_records_injections_apart() {
    let mut talk = talk(profile::OPENAI);
    talk.send();
    let sent = apply(&talk, &[("clock", "It is noon.")]).unwrap();
    let log = talk.session.log();
    let joining = FoldJoin { session: "s1".into(), turn: 2, request: 1 };
    let record = talk.ledger.record_sent(
        &sent,
        &CallInput {
            joining: &joining,
            events: 3,
            head_hash: log.head_hash(),
            fold: None,
            void: None,
            pins: &[],
            meter: &Meter::exact(),
            client: None,
            newest_room: None,
        },
    );
    assert_eq!(record.injections, sent.injections());
    assert_eq!(record.context_hash, talk.calls[0].context_hash);
    assert_eq!((record.messages, record.prefix.messages), (4, 3));
    assert_eq!(record.bytes, sent.bytes().len() as u64);
    talk.calls.push(record);
    talk.say("assistant", "Ten.");
    talk.send();
    assert_eq!(talk.calls[2].prefix.messages, 3, "the injection is not shared");
    let audit = midfold_core::audit::audit(talk.session.log(), &[], None, &talk.calls);
    assert!(audit.is_clean(), "{audit}");
}

//! What follows from a conversation where a caller says nothing, and what a caller may say.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use bytes::Bytes;
use midfold::core::plan::plan;
use midfold::formats::read::{Conversation, read};
use midfold::formats::{DialectKind, profile};
use midfold::{
    Budget, Door, DoorHost, PlanOutcome, Policy, Settings, Setup, SetupError, WindowSource, tokens,
};
use midfold_core::profile::ReasoningBinding;

fn request(model: &str) -> Conversation {
    let model = if model.is_empty() { String::new() } else { format!(r#""model":"{model}","#) };
    let body = format!(
        r#"{{{model}"system":"Be brief.","messages":[{{"role":"user","content":"Fix it."}},
        {{"role":"assistant","content":[{{"type":"text","text":"Done."}}]}}]}}"#
    );
    read(&Bytes::from(body), None).unwrap().conversations.remove(0)
}

#[test]
fn the_model_tells_counter_and_window() {
    let mut setup = Setup::new();
    let named = setup.prepare(request("claude-sonnet-4-5")).unwrap();
    assert_eq!(named.kind, DialectKind::Anthropic);
    assert_eq!(named.log.counter().name(), "estimate:claude-old");
    assert_eq!(
        (named.window, named.window_from),
        (200_000, WindowSource::Model("claude-sonnet-4-5".into()))
    );
    let unknown = setup.prepare(request("nobody-1")).unwrap();
    assert_eq!(unknown.window_from, WindowSource::UnknownModel("nobody-1".into()));
    assert_eq!(unknown.window, midfold::DEFAULT_WINDOW);
    let nameless = setup.prepare(request("")).unwrap();
    assert_eq!(nameless.window_from, WindowSource::NoModel);
    assert!(nameless.auto_counter);
}

/// Ollama has the system prompt among the messages.
#[test]
fn a_system_prompt_becomes_a_message_where_the_format_has_no_other_place() {
    for to in [DialectKind::Ollama, DialectKind::OpenAiChat] {
        let prepared = Setup::new().to(to).prepare(request("m")).unwrap();
        assert_eq!(prepared.log.events()[0].bytes, r#"{"role":"system","content":"Be brief."}"#);
        assert_eq!(prepared.source.envelope.system, None);
    }
}

#[test]
fn what_is_given_comes_first() {
    let counter = tokens::by_name("chars:4").unwrap();
    let mut setup = Setup::new().window(9_000).counter(counter).model("claude-opus-5-5");
    let prepared = setup.prepare(request("claude-sonnet-4-5")).unwrap();
    assert_eq!(prepared.log.counter().name(), "chars:4");
    assert_eq!((prepared.window, prepared.window_from), (9_000, WindowSource::Given));
    let reasoning = prepared.log.profile().reasoning;
    assert_eq!(reasoning, ReasoningBinding::OpenRound, "the rules of the model that was given");
    assert!(!prepared.auto_counter);
}

#[test]
fn a_default_model_is_that_of_conversations_that_name_none() {
    let settings = |model: &str| -> Settings {
        serde_json::from_str(&format!(r#"{{"model": "{model}"}}"#)).unwrap()
    };
    let file = settings("gpt-5").over(settings("gpt-4o"));
    assert_eq!((file.model.as_deref(), file.default_model.as_deref()), (None, Some("gpt-5")));
    let host = DoorHost { door: Door::Command, read: |path| panic!("{path:?} is read") };
    let mut setup = file.clone().setup(&host).unwrap();
    let nameless = setup.prepare(request("")).unwrap();
    assert_eq!(nameless.window_from, WindowSource::Model("gpt-5".into()));
    assert_eq!(nameless.model.as_deref(), Some("gpt-5"));
    assert_eq!(nameless.source.envelope.model, None, "the conversation says what it said");
    let named = setup.prepare(request("claude-sonnet-4-5")).unwrap();
    assert_eq!(named.window_from, WindowSource::Model("claude-sonnet-4-5".into()));
    let said = Settings { model: Some("claude-opus-5-5".into()), ..Settings::default() };
    let said = said.over(file).setup(&host).unwrap().prepare(request("claude-sonnet-4-5")).unwrap();
    assert_eq!(said.model.as_deref(), Some("claude-opus-5-5"), "what is said wins over both");
}

#[test]
fn counts_are_shared_among_conversations_of_one_model() {
    let mut setup = Setup::new();
    let (one, two) = (setup.counter_for(Some("gpt-5")), setup.counter_for(Some("gpt-5")));
    assert!(std::sync::Arc::ptr_eq(&one, &two));
}

#[test]
fn a_profile_of_another_dialect_is_refused() {
    let error = Setup::new().profile(profile::STRICT).prepare(request("")).err();
    let kind = DialectKind::Anthropic;
    let expected = SetupError::Profile { profile: "strict", dialect: "openai-chat", kind };
    assert_eq!(error, Some(expected));
    let converted = Setup::new().profile(profile::STRICT).to(DialectKind::OpenAiChat);
    assert!(converted.clone().prepare(request("")).unwrap().converted);
}

#[test]
fn a_converted_system_prompt_is_counted_once() {
    let mut setup = Setup::new().to(DialectKind::OpenAiChat);
    let prepared = setup.prepare(request("")).unwrap();
    assert_eq!(prepared.source.envelope.system, None);
    let first = &prepared.log.events()[0];
    assert_eq!(&first.bytes[..], br#"{"role":"system","content":"Be brief."}"#);
    assert_eq!(prepared.log.len(), 3);
    assert!(prepared.places.iter().all(Vec::is_empty), "nothing of the input is left as it was");
    assert!(!prepared.is_lines, "a request body stays one");
}

#[test]
fn the_limit_is_that_of_who_knows_best() {
    let rows = midfold_testkit::coding_session(7, 12).join("\n");
    let prepare = |mut setup: Setup| {
        let found = read(&Bytes::from(rows.clone()), None).unwrap().conversations.remove(0);
        setup.prepare(found).unwrap()
    };
    let nothing = prepare(Setup::new());
    let policy = Policy::preset("default").unwrap();
    let PlanOutcome::Folded(fold) = plan(&nothing.plan(&policy, &Budget::new(8_000))).unwrap()
    else {
        panic!("12 steps are more than 8,000 tokens")
    };
    assert_eq!(nothing.limit(None), None);
    assert_eq!(nothing.limit(Some(&fold)), Some(8_000));
    let known = prepare(Setup::new().model("gpt-4o"));
    assert_eq!(known.limit(None), Some(128_000));
    assert_eq!(known.limit(Some(&fold)), Some(8_000));
    assert_eq!(prepare(Setup::new().window(5_000)).limit(Some(&fold)), Some(5_000));
}

#[test]
fn the_name_of_a_preset_is_no_policy() {
    use midfold::PolicyFrom;
    let policy = Some(PolicyFrom::Toml("lean".to_owned()));
    let settings = Settings { policy, ..Settings::default() };
    for (door, hint) in [(Door::Python, "preset=\"lean\""), (Door::Node, "preset: 'lean'")] {
        let host = DoorHost { door, read: |path| unreachable!("{path:?}") };
        let failure = settings.policy(&host).unwrap_err();
        assert!(failure.hints[0].ends_with(hint), "{:?}", failure.hints);
    }
}

//! Models whose chat templates want user and assistant to take turns: what any preset makes of a valid conversation is
//! valid for them, at the door that knows only the model's name.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use bytes::Bytes;
use midfold::formats::{profile, read};
use midfold::{Budget, DialectKind, PlanOutcome, Policy, Session, Setup};
use serde_json::{Value, json};

const MODELS: [&str; 4] =
    ["devstral-small-2-24b", "mistral-large-2603", "google/gemma-4-27b-it", "open-mixtral-8x22b"];

/// A conversation that the templates take: steps, now and then two calls in one, and every few steps a word of each.
fn conversation(model: &str, steps: usize, every: usize) -> Bytes {
    let words = |at: usize| format!("line {at} of src/part_{at}.py ").repeat(60);
    let call = |id: String, at: usize| {
        let arguments = json!({"command": format!("sed -n {at}p src/part_{at}.py")}).to_string();
        json!({"id": id, "type": "function", "function": {"name": "run", "arguments": arguments}})
    };
    let mut messages = vec![
        json!({"role": "system", "content": "You are a coding agent."}),
        json!({"role": "user", "content": "Find out why invoices are billed twice."}),
    ];
    for at in 0..steps {
        let ids: Vec<_> = (0..=at % 2).map(|number| format!("call{at:04}{number}")).collect();
        let calls: Vec<_> = ids.iter().map(|id| call(id.clone(), at)).collect();
        messages.push(
            json!({"role": "assistant", "content": format!("Part {at}."), "tool_calls": calls}),
        );
        let result = |id| json!({"role": "tool", "tool_call_id": id, "content": words(at)});
        messages.extend(ids.iter().map(result));
        if at % every == every - 1 {
            messages.push(json!({"role": "assistant", "content": format!("Part {at} is done.")}));
            messages
                .push(json!({"role": "user", "content": format!("Good, now part {}.", at + 1)}));
        }
    }
    json!({"model": model, "messages": messages}).to_string().into()
}

/// The first message that the template refuses, or that Mistral's own service does.
fn refused(messages: &[Value]) -> Option<String> {
    let role = |at: usize| messages[at]["role"].as_str().unwrap();
    let start = usize::from(role(0) == "system");
    let mut due = "user";
    for (at, message) in messages.iter().enumerate().skip(start) {
        let has_calls = message["tool_calls"].as_array().is_some_and(|calls| !calls.is_empty());
        if role(at) == "tool" || (role(at) == "assistant" && has_calls) {
            continue;
        }
        if role(at) != due {
            return Some(format!("message {at}: {} where {due} is due", role(at)));
        }
        due = if due == "user" { "assistant" } else { "user" };
    }
    let pairs = (1..messages.len()).map(|at| (at, role(at - 1), role(at)));
    let mut wrong = pairs.filter(|(_, before, after)| {
        matches!((*before, *after), ("tool", "user") | ("user", "tool"))
    });
    wrong.next().map(|(at, before, after)| format!("message {at}: {after} after {before}"))
}

fn contexts(input: &Bytes, to: DialectKind, preset: &str, check: impl Fn(&[u8])) {
    let source = read::read(input, None).unwrap().conversations.remove(0);
    let prepared = Setup::new().to(to).prepare(source).unwrap();
    let mut session =
        Session::over("s", prepared.log, Policy::preset(preset).unwrap(), prepared.meter);
    let mut told = Vec::new();
    for window in [40_000, 20_000, 12_000] {
        told.push(match session.compact(&Budget::new(window), None) {
            Ok(PlanOutcome::Nothing(reason)) => reason.to_string(),
            other => other.map(|_| "folded").unwrap_or("no plan").to_owned(),
        });
        check(&session.view().bytes());
    }
    assert!(!session.folds().is_empty(), "{preset} {to}: {told:?}");
}

#[test]
fn every_preset_makes_what_a_strict_template_takes() {
    for model in MODELS {
        for (steps, every) in [(30, 7), (30, 100), (24, 1)] {
            let input = conversation(model, steps, every);
            let body: Value = serde_json::from_slice(&input).unwrap();
            assert_eq!(refused(body["messages"].as_array().unwrap()), None, "the input is valid");
            for preset in Policy::preset_names() {
                contexts(&input, DialectKind::OpenAiChat, preset, |bytes| {
                    let messages: Vec<Value> = serde_json::from_slice(bytes).unwrap();
                    assert_eq!(refused(&messages), None, "{preset} {model} {steps} {every}");
                });
            }
        }
    }
}

/// The same models behind the other wire formats, by the rules of each.
#[test]
fn every_preset_makes_what_the_format_of_a_strict_model_takes() {
    // Items of Responses have no turns, and rows of training data no provider.
    let others = [DialectKind::OpenAiResponses, DialectKind::ShareGpt];
    let kinds = DialectKind::ALL.into_iter().filter(|kind| !others.contains(kind));
    for kind in kinds {
        let input = conversation(MODELS[0], 60, 7);
        for preset in Policy::preset_names() {
            contexts(&input, kind, preset, |bytes| {
                let messages: Vec<Value> = serde_json::from_slice(bytes).unwrap();
                let messages: Vec<_> = messages.iter().map(Value::to_string).collect();
                let found = profile::validate(&messages, kind, &profile::of_model(kind, MODELS[0]));
                assert!(found.is_empty(), "{preset} {kind}: {found:?}");
            });
        }
    }
}

#[test]
fn a_profile_that_somebody_names_is_kept() {
    let setup = Setup::new().profile(profile::OPENAI);
    let named =
        |setup: &Setup| setup.profile_for(DialectKind::OpenAiChat, Some(MODELS[0])).unwrap().name;
    assert_eq!((named(&setup), named(&Setup::new())), ("openai", "strict"));
}

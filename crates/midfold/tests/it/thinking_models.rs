//! Models that refuse a history in which one of their messages lacks its reasoning: what any preset makes of a
//! conversation has it in each, and the real one where a message stays.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use bytes::Bytes;
use midfold::core::profile::ReasoningText;
use midfold::core::repair::RepairReason;
use midfold::formats::{profile, read};
use midfold::{Budget, DialectKind, Policy, Session, Setup};
use serde_json::{Value, json};

use crate::repairs::made;

const MODELS: [&str; 3] = ["deepseek-reasoner", "moonshotai/kimi-k2-thinking", "mimo-v2.5-pro"];

/// Steps of a model that thinks before each call, and now and then says something; `lacking` messages have none.
fn conversation(model: &str, lacking: impl Fn(usize) -> bool) -> Bytes {
    let words = |at: usize| format!("line {at} of src/part_{at}.py ").repeat(60);
    let mut messages = vec![
        json!({"role": "system", "content": "You are a coding agent."}),
        json!({"role": "user", "content": "Find out why invoices are billed twice."}),
    ];
    let mut say = |at: usize, mut message: Value| {
        if message["role"] == "assistant" && !lacking(at) {
            message["reasoning_content"] = format!("Thought {at}. {}", words(at)).into();
        }
        messages.push(message);
    };
    for at in 0..40 {
        let arguments = json!({"command": format!("sed -n {at}p src/part_{at}.py")}).to_string();
        let function = json!({"name": "run", "arguments": arguments});
        let call = json!({"id": format!("c{at}"), "type": "function", "function": function});
        say(at, json!({"role": "assistant", "content": null, "tool_calls": [call]}));
        say(at, json!({"role": "tool", "tool_call_id": format!("c{at}"), "content": words(at)}));
        if at % 7 == 6 {
            say(at, json!({"role": "assistant", "content": format!("Part {at} is done.")}));
            say(at, json!({"role": "user", "content": format!("Good, now part {}.", at + 1)}));
        }
    }
    json!({"model": model, "messages": messages}).to_string().into()
}

/// The messages of the model in the contexts that a preset makes in smaller and smaller windows.
fn replies(input: &Bytes, preset: &str) -> Vec<Value> {
    let source = read::read(input, None).unwrap().conversations.remove(0);
    let prepared = Setup::new().prepare(source).unwrap();
    let mut session =
        Session::over("s", prepared.log, Policy::preset(preset).unwrap(), prepared.meter);
    let mut found = Vec::new();
    for window in [40_000, 24_000, 16_000] {
        let _ = session.compact(&Budget::new(window), None);
        let context: Vec<Value> = serde_json::from_slice(&session.view().bytes()).unwrap();
        found.extend(context.into_iter().filter(|message| message["role"] == "assistant"));
    }
    assert!(!session.folds().is_empty(), "{preset}");
    found
}

#[test]
fn every_preset_keeps_the_reasoning_that_a_model_wants_back() {
    for model in MODELS {
        for preset in Policy::preset_names() {
            let found = replies(&conversation(model, |_| false), preset);
            let lacks = |message: &&Value| !message["reasoning_content"].is_string();
            let lacking = found.iter().filter(lacks).count();
            assert_eq!(lacking, 0, "{preset} {model}: of {}", found.len());
            let calls = found.iter().filter(|message| message["tool_calls"].is_array());
            for message in calls {
                let text = message["reasoning_content"].as_str().unwrap();
                assert!(text.starts_with("Thought"), "{preset} {model}: {text:?}");
            }
        }
    }
}

#[test]
fn a_message_that_had_none_gets_a_blank_one_behind_one_that_has_some() {
    let mut blank = 0;
    for preset in Policy::preset_names() {
        let found = replies(&conversation(MODELS[0], |at| at % 3 == 1), preset);
        let is_blank = |message: &&Value| message["reasoning_content"] == " ";
        assert!(found.iter().all(|message| message["reasoning_content"].is_string()), "{preset}");
        blank += found.iter().filter(is_blank).count();
        // Where no message has any, the model does not think, and some servers refuse the member then.
        let found = replies(&conversation(MODELS[0], |_| true), preset);
        assert!(found.iter().all(|message| message.get("reasoning_content").is_none()), "{preset}");
    }
    assert!(blank > 10, "{blank}");
}

#[test]
fn blank_reasoning_comes_on_top_of_other_repairs() {
    let kind = DialectKind::OpenAiChat;
    let model = profile::of_model(kind, MODELS[0]);
    let call = |id: &str, thought: &str| {
        format!(
            r#"{{"role":"assistant","content":null,{thought}"tool_calls":[{{"id":"{id}","type":"function","function":{{"name":"f","arguments":"{{}}"}}}},{{"id":"{id}","type":"function","function":{{"name":"g","arguments":"{{\"x"}}}}]}}"#
        )
    };
    let result = |id: &str| format!(r#"{{"role":"tool","tool_call_id":"{id}","content":"ok"}}"#);
    let user = r#"{"role":"user","content":"go"}"#.to_owned();
    let own = |thought: &str| {
        let messages = [
            user.clone(),
            call("a", r#""reasoning_content":"so","#),
            result("a"),
            result("a"),
            call("b", thought),
            result("b"),
            result("b"),
            r#"{"role":"assistant","content":"done"}"#.to_owned(),
        ];
        let messages: Vec<&str> = messages.iter().map(String::as_str).collect();
        // Also checks that the profile takes it, and that `verify` knows each repair.
        made(kind, model, &messages)
    };
    let nested = r#""extra":{"reasoning_content":null},"#;
    for thought in [
        "",
        r#""reasoning_content":null,"#,
        r#""reasoning_content": null,"#,
        r#""reasoning_content":"","#,
        nested,
    ] {
        let found = own(thought);
        for at in [4, 7] {
            let message: Value = serde_json::from_str(&found.texts[at]).unwrap();
            let blank = message["reasoning_content"].as_str();
            assert!(blank.is_some_and(|it| !it.is_empty() && it.trim().is_empty()), "{message}");
            let own = found.texts[at].matches("reasoning_content").count();
            assert_eq!(own, 1 + usize::from(thought == nested && at == 4));
        }
        assert!(found.texts[4].contains("cut_off_arguments") && found.texts[4].contains("b_2"));
        assert_eq!(found.repairs.last(), Some(&RepairReason::BlankReasoning));
    }
    assert_eq!(profile::of_model(kind, "gpt-5.1").reasoning_text, ReasoningText::Free);
}

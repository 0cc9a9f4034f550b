//! A client that lets one speaker say two things in a row, in front of a model whose template refuses that.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use midfold_serve::UpstreamTable;
use midfold_testkit::upstream::UpstreamSettings;
use serde_json::{Value, json};

use crate::limits::{reply, tokens};
use crate::raw::Raw;
use crate::setting::{Setting, rules};
use crate::stub::{Asked, Stub};

const PATH: &str = "/v1/chat/completions";

/// Whether user and assistant take turns, as the template counts.
fn takes_turns(messages: &[Value]) -> bool {
    let speaks = |message: &&Value| {
        let has_calls = message["tool_calls"].as_array().is_some_and(|calls| !calls.is_empty());
        message["role"] == "user" || (message["role"] == "assistant" && !has_calls)
    };
    let turns: Vec<_> = messages.iter().filter(speaks).map(|message| &message["role"]).collect();
    turns.windows(2).all(|pair| pair[0] != pair[1])
}

/// Midfold in front of a server with such a template, and how often that refused.
async fn in_front_of_a_template() -> (Setting, Arc<AtomicU64>) {
    let refusals = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&refusals);
    let stub = Stub::start(move |asked: &Asked| {
        let body: Value = serde_json::from_slice(&asked.body).unwrap();
        if takes_turns(body["messages"].as_array().unwrap()) {
            return reply(tokens(asked));
        }
        count.fetch_add(1, Ordering::Relaxed);
        let text = "Jinja Exception: After the optional system message, conversation roles must alternate user and \
                    assistant roles except for tool calls and results";
        (500, json!({"error": {"code": 500, "message": text, "type": "server_error"}}).to_string())
    })
    .await;
    let setting = Setting::with(UpstreamSettings::default(), |config| {
        let mut upstreams = UpstreamTable::default();
        upstreams.set(&stub.url).unwrap();
        config.upstreams = upstreams;
        config.rules = rules().window(8_000);
    })
    .await;
    (setting, refusals)
}

/// So many steps, with an interruption behind the second.
fn history(steps: usize) -> Value {
    let mut messages = vec![json!({"role": "user", "content": "Find the bug."})];
    for at in 0..steps {
        let call = json!({"id": format!("c{at}"), "type": "function", "function": {"name": "run", "arguments": "{}"}});
        messages.push(json!({"role": "assistant", "content": null, "tool_calls": [call]}));
        let words = "word ".repeat(300);
        messages.push(json!({"role": "tool", "tool_call_id": format!("c{at}"), "content": words}));
        if at == 1 {
            messages.push(json!({"role": "user", "content": "Stop, look at the queue first."}));
        }
    }
    json!({"model": "local-model", "messages": messages})
}

async fn asked(setting: &Setting, body: &Value) -> String {
    let body = body.to_string();
    let mut client = Raw::to(setting.proxy.address()).await;
    let head = format!(
        "POST {PATH} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: {}",
        body.len()
    );
    client.write(format!("{head}\r\n\r\n{body}")).await;
    client.rest().await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_the_first_refusal_all_requests_of_the_conversation_take_turns() {
    let (setting, refusals) = in_front_of_a_template().await;
    for steps in [4, 6, 8, 20, 40] {
        let said = asked(&setting, &history(steps)).await;
        assert!(said.starts_with("HTTP/1.1 200"), "{steps}: {said}");
    }
    assert_eq!(refusals.load(Ordering::Relaxed), 1);
    assert!(setting.figure("midfold_folds_total") > 0);
}

/// Nothing can be put between the two messages of a first request, so the client sees why it was refused.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_first_request_without_turns_is_refused_as_it_would_be() {
    let (setting, refusals) = in_front_of_a_template().await;
    let twice = [json!({"role": "user", "content": "a"}), json!({"role": "user", "content": "b"})];
    let said = asked(&setting, &json!({"model": "m", "messages": twice})).await;
    assert!(said.starts_with("HTTP/1.1 500") && said.contains("Jinja Exception"), "{said}");
    assert_eq!(refusals.load(Ordering::Relaxed), 1);
}

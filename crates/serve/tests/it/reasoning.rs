//! A client that drops the reasoning of a model which wants it back, behind a name that says nothing of the model.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use midfold::DialectKind;
use midfold_serve::UpstreamTable;
use midfold_testkit::upstream::agent::ClientAgent;
use midfold_testkit::upstream::{UpstreamSettings, WireDialect};
use serde_json::{Value, json};

use crate::limits::{reply, tokens};
use crate::setting::{Setting, rules};
use crate::stub::{Asked, Stub, history};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_the_first_refusal_each_message_of_the_model_has_reasoning() {
    let refusals = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&refusals);
    let stub = Stub::start(move |asked: &Asked| {
        let body: Value = serde_json::from_slice(&asked.body).unwrap();
        let mut messages = body["messages"].as_array().unwrap().iter();
        if messages.all(|it| it["role"] != "assistant" || it["reasoning_content"].is_string()) {
            return reply(tokens(asked));
        }
        count.fetch_add(1, Ordering::Relaxed);
        let text = "The `reasoning_content` in the thinking mode must be passed back to the API.";
        (400, json!({"error": {"message": text, "type": "invalid_request_error"}}).to_string())
    })
    .await;
    let setting = Setting::with(UpstreamSettings::default(), |config| {
        let mut upstreams = UpstreamTable::default();
        upstreams.set(&stub.url).unwrap();
        config.upstreams = upstreams;
        config.rules = rules().window(8_000);
    })
    .await;
    let agent = ClientAgent {
        headers: vec![("content-type".to_owned(), "application/json".to_owned())],
        ..ClientAgent::new(WireDialect::Chat, &setting.url())
    };
    for exchanges in [4, 6, 20, 60] {
        let body = history(DialectKind::OpenAiChat, "my-deployment", exchanges);
        let answer = agent.post("/v1/chat/completions", &body).await;
        assert_eq!(answer.status, 200, "{exchanges}: {answer:?}");
    }
    assert_eq!(refusals.load(Ordering::Relaxed), 1);
    assert!(setting.figure("midfold_folds_total") > 0);
}

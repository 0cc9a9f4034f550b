//! What little bodies may cost: messages and their parts are bounded before anything is made of them.

use std::io::Write;

use axum::body::Body;
use http_body_util::BodyExt;
use hyper::Request;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use midfold_serve::ServeConfig;
use midfold_testkit::upstream::{FaultTime, PlannedFault, UpstreamScript, UpstreamSettings};

use crate::setting::{Setting, rules};

const MIB: u64 = 1 << 20;
/// What a history ends with: only what stands before a model's message is kept.
const LAST: &str = r#"{"role":"assistant","content":"a"}"#;

async fn setting(change: impl FnOnce(&mut ServeConfig)) -> Setting {
    let settings =
        UpstreamSettings { script: UpstreamScript::fixed("fine"), ..UpstreamSettings::default() };
    Setting::with(settings, |config| {
        config.rules = rules().window(200_000);
        change(config);
    })
    .await
}

fn gzip(plain: &str) -> Vec<u8> {
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    out.write_all(plain.as_bytes()).unwrap();
    out.finish().unwrap()
}

/// Posts a packed body; the status, and the fault.
async fn post(setting: &Setting, path: &str, body: &str) -> (u16, Option<String>) {
    let request = Request::post(format!("{}{path}", setting.url()))
        .header("content-type", "application/json")
        .header("content-encoding", "gzip");
    let client = Client::builder(TokioExecutor::new()).build_http();
    let answer = client.request(request.body(Body::from(gzip(body))).unwrap()).await.unwrap();
    let (head, body) = answer.into_parts();
    body.collect().await.unwrap();
    let fault = head.headers.get("midfold-fault").map(|it| it.to_str().unwrap().to_owned());
    (head.status.as_u16(), fault)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_few_kilobytes_that_hold_millions_of_messages_pass_unread() {
    let setting = setting(|_| {}).await;
    let ones = "1,".repeat(2_000_000);
    let objects = "{},".repeat(1_300_000);
    let paths = [
        ("/v1/chat/completions", "messages"),
        ("/v1/responses", "input"),
        ("/v1/responses/compact", "input"),
        ("/v1/messages", "messages"),
        ("/v1/messages/count_tokens", "messages"),
        ("/v1beta/models/m:generateContent", "contents"),
        ("/v1beta/models/m:countTokens", "contents"),
    ];
    for (path, list) in paths {
        for body in [
            format!("{{\"{list}\":[{ones}{LAST}]}}"),
            format!("{{\"{list}\":[{objects}{LAST}]}}"),
            format!("{{\"{list}\":[{{\"role\":\"user\",\"content\":[{ones}1]}},{LAST}]}}"),
            format!("{{\"tools\":[{ones}{objects}1],\"{list}\":[{LAST}]}}"),
        ] {
            assert!(gzip(&body).len() < 40_000);
            let (_, fault) = post(&setting, path, &body).await;
            assert_eq!(fault.as_deref(), Some("too-large"), "{path} {}", &body[..40]);
        }
    }
    assert_eq!(setting.figure("midfold_conversations"), 0);
    assert_eq!(setting.figure("midfold_request_bytes"), 0);
    let peak = setting.figure("midfold_request_bytes_peak");
    assert!(peak < 20 * MIB, "no more than the bytes: {peak}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn as_many_messages_are_read_as_documented() {
    let setting = setting(|_| {}).await;
    let message = r#"{"role":"user","content":"a"},"#;
    for (count, fault) in [(19_999, None), (20_000, Some("too-large"))] {
        let body = format!("{{\"messages\":[{}{LAST}]}}", message.repeat(count));
        let (_, said) = post(&setting, "/v1/chat/completions", &body).await;
        assert_eq!(said.as_deref(), fault, "{count}");
    }
    // It is the conversation's from then on, and is counted there.
    assert_eq!(setting.figure("midfold_request_bytes"), 0);
    assert!(setting.figure("midfold_request_bytes_peak") > 38 * MIB);
    assert!(setting.figure("midfold_conversation_bytes") > 38 * MIB);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn conversations_of_tiny_messages_leave_by_what_they_take() {
    let setting = setting(|config| {
        config.rules = rules().window(200_000).memory(3 << 20);
    })
    .await;
    for number in 0..10 {
        let first = format!(r#"{{"role":"user","content":"{number}"}}"#);
        let body = format!("{{\"messages\":[{first},{}{LAST}]}}", "{},".repeat(1_000));
        let (_, fault) = post(&setting, "/v1/chat/completions", &body).await;
        assert_eq!(fault, None);
    }
    assert_eq!(setting.figure("midfold_conversations"), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_history_that_the_provider_was_to_have_takes_room() {
    let settings = UpstreamSettings {
        script: UpstreamScript::fixed("fine"),
        stateful: true,
        ..UpstreamSettings::default()
    };
    let setting = Setting::with(settings, |config| {
        config.rules = rules().window(2_000_000);
        config.all_requests = 3 << 19;
    })
    .await;
    let client = Client::builder(TokioExecutor::new()).build_http();
    let ask = async |body: String| {
        let request = Request::post(format!("{}/v1/responses", setting.url()));
        let answer = client.request(request.body(Body::from(body)).unwrap()).await.unwrap();
        let fault = answer.headers().get("midfold-fault").cloned();
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        let said: serde_json::Value = serde_json::from_slice(&body).unwrap();
        (fault, said["id"].as_str().unwrap_or_default().to_owned())
    };
    let (fault, id) = ask(format!(r#"{{"model":"m","input":"{}"}}"#, "a".repeat(1 << 20))).await;
    assert_eq!(fault, None);
    let next = |length| {
        let text = "b".repeat(length);
        ask(format!(r#"{{"model":"m","input":"{text}","previous_response_id":"{id}"}}"#))
    };
    assert_eq!(next(1).await.0, None);
    // Either fits by itself.
    assert_eq!(next(1 << 20).await.0.unwrap(), "too-large");
    assert_eq!(setting.figure("midfold_request_bytes"), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_is_held_to_what_a_body_is_unpacked() {
    let key = midfold_serve::ApiKey::from_bytes([7; 32]);
    let hash = midfold_serve::KeyHash::of(key.as_str());
    let text = format!("[[key]]\nname = \"ann\"\nhash = \"{hash}\"\nlongest_body = 10000\n");
    let setting = setting(|config| {
        config.keys = Some(midfold_serve::ApiKeys::from_toml(&text).unwrap());
    })
    .await;
    for (length, status) in [(9_000, 200), (10_001, 413)] {
        let body = format!(
            r#"{{"model":"m","messages":[{{"role":"user","content":"{}"}}]}}"#,
            "a".repeat(length - 54)
        );
        let request = Request::post(format!("{}/v1/chat/completions", setting.url()))
            .header("midfold-key", key.as_str())
            .header("content-encoding", "gzip")
            .body(Body::from(gzip(&body)))
            .unwrap();
        let client = Client::builder(TokioExecutor::new()).build_http();
        let answer = client.request(request).await.unwrap();
        let was = answer.status().as_u16();
        let said = answer.into_body().collect().await.unwrap().to_bytes();
        let said = String::from_utf8_lossy(&said);
        // The scripted provider unpacks nothing: all that is asked is whether it was asked.
        assert_eq!(was == 413, status == 413, "{length}: {said}");
        assert_eq!(said.contains("`longest_body`"), status == 413, "{length}: {said}");
    }
    assert_eq!(setting.upstream.requests().len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_begun_while_what_was_let_go_waits() {
    // Answers that are on their way hold their conversations.
    let settings = UpstreamSettings {
        script: UpstreamScript::fixed("fine"),
        faults: vec![(FaultTime::Every { nth: 1, of: 1 }, PlannedFault::Hang { after: 0 })],
        ..UpstreamSettings::default()
    };
    let setting = Setting::with(settings, |config| {
        config.rules = rules().window(200_000).memory(3 << 20);
    })
    .await;
    let body = |number: u32| {
        let first = format!(r#"{{"role":"user","content":"{number}"}}"#);
        let pair = format!("{first},{LAST},").repeat(500);
        format!("{{\"model\":\"m\",\"messages\":[{pair}{first}]}}")
    };
    let client = Client::builder(TokioExecutor::new()).build_http();
    let ask = async |number| {
        let request = Request::post(format!("{}/v1/chat/completions", setting.url()));
        let answer = client.request(request.body(Body::from(body(number))).unwrap()).await.unwrap();
        (answer.headers().get("midfold-fault").is_some(), answer)
    };
    let mut open = Vec::new();
    for number in 0..10 {
        open.push(ask(number).await);
    }
    let passed = open.iter().filter(|(is_passed, _)| *is_passed).count();
    assert!((1..9).contains(&passed), "{passed}");
    assert!(open.last().unwrap().0, "one more");
    let kept = 9 - passed as u32;
    assert!(!ask(kept).await.0, "what is in memory goes on");
    drop(open);
    while ask(99).await.0 {
        tokio::task::yield_now().await;
    }
}

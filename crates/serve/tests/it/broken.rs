//! Answers that break off, or do not end: the client sees that, and what came before.

use std::time::Duration;

use axum::body::Body;
use http_body_util::BodyExt;
use hyper::Request;
use midfold_serve::{ServeConfig, UpstreamTable};
use midfold_testkit::upstream::UpstreamSettings;
use serde_json::{Value, json};

use crate::raw::Raw;
use crate::setting::{Setting, rules};
use crate::tls;
use crate::wire::{End, Wire, chunk, head};

const SSE: &str = "text/event-stream";
const JSON: &str = "application/json";
/// What nobody waits for.
const SHORT: Duration = Duration::from_millis(200);

/// Midfold in front of a provider that writes these answers.
async fn in_front_of(
    answers: Vec<(String, End)>,
    change: impl FnOnce(&mut ServeConfig),
) -> Setting {
    let wire = Wire::start(answers).await;
    Setting::with(UpstreamSettings::default(), |config| {
        let mut upstreams = UpstreamTable::default();
        upstreams.set(&wire.url).unwrap();
        config.upstreams = upstreams;
        config.rules = rules().window(4_000);
        change(config);
    })
    .await
}

/// All that a client gets.
async fn asked(setting: &Setting, path: &str, body: &Value) -> String {
    let body = body.to_string();
    let mut client = Raw::to(setting.proxy.address()).await;
    let request = format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    client.write(request).await;
    client.rest().await
}

/// Whether an answer came to an end of its own.
fn is_whole(said: &str) -> bool {
    let (head, body) = said.split_once("\r\n\r\n").unwrap_or_default();
    match head.split("content-length: ").nth(1).and_then(|rest| rest.lines().next()) {
        Some(length) => body.len() == length.parse::<usize>().unwrap(),
        None => body.ends_with("0\r\n\r\n"),
    }
}

/// A history that is more than 40 % of the window, so that an answer is watched.
fn history(list: &str) -> Value {
    let long = "word ".repeat(2_000);
    let (model, text) = match list {
        "contents" => ("model", "parts"),
        _ => ("assistant", "content"),
    };
    let said = |role: &str, words: &str| match text {
        "parts" => json!({"role": role, "parts": [{"text": words}]}),
        _ => json!({"role": role, "content": words}),
    };
    let messages = [said("user", "go"), said(model, &long), said("user", "on")];
    json!({"model": "m", "max_tokens": 10, "stream": true, list: messages})
}

/// A history of many messages.
fn long() -> Vec<Value> {
    let both = |at: u32| {
        let words = format!("{at} {}", "word ".repeat(50));
        ["user", "assistant"].map(|role| json!({"role": role, "content": words}))
    };
    (0..40).flat_map(both).chain([json!({"role": "user", "content": "on"})]).collect()
}

/// Path, request, type of the answer, its prelude, and its first words.
fn streams() -> Vec<(&'static str, Value, &'static str, String, String)> {
    let event = |name: &str, data: Value| format!("event: {name}\ndata: {data}\n\n");
    let data = |data: Value| format!("data: {data}\n\n");
    let delta = |delta: Value| json!({"id": "c", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta}]});
    let said =
        json!({"candidates": [{"content": {"role": "model", "parts": [{"text": "first words"}]}}]});
    vec![
        (
            "/v1/chat/completions",
            history("messages"),
            SSE,
            data(delta(json!({"role": "assistant", "content": ""}))),
            data(delta(json!({"content": "first words"}))),
        ),
        (
            "/v1/chat/completions",
            history("messages"),
            "application/x-ndjson",
            "\n".to_owned(),
            format!("{}\n", json!({"message": {"role": "assistant", "content": "first words"}})),
        ),
        (
            "/v1/responses",
            json!({"model": "m", "stream": true, "input": "hi"}),
            SSE,
            event(
                "response.created",
                json!({"type": "response.created", "response": {"id": "resp_1"}}),
            ),
            event(
                "response.output_text.delta",
                json!({"type": "response.output_text.delta", "delta": "first words"}),
            ),
        ),
        (
            "/v1/messages",
            history("messages"),
            SSE,
            event(
                "message_start",
                json!({"type": "message_start", "message": {"id": "m", "usage": {"input_tokens": 2000}}}),
            ),
            event(
                "content_block_delta",
                json!({"type": "content_block_delta", "index": 0,
                    "delta": {"type": "text_delta", "text": "first words"}}),
            ),
        ),
        (
            "/v1beta/models/m:streamGenerateContent?alt=sse",
            history("contents"),
            SSE,
            data(json!({"usageMetadata": {"promptTokenCount": 2000}})),
            data(said.clone()),
        ),
        (
            "/v1beta/models/m:streamGenerateContent",
            history("contents"),
            JSON,
            "[".to_owned(),
            format!("{said}\n,"),
        ),
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_breaks_off_before_it_says_anything_is_no_answer() {
    for (path, body, kind, prelude, _) in streams() {
        for end in [End::Closed, End::Reset] {
            let answer = head("200 OK", kind) + &chunk(&prelude);
            let setting = in_front_of(vec![(answer, end)], |_| {}).await;
            let said = asked(&setting, path, &body).await;
            assert!(said.starts_with("HTTP/1.1 502"), "{path} {end:?}: {said}");
            assert!(said.contains("midfold_upstream") && is_whole(&said), "{path} {end:?}: {said}");
            assert_eq!(setting.figure("midfold_unanswered_total"), 1, "{path} {end:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_breaks_off_later_breaks_off_for_the_client_behind_what_came() {
    for (path, body, kind, prelude, words) in streams() {
        let answer = head("200 OK", kind) + &chunk(&prelude) + &chunk(&words);
        let setting = in_front_of(vec![(answer, End::Closed)], |_| {}).await;
        let said = asked(&setting, path, &body).await;
        assert!(said.starts_with("HTTP/1.1 200") && said.contains("first words"), "{path}: {said}");
        assert!(!is_whole(&said), "{path}: {said}");
        assert_eq!(setting.figure("midfold_broken_total"), 1, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_of_http_2_sees_what_came_and_the_break() {
    for (path, body, kind, prelude, words) in streams() {
        let answer = head("200 OK", kind) + &chunk(&prelude) + &chunk(&words);
        let tls = Some(tls::served());
        let setting = in_front_of(vec![(answer, End::Closed)], |config| config.tls = tls).await;
        let mut client = tls::http_2(setting.proxy.address()).await;
        let url = format!("https://localhost:{}{path}", setting.proxy.address().port());
        let request = Request::post(url).body(Body::from(body.to_string())).unwrap();
        let mut answer = client.send_request(request).await.unwrap().into_body();
        let mut said = Vec::new();
        let end = loop {
            match answer.frame().await {
                Some(Ok(frame)) => said.extend_from_slice(frame.data_ref().unwrap()),
                end => break end,
            }
        };
        assert!(String::from_utf8_lossy(&said).contains("first words"), "{path}");
        assert!(end.is_some_and(|end| end.is_err()), "{path}: it looks whole");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn documents_and_what_passes_unread_break_off_too() {
    let document =
        json!({"choices": [{"message": {"role": "assistant", "content": "first words"}}]});
    let short = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {JSON}\r\ncontent-length: 1000\r\n\r\n{document}"
    );
    let chunked = head("200 OK", JSON) + &chunk(&document.to_string());
    let ask = json!({"model": "m", "messages": [{"role": "user", "content": "go"}]});
    for answer in [short, chunked] {
        for path in ["/v1/chat/completions", "/v1/embeddings"] {
            let setting = in_front_of(vec![(answer.clone(), End::Closed)], |_| {}).await;
            let said = asked(&setting, path, &ask).await;
            assert!(said.starts_with("HTTP/1.1 200") && said.contains("first words"), "{said}");
            assert!(!is_whole(&said), "{path}: {said}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_with_something_put_into_it_breaks_off_behind_what_came() {
    let ask = json!({"model": "m", "input": long(),
        "context_management": [{"type": "compaction", "compact_threshold": 2_000}]});
    let document = r#"{"object":"response","output":[{"type":"message","content":"first words"}]"#;
    let event = r#"{"type":"response.output_text.delta","delta":"first words"#;
    for (stream, kind, begun) in [
        (false, JSON, document.to_owned()),
        (true, SSE, format!("data: {event}\"}}\n\ndata: {event}")),
    ] {
        let answer = head("200 OK", kind) + &chunk(&begun);
        let setting = in_front_of(vec![(answer, End::Closed)], |config| {
            config.rules = rules().window(200_000);
        })
        .await;
        let mut ask = ask.clone();
        ask["stream"] = stream.into();
        let said = asked(&setting, "/v1/responses", &ask).await;
        assert!(said.contains("midfold-fold: ") && !is_whole(&said), "{said}");
        assert_eq!(said.matches("first words").count(), begun.matches("first words").count());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refusal_that_breaks_off_is_not_read_as_whole() {
    // As far as it came, it says that the window is of 12 tokens.
    let text = r#"{"error":{"code":"context_length_exceeded","message":"This model's maximum context length is 12"#;
    for (path, body, ..) in streams() {
        let answer = head("400 Bad Request", JSON) + &chunk(text);
        let setting = in_front_of(vec![(answer, End::Closed)], |_| {}).await;
        let said = asked(&setting, path, &body).await;
        assert!(said.starts_with("HTTP/1.1 400") && said.contains(text), "{path}: {said}");
        assert!(!is_whole(&said), "{path}: {said}");
        assert_eq!(setting.figure("midfold_overflows_total"), 0, "{path}");
        assert_eq!(setting.figure("midfold_broken_total"), 1, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refusal_that_does_not_end_is_passed_on_as_far_as_it_came() {
    let text = r#"{"error":{"message":"slow down"#;
    for end in [End::Open, End::Endless] {
        let answer = head("429 Too Many Requests", JSON) + &chunk(text);
        let setting = in_front_of(vec![(answer, end)], |config| config.limits.idle = SHORT).await;
        let said = asked(&setting, "/v1/chat/completions", &history("messages")).await;
        assert!(said.starts_with("HTTP/1.1 429") && said.contains(text), "{end:?}");
        assert!(!is_whole(&said), "{end:?}");
        assert!(said.len() < 2 << 20, "{end:?}: {}", said.len());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_answer_that_breaks_off_is_seen_to() {
    let text = json!({"error": {"code": "context_length_exceeded", "message":
        "This model's maximum context length is 2000 tokens. However, your messages resulted in 2100 tokens."}});
    let refusal = head("400 Bad Request", JSON) + &chunk(&text.to_string()) + "0\r\n\r\n";
    let (path, _, kind, prelude, words) = streams().swap_remove(2);
    let ask = json!({"model": "m", "stream": true, "input": long()});
    let begun = head("200 OK", kind) + &chunk(&prelude);
    for (second, status) in [(begun.clone(), "502"), (begun + &chunk(&words), "200")] {
        let answers = vec![(refusal.clone(), End::Closed), (second, End::Closed)];
        let setting = in_front_of(answers, |config| config.rules = rules().window(200_000)).await;
        let said = asked(&setting, path, &ask).await;
        assert!(said.starts_with(&format!("HTTP/1.1 {status}")), "{said}");
        assert_eq!(setting.figure("midfold_overflows_recovered_total"), 1);
        assert_eq!(is_whole(&said), status == "502", "{said}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_that_broke_off_is_no_history() {
    let done =
        json!({"type": "response.completed", "response": {"id": "resp_1", "status": "completed"}});
    let answer =
        head("200 OK", SSE) + &chunk(&format!("event: response.completed\ndata: {done}\n\n"));
    for (end, is_known) in [("", false), ("0\r\n\r\n", true)] {
        let setting = in_front_of(vec![(answer.clone() + end, End::Closed)], |_| {}).await;
        let first = json!({"model": "m", "stream": true, "input": "hi"});
        asked(&setting, "/v1/responses", &first).await;
        // A compaction of a history is made here where the history is known.
        let next = json!({"model": "m", "previous_response_id": "resp_1", "input": "and"});
        let said = asked(&setting, "/v1/responses/compact", &next).await;
        assert_eq!(said.contains("response.compaction"), is_known, "{end:?}: {said}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_provider_that_takes_long_to_say_anything_is_not_held_back_for_ever() {
    for (path, body, kind, prelude, _) in streams() {
        for begun in [String::new(), chunk(&prelude)] {
            let answer = head("200 OK", kind) + &begun;
            let hold = |config: &mut ServeConfig| config.limits.hold = SHORT;
            let setting = in_front_of(vec![(answer, End::Open)], hold).await;
            let body = body.to_string();
            let mut client = Raw::to(setting.proxy.address()).await;
            let request = format!(
                "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: {}\r\n\r\n{body}",
                body.len()
            );
            client.write(request).await;
            // The provider says no more than that, and does not close.
            let said = client.until(&prelude[..prelude.len().min(begun.len())]).await;
            assert!(said.starts_with("HTTP/1.1 200"), "{path}: {said}");
        }
    }
}

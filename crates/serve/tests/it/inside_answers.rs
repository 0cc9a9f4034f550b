//! What an answer with the status 200 says of the window: an error in place of a reply, silence, a stop reason.

use midfold_serve::UpstreamTable;
use midfold_testkit::upstream::UpstreamSettings;
use serde_json::{Value, json};

use crate::raw::Raw;
use crate::setting::{Setting, rules};
use crate::wire::{End, Wire, chunk, head};

const SSE: &str = "text/event-stream";
const MESSAGES: &str = "/v1/messages";

/// Midfold with a window of so many tokens, in front of a provider that writes these answers in turn.
async fn in_front_of(window: u64, answers: &[String]) -> Setting {
    let wire =
        Wire::start(answers.iter().map(|answer| (answer.clone(), End::Closed)).collect()).await;
    Setting::with(UpstreamSettings::default(), |config| {
        let mut upstreams = UpstreamTable::default();
        upstreams.set(&wire.url).unwrap();
        config.upstreams = upstreams;
        config.rules = rules().window(window);
    })
    .await
}

async fn asked(setting: &Setting, path: &str, body: &Value) -> String {
    let body = body.to_string();
    let mut client = Raw::to(setting.proxy.address()).await;
    let length = body.len();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: {length}"
    );
    client.write(format!("{head}\r\n\r\n{body}")).await;
    client.rest().await
}

/// About 7,000 tokens in so many steps.
fn history(list: &str, stream: bool) -> Value {
    let step = |at: u32| {
        let words = format!("{at} {}", "word ".repeat(170));
        [json!({"role": "user", "content": words}), json!({"role": "assistant", "content": words})]
    };
    let last = json!({"role": "user", "content": "on"});
    let messages: Vec<Value> = (0..20).flat_map(step).chain([last]).collect();
    json!({"model": "m", "max_tokens": 10, "stream": stream, list: messages})
}

fn event(data: &Value) -> String {
    let name = data["type"].as_str().map(|name| format!("event: {name}\n")).unwrap_or_default();
    format!("{name}data: {data}\n\n")
}

fn streamed(events: &[Value]) -> String {
    let body: String = events.iter().map(event).collect();
    head("200 OK", SSE) + &chunk(&body) + "0\r\n\r\n"
}

fn document(body: &Value) -> String {
    let (kind, body) = ("content-type: application/json", body.to_string());
    format!(
        "HTTP/1.1 200 OK\r\n{kind}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}

fn start() -> Value {
    json!({"type": "message_start", "message": {"id": "m", "usage": {"input_tokens": 9}}})
}

fn text(words: &str) -> Value {
    json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": words}})
}

/// The bytes behind the head, without the framing of chunks.
fn body(said: &str) -> String {
    let body = said.split_once("\r\n\r\n").unwrap().1;
    let mut lines = body.split("\r\n").filter(|line| !line.is_empty());
    let chunked = said.contains("transfer-encoding: chunked");
    if !chunked {
        return body.to_owned();
    }
    let mut out = String::new();
    while let (Some(_), Some(data)) = (lines.next(), lines.next()) {
        out += data;
    }
    out
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_error_of_another_kind_passes_byte_for_byte() {
    let busy =
        json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
    for (answer, stream) in [
        (streamed(&[start(), json!({"type": "ping"}), busy.clone()]), true),
        (streamed(std::slice::from_ref(&busy)), true),
        (document(&busy), false),
        (document(&busy), true),
    ] {
        let setting = in_front_of(200_000, std::slice::from_ref(&answer)).await;
        let said = asked(&setting, MESSAGES, &history("messages", stream)).await;
        assert!(said.starts_with("HTTP/1.1 200"), "{said}");
        assert_eq!(body(&said), body(&answer), "{said}");
        assert_eq!(setting.figure("midfold_folds_total"), 0);
        assert_eq!(setting.figure("midfold_overflows_total"), 0);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_error_behind_content_passes_and_nothing_is_sent_twice() {
    let full = json!({"type": "error", "error": {"type": "invalid_request_error", "message": "prompt is too long: 7000 tokens > 4000 maximum"}});
    let answer = streamed(&[start(), text("first words"), full]);
    let setting = in_front_of(200_000, std::slice::from_ref(&answer)).await;
    let said = asked(&setting, MESSAGES, &history("messages", true)).await;
    assert_eq!(body(&said), body(&answer), "{said}");
    assert_eq!(setting.figure("midfold_overflows_total"), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_error_that_quotes_the_request_teaches_no_window() {
    let quoted = "prompt is too long: 7000 tokens > 4000 maximum";
    let error = json!({"error": {"message": format!("unknown role '{quoted}'")}});
    let setting =
        in_front_of(200_000, &[streamed(&[error]), streamed(&[start(), text("well")])]).await;
    let mut ask = history("messages", true);
    ask["messages"][0]["content"] = quoted.into();
    asked(&setting, "/v1/chat/completions", &ask).await;
    let said = asked(&setting, "/v1/chat/completions", &ask).await;
    // The request may still be too long, so it is folded, but not for the number in its own words.
    assert!(said.contains("midfold-fold: ") && !said.contains("midfold-window: 4000"), "{said}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_that_ends_without_a_word_is_asked_for_again_with_less() {
    let created =
        json!({"type": "response.created", "response": {"id": "resp_1", "status": "in_progress"}});
    let silent = streamed(std::slice::from_ref(&created));
    let item = json!({"type": "message", "id": "msg_1", "role": "assistant", "content": [{"type": "output_text", "text": "first words"}]});
    let done = json!({"type": "response.output_item.done", "output_index": 0, "item": item});
    let spoken = streamed(&[created, done]);
    let twice = [silent.clone(), silent.clone(), spoken.clone()];
    // The prompt is a third of the first window, and a thirtieth of the second.
    for (window, is_folded) in [(20_000, true), (200_000, false)] {
        let setting = in_front_of(window, &twice).await;
        let said = asked(&setting, "/v1/responses", &history("input", true)).await;
        assert_eq!(said.contains("first words"), is_folded, "{window}: {said}");
        assert_eq!(said.matches("response.created").count(), 2, "{window}: {said}");
        assert_eq!(setting.figure("midfold_overflows_recovered_total"), u64::from(is_folded));
    }
    // A server that stopped once is no refusal.
    let setting = in_front_of(20_000, &[silent, spoken]).await;
    let said = asked(&setting, "/v1/responses", &history("input", true)).await;
    assert!(said.contains("first words"), "{said}");
    assert_eq!(setting.figure("midfold_folds_total"), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_that_the_window_stopped_is_passed_on_and_teaches_the_window() {
    let stop = "model_context_window_exceeded";
    let usage = json!({"input_tokens": 7_000, "output_tokens": 2_000});
    let events = [
        start(),
        text("first words"),
        json!({"type": "message_delta", "delta": {"stop_reason": stop}, "usage": usage}),
        json!({"type": "message_stop"}),
    ];
    let whole = json!({"id": "m", "type": "message", "role": "assistant", "stop_reason": stop, "usage": usage,
        "content": [{"type": "text", "text": "first words"}]});
    for (answer, stream) in [(streamed(&events), true), (document(&whole), false)] {
        let setting = in_front_of(200_000, std::slice::from_ref(&answer)).await;
        let said = asked(&setting, MESSAGES, &history("messages", stream)).await;
        assert_eq!(body(&said), body(&answer), "{said}");
        assert_eq!(setting.figure("midfold_overflows_total"), 0);
        let next = asked(&setting, MESSAGES, &history("messages", stream)).await;
        assert!(next.contains("midfold-window: 9000; from=learned"), "{next}");
    }
}

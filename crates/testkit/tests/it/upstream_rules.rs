//! What the provider refuses, and in which words.

#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

use midfold_testkit::upstream::agent::{ClientAgent, RunEnd};
use midfold_testkit::upstream::{ScriptedUpstream, Strictness, UpstreamSettings, WireDialect};
use serde_json::{Value, json};

/// The refusal of a history after some steps and a change to it.
async fn refusal(
    dialect: WireDialect,
    thinking: bool,
    change: impl FnOnce(&mut Vec<Value>),
) -> String {
    refusal_by(UpstreamSettings::default(), dialect, thinking, change).await
}

async fn refusal_by(
    settings: UpstreamSettings,
    dialect: WireDialect,
    thinking: bool,
    change: impl FnOnce(&mut Vec<Value>),
) -> String {
    let upstream = ScriptedUpstream::start(settings).await.unwrap();
    let mut session = ClientAgent { thinking, ..ClientAgent::new(dialect, upstream.url()) }.start();
    for _ in 0..3 {
        session.turn().await;
        assert_eq!(session.end(), None);
    }
    change(&mut session.history);
    session.turn().await;
    match session.end() {
        Some(RunEnd::Failed { status: 400, body }) => {
            let stats = upstream.stats();
            assert_eq!((stats.refused.len(), stats.overflows), (1, 0));
            let body: Value = serde_json::from_str(body).unwrap();
            let text = body["error"]["message"].as_str().unwrap().to_owned();
            assert_eq!(stats.refused[0], text);
            text
        }
        other => panic!("{other:?}"),
    }
}

fn has(text: &str, part: &str) {
    assert!(text.contains(part), "{text}");
}

#[tokio::test]
async fn chat_pairs_calls_and_results() {
    let dialect = WireDialect::Chat;
    // user, call 1, result 1, call 2, result 2, call 3, result 3
    has(
        &refusal(dialect, false, |h| drop(h.remove(1))).await,
        "messages with role 'tool' must be a response",
    );
    has(&refusal(dialect, false, |h| drop(h.remove(2))).await, "must be followed by tool messages");
    has(&refusal(dialect, false, |h| drop(h.pop())).await, "did not have response messages: call_");
    has(&refusal(dialect, false, |h| h.swap(2, 4)).await, "must be a response");
    has(&refusal(dialect, false, |h| h.insert(3, h[2].clone())).await, "must be a response");
    has(
        &refusal(dialect, false, |h| {
            let call = h[1..3].to_vec();
            h.splice(3..3, call);
        })
        .await,
        "Duplicate value for 'tool_call_id'",
    );
    has(
        &refusal(dialect, false, |h| h[2]["content"] = Value::Null).await,
        "expected a string, got null",
    );
}

#[tokio::test]
async fn templates_ask_for_alternation() {
    let settings =
        || UpstreamSettings { strict: Strictness::Templates, ..UpstreamSettings::default() };
    let user = || json!({"role": "user", "content": "More."});
    let text = refusal_by(settings(), WireDialect::Chat, false, |h| h.push(user())).await;
    assert_eq!(text, "Unexpected role 'user' after role 'tool'");
    let thoughtless = |h: &mut Vec<Value>| h[3]["reasoning_content"] = Value::Null;
    let thinks = UpstreamSettings { reasoning: true, ..settings() };
    let text = refusal_by(thinks, WireDialect::Chat, false, thoughtless).await;
    has(&text, "Missing `reasoning_content` field in the assistant message at message index 4");
    let text = refusal_by(settings(), WireDialect::Chat, false, |h| h.insert(1, user())).await;
    assert_eq!(text, "Unexpected role 'user' after role 'user'");
}

#[tokio::test]
async fn some_backends_ask_for_results_at_once() {
    let settings =
        || UpstreamSettings { strict: Strictness::Templates, ..UpstreamSettings::default() };
    // user, message 1, call 1, result 1
    let apart = |h: &mut Vec<Value>| h.insert(3, json!({"role": "user", "content": "Well?"}));
    let text = refusal_by(settings(), WireDialect::Responses, false, apart).await;
    has(&text, "No tool output found for function call call_");
}

#[tokio::test]
async fn responses_pair_calls_and_keep_reasoning() {
    let dialect = WireDialect::Responses;
    // user, then reasoning, message, call, output for each step
    has(
        &refusal(dialect, true, |h| drop(h.pop())).await,
        "No tool output found for function call call_",
    );
    has(
        &refusal(dialect, true, |h| drop(h.drain(1..4))).await,
        "No tool call found for function call output",
    );
    has(
        &refusal(dialect, true, |h| drop(h.remove(1))).await,
        "was provided without its required 'reasoning' item: 'rs_",
    );
    has(
        &refusal(dialect, true, |h| drop(h.drain(2..5))).await,
        "without its required following item",
    );
    has(
        &refusal(dialect, true, |h| h.insert(1, h[1].clone())).await,
        "without its required following item",
    );
    has(
        &refusal(dialect, true, |h| h[1]["id"] = json!("x_1")).await,
        "an ID that begins with 'rs'",
    );
    has(
        &refusal(dialect, true, |h| h[1]["encrypted_content"] = h[5]["encrypted_content"].clone())
            .await,
        "Encrypted content item_id did not match the target item id",
    );
    has(&refusal(dialect, false, |h| h.push(h[3].clone())).await, "Duplicate function call output");
    has(
        &refusal(dialect, false, |h| h[1]["content"][0]["type"] = json!("text")).await,
        "Invalid value: 'text'",
    );
}

#[tokio::test]
async fn messages_pair_calls_and_results() {
    let dialect = WireDialect::Messages;
    // user, assistant 1, results 1, assistant 2, results 2, assistant 3, results 3
    has(&refusal(dialect, false, |h| drop(h.pop())).await, "must end with a user message");
    has(
        &refusal(dialect, false, |h| drop(h.drain(0..2))).await,
        "messages.0.content.0: unexpected `tool_use_id` found",
    );
    has(
        &refusal(dialect, false, |h| drop(h.remove(0))).await,
        "first message must use the \"user\" role",
    );
    has(
        &refusal(dialect, false, |h| h[4] = json!({"role": "user", "content": "x"})).await,
        "messages.3: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_",
    );
    let text_first = |h: &mut Vec<Value>| {
        let blocks = h[2]["content"].as_array_mut().unwrap();
        blocks.insert(0, json!({"type": "text", "text": "First."}));
    };
    has(
        &refusal(dialect, false, text_first).await,
        "messages.1: `tool_use` ids were found without",
    );
    let twice = |h: &mut Vec<Value>| {
        let block = h[2]["content"][0].clone();
        h[2]["content"].as_array_mut().unwrap().push(block);
    };
    has(&refusal(dialect, false, twice).await, "each tool_use must have a single result");
    let again = |h: &mut Vec<Value>| {
        let pair = h[1..3].to_vec();
        h.splice(3..3, pair);
    };
    has(&refusal(dialect, false, again).await, "`tool_use` ids must be unique");
    has(
        &refusal(dialect, false, |h| h[0]["content"][0]["text"] = json!("")).await,
        "text content blocks must be non-empty",
    );
    has(
        &refusal(dialect, false, |h| h[1]["content"] = json!([])).await,
        "must have non-empty content",
    );
    let system = || json!({"role": "system", "content": "Be brief."});
    has(&refusal(dialect, false, |h| h.insert(0, system())).await, "first message must use");
    has(&refusal(dialect, false, |h| h.insert(2, system())).await, "found without `tool_result`");
    has(
        &refusal(dialect, false, |h| {
            h.push(system());
            h.push(json!({"role": "user", "content": "More."}));
        })
        .await,
        "messages.7: `system` messages must follow a `user` message and precede",
    );
    let marked = |h: &mut Vec<Value>| {
        for at in [0, 2, 4] {
            h[at]["content"][0]["cache_control"] = json!({"type": "ephemeral"});
        }
    };
    has(&refusal(dialect, false, marked).await, "A maximum of 4 blocks with cache_control");
}

#[tokio::test]
async fn thinking_comes_back_as_it_was() {
    let dialect = WireDialect::Messages;
    let bare = |h: &mut Vec<Value>| drop(h[5]["content"].as_array_mut().unwrap().remove(0));
    has(
        &refusal(dialect, true, bare).await,
        "Expected `thinking` or `redacted_thinking`, but found `text`",
    );
    let other = |h: &mut Vec<Value>| h[3]["content"][0]["thinking"] = json!("Something else.");
    has(&refusal(dialect, true, other).await, "Invalid `signature` in `thinking` block");
    let settings = || UpstreamSettings { bind_thinking: true, ..UpstreamSettings::default() };
    let folded = |h: &mut Vec<Value>| h[2]["content"][0]["content"] = json!("[folded]");
    let text = refusal_by(settings(), dialect, true, folded).await;
    has(&text, "messages.3.content.0: Invalid `signature` in `thinking` block. The block is bound");

    // Without a change it is legal, and with all thinking but the open round's gone as well.
    let upstream = ScriptedUpstream::start(settings()).await.unwrap();
    let mut session =
        ClientAgent { thinking: true, ..ClientAgent::new(dialect, upstream.url()) }.start();
    for _ in 0..3 {
        session.turn().await;
    }
    for at in [1, 3] {
        session.history[at]["content"].as_array_mut().unwrap().remove(0);
    }
    session.turn().await;
    assert_eq!((session.end(), upstream.stats().refused), (None, vec![]));
}

#[tokio::test]
async fn gemini_pairs_alternates_and_keeps_signatures() {
    let dialect = WireDialect::Gemini;
    // user, model 1, responses 1, model 2, responses 2, model 3, responses 3
    has(
        &refusal(dialect, false, |h| drop(h.pop())).await,
        "is followed by a function response turn",
    );
    has(&refusal(dialect, false, |h| drop(h.remove(0))).await, "start with a user turn");
    has(
        &refusal(dialect, false, |h| drop(h.remove(1))).await,
        "comes immediately after a function call turn",
    );
    has(
        &refusal(dialect, false, |h| drop(h.remove(2))).await,
        "the number of function response parts is equal",
    );
    let more = |h: &mut Vec<Value>| h.push(json!({"role": "user", "parts": [{"text": "More."}]}));
    let settings =
        UpstreamSettings { strict: Strictness::Templates, ..UpstreamSettings::default() };
    has(&refusal_by(settings, dialect, false, more).await, "alternate between user and model");
    let part = |h: &mut Vec<Value>, at: usize| {
        let parts = h[at]["parts"].as_array_mut().unwrap();
        parts.iter().position(|part| part["functionCall"].is_object()).unwrap()
    };
    let unsigned = |h: &mut Vec<Value>| {
        let at = part(h, 3);
        h[3]["parts"][at].as_object_mut().unwrap().remove("thoughtSignature");
    };
    has(
        &refusal(dialect, false, unsigned).await,
        "missing a thought_signature in functionCall parts",
    );
    let empty = |h: &mut Vec<Value>| h[0]["parts"] = json!([]);
    has(&refusal(dialect, false, empty).await, "contents[0].parts");
}

#[tokio::test]
async fn strictness_can_be_off() {
    let upstream = ScriptedUpstream::start(UpstreamSettings {
        strict: Strictness::Off,
        ..UpstreamSettings::default()
    })
    .await
    .unwrap();
    let mut session = ClientAgent::new(WireDialect::Chat, upstream.url()).start();
    session.turn().await;
    session.history.remove(1);
    session.turn().await;
    assert_eq!((session.end(), upstream.stats().refused), (None, vec![]));
}

#[tokio::test]
async fn an_empty_list_of_tools_is_refused() {
    let upstream = ScriptedUpstream::start(UpstreamSettings::default()).await.unwrap();
    let body = json!({"model": "m", "tools": [], "messages": [{"role": "user", "content": "Hi"}]});
    let client = ClientAgent::new(WireDialect::Chat, upstream.url());
    let got = client.post("/v1/chat/completions", &body.to_string()).await;
    assert_eq!(got.status, 400);
    assert_eq!(upstream.stats().refused, ["[] is too short - 'tools'"]);
    let got = client.post("/v1/nothing", "{}").await;
    assert_eq!(got.status, 404);
    assert!(String::from_utf8_lossy(&got.body).contains("Invalid URL (POST /v1/nothing)"));
}

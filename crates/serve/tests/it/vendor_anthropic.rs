//! Compaction of Messages, done by the proxy: on demand, at a threshold, and edits that clear.

use midfold_proxy::CompactionPreference;
use midfold_testkit::upstream::WireDialect;
use midfold_testkit::upstream::agent::ClientAgent;
use serde_json::{Value, json};

use crate::setting::Setting;
use crate::vendor::{asked, events, extends, messages, post, sent, setting, tampered, with};

const MESSAGES: &str = "/v1/messages";
const COUNT: &str = "/v1/messages/count_tokens";

fn request(messages: &[Value]) -> Value {
    json!({"model": "claude-sonnet-4-5", "max_tokens": 1000, "messages": messages})
}

fn on_demand(messages: &[Value]) -> Value {
    let mut body = request(messages);
    body["compaction"] = json!({"type": "summarize", "instructions": "Keep the file names."});
    body
}

fn edited(messages: &[Value], edits: &Value) -> Value {
    let mut body = request(messages);
    body["context_management"] = json!({"edits": edits});
    body
}

/// The block that a summary on demand is.
async fn summarised(setting: &Setting) -> Value {
    let (got, answer) = post(setting, MESSAGES, &on_demand(&messages())).await;
    assert_eq!(got.status, 200, "{answer}");
    assert_eq!(answer["stop_reason"], "compaction");
    assert_eq!(answer["usage"]["output_tokens"], 0);
    assert_eq!(answer["usage"]["iterations"][0]["type"], "compaction");
    assert_eq!(answer["content"].as_array().unwrap().len(), 1);
    answer["content"][0].clone()
}

fn swapped(block: &Value, more: &[Value]) -> Vec<Value> {
    [json!({"role": "assistant", "content": [block]})].into_iter().chain(more.to_vec()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_summary_on_demand_takes_the_place_of_what_it_summarises_also_after_a_restart() {
    let first = setting(&[1]).await;
    let block = summarised(&first).await;
    assert_eq!(asked(&first), 0, "the provider is not asked");
    assert!(block["content"].as_str().unwrap().contains("## Conversation Summary"));
    assert!(block["signature"].as_str().unwrap().starts_with("mfc1."));
    first.proxy.stop().await;

    let second = setting(&[2, 1]).await;
    let mut more = vec![json!({"role": "user", "content": "Go on."})];
    let (got, answer) = post(&second, MESSAGES, &request(&swapped(&block, &more))).await;
    assert_eq!(got.status, 200, "{answer}");
    let before = sent(&second)["messages"].clone();
    let text = before.to_string();
    assert!(text.contains("## Conversation Summary") && !text.contains("mfc1."), "{text}");
    assert!(text.len() * 2 < Value::from(messages()).to_string().len(), "{} bytes", text.len());

    more.push(json!({"role": "assistant", "content": answer["content"]}));
    more.push(json!({"role": "user", "content": "And on."}));
    let (got, _) = post(&second, MESSAGES, &request(&swapped(&block, &more))).await;
    assert_eq!((got.status, got.header("midfold-fold")), (200, None));
    assert!(extends(&sent(&second)["messages"], &before));
    assert_eq!(second.upstream.stats().refused, [""; 0]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_summary_on_demand_is_streamed_as_one_block() {
    let setting = setting(&[1]).await;
    let mut body = on_demand(&messages());
    body["stream"] = true.into();
    let (got, _) = post(&setting, MESSAGES, &body).await;
    assert_eq!(got.header("content-type"), Some("text/event-stream; charset=utf-8"));
    let events = events(&got.body);
    let kinds: Vec<_> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    let wanted = [
        "message_start",
        "content_block_start",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ];
    assert_eq!(kinds, wanted);
    let block = &events[1]["content_block"];
    assert_eq!(block["type"], "compaction");
    let (got, _) = post(
        &setting,
        MESSAGES,
        &request(&swapped(block, &[json!({"role": "user", "content": "Go on."})])),
    )
    .await;
    assert_eq!(got.status, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_block_that_is_not_what_was_signed_is_refused_as_the_vendor_does() {
    let first = setting(&[1]).await;
    let block = summarised(&first).await;
    let other = setting(&[3]).await;
    let go_on = json!({"role": "user", "content": "Go on."});
    let with = |name: &str, value: Value| {
        let mut block = block.clone();
        block[name] = value;
        swapped(&block, std::slice::from_ref(&go_on))
    };
    let signature = tampered(block["signature"].as_str().unwrap());
    let mut misplaced = vec![go_on.clone()];
    misplaced.extend(swapped(&block, std::slice::from_ref(&go_on)));
    let ambiguous: Vec<_> = swapped(&block, &[])
        .into_iter()
        .chain(swapped(&block, std::slice::from_ref(&go_on)))
        .collect();
    for (setting, messages, code) in [
        (&first, with("signature", signature.into()), "compaction_signature_invalid"),
        (&other, swapped(&block, std::slice::from_ref(&go_on)), "compaction_signature_invalid"),
        (&first, with("content", "Something else.".into()), "compaction_content_mismatch"),
        (&first, misplaced, "compaction_block_misplaced"),
        (&first, ambiguous, "compaction_block_ambiguous"),
    ] {
        let (got, answer) = post(setting, MESSAGES, &request(&messages)).await;
        assert_eq!(got.status, 400, "{code}");
        assert_eq!(answer["error"]["details"]["error_code"], code, "{answer}");
        assert_eq!(asked(setting), 0, "{code}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_summarised_is_refused_with_the_vendors_code() {
    let setting = setting(&[1]).await;
    let (got, answer) = post(&setting, MESSAGES, &on_demand(&[])).await;
    assert_eq!(got.status, 400);
    assert_eq!(answer["error"]["details"]["error_code"], "compaction_nothing_to_summarize");
    let open = [
        json!({"role": "user", "content": "Do it."}),
        json!({"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "run", "input": {}}]}),
    ];
    let (_, answer) = post(&setting, MESSAGES, &on_demand(&open)).await;
    assert_eq!(answer["error"]["details"]["error_code"], "compaction_incomplete_turn");
    let short = [json!({"role": "user", "content": "My name is Ann."})];
    let (_, answer) = post(&setting, MESSAGES, &on_demand(&short)).await;
    assert!(answer["content"][0]["content"].as_str().unwrap().contains("My name is Ann."));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_block_of_the_vendor_passes_with_all_that_is_asked_beside_it() {
    let setting = setting(&[1]).await;
    let block = json!({"type": "compaction", "content": "So far.", "signature": "EqQB"});
    let messages = swapped(&block, &[json!({"role": "user", "content": "Go on."})]);
    let body = edited(&messages, &json!([{"type": "compact_20260112"}]));
    let headers = vec![("anthropic-beta".to_owned(), "compact-2026-01-12".to_owned())];
    let agent = ClientAgent { headers, ..ClientAgent::new(WireDialect::Messages, &setting.url()) };
    let _ = agent.post(MESSAGES, &body.to_string()).await;
    let got = setting.upstream.requests().pop().unwrap();
    assert_eq!(got.body, body.to_string().as_bytes());
    assert_eq!(got.header("anthropic-beta"), Some("compact-2026-01-12"));
}

/// A history of less than 50,000 tokens, the least that a threshold may be. `messages` has more.
fn short() -> [Value; 1] {
    [json!({"role": "user", "content": "Hello."})]
}

fn compact(pause: bool) -> Value {
    json!([{"type": "compact_20260112", "trigger": {"type": "input_tokens", "value": 50_000},
        "pause_after_compaction": pause}])
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_threshold_that_is_crossed_puts_a_block_before_the_reply() {
    for stream in [false, true] {
        let setting = setting(&[1]).await;
        let ask = |messages: &[Value]| {
            let mut body = edited(messages, &compact(false));
            body["stream"] = stream.into();
            body
        };
        let (got, answer) = post(&setting, MESSAGES, &ask(&short())).await;
        assert_eq!((got.status, got.header("midfold-fold")), (200, None));
        assert_eq!(sent(&setting).get("context_management"), None);
        assert_eq!(sent(&setting)["messages"], json!(short()));
        assert!(stream || answer["context_management"]["applied_edits"] == json!([]), "{answer}");

        let (got, answer) = post(&setting, MESSAGES, &ask(&messages())).await;
        assert_eq!(got.status, 200, "{answer}");
        let folded = sent(&setting)["messages"].clone();
        assert!(folded.to_string().contains("## Conversation Summary"));
        let (content, usage) = match stream {
            true => streamed(&got.body),
            false => (answer["content"].clone(), answer["usage"].clone()),
        };
        let kinds: Vec<_> = content
            .as_array()
            .unwrap()
            .iter()
            .map(|block| block["type"].as_str().unwrap())
            .collect();
        assert_eq!(kinds, ["compaction", "text"], "stream={stream}");
        let iterations: Vec<_> = usage["iterations"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["type"].as_str().unwrap())
            .collect();
        assert_eq!(iterations, ["compaction", "message"], "stream={stream}");
        assert!(content[0]["content"].as_str().unwrap().contains("## Conversation Summary"));

        // With what was before the block or without it: the same prompt.
        let new = [
            json!({"role": "assistant", "content": content}),
            json!({"role": "user", "content": "Go on."}),
        ];
        let whole: Vec<Value> = messages().into_iter().chain(new.clone()).collect();
        for history in [new.to_vec(), whole] {
            let (got, answer) = post(&setting, MESSAGES, &ask(&history)).await;
            assert_eq!(got.status, 200, "{answer}");
            let next = sent(&setting)["messages"].clone();
            assert!(extends(&next, &folded), "stream={stream}");
            assert_eq!(next.as_array().unwrap().len(), folded.as_array().unwrap().len() + 2);
        }
        assert_eq!(setting.upstream.stats().refused, [""; 0]);
    }
}

/// Content and usage that the events of a stream add up to.
fn streamed(body: &[u8]) -> (Value, Value) {
    let (mut content, mut usage) = (Vec::<Value>::new(), Value::Null);
    for event in events(body) {
        match event["type"].as_str().unwrap() {
            "content_block_start" => {
                assert_eq!(event["index"], content.len());
                content.push(event["content_block"].clone());
            }
            "content_block_delta" => {
                let block = content.last_mut().unwrap();
                let delta = event["delta"].as_object().unwrap();
                match delta["type"].as_str().unwrap() {
                    "compaction_delta" => {
                        for (name, value) in delta.iter().filter(|(name, _)| *name != "type") {
                            block[name] = value.clone();
                        }
                    }
                    _ => {
                        let text = block["text"].as_str().unwrap().to_owned();
                        block["text"] = (text + delta["text"].as_str().unwrap()).into();
                    }
                }
            }
            "message_delta" => {
                usage = event["usage"].clone();
                assert_eq!(event["context_management"]["applied_edits"], json!([]));
            }
            _ => {}
        }
    }
    (content.into(), usage)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_paused_compaction_is_the_answer() {
    let first = setting(&[1]).await;
    let mut streamed = edited(&messages(), &compact(true));
    streamed["stream"] = true.into();
    let (got, _) = post(&first, MESSAGES, &streamed).await;
    let events = events(&got.body);
    let delta = &events[2]["delta"];
    assert_eq!((asked(&first), &delta["type"]), (0, &json!("compaction_delta")), "{events:?}");
    assert!(delta["content"].as_str().unwrap().contains("## Conversation Summary"));
    assert_eq!(events[4]["delta"]["stop_reason"], "compaction");
    let setting = setting(&[1]).await;
    let (_, answer) = post(&setting, MESSAGES, &edited(&messages(), &compact(true))).await;
    assert_eq!((asked(&setting), &answer["stop_reason"]), (0, &json!("compaction")));
    assert_eq!(answer["content"].as_array().unwrap().len(), 1);
    assert_eq!(answer["usage"]["input_tokens"], 0);
    let mut next = messages();
    next.push(json!({"role": "assistant", "content": answer["content"]}));
    next.push(json!({"role": "user", "content": "Go on."}));
    let (got, answer) = post(&setting, MESSAGES, &edited(&next, &compact(true))).await;
    assert_eq!((got.status, &answer["content"][0]["type"]), (200, &json!("text")));
    assert!(sent(&setting)["messages"].to_string().contains("## Conversation Summary"));
}

/// What the edits before the compaction did is told by the answer, also where the provider is not asked for it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_paused_compaction_tells_what_was_cleared() {
    // So few are cleared that the rest is still over the threshold.
    let uses = json!(messages()).to_string().matches(r#""type":"tool_use""#).count();
    let clear = json!({"type": "clear_tool_uses_20250919", "trigger": {"type": "tool_uses", "value": 5},
        "keep": {"type": "tool_uses", "value": uses - 3}});
    let edits: Vec<Value> =
        [clear].into_iter().chain(compact(true).as_array().unwrap().clone()).collect();
    let mut body = edited(&messages(), &json!(edits));
    let first = setting(&[1]).await;
    let (_, answer) = post(&first, MESSAGES, &body).await;
    assert_eq!((asked(&first), &answer["stop_reason"]), (0, &json!("compaction")));
    let applied = &answer["context_management"]["applied_edits"][0];
    assert_eq!(applied["type"], "clear_tool_uses_20250919");
    assert!(applied["cleared_tool_uses"].as_u64().unwrap() > 0, "{applied}");
    body["stream"] = true.into();
    let second = setting(&[1]).await;
    let (got, _) = post(&second, MESSAGES, &body).await;
    let events = events(&got.body);
    assert_eq!(&events[4]["context_management"]["applied_edits"][0], applied, "{events:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn old_tool_uses_are_cleared_and_counted() {
    let edits = json!([
        {"type": "clear_tool_uses_20250919", "trigger": {"type": "tool_uses", "value": 5},
         "keep": {"type": "tool_uses", "value": 2}},
        {"type": "summon_20300101"}
    ]);
    let setting = setting(&[1]).await;
    let headers = ["files-api-2025-04-14,context-management-2025-06-27", "compact-2026-01-12"];
    let headers = headers.map(|value| ("anthropic-beta".to_owned(), value.to_owned())).to_vec();
    let agent = ClientAgent { headers, ..ClientAgent::new(WireDialect::Messages, &setting.url()) };
    let got = agent.post(MESSAGES, &edited(&messages(), &edits).to_string()).await;
    let answer: Value = serde_json::from_slice(&got.body).unwrap();
    let applied = &answer["context_management"]["applied_edits"][0];
    assert_eq!(applied["type"], "clear_tool_uses_20250919");
    assert!(applied["cleared_tool_uses"].as_u64().unwrap() > 5, "{answer}");
    let cleared = applied["cleared_input_tokens"].as_u64().unwrap();
    let got = sent(&setting);
    assert!(got["messages"].to_string().contains("[Old tool result content cleared]"));
    // What nobody here knows is the provider's, with its header.
    assert_eq!(got["context_management"]["edits"], json!([{"type": "summon_20300101"}]));
    let header = setting.upstream.requests().pop().unwrap();
    let beta = header.header("anthropic-beta").unwrap().to_owned();
    assert!(beta.contains("context-management-2025-06-27"), "{beta}");

    let ours = json!([edits[0]]);
    let got = agent.post(MESSAGES, &edited(&messages(), &ours).to_string()).await;
    assert_eq!(got.status, 200);
    assert_eq!(sent(&setting).get("context_management"), None);
    let header = setting.upstream.requests().pop().unwrap();
    assert_eq!(header.header("anthropic-beta"), Some("files-api-2025-04-14"));

    let (_, counted) = post(&setting, COUNT, &edited(&messages(), &ours)).await;
    let original = counted["context_management"]["original_input_tokens"].as_u64().unwrap();
    assert_eq!(original, counted["input_tokens"].as_u64().unwrap() + cleared, "{counted}");
    let (_, untouched) = post(&setting, COUNT, &edited(&messages()[..1], &ours)).await;
    let original = &untouched["context_management"]["original_input_tokens"];
    assert_eq!(original, &untouched["input_tokens"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn edits_that_are_wrong_are_refused_as_the_vendor_does() {
    let setting = setting(&[1]).await;
    let edits =
        json!([{"type": "compact_20260112", "trigger": {"type": "input_tokens", "value": 10}}]);
    let (got, answer) = post(&setting, MESSAGES, &edited(&messages(), &edits)).await;
    assert_eq!((got.status, &answer["error"]["type"]), (400, &json!("invalid_request_error")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_backend_does_it_where_it_is_preferred_and_our_blocks_open_still() {
    let block = summarised(&setting(&[1]).await).await;
    let theirs = with(&[1], |config| config.prefer = CompactionPreference::Upstream).await;
    for body in [edited(&messages(), &compact(false)), on_demand(&messages())] {
        let _ = post(&theirs, MESSAGES, &body).await;
        assert_eq!(theirs.upstream.requests().pop().unwrap().body, body.to_string().as_bytes());
    }
    let messages = swapped(&block, &[json!({"role": "user", "content": "Go on."})]);
    let (got, _) = post(&theirs, MESSAGES, &request(&messages)).await;
    assert_eq!(got.status, 200);
    assert!(sent(&theirs)["messages"].to_string().contains("## Conversation Summary"));
}

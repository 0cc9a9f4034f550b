//! Compaction of Responses, done by the proxy: at its endpoint, on a trigger, and at a threshold.

use std::sync::Arc;

use midfold::store::fsck::fsck;
use midfold::store::{MemoryStore, Store};
use midfold_proxy::CompactionPreference;
use serde_json::{Value, json};

use crate::vendor::{asked, events, extends, items, post, sent, setting, tampered, with};

const COMPACT: &str = "/v1/responses/compact";
const RESPONSES: &str = "/v1/responses";

/// The window that a compaction answers with.
async fn compacted(setting: &crate::setting::Setting) -> Vec<Value> {
    let body = json!({"model": "gpt-5", "input": items()});
    let (got, answer) = post(setting, COMPACT, &body).await;
    assert_eq!(got.status, 200, "{answer}");
    assert_eq!(answer["object"], "response.compaction");
    answer["output"].as_array().unwrap().clone()
}

fn request(input: &[Value]) -> Value {
    json!({"model": "gpt-5", "input": input, "store": false})
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_compaction_is_the_next_input_also_after_a_restart() {
    let first = setting(&[1]).await;
    let output = compacted(&first).await;
    assert_eq!(asked(&first), 0, "the provider is not asked");
    let (item, kept) = output.split_last().unwrap();
    assert_eq!(item["type"], "compaction");
    assert!(item["id"].as_str().unwrap().starts_with("cmp_"));
    assert!(!kept.is_empty() && kept.iter().all(|message| message["role"] == "user"));
    assert!(kept.iter().all(|message| items().contains(message)), "they are as they came");
    first.proxy.stop().await;

    // Another node, with a newer key in front of the one that sealed.
    let second = setting(&[2, 1]).await;
    let mut input = output.clone();
    input.push(json!({"role": "user", "content": "Go on."}));
    let (got, _) = post(&second, RESPONSES, &request(&input)).await;
    assert_eq!(got.status, 200, "{}", String::from_utf8_lossy(&got.body));
    let before = sent(&second)["input"].clone();
    let text = before.to_string();
    assert!(text.contains("## Conversation Summary"), "{text}");
    assert!(!text.contains("encrypted_content") && !text.contains("mfc1."), "{text}");
    assert!(text.len() * 2 < Value::from(items()).to_string().len(), "{} bytes", text.len());

    // And the prompts after it extend each other.
    input.push(json!({"role": "assistant", "content": "fine"}));
    input.push(json!({"role": "user", "content": "And on."}));
    let (got, _) = post(&second, RESPONSES, &request(&input)).await;
    assert_eq!((got.status, got.header("midfold-fold")), (200, None));
    let after = sent(&second)["input"].clone();
    assert!(extends(&after, &before));
    assert_eq!(after.as_array().unwrap().len(), before.as_array().unwrap().len() + 2);
    assert_eq!(second.upstream.stats().refused, [""; 0]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_block_that_does_not_open_is_refused_as_the_vendor_does() {
    let first = setting(&[1]).await;
    let output = compacted(&first).await;
    let other = setting(&[3]).await;
    let mut changed = output.clone();
    let item = changed.last_mut().unwrap();
    item["encrypted_content"] = tampered(item["encrypted_content"].as_str().unwrap()).into();
    for (setting, input) in [(&first, &changed), (&other, &output)] {
        let (got, answer) = post(setting, RESPONSES, &request(input)).await;
        assert_eq!(got.status, 400);
        assert_eq!(answer["error"]["code"], "invalid_encrypted_content", "{answer}");
        assert!(
            answer["error"]["message"]
                .as_str()
                .unwrap()
                .starts_with("Could not decode the compaction blob.")
        );
        assert_eq!(asked(setting), 0);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_block_of_somebody_else_passes_untouched() {
    let setting = setting(&[1]).await;
    let input = [
        json!({"type": "compaction", "id": "cmp_1", "encrypted_content": "gAAAAB"}),
        json!({"role": "user", "content": "Go on."}),
    ];
    let body = request(&input).to_string();
    let (got, _) = post(&setting, RESPONSES, &request(&input)).await;
    assert_eq!(got.status, 200);
    assert_eq!(setting.upstream.requests().pop().unwrap().body, body.as_bytes());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_block_of_somebody_else_is_never_folded() {
    let setting = with(&[1], |config| config.rules = crate::setting::rules().window(40_000)).await;
    let theirs = json!({"type": "compaction", "id": "cmp_1", "encrypted_content": "gAAAAB"});
    let mut input = items();
    input.insert(items().len() / 2, theirs.clone());
    let (got, _) = post(&setting, RESPONSES, &request(&input)).await;
    assert!(got.header("midfold-fold").is_some());
    let sent = sent(&setting)["input"].clone();
    assert!(sent.as_array().unwrap().contains(&theirs), "{sent}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_trigger_is_answered_with_one_item_whole_and_streamed() {
    let setting = setting(&[1]).await;
    for stream in [false, true] {
        let mut input = items();
        input.push(json!({"type": "compaction_trigger"}));
        let mut body = request(&input);
        body["stream"] = stream.into();
        let (got, answer) = post(&setting, RESPONSES, &body).await;
        assert_eq!(got.status, 200);
        let item = if stream {
            let events = events(&got.body);
            let done: Vec<_> = events
                .iter()
                .filter(|event| event["type"] == "response.output_item.done")
                .collect();
            assert_eq!(done.len(), 1);
            assert_eq!(events.last().unwrap()["type"], "response.completed");
            done[0]["item"].clone()
        } else {
            assert_eq!(answer["output"].as_array().unwrap().len(), 1);
            answer["output"][0].clone()
        };
        assert_eq!(item["type"], "compaction");
        assert_eq!(asked(&setting), usize::from(stream), "the provider is not asked");
        // Codex sends fresh instructions and the user's messages in front of it.
        let next = [
            json!({"role": "developer", "content": "fresh instructions"}),
            json!({"role": "user", "content": "an old message"}),
            item,
            json!({"role": "user", "content": "Go on."}),
        ];
        let (got, _) = post(&setting, RESPONSES, &request(&next)).await;
        assert_eq!(got.status, 200, "{}", String::from_utf8_lossy(&got.body));
        let text = sent(&setting)["input"].to_string();
        assert!(text.contains("## Conversation Summary") && text.contains("fresh instructions"));
        assert!(!text.contains("an old message"), "{text}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_trigger_can_be_gone_on_from_by_its_answer() {
    let setting = setting(&[1]).await;
    let mut input = items();
    input.push(json!({"type": "compaction_trigger"}));
    let (_, answer) = post(&setting, RESPONSES, &json!({"model": "gpt-5", "input": input})).await;
    let next = json!({"model": "gpt-5", "input": "Go on.", "previous_response_id": answer["id"]});
    let (got, _) = post(&setting, RESPONSES, &next).await;
    assert_eq!(got.status, 200, "{}", String::from_utf8_lossy(&got.body));
    let sent = sent(&setting);
    assert!(sent["input"].to_string().contains("## Conversation Summary"));
    assert_eq!(sent["previous_response_id"], Value::Null);
    // And compacted by its name alone.
    let (_, reply) = post(&setting, RESPONSES, &next).await;
    let body = json!({"model": "gpt-5", "previous_response_id": reply["id"]});
    let (got, answer) = post(&setting, COMPACT, &body).await;
    assert_eq!((got.status, &answer["output"][0]["type"]), (200, &json!("message")), "{answer}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_threshold_that_is_crossed_puts_an_item_before_the_reply() {
    for stream in [false, true] {
        let setting = setting(&[1]).await;
        let ask = |input: &[Value], threshold: u64| {
            let mut body = request(input);
            body["stream"] = stream.into();
            body["context_management"] =
                json!([{"type": "compaction", "compact_threshold": threshold}]);
            body
        };
        // Below the threshold nothing is done.
        let (got, answer) = post(&setting, RESPONSES, &ask(&items(), 150_000)).await;
        assert_eq!((got.status, got.header("midfold-fold")), (200, None));
        let sent_whole = sent(&setting);
        assert_eq!(sent_whole["input"], Value::from(items()));
        assert_eq!(sent_whole.get("context_management"), None);
        assert!(stream || answer["output"][0]["type"] == "message", "{answer}");

        let (got, answer) = post(&setting, RESPONSES, &ask(&items(), 4_000)).await;
        assert_eq!(got.status, 200);
        assert!(got.header("midfold-fold").is_some());
        let folded = sent(&setting)["input"].clone();
        assert!(folded.to_string().contains("## Conversation Summary"));
        let output = if stream { streamed(&got.body) } else { answer["output"].clone() };
        let output = output.as_array().unwrap();
        let kinds: Vec<_> = output.iter().map(|item| item["type"].as_str().unwrap()).collect();
        assert_eq!(kinds, ["compaction", "message"], "stream={stream}");

        // The client goes on, with what was before the item or without it: the same prompt.
        let new = json!({"role": "user", "content": "Go on."});
        let short: Vec<Value> = output.iter().chain([&new]).cloned().collect();
        let long: Vec<Value> = items().into_iter().chain(short.clone()).collect();
        for input in [short, long] {
            let (got, _) = post(&setting, RESPONSES, &ask(&input, 150_000)).await;
            assert_eq!(got.status, 200, "{}", String::from_utf8_lossy(&got.body));
            let next = sent(&setting)["input"].clone();
            assert!(extends(&next, &folded), "stream={stream}");
            assert_eq!(next.as_array().unwrap().len(), folded.as_array().unwrap().len() + 2);
        }
        assert_eq!(setting.upstream.stats().refused, [""; 0]);
    }
}

/// The output that the events of a stream add up to, checked against that of the last one.
fn streamed(body: &[u8]) -> Value {
    let events = events(body);
    let numbers: Vec<_> = events.iter().map(|event| event["sequence_number"].as_u64()).collect();
    let wanted: Vec<_> = (0..events.len() as u64).map(Some).collect();
    assert_eq!(numbers, wanted);
    let done = events.iter().filter(|event| event["type"] == "response.output_item.done");
    let done: Vec<_> = done.map(|event| event["item"].clone()).collect();
    assert_eq!(events.last().unwrap()["response"]["output"], Value::from(done.clone()));
    done.into()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_that_the_vendor_refuses_is_refused() {
    let setting = setting(&[1]).await;
    let mut body = request(&items());
    body["context_management"] = json!([{"type": "compaction", "compact_threshold": 10}]);
    let (got, answer) = post(&setting, RESPONSES, &body).await;
    assert_eq!(got.status, 400);
    assert_eq!(answer["error"]["param"], "context_management[0].compact_threshold");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_backend_does_it_where_it_is_preferred_and_our_blocks_open_still() {
    let ours = setting(&[1]).await;
    let output = compacted(&ours).await;
    let theirs = with(&[1], |config| config.prefer = CompactionPreference::Upstream).await;
    let mut body = request(&items());
    body["context_management"] = json!([{"type": "compaction", "compact_threshold": 1000}]);
    for path in [RESPONSES, COMPACT] {
        let _ = post(&theirs, path, &body).await;
        let got = theirs.upstream.requests().pop().unwrap();
        assert_eq!((got.target.as_str(), &got.body[..]), (path, body.to_string().as_bytes()));
    }
    body["input"] = output.into();
    for path in [RESPONSES, COMPACT] {
        let _ = post(&theirs, path, &body).await;
        let text = sent(&theirs).to_string();
        assert!(text.contains("## Conversation Summary") && !text.contains("mfc1."), "{path}");
        assert!(text.contains("compact_threshold"), "{path}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_provider_alone_has_is_left_to_it() {
    let setting = setting(&[1]).await;
    let body = json!({"model": "gpt-5", "previous_response_id": "resp_unknown",
        "input": [{"role": "user", "content": "Go on."}]});
    let _ = post(&setting, COMPACT, &body).await;
    let got = setting.upstream.requests().pop().unwrap();
    assert_eq!((got.target.as_str(), &got.body[..]), (COMPACT, body.to_string().as_bytes()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_goes_on_from_an_item_is_folded_again_and_stored() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let small = |config: &mut midfold_serve::ServeConfig| {
        config.rules = crate::setting::rules().window(40_000);
        config.store = Some(Arc::clone(&store));
    };
    let mut input = compacted(&setting(&[1]).await).await;
    // The same work once more, so that it does not fit.
    input.extend(items());
    let first = with(&[1], small).await;
    let (got, _) = post(&first, RESPONSES, &request(&input)).await;
    assert_eq!(got.status, 200, "{}", String::from_utf8_lossy(&got.body));
    let fold = got.header("midfold-fold").map(str::to_owned);
    assert!(fold.is_some());
    let before = sent(&first)["input"].clone();
    let text = before.to_string();
    assert_eq!(text.matches("## Conversation Summary").count(), 1, "one recap, never a stack");
    first.proxy.stop().await;
    let second = with(&[1], small).await;
    input.push(json!({"role": "assistant", "content": "fine"}));
    input.push(json!({"role": "user", "content": "Go on."}));
    let (got, _) = post(&second, RESPONSES, &request(&input)).await;
    assert_eq!((got.status, got.header("midfold-fold")), (200, fold.as_deref()));
    assert!(extends(&sent(&second)["input"], &before));
    second.proxy.stop().await;
    let report = fsck(&*store).await.unwrap();
    assert!(report.is_clean() && report.folds >= 1, "{report:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_text_is_refused_where_it_is_answered_here() {
    let setting = setting(&[1]).await;
    let client = hyper_util::client::legacy::Client::builder(hyper_util::rt::TokioExecutor::new())
        .build_http::<axum::body::Body>();
    for (path, rest) in [
        ("/v1/responses/compact", r#""model":"m""#),
        ("/v1/responses", r#""model":"m","context_management":[{"type":"compaction"}]"#),
    ] {
        let before = br#"{"input":[{"role":"user","content":"a"#;
        let after = format!(r#""}},{{"role":"assistant","content":"b"}}],{rest}}}"#);
        let body = [&before[..], b"\xff\xfe", after.as_bytes()].concat();
        let request = hyper::Request::post(format!("{}{path}", setting.url()));
        let request = request.body(axum::body::Body::from(body)).unwrap();
        let answer = client.request(request).await.unwrap();
        assert_eq!(answer.status().as_u16(), 400, "{path}");
    }
    assert_eq!(asked(&setting), 0);
}

//! Scheduled faults and what the server keeps.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use midfold_testkit::upstream::agent::{AgentRun, ClientAgent, RunEnd};
use midfold_testkit::upstream::{
    FaultTime, PlannedFault, RequestOutcome, ScriptedUpstream, UpstreamSettings, WireDialect,
};
use serde_json::{Value, json};

async fn run_with(
    faults: Vec<(FaultTime, PlannedFault)>,
    dialect: WireDialect,
    stream: bool,
    retries: u32,
) -> (AgentRun, ScriptedUpstream) {
    let upstream =
        ScriptedUpstream::start(UpstreamSettings { faults, ..UpstreamSettings::default() })
            .await
            .unwrap();
    let agent = ClientAgent { stream, retries, ..ClientAgent::new(dialect, upstream.url()) };
    (agent.run().await, upstream)
}

#[tokio::test]
async fn every_fault_ends_a_run_without_retries_and_none_with_one() {
    let all = [
        PlannedFault::RateLimited { retry_after: "7".to_owned() },
        PlannedFault::ServerError,
        PlannedFault::Reset,
        PlannedFault::Cut { after: 3 },
        PlannedFault::StreamError { after: 2 },
        PlannedFault::Status { code: 529, headers: Vec::new(), body: "{}".to_owned() },
    ];
    for dialect in WireDialect::ALL {
        for stream in [false, true] {
            for fault in &all {
                // Three events of a Gemini stream are more than it has.
                let fault = match fault {
                    PlannedFault::Cut { .. } => PlannedFault::Cut { after: 1 },
                    PlannedFault::StreamError { .. } => PlannedFault::StreamError { after: 1 },
                    other => other.clone(),
                };
                let of = format!("{dialect:?} {stream} {fault:?}");
                let schedule = vec![(FaultTime::Number(4), fault)];
                let (run, upstream) = run_with(schedule.clone(), dialect, stream, 0).await;
                assert!(matches!(run.end, Some(RunEnd::Failed { .. } | RunEnd::Broken(_))), "{of}");
                assert_eq!((run.steps, upstream.stats().faults), (3, 1), "{of}");
                let (run, upstream) = run_with(schedule, dialect, stream, 1).await;
                assert!(run.answer().is_some(), "{of}: {:?}", run.end);
                let stats = upstream.stats();
                assert_eq!(
                    (run.steps, stats.turns, stats.faults, stats.rewrites),
                    (20, 21, 1, 0),
                    "{of}"
                );
                assert_eq!(stats.requests[3].outcome, RequestOutcome::Fault);
                assert_eq!(stats.requests[3].digest, stats.requests[4].digest, "{of}");
            }
        }
    }
}

#[tokio::test]
async fn faults_come_round() {
    let schedule = vec![(FaultTime::Every { nth: 2, of: 3 }, PlannedFault::ServerError)];
    let (run, upstream) = run_with(schedule, WireDialect::Chat, true, 1).await;
    assert!(run.answer().is_some());
    let statuses = run.statuses();
    assert!(statuses.iter().enumerate().all(|(at, status)| (at % 3 == 1) == (*status == 500)));
    assert_eq!(upstream.stats().turns, 21);
}

#[tokio::test]
async fn a_limit_of_the_rate_says_when_to_come_back() {
    let schedule =
        vec![(FaultTime::Number(1), PlannedFault::RateLimited { retry_after: "7".to_owned() })];
    let (run, _upstream) = run_with(schedule, WireDialect::Messages, false, 0).await;
    assert_eq!(run.exchanges[0].header("retry-after"), Some("7"));
    let Some(RunEnd::Failed { status: 429, body }) = run.end else { panic!("{:?}", run.end) };
    assert!(body.contains("rate_limit_error"), "{body}");
}

#[tokio::test]
async fn a_hanging_answer_goes_on_when_it_is_released() {
    for (fault, releases) in [(PlannedFault::Hang { after: 2 }, 1), (PlannedFault::Held, 200)] {
        for stream in [false, true] {
            let faults = vec![(FaultTime::Number(1), fault.clone())];
            let upstream =
                ScriptedUpstream::start(UpstreamSettings { faults, ..UpstreamSettings::default() })
                    .await
                    .unwrap();
            let agent =
                ClientAgent { stream, ..ClientAgent::new(WireDialect::Messages, upstream.url()) };
            let running = tokio::spawn(agent.run());
            upstream.arrival().await;
            tokio::task::yield_now().await;
            assert!(!running.is_finished());
            assert_eq!(upstream.stats().turns, 1);
            for _ in 0..releases {
                upstream.release();
            }
            assert!(running.await.unwrap().answer().is_some());
        }
    }
}

#[tokio::test]
async fn dropping_the_server_ends_what_hangs() {
    let faults = vec![(FaultTime::Number(1), PlannedFault::Hang { after: 0 })];
    let upstream =
        ScriptedUpstream::start(UpstreamSettings { faults, ..UpstreamSettings::default() })
            .await
            .unwrap();
    let agent = ClientAgent { stream: true, ..ClientAgent::new(WireDialect::Chat, upstream.url()) };
    let running = tokio::spawn(agent.run());
    upstream.arrival().await;
    drop(upstream);
    assert!(running.await.unwrap().failed());
}

async fn post(
    upstream: &ScriptedUpstream,
    dialect: WireDialect,
    path: &str,
    body: &Value,
) -> (u16, Value) {
    let got = ClientAgent::new(dialect, upstream.url()).post(path, &body.to_string()).await;
    (got.status, serde_json::from_slice(&got.body).unwrap())
}

#[tokio::test]
async fn responses_are_kept_where_the_server_has_state() {
    let tools = json!([{"type": "function", "name": "bash", "parameters":
        {"type": "object", "properties": {"command": {"type": "string"}}}}]);
    let path = "/v1/responses";
    let upstream =
        ScriptedUpstream::start(UpstreamSettings { stateful: true, ..UpstreamSettings::default() })
            .await
            .unwrap();
    let first = json!({"model": "m", "tools": tools, "input": "Go."});
    let (status, reply) = post(&upstream, WireDialect::Responses, path, &first).await;
    assert_eq!(status, 200);
    let call = &reply["output"][1]["call_id"];
    let next = json!({"model": "m", "tools": tools, "previous_response_id": reply["id"],
        "input": [{"type": "function_call_output", "call_id": call, "output": "[step 1] fine"}]});
    let (status, reply) = post(&upstream, WireDialect::Responses, path, &next).await;
    assert_eq!(status, 200, "{reply}");
    assert!(reply["output"][1]["arguments"].as_str().unwrap().contains("[step 2]"));
    assert_eq!(upstream.stats().requests[1].messages, 4);
    assert_eq!(upstream.stats().appends, 1);

    let items = reply["output"].as_array().unwrap().iter();
    let mut input = vec![json!({"role": "user", "content": "Go."})];
    input.extend(items.map(|item| json!({"type": "item_reference", "id": item["id"]})));
    input.push(json!({"type": "function_call_output", "call_id": reply["output"][1]["call_id"],
        "output": "[step 2] fine"}));
    let named = json!({"model": "m", "tools": tools, "input": input});
    let (status, third) = post(&upstream, WireDialect::Responses, path, &named).await;
    assert_eq!(status, 200, "{third}");
    assert!(third["output"][1]["arguments"].as_str().unwrap().contains("[step 3]"));

    let upstream = ScriptedUpstream::start(UpstreamSettings::default()).await.unwrap();
    let (status, _) = post(&upstream, WireDialect::Responses, path, &named).await;
    assert_eq!(status, 404);
    let (status, error) = post(&upstream, WireDialect::Responses, path, &next).await;
    assert_eq!((status, &error["error"]["code"]), (400, &json!("previous_response_not_found")));
}

#[tokio::test]
async fn threads_are_kept_or_refused() {
    let path = "/v1/messages";
    let first = json!({"model": "m", "max_tokens": 100, "system": "Work.",
        "thread": {"type": "create"}, "messages": [{"role": "user", "content": "Go."}],
        "tools": [{"name": "bash", "input_schema":
            {"type": "object", "properties": {"command": {"type": "string"}}}}]});
    let upstream =
        ScriptedUpstream::start(UpstreamSettings { threads: true, ..UpstreamSettings::default() })
            .await
            .unwrap();
    let (status, reply) = post(&upstream, WireDialect::Messages, path, &first).await;
    assert_eq!(status, 200);
    let next = |id: &Value| {
        json!({"model": "m", "max_tokens": 100,
            "thread": {"type": "continue", "previous_message_id": id},
            "messages": [{"role": "user", "content": [{"type": "tool_result",
                "tool_use_id": reply["content"][1]["id"], "content": "[step 1] fine"}]}]})
    };
    let (status, second) = post(&upstream, WireDialect::Messages, path, &next(&reply["id"])).await;
    assert_eq!(status, 200, "{second}");
    assert!(second["content"][1]["input"]["command"].as_str().unwrap().contains("[step 2]"));
    let (status, error) =
        post(&upstream, WireDialect::Messages, path, &next(&json!("msg_x"))).await;
    assert_eq!(
        (status, &error["error"]["details"]["error_code"]),
        (404, &json!("thread_not_found"))
    );

    let upstream = ScriptedUpstream::start(UpstreamSettings::default()).await.unwrap();
    let (status, error) = post(&upstream, WireDialect::Messages, path, &first).await;
    let code = &error["error"]["details"]["error_code"];
    assert_eq!((status, code), (400, &json!("thread_unsupported_request")));
}

#[tokio::test]
async fn tokens_are_counted_without_a_reply() {
    let upstream = ScriptedUpstream::start(UpstreamSettings::default()).await.unwrap();
    let body = json!({"model": "m", "messages": [{"role": "user", "content": "Go."}]});
    let path = "/v1/messages/count_tokens";
    let (status, counted) = post(&upstream, WireDialect::Messages, path, &body).await;
    let bytes = body["messages"][0].to_string().len() as u64;
    assert_eq!((status, &counted["input_tokens"]), (200, &json!(bytes.div_ceil(3))));
    let contents = json!({"contents": [{"role": "user", "parts": [{"text": "Go."},
        {"inlineData": {"mimeType": "image/png", "data": "A".repeat(9_000)}}]}]});
    let path = "/v1beta/models/gemini-x:countTokens";
    let (status, counted) = post(&upstream, WireDialect::Gemini, path, &contents).await;
    assert_eq!(status, 200);
    let tokens = counted["totalTokens"].as_u64().unwrap();
    assert!((1_001..1_100).contains(&tokens), "a picture is 1,000: {tokens}");
    assert!(upstream.stats().requests.is_empty());
}

/// As the official SDKs do it: a call without deltas keeps the input of its start, and each count of the last event
/// replaces the one before.
#[test]
fn the_client_of_messages_reads_calls_without_deltas_and_all_last_counts() {
    let agent = ClientAgent { stream: true, ..ClientAgent::new(WireDialect::Messages, "") };
    let mut session = agent.start();
    session.request();
    let usage = json!({"input_tokens": 10, "cache_read_input_tokens": 3, "output_tokens": 1});
    let events = [
        json!({"type": "message_start", "message": {"id": "m", "role": "assistant", "content": [], "usage": usage}}),
        json!({"type": "content_block_start", "index": 0,
            "content_block": {"type": "tool_use", "id": "t", "name": "bash", "input": {}}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"},
            "usage": {"input_tokens": 25, "output_tokens": 7}}),
        json!({"type": "message_stop"}),
    ];
    let event =
        |event: &Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap());
    let stream: String = events.iter().map(event).collect();
    session.hear(200, &stream).unwrap();
    let wanted = json!({"input_tokens": 25, "cache_read_input_tokens": 3, "output_tokens": 7});
    assert_eq!(session.run().usages.last(), Some(&wanted));
}

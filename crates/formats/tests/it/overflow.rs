//! The overflow classifier against what providers really write: all of their overflows, none of
//! the errors that only sound like one, and the numbers in them.

#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

use midfold_formats::overflow::{Diagnosis, PictureLimit, classify, diagnose, in_stream};
use serde_json::Value;

struct Case {
    set: String,
    name: String,
    status: Option<u16>,
    body: Vec<u8>,
    expected: Diagnosis,
}

fn cases() -> Vec<Case> {
    include_str!("overflow.jsonl").lines().map(case).collect()
}

fn case(line: &str) -> Case {
    let value: Value = serde_json::from_str(line).unwrap();
    let text = |key: &str| value[key].as_str().unwrap().to_owned();
    let number = |key: &str| value[key].as_u64();
    let (have, limit) = (number("have"), number("limit"));
    let expected = match value["is"].as_str().unwrap() {
        "overflow" => Diagnosis::Overflow { have, limit },
        "shared-cap" => {
            let [input, output, limit] =
                ["have", "output", "limit"].map(|key| number(key).unwrap());
            Diagnosis::SharedCap { input, output, limit }
        }
        "reply-cap" => Diagnosis::ReplyCap { output: number("output"), limit },
        "pictures" => Diagnosis::Pictures(PictureLimit::Count { most: limit }),
        "side" | "side-among-many" => Diagnosis::Pictures(PictureLimit::Side {
            most: limit,
            among_many: value["is"] == "side-among-many",
        }),
        "picture-bytes" => Diagnosis::Pictures(PictureLimit::Bytes { most: limit }),
        "payload" => Diagnosis::PayloadTooLarge,
        "rate-limit" => Diagnosis::RateLimit,
        "unsupported" => Diagnosis::Unsupported,
        "reasoning" => Diagnosis::BoundReasoning,
        "content-policy" => Diagnosis::ContentPolicy,
        "role-order" => Diagnosis::RoleOrder,
        "missing-reasoning" => Diagnosis::MissingReasoning,
        "malformed" => Diagnosis::Malformed,
        "other" => Diagnosis::Other,
        unknown => panic!("{unknown}"),
    };
    let body = match &value["body"] {
        Value::String(plain) => plain.clone().into_bytes(),
        object => object.to_string().into_bytes(),
    };
    let status = number("status").map(|n| u16::try_from(n).unwrap());
    Case { set: text("set"), name: text("name"), status, body, expected }
}

fn is_about_tokens(diagnosis: Diagnosis) -> bool {
    use Diagnosis::{Overflow, ReplyCap, SharedCap};
    matches!(diagnosis, Overflow { .. } | SharedCap { .. } | ReplyCap { .. })
}

#[test]
fn every_body_is_diagnosed_with_its_numbers() {
    let wrong = |case: &Case| {
        let found = classify(case.status, &case.body);
        (found != case.expected).then(|| format!("{}: {found:?}", case.name))
    };
    let wrong: Vec<_> = cases().iter().filter_map(wrong).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The same bodies as the events of a stream: providers start an answer before they know that the prompt fits.
#[test]
fn every_overflow_is_found_inside_a_stream() {
    let read = cases();
    let fits = |case: &&Case| {
        is_about_tokens(case.expected)
            && serde_json::from_slice::<Value>(&case.body).is_ok_and(|body| body.is_object())
    };
    let mut seen = 0;
    for case in read.iter().filter(fits) {
        let body: Value = serde_json::from_slice(&case.body).unwrap();
        // A server that answers a stream wraps its refusal in `error`, unless the body has a member like it.
        let has_error = ["error", "errors", "error_code", "base_resp"]
            .iter()
            .any(|key| body.get(key).is_some());
        let event = if has_error { body } else { serde_json::json!({ "error": body }) };
        let event = format!("data: {event}\n\n");
        assert_eq!(in_stream(event.as_bytes()), Some(case.expected), "{}", case.name);
        seen += 1;
    }
    assert!(seen >= 80, "{seen}");
}

#[test]
fn seventeen_of_seventeen_overflows_and_none_of_six_look_alikes() {
    let count = |set: &str| {
        let set: Vec<_> = cases().into_iter().filter(|case| case.set == set).collect();
        let hits = set.iter().filter(|case| classify(case.status, &case.body).exceeds_window());
        (hits.count(), set.len())
    };
    assert_eq!(count("provider"), (17, 17));
    assert_eq!(count("look-alike"), (0, 6));
    let (hits, of) = count("more");
    assert_eq!(hits, of);
    assert_eq!(count("trap").0, 0);
    let (hits, of) = count("pictures");
    assert!(hits == of && of > 0, "old pictures leave with the messages that are folded");
}

/// What a client that only kept the message, or only the status line and the message, still has.
#[test]
fn the_wording_alone_is_enough() {
    for case in cases().iter().filter(|case| case.set == "provider") {
        let Ok(value) = serde_json::from_slice::<Value>(&case.body) else { continue };
        let message = [&value["error"]["message"], &value["message"], &value["error"]]
            .into_iter()
            .find_map(Value::as_str)
            .unwrap();
        let plain = format!("Error code: 400 - {message}");
        assert!(classify(None, plain.as_bytes()).exceeds_window(), "{}", case.name);
    }
}

/// Gateways wrap what a provider said, and some of them escape it. Its numbers have to survive that.
#[test]
fn every_wording_is_read_in_every_wrapping() {
    use serde_json::json;
    let escaped = |text: &str| {
        text.replace('&', "&amp;").replace('\'', "&#39;").replace('>', "&gt;").replace('<', "&lt;")
    };
    let mut seen = 0;
    for case in cases() {
        let Ok(body) = serde_json::from_slice::<Value>(&case.body) else { continue };
        let told = [&body["error"]["message"], &body["message"], &body["error"], &body["detail"]];
        let Some(text) = told.into_iter().find_map(Value::as_str) else { continue };
        let expected = classify(Some(400), text.as_bytes());
        if !is_about_tokens(expected) || case.name == "escaped for html" {
            continue;
        }
        // Only the firm wordings count more than the status of a rate limit.
        let statuses = [400, 413, 422, 500, 503, 429];
        let is_firm = !case.name.contains("copy")
            && !case.name.contains("chinese")
            && !case.name.contains("other words");
        let statuses = &statuses[..if is_firm { 6 } else { 5 }];
        let inner = json!({ "error": { "message": text, "type": "invalid_request_error" } });
        for wrapped in [
            json!({ "error": { "message": "Provider returned error", "code": 400, "metadata": { "raw": inner.to_string() } } }),
            json!({ "error": { "message": format!("litellm.BadRequestError: Exception - {inner}") } }),
            json!([{ "error": { "code": 400, "message": text, "status": "INVALID_ARGUMENT" } }]),
            json!({ "detail": [{ "loc": ["body"], "msg": text }] }),
            json!({ "detail": { "error": { "message": inner.to_string() } } }),
            json!({ "errors": [{ "code": "invalid", "message": escaped(text) }], "success": false }),
            json!({ "message": json!([inner]).to_string() }),
            json!({ "error": text }),
        ] {
            for &status in statuses {
                let found = classify(Some(status), wrapped.to_string().as_bytes());
                assert_eq!(found, expected, "{}: {status} {wrapped}", case.name);
            }
        }
        seen += 1;
    }
    assert!(seen >= 100, "{seen}");
}

#[test]
fn stream_events_are_read_and_ordinary_ones_are_not() {
    let failed = br#"{"type":"response.failed","response":{"id":"resp_1","status":"failed","error":{"code":"context_length_exceeded","message":"Your input exceeds the context window of this model. Please adjust your input and try again."},"output":[]}}"#;
    let overflow = Some(Diagnosis::Overflow { have: None, limit: None });
    assert_eq!(in_stream(failed), overflow);
    let sse = [b"event: response.failed\ndata: ".as_slice(), failed, b"\n\n"].concat();
    assert_eq!(in_stream(&sse), overflow);
    let error = br#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 213462 tokens > 200000 maximum"}}"#;
    let found = Some(Diagnosis::Overflow { have: Some(213_462), limit: Some(200_000) });
    assert_eq!(in_stream(error), found);
    let flat = br#"{"type":"error","code":"context_length_exceeded","message":"Your input exceeds the context window of this model.","param":null}"#;
    assert_eq!(in_stream(flat), overflow);
    let delta = br#"{"type":"message_delta","delta":{"stop_reason":"model_context_window_exceeded","stop_sequence":null},"usage":{"output_tokens":12}}"#;
    assert_eq!(in_stream(delta), overflow);
    let whole = br#"{"id":"msg_1","type":"message","role":"assistant","content":[],"stop_reason":"model_context_window_exceeded","usage":{"input_tokens":200000,"output_tokens":0}}"#;
    assert_eq!(in_stream(whole), overflow);
    let busy = br#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;
    assert_eq!(in_stream(busy), Some(Diagnosis::RateLimit));
    for event in [
        &br#"{"id":"c1","choices":[{"index":0,"delta":{"content":"prompt is too long: 213462 tokens > 200000 maximum"},"finish_reason":null}]}"#[..],
        br#"{"type":"response.completed","response":{"status":"completed","error":null,"output":[]}}"#,
        br#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":3}}"#,
        b"data: [DONE]",
        b"",
    ] {
        assert_eq!(in_stream(event), None, "{}", String::from_utf8_lossy(event));
    }
}

#[test]
fn a_wordless_error_is_an_overflow_only_above_sixty_per_cent() {
    for (status, body) in [
        (Some(400), &b""[..]),
        (Some(413), b""),
        (None, b""),
        (Some(400), b"400 status code (no body)"),
        (Some(400), br#"{"error":{"message":"Bad Request","code":400}}"#),
    ] {
        assert_eq!(diagnose(status, body, 60_001, 100_000), Diagnosis::Probable);
        assert_ne!(diagnose(status, body, 60_000, 100_000), Diagnosis::Probable);
    }
    assert_eq!(diagnose(Some(500), b"", 99_000, 100_000), Diagnosis::Other);
    let told = br#"{"error":{"message":"Unknown model","code":"model_not_found"}}"#;
    assert_eq!(diagnose(Some(400), told, 99_000, 100_000), Diagnosis::Other);
}

/// An echo of the conversation in an error decides nothing, and five megabytes cost one pass.
#[test]
fn an_echo_of_the_request_is_not_its_diagnosis() {
    let told = "prompt is too long: 213462 tokens > 200000 maximum. ";
    let echo = told.repeat(5_000_000 / told.len());
    let body = serde_json::json!({
        "error": { "message": "The model `gpt-9` does not exist", "code": "model_not_found" },
        "request": { "messages": [{ "role": "user", "content": echo }] },
    });
    assert_eq!(classify(Some(404), body.to_string().as_bytes()), Diagnosis::Other);
    let filler = "x ".repeat(2_500_000);
    let long = serde_json::json!({ "error": { "message": format!("Invalid input: {filler} {told} {filler}") } });
    assert_eq!(classify(Some(400), long.to_string().as_bytes()), Diagnosis::Other);
    let ends =
        serde_json::json!({ "error": { "message": format!("Request {filler} failed: {told}") } });
    assert!(classify(Some(400), ends.to_string().as_bytes()).exceeds_window());
}

#[test]
fn numbers_that_are_no_window_are_left_alone() {
    let small = br#"{"error":{"message":"prompt is too long: 900 tokens > 512 maximum"}}"#;
    assert_eq!(classify(Some(400), small), Diagnosis::Overflow { have: None, limit: None });
    let large =
        br#"{"error":{"message":"prompt is too long: 99000000 tokens > 20000000 maximum"}}"#;
    assert_eq!(classify(Some(400), large), Diagnosis::Overflow { have: None, limit: None });
}

#[test]
fn broken_bodies_are_survived() {
    for body in [
        &b"{\"error\":{\"mess"[..],
        b"[",
        b"{\"error\":",
        b"\xff\xfe",
        b"data: {",
        b"{\"error\":[[[[[[[[[[[[[[[1]]]",
    ] {
        let _ = classify(Some(400), body);
        let _ = in_stream(body);
    }
}

//! Everything that a model or its server can do wrong: each has its class or its verdict, and
//! nobody waits longer than they said they would.

use std::time::Duration;

use midfold_core::narrate::{FailureClass, FinishReason, SummaryFailure, SummaryReply};
use midfold_model::ModelClient;
use midfold_testkit::model_server::{ModelServer, ScriptedAnswer};

use crate::client::{a_request, config, recorded};

async fn run(answer: ScriptedAnswer) -> (Result<SummaryReply, SummaryFailure>, usize) {
    let server = ModelServer::always(answer).await.unwrap();
    let mut config = config(&server);
    config.timeout = Some(Duration::from_millis(80));
    let client = ModelClient::with_pause(config, recorded().0).unwrap();
    let outcome = client.summarise(&a_request()).await;
    (outcome, server.seen().len())
}

#[tokio::test]
async fn every_fault_has_its_class_and_its_tries() {
    let html =
        ScriptedAnswer::Body { kind: "text/html".to_owned(), body: b"<html>login</html>".to_vec() };
    let json = |body: &str| ScriptedAnswer::Body {
        kind: "application/json".to_owned(),
        body: body.into(),
    };
    for (name, answer, class, tries) in [
        ("hang", ScriptedAnswer::Hang, FailureClass::Timeout, 1),
        (
            "hang in the middle",
            ScriptedAnswer::HangAfter("## Conv".to_owned()),
            FailureClass::Timeout,
            1,
        ),
        ("401", ScriptedAnswer::refusal(401, "invalid_api_key", "no"), FailureClass::Auth, 1),
        ("403", ScriptedAnswer::refusal(403, "forbidden", "no"), FailureClass::Auth, 1),
        ("429", ScriptedAnswer::slow_down("0"), FailureClass::RateLimited, 4),
        ("500", ScriptedAnswer::refusal(500, "server_error", "oops"), FailureClass::Server, 3),
        ("503", ScriptedAnswer::refusal(503, "overloaded", "oops"), FailureClass::Server, 3),
        ("404", ScriptedAnswer::refusal(404, "model_not_found", "no"), FailureClass::Rejected, 1),
        (
            "302",
            ScriptedAnswer::Status {
                code: 302,
                headers: vec!["location: http://127.0.0.1:1/".to_owned()],
                body: String::new(),
            },
            FailureClass::Rejected,
            1,
        ),
        ("reset", ScriptedAnswer::Reset, FailureClass::Network, 3),
        ("broken stream", ScriptedAnswer::Broken("## Conv".to_owned()), FailureClass::Network, 3),
        (
            "garbage",
            ScriptedAnswer::Bytes(b"\x00\xff\x17garbage\r\n\r\n".to_vec()),
            FailureClass::Garbage,
            1,
        ),
        ("wrong type", html, FailureClass::Garbage, 1),
        ("no JSON", json("{\"choices\":"), FailureClass::Garbage, 1),
        ("no choice", json("{\"choices\":[]}"), FailureClass::Garbage, 1),
        ("error in a 200", json("{\"error\":\"overloaded\"}"), FailureClass::Server, 3),
    ] {
        let (outcome, calls) = run(answer).await;
        let failure = outcome.expect_err(name);
        assert_eq!((failure.class, calls), (class, tries), "{name}: {failure}");
        assert_eq!(failure.calls as usize, calls, "{name}: each call is counted");
    }
}

#[tokio::test]
async fn what_is_a_reply_comes_back_however_bad_it_is() {
    for (answer, text, finish) in [
        (ScriptedAnswer::text(""), "", FinishReason::Stop),
        (
            ScriptedAnswer::text("## Conversation Summary"),
            "## Conversation Summary",
            FinishReason::Stop,
        ),
        (ScriptedAnswer::Unfinished("## Conv".to_owned()), "## Conv", FinishReason::Other),
        (ScriptedAnswer::finished("## Conv", "length"), "## Conv", FinishReason::Length),
        (ScriptedAnswer::finished("", "content_filter"), "", FinishReason::Other),
    ] {
        let (outcome, calls) = run(answer).await;
        let reply = outcome.unwrap();
        assert_eq!((&*reply.text, reply.finish, calls), (text, finish, 1));
    }
}

#[tokio::test]
async fn a_server_is_left_alone_for_as_long_as_it_asks() {
    let server = ModelServer::start([
        ScriptedAnswer::slow_down("7"),
        ScriptedAnswer::refusal(500, "server_error", "oops"),
        ScriptedAnswer::Reset,
        ScriptedAnswer::text("ok"),
    ])
    .await
    .unwrap();
    let (pause, pauses) = recorded();
    let client = ModelClient::with_pause(config(&server), pause).unwrap();
    let reply = client.summarise(&a_request()).await.unwrap();
    assert_eq!((&*reply.text, reply.calls), ("ok", 4));
    let pauses = pauses.lock().unwrap().clone();
    assert_eq!(pauses.len(), 3);
    assert_eq!(pauses[0], Duration::from_secs(7));
    assert!(pauses[1] >= Duration::from_secs(1) && pauses[1] < Duration::from_millis(1_500));

    // Longer than anybody wants to wait: given up at once, and said so.
    let server = ModelServer::always(ScriptedAnswer::slow_down("86400")).await.unwrap();
    let (pause, pauses) = recorded();
    let client = ModelClient::with_pause(config(&server), pause).unwrap();
    let failure = client.summarise(&a_request()).await.unwrap_err();
    assert_eq!((failure.class, server.seen().len()), (FailureClass::RateLimited, 1));
    assert!(pauses.lock().unwrap().is_empty());
}

#[tokio::test]
async fn the_whole_work_has_a_ceiling() {
    let server = ModelServer::always(ScriptedAnswer::Hang).await.unwrap();
    let mut config = config(&server);
    config.attempts.timeout = 1_000;
    config.timeout = Some(Duration::from_millis(20));
    config.ceiling = Duration::from_millis(150);
    let client = ModelClient::with_pause(config, recorded().0).unwrap();
    let failure = client.summarise(&a_request()).await.unwrap_err();
    assert_eq!(failure.class, FailureClass::Timeout);
}

/// The request's own limit holds up to the last byte, also where an answer began in time.
#[tokio::test]
async fn an_answer_that_stops_in_the_middle_is_late() {
    let server =
        ModelServer::always(ScriptedAnswer::HangAfter("## Conv".to_owned())).await.unwrap();
    let client = ModelClient::with_pause(config(&server), recorded().0).unwrap();
    let mut request = a_request();
    request.timeout_seconds = 1;
    let failure = client.summarise(&request).await.unwrap_err();
    assert_eq!((failure.class, server.seen().len()), (FailureClass::Timeout, 1));
}

#[tokio::test]
async fn nobody_listens() {
    let server = ModelServer::start([]).await.unwrap();
    let config = config(&server);
    drop(server);
    // The port is closed once the task is gone.
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
    let client = ModelClient::with_pause(config, recorded().0).unwrap();
    let failure = client.summarise(&a_request()).await.unwrap_err();
    assert_eq!(failure.class, FailureClass::Network);
}

//! The client against a server that answers as it should, or late, or only in part.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use midfold_core::Usage;
use midfold_core::narrate::{FailureClass, FinishReason, SummaryRequest};
use midfold_model::{ModelClient, ModelConfig, RetryPause, Secret};
use midfold_testkit::model_server::{ModelServer, ScriptedAnswer};

use crate::support::{bullets, conversation, counter, judged, log_of, request, user};

const KEY: &str = "sk-test-zqkey0123456789abcdef";

pub fn config(server: &ModelServer) -> ModelConfig {
    let mut config = ModelConfig::new(server.url(), "small", counter());
    config.key = Some(Secret::new(&format!("{KEY}\n")));
    config
}

/// Remembers pauses instead of making them.
pub fn recorded() -> (RetryPause, Arc<Mutex<Vec<Duration>>>) {
    let pauses = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&pauses);
    let pause: RetryPause = Arc::new(move |time| {
        seen.lock().unwrap().push(time);
        Box::pin(std::future::ready(()))
    });
    (pause, pauses)
}

pub fn a_request() -> SummaryRequest {
    request(&log_of(&conversation("x")))
}

#[tokio::test]
async fn a_good_reply_comes_whole_and_is_accepted() {
    let text = bullets("use JWT", "3 passed — größer");
    let server = ModelServer::start([ScriptedAnswer::text(&text)]).await.unwrap();
    let client = ModelClient::new(config(&server)).unwrap();
    let log = log_of(&conversation("x"));
    let request = request(&log);
    let reply = client.summarise(&request).await.unwrap();
    assert_eq!(reply.text, text);
    assert_eq!((reply.finish, reply.calls, &*reply.model), (FinishReason::Stop, 1, "scripted"));
    let usage = Usage { prompt: 100, output: 20, cache_read: 40, cache_write: 0 };
    assert_eq!(reply.usage, Some(usage));
    assert!(judged(&log, &request, &reply.text).is_ok());

    let seen = &server.seen()[0];
    assert_eq!(seen.line, "POST /v1/chat/completions");
    assert_eq!(seen.header("authorization"), Some(&*format!("Bearer {KEY}")));
    assert_eq!(seen.body["temperature"], 0.2);
    assert_eq!(seen.body["max_tokens"], 512);
    assert!(seen.body.get("tools").is_none());
    let prompt = request.prompt(&request.sources, None);
    assert_eq!((seen.message("system"), seen.message("user")), (&*prompt.system, &*prompt.user));
}

#[tokio::test]
async fn a_server_that_does_not_stream_is_understood() {
    let body = r#"{"choices":[{"message":{"content":"hello"},"finish_reason":"length"}]}"#;
    let kind = "application/json; charset=utf-8".to_owned();
    let server =
        ModelServer::start([ScriptedAnswer::Body { kind, body: body.into() }]).await.unwrap();
    let reply = ModelClient::new(config(&server)).unwrap().summarise(&a_request()).await.unwrap();
    assert_eq!(
        (&*reply.text, reply.finish, &*reply.model),
        ("hello", FinishReason::Length, "small")
    );
}

#[tokio::test]
async fn callers_of_one_request_share_one_call() {
    let server = ModelServer::start([ScriptedAnswer::Held(Box::new(ScriptedAnswer::text("one")))])
        .await
        .unwrap();
    let client = Arc::new(ModelClient::new(config(&server)).unwrap());
    let request = a_request();
    let calls: Vec<_> = (0..8)
        .map(|_| {
            let (client, request) = (Arc::clone(&client), request.clone());
            tokio::spawn(async move { client.summarise(&request).await.unwrap().text })
        })
        .collect();
    server.arrival().await;
    server.release();
    for call in calls {
        assert_eq!(call.await.unwrap(), "one");
    }
    assert_eq!(server.seen().len(), 1);
    // Done is done: who asks later asks anew.
    server.push(ScriptedAnswer::text("two"));
    assert_eq!(client.summarise(&request).await.unwrap().text, "two");
}

#[tokio::test]
async fn a_caller_that_gives_up_takes_nobody_with_it() {
    let server =
        ModelServer::start([ScriptedAnswer::Hang, ScriptedAnswer::text("second")]).await.unwrap();
    let client = Arc::new(ModelClient::new(config(&server)).unwrap());
    let request = a_request();
    let call = || {
        let (client, request) = (Arc::clone(&client), request.clone());
        tokio::spawn(async move { client.summarise(&request).await.unwrap().text })
    };
    let first = call();
    server.arrival().await;
    let second = call();
    tokio::task::yield_now().await;
    first.abort();
    assert_eq!(second.await.unwrap(), "second");
}

#[tokio::test]
async fn what_is_larger_than_the_window_is_told_in_parts() {
    let mut messages = conversation("x");
    messages.extend((0..30).map(|n| user(&format!("note zqnote{n:02} {}", "word ".repeat(150)))));
    let request = request(&log_of(&messages));
    let server = ModelServer::always(ScriptedAnswer::text("## Conversation Summary\nzqpartial"))
        .await
        .unwrap();
    let mut config = config(&server);
    config.window_tokens = Some(4_000);
    let reply = ModelClient::new(config).unwrap().summarise(&request).await.unwrap();
    let seen = server.seen();
    assert!(seen.len() > 2);
    assert_eq!(reply.calls as usize, seen.len());
    assert_eq!(reply.usage.unwrap().prompt, 100 * seen.len() as u64);
    let told: String = seen.iter().map(|seen| seen.message("user")).collect();
    for n in 0..30 {
        assert_eq!(told.matches(&format!("zqnote{n:02}")).count(), 1, "each source once");
    }
    assert!(!seen[0].message("user").contains("zqpartial"));
    assert!(seen[1..].iter().all(|seen| seen.message("user").contains("zqpartial")));
}

#[tokio::test]
async fn a_prompt_that_is_too_long_is_cut_and_never_sent_again_unchanged() {
    let overflow = ScriptedAnswer::refusal(
        400,
        "context_length_exceeded",
        "This model's maximum context length is 3000 tokens. However, your messages resulted in 9000 tokens.",
    );
    let server = ModelServer::start([overflow.clone()]).await.unwrap();
    for _ in 0..20 {
        server.push(ScriptedAnswer::text("## Conversation Summary\npart"));
    }
    let client = ModelClient::new(config(&server)).unwrap();
    let reply = client.summarise(&a_request()).await.unwrap();
    assert!(reply.calls > 2);
    let bodies: Vec<String> = server.seen().iter().map(|seen| seen.body.to_string()).collect();
    assert!(bodies[1].len() < bodies[0].len());

    let server = ModelServer::always(overflow).await.unwrap();
    let failure =
        ModelClient::new(config(&server)).unwrap().summarise(&a_request()).await.unwrap_err();
    assert_eq!(failure.class, FailureClass::Overflow);
    let mut sizes: Vec<usize> = server.seen().iter().map(|s| s.body.to_string().len()).collect();
    let count = sizes.len();
    sizes.dedup();
    assert_eq!(sizes.len(), count, "no prompt twice");
}

#[tokio::test]
async fn parameters_that_a_model_refuses_are_left_out() {
    let refusal = ScriptedAnswer::refusal(
        400,
        "unsupported_parameter",
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    );
    let server = ModelServer::start([refusal, ScriptedAnswer::text("ok")]).await.unwrap();
    let reply = ModelClient::new(config(&server)).unwrap().summarise(&a_request()).await.unwrap();
    assert_eq!(reply.text, "ok");
    let last = &server.seen()[1].body;
    assert_eq!(last["max_completion_tokens"], 512);
    assert!(last.get("max_tokens").is_none());
}

#[tokio::test]
async fn keys_and_credentials_are_written_nowhere() {
    let echo = ScriptedAnswer::Status {
        code: 401,
        headers: Vec::new(),
        body: format!(
            r#"{{"error":{{"message":"bad key {KEY}","code":"{KEY}","type":"auth_error"}}}}"#
        ),
    };
    let server = ModelServer::always(echo).await.unwrap();
    let client = ModelClient::new(config(&server)).unwrap();
    let failure = client.summarise(&a_request()).await.unwrap_err();
    for text in [format!("{client:?}"), format!("{failure:?}"), failure.to_string()] {
        assert!(!text.contains("zqkey"), "{text}");
    }

    let mut config = config(&server);
    config.key = None;
    config.base_url = config.base_url.replace("http://", "http://joe:zqpassword@");
    let client = ModelClient::new(config.clone()).unwrap();
    let failure = client.summarise(&a_request()).await.unwrap_err();
    for text in [format!("{client:?} {config:?}"), format!("{failure:?}"), failure.to_string()] {
        assert!(!text.contains("zqpassword"), "{text}");
    }
    let sent = server.seen().last().unwrap().header("authorization").unwrap().to_owned();
    assert!(sent.starts_with("Basic "));
    for bad in ["ftp://h", "nothing", "http://"] {
        config.base_url = bad.to_owned();
        assert!(ModelClient::new(config.clone()).is_err(), "{bad}");
    }
}

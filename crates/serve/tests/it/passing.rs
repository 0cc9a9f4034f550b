//! What midfold has no part in passes byte for byte.

use midfold_testkit::upstream::agent::ClientAgent;
use midfold_testkit::upstream::{UpstreamScript, UpstreamSettings, WireDialect, task};

use crate::setting::Setting;

async fn setting(limit: u64) -> Setting {
    let script = UpstreamScript::shell_loop(30);
    Setting::new(UpstreamSettings { limit: Some(limit), script, ..UpstreamSettings::default() })
        .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_request_with_a_history_goes_on_as_it_came() {
    let setting = setting(16_000).await;
    let agent = ClientAgent::new(WireDialect::Chat, &setting.url());
    for (path, body) in [
        ("/v1/embeddings?a=b", r#"{"input": "x",  "n":1.0}"#),
        ("/v1/chat/completions", r#"{"messages":"no list"}"#),
        ("/v1/chat/completions", r#"{"messages":[{"role":"user","content":"broken"#),
        ("/v1/messages", ""),
        ("/v1beta/models/m:generateContent", "[1,2]"),
    ] {
        let _ = agent.post(path, body).await;
        let sent = setting.upstream.requests().pop().unwrap();
        assert_eq!((sent.target.as_str(), &sent.body[..]), (path, body.as_bytes()));
    }
    assert_eq!(setting.figure("midfold_fail_open_total{cause=\"unread\"}"), 4);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_can_switch_midfold_off() {
    let setting = setting(16_000).await;
    let agent =
        ClientAgent { task: task(30), ..ClientAgent::new(WireDialect::Messages, &setting.url()) };
    let headers = vec![("midfold".to_owned(), "off".to_owned())];
    let run = ClientAgent { headers, ..agent }.run().await;
    assert!(run.failed(), "it overflows, as it does without a proxy");
    assert_eq!(setting.figure("midfold_folds_total"), 0);
    let sent = setting.upstream.requests();
    assert!(sent.iter().all(|sent| sent.header("midfold").is_none()), "that header ends here");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_can_choose_a_preset() {
    let setting = setting(16_000).await;
    let agent =
        ClientAgent { task: task(30), ..ClientAgent::new(WireDialect::Chat, &setting.url()) };
    let headers = vec![("midfold-policy".to_owned(), "head-tail".to_owned())];
    let run = ClientAgent { headers, ..agent }.run().await;
    assert!(run.answer().is_some());
    let sent = setting.upstream.requests().pop().unwrap();
    let text = String::from_utf8_lossy(&sent.body).into_owned();
    assert!(text.contains("[Earlier messages truncated]"), "{text}");
    // A preset that nobody has is no reason to fail.
    let headers = vec![("midfold-policy".to_owned(), "laen".to_owned())];
    let agent = ClientAgent { headers, ..ClientAgent::new(WireDialect::Chat, &setting.url()) };
    let answer = agent
        .post("/v1/chat/completions", r#"{"model":"m","messages":[{"role":"user","content":"a"}]}"#)
        .await;
    assert_eq!((answer.status, answer.header("midfold-fault")), (200, Some("preset")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_that_is_too_large_to_look_at_passes() {
    let script = UpstreamScript::fixed("fine");
    let setting =
        Setting::with(UpstreamSettings { script, ..UpstreamSettings::default() }, |config| {
            config.longest_request = 1_000;
        })
        .await;
    let agent = ClientAgent::new(WireDialect::Chat, &setting.url());
    let text = "x".repeat(300_000);
    let body = format!(r#"{{"model":"m","messages":[{{"role":"user","content":"{text}"}}]}}"#);
    let answer = agent.post("/v1/chat/completions", &body).await;
    assert_eq!((answer.status, answer.header("midfold-fault")), (200, Some("too-large")));
    assert_eq!(setting.upstream.requests().pop().unwrap().body, body.as_bytes());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn strict_says_what_cannot_be_folded_instead_of_sending_it() {
    let setting =
        Setting::with(UpstreamSettings::default(), |config| config.is_strict = true).await;
    let agent = ClientAgent::new(WireDialect::Chat, &setting.url());
    let answer = agent.post("/v1/chat/completions", r#"{"messages":1}"#).await;
    assert_eq!(answer.status, 422);
    assert!(setting.upstream.requests().is_empty());
}

//! Clients that leave their history to the provider.

use midfold_testkit::upstream::agent::ClientAgent;
use midfold_testkit::upstream::{UpstreamScript, UpstreamSettings, WireDialect, task};

use crate::setting::Setting;

const STEPS: u32 = 30;

fn settings() -> UpstreamSettings {
    UpstreamSettings {
        limit: Some(12_000),
        script: UpstreamScript::shell_loop(STEPS),
        ..UpstreamSettings::default()
    }
}

fn agent(dialect: WireDialect, url: &str, stream: bool) -> ClientAgent {
    ClientAgent { server_state: true, stream, task: task(STEPS), ..ClientAgent::new(dialect, url) }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn previous_response_ids_are_sent_in_full_to_any_provider() {
    for stateful in [false, true] {
        for stream in [false, true] {
            let setting = Setting::new(UpstreamSettings { stateful, ..settings() }).await;
            let run = agent(WireDialect::Responses, &setting.url(), stream).run().await;
            let stats = setting.upstream.stats();
            let name = format!("stateful={stateful} stream={stream}");
            assert!(run.answer().is_some(), "{name}: {:?}", run.end);
            assert_eq!((&stats.refused[..], stats.overflows), (&[][..], 0), "{name}");
            let folds = setting.figure("midfold_folds_total");
            assert!(folds >= 1 && stats.rewrites <= folds, "{name}: {folds} {}", stats.rewrites);
            let last = setting.upstream.requests().pop().unwrap();
            assert!(!String::from_utf8_lossy(&last.body).contains("previous_response_id"));
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_that_nobody_here_gave_is_the_providers() {
    let setting = Setting::new(UpstreamSettings { stateful: true, ..settings() }).await;
    let agent = ClientAgent::new(WireDialect::Responses, &setting.url());
    let body = r#"{"model":"m","input":"hi","previous_response_id":"resp_of_before"}"#;
    let _ = agent.post("/v1/responses", body).await;
    assert_eq!(setting.upstream.requests().pop().unwrap().body, body.as_bytes());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thread_that_is_too_long_is_sent_again_by_its_client() {
    for stream in [false, true] {
        let setting = Setting::new(UpstreamSettings { threads: true, ..settings() }).await;
        let run = agent(WireDialect::Messages, &setting.url(), stream).run().await;
        let stats = setting.upstream.stats();
        assert!(run.answer().is_some(), "{:?}", run.end);
        assert_eq!(stats.refused, [""; 0]);
        assert!(setting.figure("midfold_folds_total") >= 1);
    }
}

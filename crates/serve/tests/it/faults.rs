//! What goes wrong on the way is passed on as it is.

use midfold_testkit::upstream::agent::{ClientAgent, RunEnd};
use midfold_testkit::upstream::{
    FaultTime, PlannedFault, UpstreamScript, UpstreamSettings, WireDialect, task,
};

use crate::setting::Setting;

fn settings(fault: PlannedFault) -> UpstreamSettings {
    UpstreamSettings {
        limit: Some(16_000),
        script: UpstreamScript::shell_loop(12),
        faults: vec![(FaultTime::Number(5), fault)],
        ..UpstreamSettings::default()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_tries_again_finishes_whatever_failed() {
    let faults = [
        PlannedFault::RateLimited { retry_after: "1".into() },
        PlannedFault::ServerError,
        PlannedFault::Reset,
        PlannedFault::Cut { after: 2 },
        PlannedFault::StreamError { after: 2 },
    ];
    for fault in faults {
        for stream in [false, true] {
            for dialect in WireDialect::ALL {
                let setting = Setting::new(settings(fault.clone())).await;
                let agent = ClientAgent::new(dialect, &setting.url());
                let run = ClientAgent { stream, retries: 2, task: task(12), ..agent }.run().await;
                let name = format!("{fault:?} {dialect:?} stream={stream}");
                assert!(run.answer().is_some(), "{name}: {:?}", run.end);
                assert_eq!(setting.upstream.stats().faults, 1, "{name}");
                assert_eq!(setting.upstream.stats().refused, [""; 0], "{name}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn refusals_keep_their_status_headers_and_body() {
    let body = r#"{"error":{"message":"slow down","code":"x"}}"#.to_owned();
    let headers =
        vec![("retry-after".to_owned(), "7".to_owned()), ("x-request-id".into(), "r".into())];
    let fault = PlannedFault::Status { code: 429, headers, body: body.clone() };
    let setting = Setting::new(settings(fault)).await;
    let run = ClientAgent { task: task(12), ..ClientAgent::new(WireDialect::Chat, &setting.url()) }
        .run()
        .await;
    assert_eq!(run.end, Some(RunEnd::Failed { status: 429, body }));
    let last = run.exchanges.last().unwrap();
    assert_eq!((last.header("retry-after"), last.header("x-request-id")), (Some("7"), Some("r")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_provider_that_is_away_is_said_to_be() {
    let setting = Setting::with(UpstreamSettings::default(), |config| {
        let mut upstreams = midfold_serve::UpstreamTable::default();
        // Nobody listens on the port of discard.
        upstreams.set("http://127.0.0.1:9").unwrap();
        config.upstreams = upstreams;
    })
    .await;
    let agent = ClientAgent::new(WireDialect::Chat, &setting.url());
    let answer = agent.post("/v1/chat/completions", r#"{"messages":[]}"#).await;
    assert_eq!(answer.status, 502);
    let text = String::from_utf8_lossy(&answer.body).into_owned();
    assert!(text.contains(" does not answer: "), "{text}");
    assert_eq!(setting.figure("midfold_unanswered_total"), 1);
}

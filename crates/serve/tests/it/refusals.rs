//! Providers that refuse: because a request is too long, in any of their wordings, and for what only
//! sounds like it.

use midfold_testkit::upstream::agent::ClientAgent;
use midfold_testkit::upstream::{Flavour, UpstreamScript, UpstreamSettings, WireDialect, task};

use midfold_serve::ServeConfig;

use crate::setting::{Setting, rules};

const STEPS: u32 = 30;

fn settings(flavour: Flavour) -> UpstreamSettings {
    UpstreamSettings {
        limit: Some(12_000),
        flavour,
        script: UpstreamScript::shell_loop(STEPS),
        ..UpstreamSettings::default()
    }
}

/// A window that nobody told the proxy: it thinks that there are 200,000 tokens.
async fn untold(settings: UpstreamSettings) -> Setting {
    Setting::with(settings, |config| config.rules = rules().window(200_000)).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_overflow_never_reaches_the_client_in_any_wording() {
    for flavour in Flavour::ALL {
        for dialect in WireDialect::ALL {
            if flavour == Flavour::Throttled {
                continue;
            }
            let setting = match flavour {
                // Where nothing is said, a prompt that nearly fills the window tells.
                Flavour::CerebrasEmpty => {
                    let change = |config: &mut ServeConfig| config.rules = rules().window(18_000);
                    Setting::with(settings(flavour), change).await
                }
                _ => untold(settings(flavour)).await,
            };
            let agent =
                ClientAgent { task: task(STEPS), ..ClientAgent::new(dialect, &setting.url()) };
            let run = agent.run().await;
            let stats = setting.upstream.stats();
            let name = format!("{flavour:?} {dialect:?}");
            assert!(run.answer().is_some(), "{name}: {:?}", run.end);
            assert!(run.exchanges.iter().all(|exchange| exchange.status == 200), "{name}");
            assert!(stats.overflows >= 1, "{name}");
            assert_eq!(setting.figure("midfold_overflows_total"), stats.overflows, "{name}");
            assert_eq!(
                setting.figure("midfold_overflows_recovered_total"),
                stats.overflows,
                "{name}"
            );
            assert!(stats.overflows <= 6, "{name}: {} overflows", stats.overflows);
            assert_eq!(stats.refused, [""; 0], "{name}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_overflow_in_a_stream_is_caught_before_the_client_sees_it() {
    for dialect in WireDialect::ALL {
        for (stream, flavour) in
            [(true, Flavour::Native), (true, Flavour::Vllm), (false, Flavour::Native)]
        {
            let inside = UpstreamSettings { overflow_in_answer: true, ..settings(flavour) };
            let setting = untold(inside).await;
            let agent = ClientAgent::new(dialect, &setting.url());
            let run = ClientAgent { stream, task: task(STEPS), ..agent }.run().await;
            let (stats, name) =
                (setting.upstream.stats(), format!("{dialect:?} {stream} {flavour:?}"));
            assert!(run.answer().is_some(), "{name}: {:?}", run.end);
            assert!(stats.overflows >= 1, "{name}");
            assert_eq!(
                setting.figure("midfold_overflows_recovered_total"),
                stats.overflows,
                "{name}"
            );
            assert_eq!(stats.refused, [""; 0], "{name}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rate_limit_that_speaks_of_tokens_is_passed_on_and_nothing_is_folded() {
    let setting = untold(settings(Flavour::Throttled)).await;
    let agent =
        ClientAgent { task: task(STEPS), ..ClientAgent::new(WireDialect::Chat, &setting.url()) };
    let run = agent.run().await;
    assert!(run.failed());
    assert_eq!(run.exchanges.last().unwrap().status, 429);
    assert_eq!(setting.figure("midfold_folds_total"), 0);
}

//! A model with a small window, and a tool whose results alone are longer than that window.

use midfold::{Policy, ServingUpstreams};
use midfold_proxy::ProxyRules;
use midfold_serve::UpstreamTable;
use midfold_serve::inside::is_local;
use midfold_testkit::upstream::agent::{AgentRun, ClientAgent, RunEnd};
use midfold_testkit::upstream::{StepLoop, UpstreamScript, UpstreamSettings, WireDialect, task};

use crate::setting::Setting;

const STEPS: u32 = 5;
/// The window, in the upstream's own tokens.
const WINDOW: u32 = 8_000;

/// An agent whose every result is twice as long as the window. `known` is the window that midfold takes it for.
async fn run(
    dialect: WireDialect,
    stream: bool,
    (cuts, known): (Option<bool>, u64),
) -> (Setting, AgentRun) {
    let script = UpstreamScript::ShellLoop(StepLoop {
        steps: STEPS,
        result_tokens: 2 * WINDOW,
        ..StepLoop::default()
    });
    let limit = Some(u64::from(WINDOW));
    let settings = UpstreamSettings { limit, script, ..UpstreamSettings::default() };
    let setting = Setting::with(settings, |config| {
        let mut policy = Policy::preset("default").unwrap();
        policy.tail.cut_results = cuts;
        config.rules = ProxyRules::new(policy).window(known);
    })
    .await;
    let agent = ClientAgent {
        task: task(STEPS),
        max_tokens: 500,
        stream,
        ..ClientAgent::new(dialect, &setting.url())
    };
    let run = agent.run().await;
    (setting, run)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn in_front_of_a_local_model_each_step_goes_on_with_its_result_cut() {
    for dialect in WireDialect::ALL {
        for stream in [false, true] {
            let (setting, run) = run(dialect, stream, (None, u64::from(WINDOW))).await;
            let stats = setting.upstream.stats();
            let name = format!("{dialect:?} {stream}");
            assert!(matches!(run.end, Some(RunEnd::Finished(_))), "{name}: {:?}", run.end);
            assert_eq!((&stats.refused[..], stats.overflows), (&[][..], 0), "{name}");
            assert_eq!(run.steps, STEPS, "{name}");
            assert_eq!(setting.figure("midfold_results_cut_total"), u64::from(STEPS), "{name}");
        }
    }
}

/// The provider says how long the window is, and only then midfold knows. The error of Responses has no numbers.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refusal_teaches_to_cut() {
    for dialect in WireDialect::ALL.into_iter().filter(|it| *it != WireDialect::Responses) {
        let (setting, run) = run(dialect, false, (None, 100_000)).await;
        let stats = setting.upstream.stats();
        assert!(matches!(run.end, Some(RunEnd::Finished(_))), "{dialect:?}: {:?}", run.end);
        assert_eq!((&stats.refused[..], run.steps), (&[][..], STEPS), "{dialect:?}");
        assert!((1..=2).contains(&stats.overflows), "{dialect:?}: {}", stats.overflows);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_policy_may_forbid_it() {
    let (setting, run) = run(WireDialect::Chat, false, (Some(false), u64::from(WINDOW))).await;
    assert!(run.failed(), "{:?}", run.end);
    assert_eq!(setting.figure("midfold_results_cut_total"), 0);
}

#[test]
fn local_is_what_no_name_server_of_the_internet_knows() {
    let places = [
        ("http://127.0.0.1:11434", true),
        ("http://localhost:8080/v1", true),
        ("http://[::1]:8080", true),
        ("http://192.168.1.20:8000", true),
        ("http://10.0.0.3", true),
        ("http://0.0.0.0:11434", true),
        ("http://ollama:11434", true),
        ("http://host.docker.internal:11434", true),
        ("http://gpu.local:8000", true),
        ("https://api.openai.com", false),
        ("https://NAME.openai.azure.com/openai", false),
        ("https://8.8.8.8", false),
        ("https://internal.example.com", false),
        ("https://[2606:4700::1]", false),
    ];
    for (url, wanted) in places {
        let mut upstreams = UpstreamTable::default();
        upstreams
            .set_all(&ServingUpstreams::from_texts([format!("there={url}").as_str()]))
            .unwrap();
        assert_eq!(is_local(&upstreams, "there"), wanted, "{url}");
    }
    assert!(!is_local(&UpstreamTable::default(), "openai"));
}

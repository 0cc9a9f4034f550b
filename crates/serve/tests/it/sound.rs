//! Clients that must be able to go on: before providers that bind reasoning, that want turns, that count the
//! reply, whose window nobody knows.

use std::sync::Arc;

use midfold::core::plan::PlanOutcome;
use midfold::store::{MemoryStore, Store, StoredSession};
use midfold_testkit::upstream::agent::{AgentRun, ClientAgent, RunEnd};
use midfold_testkit::upstream::{
    Flavour, Strictness, UpstreamScript, UpstreamSettings, WireDialect, task,
};

use crate::setting::{Setting, rules};

const STEPS: u32 = 40;
const LIMIT: u64 = 16_000;

fn settings() -> UpstreamSettings {
    UpstreamSettings {
        limit: Some(LIMIT),
        script: UpstreamScript::shell_loop(STEPS),
        ..UpstreamSettings::default()
    }
}

fn thinking() -> UpstreamSettings {
    UpstreamSettings { bind_thinking: true, ..settings() }
}

fn thinker(url: &str, model: &str) -> ClientAgent {
    let agent = ClientAgent::new(WireDialect::Messages, url);
    ClientAgent { thinking: true, model: model.to_owned(), task: task(STEPS), ..agent }
}

fn finished(run: &AgentRun) -> bool {
    matches!(run.end, Some(RunEnd::Finished(_)))
}

/// What is done to a stored conversation between two requests.
enum Change {
    Nothing,
    Restart,
    Compact,
    Undo,
    OtherNode,
}

async fn server(store: &Arc<dyn Store>) -> Setting {
    Setting::with(thinking(), |config| {
        config.rules = rules().window(LIMIT);
        config.store = Some(Arc::clone(store));
    })
    .await
}

/// Works with bound thinking until there was a fold, has something happen, and works on to the end.
async fn works_on_after(change: Change, name: &str) {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let first = server(&store).await;
    let mut agent = thinker(&first.url(), "claude-opus-5-5").start();
    while first.figure("midfold_folds_total") < 1 {
        assert!(agent.end().is_none(), "{name}: {:?}", agent.end());
        agent.turn().await;
    }
    for _ in 0..6 {
        agent.turn().await;
    }
    let session =
        agent.run().exchanges.last().unwrap().header("midfold-session").unwrap().to_owned();
    let second = match change {
        Change::Restart => {
            first.proxy.stop().await;
            Some(server(&store).await)
        }
        Change::OtherNode => Some(server(&store).await),
        _ => None,
    };
    match change {
        Change::Compact => {
            let mut stored = StoredSession::open(Arc::clone(&store), &session).await.unwrap();
            let outcome = stored.compact(None, 1_800_000_000_000).await.unwrap();
            let PlanOutcome::Folded(fold) = outcome else { panic!("{name}: {outcome:?}") };
            agent.turn().await;
            let read = agent.run().exchanges.last().unwrap().header("midfold-fold");
            assert_eq!(read, Some(&fold.id.to_hex()[..16]), "{name}: it is read through that fold");
        }
        Change::Undo => {
            let mut stored = StoredSession::open(Arc::clone(&store), &session).await.unwrap();
            stored.undo(None).await.unwrap();
        }
        _ => {}
    }
    if let Some(second) = &second {
        agent.go_on_at(&second.url());
    }
    while agent.end().is_none() {
        agent.turn().await;
    }
    let upstreams = std::iter::once(&first.upstream).chain(second.as_ref().map(|it| &it.upstream));
    let refused: Vec<_> = upstreams.flat_map(|it| it.stats().refused).collect();
    assert!(matches!(agent.end(), Some(RunEnd::Finished(_))), "{name}: {:?}", agent.end());
    assert_eq!(refused, [""; 0], "{name}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bound_thinking_is_known_as_that_whatever_happens_between_two_requests() {
    works_on_after(Change::Nothing, "nothing").await;
    works_on_after(Change::Restart, "restart").await;
    works_on_after(Change::Compact, "compact").await;
    works_on_after(Change::Undo, "undo").await;
    works_on_after(Change::OtherNode, "other node").await;
}

/// The name of the model does not say that it binds its thinking; the provider does.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_provider_that_binds_unexpectedly_is_believed() {
    for stream in [false, true] {
        let setting = Setting::new(thinking()).await;
        let run = ClientAgent { stream, ..thinker(&setting.url(), "nobody-1") }.run().await;
        assert!(finished(&run), "{:?}", run.end);
        let refused = setting.upstream.stats().refused.len();
        assert_eq!(refused, 1, "it is told once");
    }
}

/// The fold for the length of a request is what makes its thinking void: both are put right before the client knows.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_is_put_right_for_its_length_and_then_for_its_thinking() {
    for stream in [false, true] {
        let setting =
            Setting::with(thinking(), |config| config.rules = rules().window(8 * LIMIT)).await;
        let run = ClientAgent { stream, ..thinker(&setting.url(), "nobody-1") }.run().await;
        assert!(finished(&run), "{:?}", run.end);
        let stats = setting.upstream.stats();
        assert_eq!((stats.overflows, stats.refused.len()), (1, 1), "{:?}", stats.refused);
        assert!(run.exchanges.iter().all(|it| it.status == 200), "the client sees neither");
    }
}

/// Valid before, valid after: roles alternate through every fold, though nobody said that they have to.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn turns_are_kept_before_a_provider_that_wants_them() {
    for dialect in [WireDialect::Chat, WireDialect::Messages, WireDialect::Gemini] {
        for stream in [false, true] {
            let setting =
                Setting::new(UpstreamSettings { strict: Strictness::Templates, ..settings() })
                    .await;
            let agent = ClientAgent {
                stream,
                task: task(STEPS),
                ..ClientAgent::new(dialect, &setting.url())
            };
            let run = agent.run().await;
            assert!(finished(&run), "{dialect:?}: {:?}", run.end);
            assert_eq!(setting.upstream.stats().refused, [""; 0], "{dialect:?}");
            assert!(setting.figure("midfold_folds_total") >= 1, "{dialect:?}");
        }
    }
}

/// Nobody said how large the window is: the provider's error does, in its own way, and the conversation
/// goes on within it, with room for replies.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_window_that_nobody_knew_is_learned_and_not_filled_to_the_brim() {
    let kinds = [
        (Flavour::Native, 40_000, false, 1_024),
        (Flavour::Native, 40_000, true, 4_000),
        (Flavour::Native, 200_000, true, 1_024),
        (Flavour::LmStudio, 40_000, false, 1_024),
        // Without a word, a refusal is taken for one of length only near the window.
        (Flavour::CerebrasEmpty, 24_000, false, 1_024),
    ];
    for dialect in WireDialect::ALL {
        for (flavour, assumed, count_output, max_tokens) in kinds {
            let name = format!("{dialect:?} {flavour:?} {count_output} {max_tokens}");
            let upstream = UpstreamSettings { flavour, count_output, ..settings() };
            let setting = Setting::with(upstream, |config| {
                config.rules = rules().window(assumed);
            })
            .await;
            let agent = ClientAgent::new(dialect, &setting.url());
            let run = ClientAgent { max_tokens, task: task(STEPS), ..agent }.run().await;
            let stats = setting.upstream.stats();
            let folds = setting.figure("midfold_folds_total");
            println!("{name}: {folds} folds, {} overflows", stats.overflows);
            assert!(finished(&run), "{name}: {:?}", run.end);
            assert!(stats.overflows <= 3, "{name}: {} overflows", stats.overflows);
            assert!((1..=10).contains(&folds), "{name}: {folds} folds");
        }
    }
}

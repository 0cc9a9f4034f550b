//! A model that writes a line of a recap into a file: its client never gets the call.

use std::sync::Arc;

use midfold::core::audit::audit;
use midfold::store::fsck::fsck;
use midfold::store::{MemoryStore, Store, StoredSession};
use midfold_testkit::upstream::agent::{AgentRun, ClientAgent};
use midfold_testkit::upstream::{
    CopiedLines, StepLoop, UpstreamScript, UpstreamSettings, WireDialect, task,
};

use crate::setting::{Setting, rules};

const STEPS: u32 = 36;
const LIMIT: u64 = 16_000;
const FILE: &str = "copied_";

async fn setting(copies: CopiedLines, recalls: bool, ignores_stream: bool) -> Setting {
    stored(copies, recalls, ignores_stream, None).await
}

/// As [`setting`], with a store.
async fn stored(
    copies: CopiedLines,
    recalls: bool,
    ignores_stream: bool,
    store: Option<Arc<dyn Store>>,
) -> Setting {
    let script = StepLoop { steps: STEPS, copies: Some(copies), ..StepLoop::default() };
    let settings = UpstreamSettings {
        limit: Some(LIMIT),
        script: UpstreamScript::ShellLoop(script),
        ignores_stream,
        ..UpstreamSettings::default()
    };
    let kept = |config: &mut midfold_serve::ServeConfig| {
        config.rules = rules().window(LIMIT).recall(recalls);
        config.store = store;
    };
    Setting::with(settings, kept).await
}

/// Plays a loop to its end, and says which of its exchanges the call is in.
async fn play(setting: &Setting, dialect: WireDialect, stream: bool) -> (AgentRun, usize) {
    let agent =
        ClientAgent { stream, task: task(STEPS), ..ClientAgent::new(dialect, &setting.url()) };
    let run = agent.run().await;
    let name = format!("{dialect:?} {stream}");
    let stats = setting.upstream.stats();
    assert_eq!((&stats.refused[..], stats.overflows), (&[][..], 0), "{name}");
    assert!(run.answer().is_some() && run.steps == STEPS, "{name}: {:?}", run.end);
    let got = |body: &[u8]| String::from_utf8_lossy(body).contains(FILE);
    let count = run.exchanges.iter().filter(|exchange| got(&exchange.body)).count();
    (run, count)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_line_of_a_recap_is_never_written_into_a_file() {
    for dialect in WireDialect::ALL {
        for (stream, ignores_stream) in [(false, false), (true, false), (true, true)] {
            for copies in [CopiedLines::Before(4), CopiedLines::Beside(4)] {
                let name = format!("{dialect:?} {stream} {ignores_stream} {copies:?}");
                let setting = setting(copies, true, ignores_stream).await;
                let (run, got) = play(&setting, dialect, stream).await;
                assert_eq!(got, 0, "{name}");
                for exchange in &run.exchanges {
                    let body = String::from_utf8_lossy(&exchange.body);
                    let hidden = "midfold_unrun";
                    assert!(!exchange.sent.contains(hidden) && !body.contains(hidden), "{name}");
                }
                let unrun = setting.figure("midfold_placeholders_total");
                assert!(unrun >= 3, "{name}: {unrun}");
                assert_eq!(setting.figure("midfold_placeholders_handed_on_total"), 0, "{name}");
                assert_eq!(setting.figure("midfold_conversations"), 1, "{name}");
                // The model is told why, with the original, and what it called stays where it was.
                let sent = setting.upstream.requests();
                let told = sent.iter().filter(|sent| {
                    let body = String::from_utf8_lossy(&sent.body);
                    body.contains("[Not run: the argument") && body.contains("midfold_unrun")
                });
                assert!(told.count() > 3, "{name}");
                let stats = setting.upstream.stats();
                let folds = setting.figure("midfold_folds_total");
                assert!(stats.rewrites <= folds, "{name}: {} {folds}", stats.rewrites);
                assert_eq!(stats.respelled, 0, "{name}");
            }
        }
    }
}

/// What was not run is in the log where it took place, as an audit reads it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_log_has_what_was_not_run_where_it_took_place() {
    for copies in [CopiedLines::Before(4), CopiedLines::Beside(4)] {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let setting = stored(copies, true, false, Some(Arc::clone(&store))).await;
        play(&setting, WireDialect::Messages, true).await;
        assert!(setting.figure("midfold_placeholders_total") >= 3, "{copies:?}");
        setting.proxy.stop().await;
        let report = fsck(&*store).await.unwrap();
        assert!(report.is_clean(), "{copies:?}: {report:?}");
        let row = &store.sessions(None, 10).await.unwrap()[0];
        let mut stored = StoredSession::open(Arc::clone(&store), &row.new.id).await.unwrap();
        let calls = stored.calls().await.unwrap();
        let calls: Vec<_> = calls.into_iter().map(|(record, _)| record).collect();
        let whole = stored.whole().await.unwrap();
        let active = whole.active().map(|fold| fold.id);
        let audit = audit(whole.log(), whole.folds(), active, &calls);
        assert!(calls.len() > 30 && audit.is_clean(), "{copies:?}: {:#?}", audit.findings);
        // A call that was not run changed nothing, and no later recap says that it did.
        let recaps = whole.folds().iter().filter_map(|fold| fold.recap.as_ref());
        let told = |text: &str| text.lines().any(|it| it.contains("changed copied_"));
        assert!(!recaps.clone().any(|recap| told(&recap.text)), "{copies:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_that_insists_is_heard_in_the_end() {
    for dialect in WireDialect::ALL {
        for stream in [false, true] {
            let name = format!("{dialect:?} {stream}");
            let setting = setting(CopiedLines::Stubborn, true, false).await;
            let (run, got) = play(&setting, dialect, stream).await;
            let handed_on = setting.figure("midfold_placeholders_handed_on_total");
            assert!(handed_on >= 1 && got as u64 >= handed_on, "{name}: {handed_on} of {got}");
            // Five times the model is told, as often as it may look something up.
            assert_eq!(setting.figure("midfold_placeholders_total"), 6 * handed_on, "{name}");
            let has = |header: &str| {
                run.exchanges.iter().filter(|it| it.header(header).is_some()).count()
            };
            let told = if stream { 0 } else { handed_on };
            assert_eq!(has("midfold-placeholders") as u64, told, "{name}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_recall_the_call_is_counted_and_handed_on() {
    for dialect in WireDialect::ALL {
        for stream in [false, true] {
            let name = format!("{dialect:?} {stream}");
            let setting = setting(CopiedLines::Before(4), false, false).await;
            let (_, got) = play(&setting, dialect, stream).await;
            let handed_on = setting.figure("midfold_placeholders_handed_on_total");
            assert!(got >= 3 && handed_on >= 1, "{name}: {got} {handed_on}");
            assert_eq!(setting.figure("midfold_placeholders_total"), handed_on, "{name}");
        }
    }
}

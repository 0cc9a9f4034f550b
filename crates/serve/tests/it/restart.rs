//! A server that was stopped, and another one over the same store.

use std::sync::Arc;

use midfold::store::fsck::fsck;
use midfold::store::{MemoryStore, Store};
use midfold_testkit::upstream::agent::{ClientAgent, RunEnd};
use midfold_testkit::upstream::{UpstreamScript, UpstreamSettings, WireDialect, task};

use crate::setting::{Setting, rules};

const STEPS: u32 = 40;

async fn setting(store: &Arc<dyn Store>) -> Setting {
    let settings = UpstreamSettings {
        limit: Some(16_000),
        script: UpstreamScript::shell_loop(STEPS),
        ..UpstreamSettings::default()
    };
    Setting::with(settings, |config| {
        config.rules = rules().window(16_000);
        config.store = Some(Arc::clone(store));
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_conversation_goes_on_after_a_restart_with_its_fold() {
    for dialect in WireDialect::ALL {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let first = setting(&store).await;
        let mut agent =
            ClientAgent { task: task(STEPS), ..ClientAgent::new(dialect, &first.url()) }.start();
        while first.figure("midfold_folds_total") < 2 {
            assert!(agent.end().is_none(), "{dialect:?}: {:?}", agent.end());
            agent.turn().await;
        }
        let before =
            agent.run().exchanges.last().unwrap().header("midfold-fold").map(str::to_owned);
        let session =
            agent.run().exchanges.last().unwrap().header("midfold-session").map(str::to_owned);
        first.proxy.stop().await;
        let second = setting(&store).await;
        agent.go_on_at(&second.url());
        agent.turn().await;
        let last = agent.run().exchanges.last().unwrap();
        assert_eq!(last.header("midfold-session"), session.as_deref(), "{dialect:?}");
        assert_eq!(last.header("midfold-fold"), before.as_deref(), "{dialect:?}");
        while agent.end().is_none() {
            agent.turn().await;
        }
        let done = matches!(agent.end(), Some(RunEnd::Finished(_)));
        assert!(done, "{dialect:?}: {:?}", agent.end());
        assert_eq!(second.upstream.stats().refused, [""; 0], "{dialect:?}");
        second.proxy.stop().await;
        // One session, sound, with all that was history.
        let rows = store.sessions(None, 10).await.unwrap();
        assert_eq!(rows.len(), 1, "{dialect:?}");
        let report = fsck(&*store).await.unwrap();
        assert!(report.is_clean() && report.folds >= 2, "{dialect:?}: {report:?}");
        assert!(report.events > 60, "{dialect:?}: {report:?}");
    }
}

/// What a person deletes is not written again, and keeps no other conversation from being written.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_that_is_deleted_under_its_client_holds_nothing_up() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let setting = setting(&store).await;
    let mut agent =
        ClientAgent { task: task(STEPS), ..ClientAgent::new(WireDialect::Chat, &setting.url()) }
            .start();
    for _ in 0..5 {
        agent.turn().await;
    }
    let id = agent.run().exchanges.last().unwrap().header("midfold-session").unwrap().to_owned();
    store.delete(&id, None).await.unwrap();
    while agent.end().is_none() {
        agent.turn().await;
    }
    assert!(matches!(agent.end(), Some(RunEnd::Finished(_))), "{:?}", agent.end());
    let other = ClientAgent {
        task: format!("{} Again.", task(STEPS)),
        ..ClientAgent::new(WireDialect::Chat, &setting.url())
    };
    assert!(other.run().await.answer().is_some());
    setting.proxy.stop().await;
    let rows = store.sessions(None, 10).await.unwrap();
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert!(rows.iter().all(|row| row.new.id != id));
}

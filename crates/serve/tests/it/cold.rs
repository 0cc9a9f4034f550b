//! A pause after which the provider's cache has let the prompt go.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use midfold::store::{MemoryStore, Store};
use midfold_testkit::upstream::agent::{AgentRun, ClientAgent};
use midfold_testkit::upstream::{UpstreamScript, UpstreamSettings, WireDialect, task};

use crate::setting::{Setting, rules};

const STEPS: u32 = 40;
const WINDOW: u64 = 16_000;

/// A clock that goes on when it is told to.
#[derive(Clone)]
struct Time(Arc<AtomicU64>);

impl Time {
    fn pass(&self, seconds: u64) {
        self.0.fetch_add(seconds * 1_000, Ordering::Relaxed);
    }
}

async fn setting(time: &Time, lifetime: u64, store: Option<Arc<dyn Store>>) -> Setting {
    let settings = UpstreamSettings {
        limit: Some(WINDOW),
        script: UpstreamScript::shell_loop(STEPS),
        ..UpstreamSettings::default()
    };
    let now = Arc::clone(&time.0);
    Setting::with(settings, |config| {
        config.rules = rules().window(WINDOW).cache_lifetime(lifetime);
        config.clock = Arc::new(move || now.load(Ordering::Relaxed));
        config.store = store;
    })
    .await
}

/// Tokens of the newest request as it came.
fn tokens(run: &AgentRun) -> u64 {
    let header = |run: &AgentRun| {
        run.exchanges.last()?.header("midfold-tokens-before").and_then(|it| it.parse().ok())
    };
    header(run).unwrap_or(0)
}

/// Whether a conversation that is between the buffer line and the line is folded after a pause.
async fn is_folded_after(dialect: WireDialect, lifetime: u64, pause: u64) -> bool {
    let time = Time(Arc::new(AtomicU64::new(1_700_000_000_000)));
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let setting = setting(&time, lifetime, Some(Arc::clone(&store))).await;
    let mut agent =
        ClientAgent { task: task(STEPS), ..ClientAgent::new(dialect, &setting.url()) }.start();
    while tokens(agent.run()) < WINDOW * 65 / 100 {
        assert!(agent.end().is_none(), "{dialect:?}: {:?}", agent.end());
        agent.turn().await;
    }
    assert_eq!(setting.figure("midfold_folds_total"), 0, "{dialect:?}");
    time.pass(pause);
    agent.turn().await;
    let folds = setting.figure("midfold_folds_total");
    // Once: what was sent now is warm.
    agent.turn().await;
    assert_eq!(setting.figure("midfold_folds_total"), folds, "{dialect:?}");
    let id = agent.run().exchanges.last().unwrap().header("midfold-session").unwrap().to_owned();
    setting.proxy.stop().await;
    let records = store.folds(&id).await.unwrap();
    assert_eq!(records.len() as u64, folds, "{dialect:?}");
    for record in records {
        let fold: serde_json::Value = serde_json::from_str(&record.fold.body).unwrap();
        assert_eq!(fold["cause"], "cold", "{dialect:?}");
    }
    folds == 1
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fold_comes_when_it_spoils_no_cache() {
    for dialect in WireDialect::ALL {
        assert!(is_folded_after(dialect, 300, 301).await, "{dialect:?}");
        assert!(!is_folded_after(dialect, 300, 200).await, "{dialect:?}");
        assert!(!is_folded_after(dialect, 3_600, 301).await, "{dialect:?}");
        assert!(!is_folded_after(dialect, 0, 100_000).await, "{dialect:?}: switched off");
    }
}

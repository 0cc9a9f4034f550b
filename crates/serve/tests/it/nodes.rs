//! Two servers over one store, with the requests of one client going to them in turns.

use std::collections::BTreeSet;
use std::sync::Arc;

use midfold::store::fsck::fsck;
use midfold::store::{MemoryStore, Store};
use midfold_serve::{RunningServer, ServeConfig, UpstreamTable};
use midfold_testkit::upstream::agent::{ClientAgent, RunEnd};
use midfold_testkit::upstream::{
    ScriptedUpstream, UpstreamScript, UpstreamSettings, WireDialect, task,
};

use crate::setting::{clock, rules};

const STEPS: u32 = 40;

async fn node(upstream: &ScriptedUpstream, store: &Arc<dyn Store>) -> RunningServer {
    let mut config = ServeConfig::new(rules().window(16_000), clock());
    let mut upstreams = UpstreamTable::default();
    upstreams.set(upstream.url()).unwrap();
    config.upstreams = upstreams;
    config.store = Some(Arc::clone(store));
    midfold_serve::start(config).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_conversation_goes_to_two_nodes_in_turns() {
    for dialect in WireDialect::ALL {
        let settings = UpstreamSettings {
            limit: Some(16_000),
            script: UpstreamScript::shell_loop(STEPS),
            ..UpstreamSettings::default()
        };
        let upstream = ScriptedUpstream::start(settings).await.unwrap();
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let nodes = [node(&upstream, &store).await, node(&upstream, &store).await];
        let urls = nodes.each_ref().map(|node| format!("http://{}", node.address()));
        let mut agent =
            ClientAgent { task: task(STEPS), ..ClientAgent::new(dialect, &urls[0]) }.start();
        for turn in 1.. {
            agent.turn().await;
            if agent.end().is_some() {
                break;
            }
            agent.go_on_at(&urls[turn % 2]);
        }
        assert!(matches!(agent.end(), Some(RunEnd::Finished(_))), "{dialect:?}: {:?}", agent.end());
        // The first answer has the id that its node would begin the session with: the other one began it.
        let told = |name: &str| -> BTreeSet<String> {
            let all = agent.run().exchanges.iter().skip(1).filter_map(|it| it.header(name));
            all.map(str::to_owned).collect()
        };
        // One session; what one node folded, the other one reads through the same fold.
        assert_eq!(told("midfold-session").len(), 1, "{dialect:?}");
        let folds = told("midfold-fold").len() as u64;
        assert!((1..=4).contains(&folds), "{dialect:?}: {folds}");
        let stats = upstream.stats();
        assert!(stats.rewrites <= folds, "{dialect:?}: {} rewrites, {folds} folds", stats.rewrites);
        assert_eq!((&stats.refused[..], stats.overflows), (&[][..], 0), "{dialect:?}");
        assert_eq!(stats.facts_missing, 0, "{dialect:?}");
        for node in nodes {
            node.stop().await;
        }
        assert_eq!(store.sessions(None, 10).await.unwrap().len(), 1, "{dialect:?}");
        let report = fsck(&*store).await.unwrap();
        assert!(report.is_clean() && report.folds as u64 == folds, "{dialect:?}: {report:?}");
    }
}

//! Requests that name an answer which another process gave: one before a restart, or another node.

use std::sync::Arc;

use midfold::store::faulty::{FaultyStore, WriteFailure};
use midfold::store::fsck::fsck;
use midfold::store::{MemoryStore, Store};
use midfold_proxy::ProxyRules;
use midfold_serve::{ApiKey, ApiKeys, KeyHash, RunningServer, ServeConfig, UpstreamTable};
use midfold_testkit::upstream::agent::{ClientAgent, RunEnd};
use midfold_testkit::upstream::{
    ScriptedUpstream, UpstreamScript, UpstreamSettings, WireDialect, task,
};
use serde_json::Value;

use crate::setting::{clock, rules};

const STEPS: u32 = 40;

/// A proxy over a store.
async fn node(
    upstream: &ScriptedUpstream,
    store: &Arc<dyn Store>,
    rules: ProxyRules,
) -> RunningServer {
    let mut config = ServeConfig::new(rules, clock());
    let mut upstreams = UpstreamTable::default();
    upstreams.set(upstream.url()).unwrap();
    config.upstreams = upstreams;
    config.store = Some(Arc::clone(store));
    config.keys = Some(keys());
    midfold_serve::start(config).await.unwrap()
}

fn key(number: u8) -> ApiKey {
    ApiKey::from_bytes([number; 32])
}

/// Two clients that have nothing in common.
fn keys() -> ApiKeys {
    let one = |number: u8| {
        let hash = KeyHash::of(key(number).as_str());
        format!("[[key]]\nname = \"client-{number}\"\nhash = \"{hash}\"\n")
    };
    ApiKeys::from_toml(&(one(1) + &one(2))).unwrap()
}

fn agent(node: &RunningServer, number: u8) -> ClientAgent {
    let url = format!("http://{}", node.address());
    let headers = vec![("midfold-key".to_owned(), key(number).as_str().to_owned())];
    ClientAgent {
        headers,
        server_state: true,
        task: task(STEPS),
        ..ClientAgent::new(WireDialect::Responses, &url)
    }
}

fn url(node: &RunningServer) -> String {
    format!("http://{}", node.address())
}

/// A provider that keeps no answers.
async fn forgetful() -> ScriptedUpstream {
    let script = UpstreamScript::shell_loop(STEPS);
    ScriptedUpstream::start(UpstreamSettings {
        limit: Some(16_000),
        script,
        ..UpstreamSettings::default()
    })
    .await
    .unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_is_gone_on_from_after_a_restart_with_its_fold() {
    for stream in [false, true] {
        let (upstream, store) = (forgetful().await, Arc::new(MemoryStore::new()));
        let store: Arc<dyn Store> = store;
        let mut at = node(&upstream, &store, rules().window(16_000)).await;
        let mut agent = ClientAgent { stream, ..agent(&at, 1) }.start();
        let mut told = Vec::new();
        // The first answer is of no session yet; later ones are, and some are read through a fold.
        for turn in 1_u32.. {
            agent.turn().await;
            if agent.end().is_some() {
                break;
            }
            let last = agent.run().exchanges.last().unwrap();
            let of = |name: &str| last.header(name).map(str::to_owned);
            told.push((of("midfold-session"), of("midfold-fold")));
            if turn == 1 || turn % 9 == 0 {
                at.stop().await;
                at = node(&upstream, &store, rules().window(16_000)).await;
                agent.go_on_at(&url(&at));
            }
        }
        assert!(matches!(agent.end(), Some(RunEnd::Finished(_))), "{stream}: {:?}", agent.end());
        at.stop().await;
        told.dedup();
        let folds = told.iter().filter(|(_, fold)| fold.is_some()).count() as u64;
        let stats = upstream.stats();
        assert_eq!((&stats.refused[..], stats.overflows), (&[][..], 0), "{stream}");
        assert!(folds >= 1 && stats.rewrites <= folds, "{stream}: {told:?}");
        let sent = upstream.requests();
        let names = |body: &[u8]| String::from_utf8_lossy(body).contains("previous_response_id");
        assert!(sent.iter().all(|it| !names(&it.body)), "{stream}");
        assert_eq!(store.sessions(None, 10).await.unwrap().len(), 1, "{stream}");
        let report = fsck(&*store).await.unwrap();
        assert!(report.is_clean() && report.folds == folds, "{stream}: {report:?} {told:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_of_one_node_is_gone_on_from_at_another() {
    let (upstream, store) = (forgetful().await, Arc::new(MemoryStore::new()));
    let store: Arc<dyn Store> = store;
    let nodes = [
        node(&upstream, &store, rules().window(16_000)).await,
        node(&upstream, &store, rules().window(16_000)).await,
    ];
    let mut agent = agent(&nodes[0], 1).start();
    for turn in 1.. {
        agent.turn().await;
        if agent.end().is_some() {
            break;
        }
        agent.go_on_at(&url(&nodes[turn % 2]));
    }
    assert!(matches!(agent.end(), Some(RunEnd::Finished(_))), "{:?}", agent.end());
    let stats = upstream.stats();
    assert_eq!((&stats.refused[..], stats.overflows), (&[][..], 0));
    for node in nodes {
        node.stop().await;
    }
    assert_eq!(store.sessions(None, 10).await.unwrap().len(), 1);
    let report = fsck(&*store).await.unwrap();
    assert!(report.is_clean() && report.folds >= 1, "{report:?}");
}

/// A provider that keeps answers, and a store that is gone on with.
struct Shop {
    upstream: ScriptedUpstream,
    store: Arc<dyn Store>,
    node: RunningServer,
}

impl Shop {
    async fn open() -> Self {
        let settings = UpstreamSettings {
            script: UpstreamScript::fixed("fine"),
            stateful: true,
            ..UpstreamSettings::default()
        };
        let upstream = ScriptedUpstream::start(settings).await.unwrap();
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let node = node(&upstream, &store, rules()).await;
        Self { upstream, store, node }
    }

    async fn restart(self) -> Self {
        let Self { upstream, store, node: before } = self;
        before.stop().await;
        let node = node(&upstream, &store, rules()).await;
        Self { upstream, store, node }
    }

    /// The id of the answer, and what was sent for it.
    async fn ask(&self, client: u8, body: &str) -> (String, String) {
        let answer = agent(&self.node, client).post("/v1/responses", body).await;
        let answer: Value = serde_json::from_slice(&answer.body).unwrap();
        let sent = self.upstream.requests().pop().unwrap();
        let id = answer["id"].as_str().unwrap_or_default().to_owned();
        (id, String::from_utf8_lossy(&sent.body).into_owned())
    }
}

/// A thread that the provider has of before, without midfold: only its first request looks for it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thread_of_the_providers_is_looked_for_once() {
    let settings = UpstreamSettings {
        script: UpstreamScript::fixed("fine"),
        stateful: true,
        ..UpstreamSettings::default()
    };
    let upstream = ScriptedUpstream::start(settings).await.unwrap();
    let outside = ClientAgent::new(WireDialect::Responses, upstream.url());
    let id = |answer: &[u8]| {
        let answer: Value = serde_json::from_slice(answer).unwrap();
        answer["id"].as_str().unwrap().to_owned()
    };
    let first = outside.post("/v1/responses", r#"{"model":"m","input":"hi"}"#).await;
    let mut last = id(&first.body);
    let counted =
        Arc::new(FaultyStore::new(Arc::new(MemoryStore::new()), WriteFailure::Before, 0..0));
    let store: Arc<dyn Store> = counted.clone();
    let node = node(&upstream, &store, rules()).await;
    let mut looks = Vec::new();
    for _ in 0..3 {
        let answer = agent(&node, 1).post("/v1/responses", &next(&last, "and")).await;
        last = id(&answer.body);
        looks.push(counted.looks());
    }
    assert!(looks[0] > 0 && looks.iter().all(|it| *it == looks[0]), "{looks:?}");
    // Of somebody else it may be anything.
    agent(&node, 2).post("/v1/responses", &next(&last, "and")).await;
    assert!(counted.looks() > looks[0]);
    node.stop().await;
}

fn next(id: &str, text: &str) -> String {
    format!(r#"{{"model":"m","input":"{text}","previous_response_id":"{id}"}}"#)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_answer_of_another_client_is_not_gone_on_from_after_a_restart() {
    let shop = Shop::open().await;
    let (first, _) = shop.ask(1, r#"{"model":"m","input":"her secret"}"#).await;
    let (second, _) = shop.ask(1, &next(&first, "and")).await;
    let shop = shop.restart().await;
    for id in [&first, &second] {
        let theirs = next(id, "tell");
        assert_eq!(shop.ask(2, &theirs).await.1, theirs, "it passes as it came");
    }
    let (_, sent) = shop.ask(1, &next(&second, "tell")).await;
    assert!(sent.contains("her secret") && !sent.contains(&second), "{sent}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn branches_go_on_from_the_same_answer_after_a_restart() {
    let shop = Shop::open().await;
    let (first, _) = shop.ask(1, r#"{"model":"m","input":"root"}"#).await;
    let (second, _) = shop.ask(1, &next(&first, "trunk")).await;
    let shop = shop.restart().await;
    let (left, sent) = shop.ask(1, &next(&second, "left")).await;
    assert!(sent.contains("root") && sent.contains("trunk"), "{sent}");
    let (right, _) = shop.ask(1, &next(&second, "right")).await;
    let shop = shop.restart().await;
    let has = |sent: &str, words: &[&str]| {
        ["root", "trunk", "left", "right"].map(|word| sent.contains(word))
            == ["root", "trunk", "left", "right"].map(|word| words.contains(&word))
    };
    let (_, sent) = shop.ask(1, &next(&left, "on")).await;
    assert!(has(&sent, &["root", "trunk", "left"]), "{sent}");
    let (_, sent) = shop.ask(1, &next(&right, "on")).await;
    assert!(has(&sent, &["root", "trunk", "right"]), "{sent}");
    let (_, sent) = shop.ask(1, &next(&first, "on")).await;
    assert!(has(&sent, &["root"]), "{sent}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_deleted_or_not_to_be_kept_is_not_gone_on_from() {
    let shop = Shop::open().await;
    let (first, _) = shop.ask(1, r#"{"model":"m","input":"root"}"#).await;
    let (second, _) = shop.ask(1, &next(&first, "trunk")).await;
    let (third, _) = shop.ask(1, &next(&second, "leaf")).await;
    let (unkept, _) = shop.ask(1, r#"{"model":"m","input":"hush","store":false}"#).await;
    let shop = shop.restart().await;
    for row in shop.store.sessions(None, 10).await.unwrap() {
        shop.store.delete(&row.new.id, None).await.unwrap();
    }
    for id in [&first, &second, &third, &unkept] {
        let asked = next(id, "on");
        assert_eq!(shop.ask(1, &asked).await.1, asked, "{id} passes as it came");
    }
}

//! An agent that says by tools, which its client does not know, what should become of its conversation.

use std::sync::Arc;

use midfold::core::plan::FoldCause;
use midfold::store::fsck::fsck;
use midfold::store::{MemoryStore, Store, StoredSession};
use midfold_serve::{ApiKey, ApiKeys, KeyHash};
use midfold_testkit::upstream::agent::{AgentRun, ClientAgent, RunEnd};
use midfold_testkit::upstream::shell::fact;
use midfold_testkit::upstream::{
    AgentWish, StepLoop, UpstreamScript, UpstreamSettings, WireDialect, task,
};
use serde_json::{Value, json};

use crate::setting::{Setting, rules};

const STEPS: u32 = 36;
/// So much that no line is crossed before the agent asks.
const LIMIT: u64 = 30_000;
const NOTE: &str = "The quay gate opens at half past four.";

fn wish(step: u32, tool: &str, arguments: Value, beside: bool) -> AgentWish {
    AgentWish { step, tool: format!("midfold_{tool}"), arguments, beside }
}

/// Notes and pins early, and asks for a fold from time to time.
fn wishes(beside: bool) -> Vec<AgentWish> {
    // The result of part 3 has a fact.
    let pin = json!({"text": fact(3)});
    let mut all = vec![wish(4, "note", json!({"text": NOTE}), beside), wish(5, "pin", pin, beside)];
    all.extend((8..STEPS).step_by(3).map(|step| {
        let keep = json!({"keep": format!("gate of {step} quays")});
        wish(step, "compact", keep, beside)
    }));
    all
}

fn settings(wishes: Vec<AgentWish>) -> UpstreamSettings {
    let script = StepLoop { steps: STEPS, wishes, ..StepLoop::default() };
    UpstreamSettings {
        limit: Some(LIMIT),
        script: UpstreamScript::ShellLoop(script),
        ..UpstreamSettings::default()
    }
}

async fn setting(wishes: Vec<AgentWish>, window: u64, store: Option<&Arc<dyn Store>>) -> Setting {
    let store = store.cloned();
    Setting::with(settings(wishes), |config| {
        config.rules = rules().window(window).agent_tools(true);
        config.store = store;
    })
    .await
}

/// Nothing of the tools is in what the client sends and gets.
fn is_unseen(run: &AgentRun, name: &str) {
    for exchange in &run.exchanges {
        for tool in ["midfold_compact", "midfold_note", "midfold_pin"] {
            assert!(!exchange.sent.contains(tool), "{name}");
            assert!(!String::from_utf8_lossy(&exchange.body).contains(tool), "{name}");
        }
    }
}

/// What a body says, without the escapes of texts in it.
fn plain(body: &[u8]) -> String {
    String::from_utf8_lossy(body).replace('\\', "")
}

async fn folds_when_asked(dialect: WireDialect, stream: bool, beside: bool) {
    let name = format!("{dialect:?} stream={stream} beside={beside}");
    let setting = setting(wishes(beside), LIMIT, None).await;
    let agent =
        ClientAgent { stream, task: task(STEPS), ..ClientAgent::new(dialect, &setting.url()) };
    let run = agent.run().await;
    let stats = setting.upstream.stats();
    assert!(run.answer().is_some(), "{name}: {:?}", run.end);
    assert_eq!((&stats.refused[..], stats.overflows), (&[][..], 0), "{name}");
    assert_eq!((run.steps, stats.facts_missing), (STEPS, 0), "{name}");
    is_unseen(&run, &name);
    let folds = setting.figure("midfold_folds_total");
    assert!((1..=3).contains(&folds), "{name}: {folds} folds");
    assert!(stats.rewrites <= folds, "{name}: {} rewrites, {folds} folds", stats.rewrites);
    assert_eq!(setting.figure("midfold_agent_calls_total"), 2 + 10, "{name}");
    assert_eq!(setting.figure("midfold_recalls_total"), 0, "{name}");
    let sent: Vec<String> = setting.upstream.requests().iter().map(|it| plain(&it.body)).collect();
    // Small as it was, it was not folded, and the model knows why.
    assert!(sent.iter().any(|body| body.contains("not done: there is room enough")), "{name}");
    assert!(sent.iter().any(|body| body.contains("is replaced by a summary")), "{name}");
    let last = sent.last().unwrap();
    assert!(last.contains("### Notes of the agent") && last.contains(NOTE), "{name}");
    assert!(last.contains(&fact(3)), "{name}: the result is pinned");
    setting.proxy.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_folds_notes_and_pins() {
    for dialect in WireDialect::ALL {
        for stream in [false, true] {
            for beside in [false, true] {
                folds_when_asked(dialect, stream, beside).await;
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_the_setting_nothing_of_them_is_sent() {
    for dialect in WireDialect::ALL {
        let setting =
            Setting::with(settings(wishes(false)), |it| it.rules = rules().window(LIMIT)).await;
        let agent = ClientAgent { task: task(STEPS), ..ClientAgent::new(dialect, &setting.url()) };
        let run = agent.run().await;
        assert!(run.answer().is_some(), "{dialect:?}: {:?}", run.end);
        assert_eq!(setting.figure("midfold_folds_total"), 0, "{dialect:?}");
        for sent in setting.upstream.requests() {
            assert!(!plain(&sent.body).contains("midfold_"), "{dialect:?}");
        }
    }
}

/// What an agent said is not forgotten over a restart, and its client's history goes on in its place.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restart_forgets_no_wish() {
    for dialect in [WireDialect::Messages, WireDialect::Chat, WireDialect::Responses] {
        let name = format!("{dialect:?}");
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let first = setting(wishes(false), LIMIT, Some(&store)).await;
        let mut agent =
            ClientAgent { task: task(STEPS), ..ClientAgent::new(dialect, &first.url()) }.start();
        while first.figure("midfold_agent_calls_total") < 3 {
            assert!(agent.end().is_none(), "{name}: {:?}", agent.end());
            agent.turn().await;
        }
        first.proxy.stop().await;
        let id = store.sessions(None, 10).await.unwrap().pop().unwrap().new.id;
        let mut stored = StoredSession::open(Arc::clone(&store), &id).await.unwrap();
        let session = stored.whole().await.unwrap();
        assert_eq!((session.notes(), session.pins().len()), (vec![NOTE], 1), "{name}");
        let second = setting(wishes(false), LIMIT, Some(&store)).await;
        agent.go_on_at(&second.url());
        while agent.end().is_none() {
            agent.turn().await;
        }
        assert!(matches!(agent.end(), Some(RunEnd::Finished(_))), "{name}: {:?}", agent.end());
        assert_eq!(second.upstream.stats().refused, [""; 0], "{name}");
        is_unseen(agent.run(), &name);
        let last = second.upstream.requests().last().unwrap().body.clone();
        assert!(plain(&last).contains(NOTE), "{name}");
        second.proxy.stop().await;
        let mut stored = StoredSession::open(Arc::clone(&store), &id).await.unwrap();
        let session = stored.whole().await.unwrap();
        assert_eq!(session.active().unwrap().cause, FoldCause::Agent, "{name}");
        assert!(fsck(&*store).await.unwrap().is_clean(), "{name}");
    }
}

/// The tools that `/mcp` lists for a key.
async fn listed(setting: &Setting, key: &str) -> Vec<String> {
    let headers = vec![
        ("midfold-key".to_owned(), key.to_owned()),
        ("accept".to_owned(), "application/json, text/event-stream".to_owned()),
    ];
    let agent = ClientAgent { headers, ..ClientAgent::new(WireDialect::Chat, &setting.url()) };
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    let answer = agent.post("/mcp", &list.to_string()).await;
    let answer: Value = serde_json::from_slice(&answer.body).unwrap();
    let tools = answer["result"]["tools"].as_array().unwrap();
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_protocol_lists_them_as_the_proxy_offers_them() {
    let keys = ["usual", "given", "withheld"].map(|name| {
        let mut random = [7; 32];
        random[..name.len()].copy_from_slice(name.as_bytes());
        ApiKey::from_bytes(random)
    });
    let lines = ["", "agent_tools = true", "agent_tools = false"];
    let entries = keys.iter().zip(lines).enumerate().map(|(at, (key, line))| {
        let hash = KeyHash::of(key.as_str());
        format!("[[key]]\nname = \"k{at}\"\nhash = \"{hash}\"\nscopes = [\"sessions\"]\n{line}\n")
    });
    let file: String = entries.collect();
    for is_usual in [false, true] {
        let setting = Setting::with(settings(Vec::new()), |config| {
            config.rules = rules().agent_tools(is_usual);
            config.store = Some(Arc::new(MemoryStore::new()));
            config.keys = Some(ApiKeys::from_toml(&file).unwrap());
        })
        .await;
        for (key, wanted) in keys.iter().zip([is_usual, true, false]) {
            let tools = listed(&setting, key.as_str()).await;
            assert!(tools.contains(&"recall_find".to_owned()), "{tools:?}");
            for name in ["compact", "pin", "note"] {
                assert_eq!(tools.contains(&name.to_owned()), wanted, "{name} {is_usual}");
            }
        }
    }
}

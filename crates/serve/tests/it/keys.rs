//! Keys: who is let in, what they may do, and that nobody meets what is another's.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::Arc;

use midfold::store::{MemoryStore, SessionMeta, Store};
use midfold_serve::inside::{count_request, keys_after};
use midfold_serve::{ApiKey, ApiKeys, KeyHash, ProviderKeys, ServeConfig};
use midfold_testkit::upstream::agent::{AgentExchange, AgentRun, ClientAgent};
use midfold_testkit::upstream::{
    LookUps, StepLoop, UpstreamScript, UpstreamSettings, WireDialect, task,
};

use crate::raw::Raw;
use crate::setting::{Setting, rules};

const STEPS: u32 = 30;
const CHAT: &str = r#"{"model":"m","messages":[{"role":"user","content":"a"}]}"#;

/// The key of a client: always the same one for a name.
fn key(name: &str) -> String {
    let mut random = [0; 32];
    random[..name.len()].copy_from_slice(name.as_bytes());
    ApiKey::from_bytes(random).as_str().to_owned()
}

/// A file with keys of these names, each with more lines.
fn keys(named: &[(&str, &str)]) -> ApiKeys {
    let mut text = String::new();
    for (name, more) in named {
        let hash = KeyHash::of(&key(name));
        let _ = write!(text, "[[key]]\nname = \"{name}\"\nhash = \"{hash}\"\n{more}\n");
    }
    ApiKeys::from_toml(&text).unwrap()
}

fn settings() -> UpstreamSettings {
    UpstreamSettings {
        limit: Some(12_000),
        script: UpstreamScript::shell_loop(STEPS),
        ..UpstreamSettings::default()
    }
}

async fn setting(change: impl FnOnce(&mut ServeConfig)) -> Setting {
    Setting::with(UpstreamSettings { stateful: true, ..settings() }, |config| {
        config.rules = rules().window(12_000);
        config.keys = Some(keys(&[("ann", ""), ("bob", "")]));
        change(config);
    })
    .await
}

fn agent(dialect: WireDialect, setting: &Setting, name: &str) -> ClientAgent {
    let headers = vec![("midfold-key".to_owned(), key(name))];
    ClientAgent { headers, task: task(STEPS), ..ClientAgent::new(dialect, &setting.url()) }
}

fn told(run: &AgentRun, header: &str) -> BTreeSet<String> {
    run.exchanges.iter().filter_map(|it| it.header(header).map(str::to_owned)).collect()
}

fn with(setting: &Setting, headers: &[(&str, &str)]) -> ClientAgent {
    let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    ClientAgent {
        headers: headers.collect(),
        ..ClientAgent::new(WireDialect::Chat, &setting.url())
    }
}

fn text(answer: &AgentExchange) -> String {
    String::from_utf8_lossy(&answer.body).into_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_history_of_two_keys_is_two_conversations() {
    for dialect in WireDialect::ALL {
        let setting = setting(|_| {}).await;
        let ann = agent(dialect, &setting, "ann").run().await;
        assert!(ann.answer().is_some(), "{dialect:?}: {:?}", ann.end);
        let folds = setting.figure("midfold_folds_total");
        assert!(folds >= 1, "{dialect:?}");
        let bob = agent(dialect, &setting, "bob").run().await;
        assert!(bob.answer().is_some(), "{dialect:?}: {:?}", bob.end);
        // He had to make all of them again, and nothing that he was told is hers.
        assert_eq!(setting.figure("midfold_folds_total"), 2 * folds, "{dialect:?}");
        assert_eq!(setting.figure("midfold_conversations"), 2, "{dialect:?}");
        let (hers, his) = (told(&ann, "midfold-session"), told(&bob, "midfold-session"));
        assert!(hers.len() == 1 && his.len() == 1 && hers != his, "{hers:?} {his:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_gives_back_what_is_ones_own_alone() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let first = setting(|config| config.store = Some(Arc::clone(&store))).await;
    let mut ann = agent(WireDialect::Messages, &first, "ann").start();
    while told(ann.run(), "midfold-fold").is_empty() {
        assert_eq!(ann.end(), None);
        ann.turn().await;
    }
    let hers = told(ann.run(), "midfold-session");
    first.proxy.stop().await;
    let second = setting(|config| config.store = Some(Arc::clone(&store))).await;
    // Her very request, with the key of another, and with hers.
    let request = ann.run().exchanges.last().unwrap().sent.clone();
    let post = async |name| {
        let answer =
            agent(WireDialect::Messages, &second, name).post("/v1/messages", &request).await;
        assert_eq!(answer.status, 200, "{}", text(&answer));
        answer.header("midfold-session").unwrap().to_owned()
    };
    let (his, again) = (post("bob").await, post("ann").await);
    assert!(!hers.contains(&his), "{his}");
    assert!(hers.contains(&again), "{again}");
    second.proxy.stop().await;
    let rows = store.sessions(None, 10).await.unwrap();
    let owner = |id: &str| {
        let row = rows.iter().find(|row| row.new.id == id).unwrap();
        serde_json::from_str::<SessionMeta>(&row.new.meta).unwrap().owner
    };
    assert_eq!(rows.len(), 2);
    assert_eq!((owner(&his).as_deref(), owner(&again).as_deref()), (Some("bob"), Some("ann")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_answer_of_another_is_not_gone_on_from() {
    let setting = setting(|_| {}).await;
    let post = async |name, body: &str| {
        agent(WireDialect::Responses, &setting, name).post("/v1/responses", body).await
    };
    let first = post("ann", r#"{"model":"m","input":"her secret"}"#).await;
    let first: serde_json::Value = serde_json::from_slice(&first.body).unwrap();
    let id = first["id"].as_str().unwrap();
    let next = format!(r#"{{"model":"m","input":"and","previous_response_id":"{id}"}}"#);
    post("bob", &next).await;
    let sent = setting.upstream.requests().pop().unwrap();
    assert_eq!(sent.body, next.as_bytes(), "it passes as it came");
    post("ann", &next).await;
    let sent = setting.upstream.requests().pop().unwrap();
    let sent = String::from_utf8_lossy(&sent.body).into_owned();
    assert!(sent.contains("her secret") && !sent.contains(id), "{sent}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_providers_key_takes_the_place_of_ours() {
    let mut provider_keys = ProviderKeys::default();
    for name in ["openai", "anthropic", "gemini"] {
        provider_keys.set(name, &format!("theirs-{name}")).unwrap();
    }
    let setting = setting(|config| config.provider_keys = provider_keys).await;
    let ours = key("ann");
    let (bearer, target) = (format!("Bearer {ours}"), "/v1beta/models/m:generateContent");
    let in_address = format!("{target}?alt=json&key={ours}");
    for (path, header, value, sent) in [
        (
            "/v1/chat/completions",
            "authorization",
            bearer.as_str(),
            ("authorization", "Bearer theirs-openai"),
        ),
        ("/v1/models", "authorization", &bearer, ("authorization", "Bearer theirs-openai")),
        ("/v1/messages", "x-api-key", &ours, ("x-api-key", "theirs-anthropic")),
        ("/v1/messages", "authorization", &bearer, ("x-api-key", "theirs-anthropic")),
        (target, "x-goog-api-key", &ours, ("x-goog-api-key", "theirs-gemini")),
        (&in_address, "x-other", "1", ("x-goog-api-key", "theirs-gemini")),
    ] {
        let answer = with(&setting, &[(header, value)]).post(path, CHAT).await;
        assert_ne!(answer.status, 401, "{path} {header}: {}", text(&answer));
        let last = setting.upstream.requests().pop().unwrap();
        assert_eq!(last.header(sent.0), Some(sent.1), "{path} {header}");
    }
    // Beside a key in our own header, the client's credentials go on.
    let own = [("midfold-key", ours.as_str()), ("authorization", "Bearer sk-own")];
    with(&setting, &own).post("/v1/chat/completions", CHAT).await;
    let last = setting.upstream.requests().pop().unwrap();
    assert_eq!(last.header("authorization"), Some("Bearer sk-own"));
    for sent in setting.upstream.requests() {
        assert!(!format!("{sent:?}").contains(&ours), "{sent:?}");
    }
    assert!(setting.upstream.requests().iter().any(|sent| sent.target.ends_with("?alt=json")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_is_not_let_in_is_told_what_to_do() {
    let setting = setting(|_| {}).await;
    let ours = key("ann");
    for (headers, status, says) in [
        (&[][..], 401, "midfold-key: mf_"),
        (&[("authorization", "Bearer sk-own")], 401, "midfold-key: mf_"),
        (&[("midfold-key", "mf_wrong")], 401, "midfold serve key new"),
        (&[("x-api-key", "mf_wrong")], 401, "midfold serve key new"),
        (&[("authorization", ours.as_str())], 401, "--upstream-key openai="),
    ] {
        let answer = with(&setting, headers).post("/v1/chat/completions", CHAT).await;
        assert_eq!(answer.status, status, "{headers:?}");
        assert!(answer.header("www-authenticate").is_some());
        // What SDKs read: `error.message` for all, `type` for Anthropic's, `error.code` for OpenAI's.
        let said: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
        assert!(said["error"]["message"].as_str().unwrap().contains(says), "{headers:?}: {said}");
        assert_eq!(
            (&said["type"], &said["error"]["code"]),
            (&"error".into(), &"midfold_key".into())
        );
    }
    assert!(setting.upstream.requests().is_empty());
    assert_eq!(setting.figure("midfold_refused_total"), 5);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_is_good_for_its_scopes() {
    let named = [("ann", ""), ("root", "scopes = [\"admin\"]")];
    let setting = setting(|config| config.keys = Some(keys(&named))).await;
    let get = async |path: &str, key: &str| {
        let mut client = Raw::to(setting.proxy.address()).await;
        let head =
            format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{key}\r\n");
        client.write(head).await;
        client.rest().await
    };
    let bearer = |name| format!("authorization: Bearer {}\r\n", key(name));
    for path in ["/livez", "/readyz"] {
        assert!(get(path, "").await.starts_with("HTTP/1.1 200 "), "{path} needs none");
    }
    assert!(get("/metrics", "").await.starts_with("HTTP/1.1 401 "));
    assert!(get("/metrics", &bearer("ann")).await.starts_with("HTTP/1.1 403 "));
    assert!(get("/metrics", &bearer("root")).await.contains("midfold_requests_total"));
    let sent = with(&setting, &[("midfold-key", &key("root"))]).post("/v1/models", CHAT).await;
    assert_eq!(sent.status, 403);
    assert!(text(&sent).contains("the scope `proxy`"), "{}", text(&sent));
    assert!(setting.upstream.requests().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_asks_as_often_and_as_much_as_it_may() {
    let named =
        [("ann", "requests_per_minute = 2"), ("bob", "longest_body = 200\nlongest_history = 2")];
    let setting = setting(|config| {
        config.keys = Some(keys(&named));
        config.clock = Arc::new(|| 1_700_000_000_000);
    })
    .await;
    let post = async |name, body: &str| {
        let answer = with(&setting, &[("midfold-key", &key(name))]);
        answer.post("/v1/chat/completions", body).await
    };
    assert_eq!((post("ann", CHAT).await.status, post("ann", CHAT).await.status), (200, 200));
    let third = post("ann", CHAT).await;
    assert_eq!((third.status, third.header("retry-after")), (429, Some("30")));
    // Another's requests are not counted with hers.
    assert_eq!(post("bob", CHAT).await.status, 200);
    let message = r#"{"role":"user","content":"a"}"#;
    let long = format!(r#"{{"messages":[{message},{message},{message}]}}"#);
    let answer = post("bob", &long).await;
    assert_eq!(answer.status, 413, "three messages");
    assert!(text(&answer).contains("more than the 2 messages"), "{}", text(&answer));
    assert!(text(&answer).contains("`longest_history`"), "{}", text(&answer));
    let large = format!(r#"{{"messages":[{{"role":"user","content":"{}"}}]}}"#, "a".repeat(200));
    assert_eq!(post("bob", &large).await.status, 413);
    // The same without saying how long it is, also where it would pass unread.
    for path in ["/v1/chat/completions", "/v1/embeddings"] {
        let mut client = Raw::to(setting.proxy.address()).await;
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: localhost\r\nmidfold-key: {}\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n\
             {:x}\r\n{large}\r\n0\r\n\r\n",
            key("bob"),
            large.len()
        );
        client.write(head).await;
        let said = client.rest().await;
        assert!(said.starts_with("HTTP/1.1 413 "), "{path}: {said}");
    }
    assert_eq!(setting.upstream.requests().len(), 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_change_while_the_server_runs() {
    let setting = setting(|_| {}).await;
    let post = async |name| {
        let agent = with(&setting, &[("midfold-key", &key(name))]);
        agent.post("/v1/chat/completions", CHAT).await.status
    };
    assert_eq!((post("ann").await, post("eve").await), (200, 401));
    setting.proxy.set_keys(keys(&[("eve", "")]));
    assert_eq!((post("ann").await, post("eve").await), (401, 200));
}

#[test]
fn a_key_that_is_read_again_has_asked_as_often_as_before() {
    let key = ApiKey::from_bytes([7; 32]);
    let hash = KeyHash::of(key.as_str());
    let text = |rate: u32| {
        format!("[[key]]\nname = \"a\"\nhash = \"{hash}\"\nrequests_per_minute = {rate}\n")
    };
    let ask = |keys: &ApiKeys| count_request(keys, key.as_str(), 1).unwrap();
    let first = ApiKeys::from_toml(&text(1)).unwrap();
    assert_eq!((ask(&first), ask(&first)), (Ok(()), Err(60)));
    let second = keys_after(ApiKeys::from_toml(&text(1)).unwrap(), &first);
    assert_eq!(ask(&second), Err(60));
    let third = keys_after(ApiKeys::from_toml(&text(2)).unwrap(), &second);
    assert_eq!(ask(&third), Ok(()), "another rate starts anew");
    assert!(count_request(&third, "mf_other", 1).is_none());
}

/// Plays a loop that looks things up, with the key of `name`. Whether any request had the recall tool.
async fn recalls(is_usual: bool, name: &str) -> bool {
    let look_ups = Some(LookUps::Before(4));
    let script = StepLoop { steps: STEPS, look_ups, ..StepLoop::default() };
    let settings = UpstreamSettings { script: UpstreamScript::ShellLoop(script), ..settings() };
    let setting = Setting::with(settings, |config| {
        config.rules = rules().window(12_000).recall(is_usual);
        config.keys =
            Some(keys(&[("ann", ""), ("bob", "recall = true"), ("cat", "recall = false")]));
    })
    .await;
    let run = agent(WireDialect::Chat, &setting, name).run().await;
    assert!(run.answer().is_some(), "{name}: {:?}", run.end);
    assert!(setting.figure("midfold_folds_total") >= 1, "{name}");
    let has_tool = |body: &[u8]| String::from_utf8_lossy(body).contains("midfold_recall");
    setting.upstream.requests().iter().any(|sent| has_tool(&sent.body))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_decides_whether_its_model_may_look_things_up() {
    for is_usual in [false, true] {
        assert_eq!(recalls(is_usual, "ann").await, is_usual);
        assert!(recalls(is_usual, "bob").await);
        assert!(!recalls(is_usual, "cat").await);
    }
}

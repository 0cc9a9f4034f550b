//! What a provider said of a window, after a restart and at another node: it is there in the store.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use midfold::DialectKind;
use midfold::store::{MemoryStore, Store};
use midfold_serve::{ApiKey, ApiKeys, KeyHash, RunningServer, ServeConfig, UpstreamTable};
use midfold_testkit::upstream::WireDialect;
use midfold_testkit::upstream::agent::{AgentExchange, ClientAgent};
use serde_json::json;

use crate::limits::{reply, tokens};
use crate::setting::{clock, rules};
use crate::stub::{Asked, Stub, history};

const PATH: &str = "/v1/chat/completions";
const WINDOW: u64 = 8_000;
const DAY: u64 = 24 * 60 * 60 * 1_000;

/// A server that takes 8,000 tokens and says so to whoever sends more.
async fn provider() -> Stub {
    provider_of(Arc::new(AtomicU64::new(WINDOW))).await
}

/// A server that takes so many tokens.
async fn provider_of(window: Arc<AtomicU64>) -> Stub {
    Stub::start(move |asked: &Asked| {
        let window = window.load(Ordering::Relaxed);
        if asked.path != PATH {
            return (404, "{}".to_owned());
        }
        let prompt = tokens(asked);
        if prompt <= window {
            return reply(prompt);
        }
        let text = format!(
            "This model's maximum context length is {window} tokens. However, your messages resulted in {prompt} \
             tokens. Please reduce the length of the messages."
        );
        let error = json!({"message": text, "code": "context_length_exceeded"});
        (400, json!({ "error": error }).to_string())
    })
    .await
}

fn key(number: u8) -> ApiKey {
    ApiKey::from_bytes([number; 32])
}

/// A proxy over a store that was started so many days later.
async fn node(stub: &Stub, store: &Arc<dyn Store>, days: u64) -> RunningServer {
    midfold_serve::start(config(stub, store, days)).await.unwrap()
}

fn config(stub: &Stub, store: &Arc<dyn Store>, days: u64) -> ServeConfig {
    let time = clock();
    let mut config = ServeConfig::new(rules(), Arc::new(move || time() + days * DAY));
    let mut upstreams = UpstreamTable::default();
    upstreams.set(&stub.url).unwrap();
    config.upstreams = upstreams;
    config.store = Some(Arc::clone(store));
    let one = |number: u8| {
        let hash = KeyHash::of(key(number).as_str());
        format!("[[key]]\nname = \"client-{number}\"\nhash = \"{hash}\"\n")
    };
    config.keys = Some(ApiKeys::from_toml(&(one(1) + &one(2))).unwrap());
    config
}

/// A long conversation that nobody saw before.
async fn ask(node: &RunningServer, client: u8, topic: &str) -> AgentExchange {
    let body = history(DialectKind::OpenAiChat, "m", 60).replace("step ", &format!("{topic} "));
    post(node, client, &body).await
}

async fn post(node: &RunningServer, client: u8, body: &str) -> AgentExchange {
    let headers = vec![("midfold-key".to_owned(), key(client).as_str().to_owned())];
    let url = format!("http://{}", node.address());
    let agent = ClientAgent { headers, ..ClientAgent::new(WireDialect::Chat, &url) };
    agent.post(PATH, body).await
}

/// Prompts that were refused so far.
fn refused(stub: &Stub) -> usize {
    stub.asked().iter().filter(|asked| asked.path == PATH && tokens(asked) > WINDOW).count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_window_that_was_learned_holds_after_a_restart() {
    let (stub, store) = (provider().await, Arc::new(MemoryStore::new()));
    let store: Arc<dyn Store> = store;
    let first = node(&stub, &store, 0).await;
    let answer = ask(&first, 1, "one").await;
    assert_eq!((answer.status, refused(&stub)), (200, 1), "{answer:?}");
    first.stop().await;
    assert_eq!(store.windows(0).await.unwrap(), 1);

    let second = node(&stub, &store, 1).await;
    let answer = ask(&second, 1, "two").await;
    assert_eq!((answer.status, refused(&stub)), (200, 1), "it is folded before it is sent");
    assert_eq!(answer.header("midfold-window"), Some("8000; from=learned"));
    assert!(answer.header("midfold-fold").is_some());
    // What one key was told is no other key's.
    let answer = ask(&second, 2, "three").await;
    assert_eq!((answer.status, refused(&stub)), (200, 2));
    second.stop().await;
    assert_eq!(store.windows(0).await.unwrap(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_taken_beyond_a_window_raises_it_for_later_processes() {
    let window = Arc::new(AtomicU64::new(WINDOW));
    let (stub, store) = (provider_of(Arc::clone(&window)).await, Arc::new(MemoryStore::new()));
    let store: Arc<dyn Store> = store;
    let first = node(&stub, &store, 0).await;
    ask(&first, 1, "one").await;
    first.stop().await;

    window.store(32_000, Ordering::Relaxed);
    let second = node(&stub, &store, 0).await;
    // Of a client's newest message nothing is folded.
    let long = json!({"model": "m", "messages": [
        {"role": "user", "content": "a"}, {"role": "assistant", "content": "b"},
        {"role": "user", "content": "word ".repeat(9_000)},
    ]});
    let answer = post(&second, 1, &long.to_string()).await;
    assert_eq!(answer.header("midfold-window"), Some("8000; from=learned"));
    second.stop().await;

    let third = node(&stub, &store, 0).await;
    let answer = ask(&third, 1, "three").await;
    let tokens = answer.header("midfold-window").unwrap().strip_suffix("; from=learned");
    let tokens: u64 = tokens.unwrap().parse().unwrap();
    assert!((9_000..9_100).contains(&tokens), "{tokens}");
    third.stop().await;
}

/// A server that was started again with more context says so, and a user who raised the window says so.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stated_window_is_not_what_was_learned_beside_another_one() {
    let window = Arc::new(AtomicU64::new(WINDOW));
    let (stub, store) = (provider_of(Arc::clone(&window)).await, Arc::new(MemoryStore::new()));
    let store: Arc<dyn Store> = store;
    let stated = async |tokens: Option<u64>| {
        let mut config = config(&stub, &store, 0);
        if let Some(tokens) = tokens {
            config.rules = rules().window(tokens);
        }
        midfold_serve::start(config).await.unwrap()
    };
    let first = stated(None).await;
    let body = history(DialectKind::OpenAiChat, "m", 60);
    assert_eq!(post(&first, 1, &body).await.header("midfold-window"), Some("8000; from=learned"));
    first.stop().await;

    window.store(64_000, Ordering::Relaxed);
    let second = stated(Some(60_000)).await;
    let longer = history(DialectKind::OpenAiChat, "m", 62);
    for (body, what) in [(&body, "the stored conversation"), (&longer, "its next request")] {
        let answer = post(&second, 1, body).await;
        assert_eq!(answer.header("midfold-window"), Some("60000; from=setting"), "{what}");
    }
    // What the server refuses now holds, whatever was stated.
    window.store(20_000, Ordering::Relaxed);
    let refused = history(DialectKind::OpenAiChat, "m", 200);
    let answer = post(&second, 1, &refused).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let next = history(DialectKind::OpenAiChat, "m", 202);
    assert_eq!(post(&second, 1, &next).await.header("midfold-window"), Some("20000; from=learned"));
    second.stop().await;
    let third = stated(Some(60_000)).await;
    assert_eq!(post(&third, 1, &next).await.header("midfold-window"), Some("20000; from=learned"));
    third.stop().await;
}

/// A name is given to another server easily, as `local` is.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_server_taught_is_not_used_for_another_of_its_name() {
    let (one, store) = (provider().await, Arc::new(MemoryStore::new()));
    let store: Arc<dyn Store> = store;
    let first = node(&one, &store, 0).await;
    ask(&first, 1, "one").await;
    first.stop().await;
    let other = provider_of(Arc::new(AtomicU64::new(64_000))).await;
    let second = node(&other, &store, 0).await;
    let answer = ask(&second, 1, "two").await;
    assert_eq!(answer.header("midfold-fold"), None, "{answer:?}");
    assert_ne!(answer.header("midfold-window"), Some("8000; from=learned"));
    second.stop().await;
}

/// The server may hold more by now: once in a while it is found out.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_window_that_was_learned_long_ago_is_learned_anew() {
    let (stub, store) = (provider().await, Arc::new(MemoryStore::new()));
    let store: Arc<dyn Store> = store;
    for (days, topic, refusals) in [(0, "one", 1), (6, "two", 1), (8, "three", 2), (14, "four", 2)]
    {
        let node = node(&stub, &store, days).await;
        let answer = ask(&node, 1, topic).await;
        assert_eq!((answer.status, refused(&stub)), (200, refusals), "after {days} days");
        node.stop().await;
    }
    assert_eq!(store.windows(0).await.unwrap(), 1);
}

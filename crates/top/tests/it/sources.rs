//! The same sessions over a store and over a server: both say the same.

use std::sync::Arc;

use midfold::Policy;
use midfold_proxy::ProxyRules;
use midfold_serve::{ApiKey as ClientKey, ApiKeys, KeyHash, RunningServer, ServeConfig};
use midfold_top::{
    AnswerSource, PressedKey, ServerSource, SessionId, SourceQuestion, StoreSource, TopState,
    plain, settle,
};

use crate::canned::{NOW, seen};
use crate::stored;

async fn served(store: Arc<dyn midfold::store::Store>, keys: Option<ApiKeys>) -> RunningServer {
    let rules = ProxyRules::new(Policy::preset("default").unwrap());
    let mut config = ServeConfig::new(rules, Arc::new(|| NOW));
    config.store = Some(store);
    config.keys = keys;
    midfold_serve::start(config).await.unwrap()
}

fn all() -> Vec<SourceQuestion> {
    let id = || SessionId::from("a/b c".to_owned());
    let text = "LED-4101 & more?".to_owned();
    vec![
        SourceQuestion::Sessions,
        SourceQuestion::Detail(id()),
        SourceQuestion::Fabric(id()),
        SourceQuestion::Fold(id(), 1),
        SourceQuestion::Explain(id(), text),
        SourceQuestion::Explain(id(), "src/".to_owned()),
    ]
}

#[tokio::test]
async fn a_server_and_its_store_answer_alike() {
    let store = stored::store().await;
    let server = served(store.clone(), None).await;
    let here = StoreSource::new(store, Arc::new(|| NOW));
    let there = ServerSource::new(&format!("http://{}", server.address()), None).unwrap();
    for ask in all() {
        let (here, there) = (here.answer(&ask).await, there.answer(&ask).await);
        assert_eq!(here.unwrap(), there.unwrap(), "{ask:?}");
    }
    let id = SessionId::from("a/b c".to_owned());
    for ask in
        [SourceQuestion::Fabric(SessionId::from("none".to_owned())), SourceQuestion::Fold(id, 9)]
    {
        let here = here.answer(&ask).await.unwrap_err();
        let there = there.answer(&ask).await.unwrap_err();
        assert!(!here.message.as_str().is_empty());
        assert!(there.message.as_str().contains("there is no"), "{ask:?}: {there}");
    }
    server.stop().await;
}

/// What is shown of a real session is what the store says of it.
#[tokio::test]
async fn a_folded_session_is_shown() {
    let source = StoreSource::new(stored::store().await, Arc::new(|| NOW));
    let mut state = TopState::new(&source.place(), false, NOW);
    let asks = state.open(&SessionId::from("a/b c".to_owned()));
    settle(&source, &mut state, asks).await.unwrap();
    let text = plain(&state, 80);
    for expected in ["fold 1 of 1", "in the recap", "## Conversation Summary", "next fold:"] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    let asks = state.press(PressedKey::Enter);
    settle(&source, &mut state, asks).await.unwrap();
    assert!(seen(&state, (80, 40)).contains("out of the context"));
}

#[tokio::test]
async fn who_does_not_answer_is_named() {
    // A port that was free a moment ago.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let source = ServerSource::new(&format!("http://{address}"), None).unwrap();
    let trouble = source.answer(&SourceQuestion::Sessions).await.unwrap_err();
    assert_eq!(trouble.to_string(), format!("http://{address} cannot be reached"));
    assert!(trouble.hints[0].as_str().contains("midfold serve"));
}

#[tokio::test]
async fn a_server_with_keys_wants_one() {
    let key = ClientKey::from_bytes([7; 32]).as_str().to_owned();
    let hash = KeyHash::of(&key);
    let text = format!("[[key]]\nname = \"ann\"\nhash = \"{hash}\"\nscopes = [\"sessions\"]\n");
    let keys = ApiKeys::from_toml(&text).unwrap();
    let server = served(stored::store().await, Some(keys)).await;
    let url = format!("http://{}", server.address());
    let ask = |key: Option<String>| {
        let source = ServerSource::new(&url, key.as_deref()).unwrap();
        async move { source.answer(&SourceQuestion::Sessions).await }
    };
    let trouble = ask(None).await.unwrap_err();
    let hints: Vec<String> = trouble.hints.iter().map(ToString::to_string).collect();
    assert!(hints.iter().any(|hint| hint.contains("MIDFOLD_KEY")), "{trouble}: {hints:?}");
    assert!(ask(Some(key + "\n")).await.is_ok(), "the line break of a file is no part of the key");
    server.stop().await;
}

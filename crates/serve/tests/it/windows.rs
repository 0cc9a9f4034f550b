//! How much a model holds, as the servers say it that people run: found without a flag.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use midfold::DialectKind;
use midfold_serve::UpstreamTable;
use midfold_testkit::upstream::agent::{AgentExchange, ClientAgent};
use midfold_testkit::upstream::{UpstreamSettings, WireDialect};

use crate::setting::{Setting, rules};
use crate::stub::{Asked, Stub, history};

const CHAT: &str = "/v1/chat/completions";

async fn before(stub: &Stub, base: &str) -> Setting {
    Setting::with(UpstreamSettings::default(), |config| {
        let mut upstreams = UpstreamTable::default();
        upstreams.set(&format!("local={}{base}", stub.url)).unwrap();
        config.upstreams = upstreams;
    })
    .await
}

async fn post(setting: &Setting, model: &str, headers: &[(&str, &str)]) -> AgentExchange {
    let headers = headers.iter().map(|(name, it)| ((*name).to_owned(), (*it).to_owned()));
    let agent = ClientAgent {
        headers: headers.collect(),
        ..ClientAgent::new(WireDialect::Chat, &setting.url())
    };
    agent.post(CHAT, &history(DialectKind::OpenAiChat, model, 40)).await
}

/// A server that answers what stands at these paths, and any request for a reply.
async fn server(pages: &'static [(&'static str, &'static str)]) -> Stub {
    Stub::start(move |asked: &Asked| {
        if asked.path.ends_with("/chat/completions") {
            return (200, "{}".to_owned());
        }
        let page = pages.iter().find(|(path, _)| *path == asked.path);
        page.map_or((404, "{}".to_owned()), |(_, text)| (200, (*text).to_owned()))
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_kind_of_server_is_asked_and_says_it() {
    let vllm =
        r#"{"object":"list","data":[{"id":"qwen3-8b","object":"model","max_model_len":16384}]}"#;
    let trained = r#"{"object":"list","data":[{"id":"m.gguf","meta":{"n_ctx_train":131072}}]}"#;
    let studio = r#"{"data":[{"id":"qwen3-8b","state":"loaded","loaded_context_length":6144,
        "max_context_length":40960},{"id":"other","max_context_length":32768}]}"#;
    let router = r#"{"data":[{"id":"a/b","context_length":1},{"id":"maker/qwen3-8b","context_length":40960,
        "top_provider":{"context_length":20480}}]}"#;
    let lite = r#"{"data":[{"model_name":"qwen3-8b","litellm_params":{"model":"openai/x"},
        "model_info":{"max_input_tokens":12000,"max_tokens":4096}}]}"#;
    let gemini = r#"{"models":[{"name":"models/qwen3-8b","inputTokenLimit":9000}]}"#;
    type Pages = &'static [(&'static str, &'static str)];
    let leak = |pages: Vec<(&'static str, &'static str)>| -> Pages { pages.leak() };
    for (name, base, pages, window) in [
        ("vLLM", "/v1", leak(vec![("/v1/models", vllm)]), "16384; from=server"),
        (
            "llama.cpp",
            "/v1",
            leak(vec![
                ("/v1/models", trained),
                ("/props", r#"{"default_generation_settings":{"n_ctx":8192}}"#),
            ]),
            "8192; from=server",
        ),
        ("LM Studio", "", leak(vec![("/api/v0/models", studio)]), "6144; from=server"),
        ("OpenRouter", "/api/v1", leak(vec![("/api/v1/models", router)]), "40960; from=server"),
        ("LiteLLM", "", leak(vec![("/model/info", lite)]), "12000; from=server"),
        ("Gemini", "", leak(vec![("/v1beta/models", gemini)]), "9000; from=server"),
        ("Azure", "/openai", leak(vec![]), "131072; from=table"),
    ] {
        let stub = server(pages).await;
        let setting = before(&stub, base).await;
        for _ in 0..3 {
            let answer = post(&setting, "qwen3-8b", &[("authorization", "Bearer sk")]).await;
            assert_eq!(answer.header("midfold-window"), Some(window), "{name}");
        }
        // Each question once, by whoever asks for the reply.
        let asked = stub.asked();
        let questions = asked.iter().filter(|it| !it.path.ends_with("/chat/completions"));
        let questions: Vec<_> = questions.collect();
        assert_eq!(questions.len(), 6, "{name}");
        assert!(questions.iter().all(|it| it.headers["authorization"] == "Bearer sk"), "{name}");
    }
}

/// An Ollama decides how much a model holds when it loads it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_ollama_is_had_to_load_the_model_and_asked_then() {
    let is_loaded = AtomicBool::new(false);
    let stub = Stub::start(move |asked: &Asked| match asked.path.as_str() {
        CHAT => (200, "{}".to_owned()),
        "/api/generate" => {
            assert_eq!(asked.body, r#"{"model":"llama3.2"}"#);
            is_loaded.store(true, Ordering::Relaxed);
            (200, r#"{"done":true,"done_reason":"load"}"#.to_owned())
        }
        "/api/ps" if is_loaded.load(Ordering::Relaxed) => {
            (200, r#"{"models":[{"name":"llama3.2:latest","context_length":4096}]}"#.to_owned())
        }
        "/api/ps" => (200, r#"{"models":[]}"#.to_owned()),
        _ => (404, "{}".to_owned()),
    })
    .await;
    let setting = before(&stub, "/v1").await;
    let answer = post(&setting, "llama3.2", &[]).await;
    assert_eq!(answer.header("midfold-window"), Some("4096; from=server"));
    assert!(answer.header("midfold-fold").is_some());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_said_here_wins_and_nobody_is_asked() {
    let pages = &[("/v1/models", r#"{"data":[{"id":"m","max_model_len":16384}]}"#)];
    let stub = server(pages).await;
    let setting = Setting::with(UpstreamSettings::default(), |config| {
        let mut upstreams = UpstreamTable::default();
        upstreams.set(&stub.url).unwrap();
        config.upstreams = upstreams;
        config.rules = rules().window(5_000);
    })
    .await;
    let answer = post(&setting, "m", &[]).await;
    assert_eq!(answer.header("midfold-window"), Some("5000; from=setting"));
    assert_eq!(stub.asked().len(), 1);
}

/// A window that nobody knows is said to be that.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_default_is_called_one() {
    let stub = server(&[]).await;
    let setting = before(&stub, "").await;
    let answer = post(&setting, "nobody-knows-it", &[]).await;
    assert_eq!(answer.header("midfold-window"), Some("128000; from=default"));
    let million = [("anthropic-beta", "context-1m-2025-08-07")];
    let answer = post(&setting, "claude-sonnet-4-5", &million).await;
    assert_eq!(answer.header("midfold-window"), Some("1000000; from=table"));
}

/// Ollama's own clients say how much the model is to hold.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_to_ollama_says_its_window() {
    let answer = r#"{"model":"m","message":{"role":"assistant","content":"ok"},"done":true,"prompt_eval_count":900,"eval_count":3}"#;
    let stub = Stub::start(move |_| (200, answer.to_owned())).await;
    let setting = before(&stub, "").await;
    let long: serde_json::Value =
        serde_json::from_str(&history(DialectKind::OpenAiChat, "llama3.2", 40)).unwrap();
    let body = serde_json::json!({
        "model": "llama3.2", "messages": long["messages"], "stream": false, "options": {"num_ctx": 4096},
    });
    let agent = ClientAgent::new(WireDialect::Chat, &setting.url());
    let answer = agent.post("/api/chat", &body.to_string()).await;
    assert_eq!(answer.header("midfold-window"), Some("4096; from=request"));
    assert!(answer.header("midfold-fold").is_some(), "{answer:?}");
    // Nobody else was asked.
    let asked = stub.asked();
    assert_eq!(asked.iter().map(|it| it.path.as_str()).collect::<Vec<_>>(), ["/api/chat"]);
    assert!(asked[0].body.len() < body.to_string().len() / 2);
}

/// Whoever asks first may have no right to ask: that is no reason for others to go without for long.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_refused_is_asked_again_soon() {
    let stub = Stub::start(|asked: &Asked| {
        let is_known = asked.headers["authorization"] == "Bearer good";
        match asked.path.as_str() {
            CHAT => (200, "{}".to_owned()),
            "/v1/models" if is_known => {
                (200, r#"{"data":[{"id":"m","max_model_len":8192}]}"#.to_owned())
            }
            _ => (401, "{}".to_owned()),
        }
    })
    .await;
    let setting = before(&stub, "").await;
    let window = async |key| {
        let answer = post(&setting, "m", &[("authorization", key)]).await;
        answer.header("midfold-window").unwrap().to_owned()
    };
    assert_eq!(window("Bearer bad").await, "128000; from=default");
    // The clock goes on by some seconds with each request.
    for _ in 0..40 {
        if window("Bearer good").await == "8192; from=server" {
            return;
        }
    }
    panic!("it was not asked again");
}

/// A server that still loads its model knows the window a moment later.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_failed_is_asked_again_soon() {
    let questions = AtomicUsize::new(0);
    let stub = Stub::start(move |asked: &Asked| match asked.path.as_str() {
        CHAT => (200, "{}".to_owned()),
        "/v1/models" if questions.fetch_add(1, Ordering::Relaxed) > 0 => {
            (200, r#"{"data":[{"id":"m","max_model_len":8192}]}"#.to_owned())
        }
        _ => (503, r#"{"error":{"message":"Loading model"}}"#.to_owned()),
    })
    .await;
    let setting = before(&stub, "").await;
    let window =
        async || post(&setting, "m", &[]).await.header("midfold-window").unwrap().to_owned();
    assert_eq!(window().await, "128000; from=default");
    // The clock goes on by some seconds with each request.
    for _ in 0..12 {
        if window().await == "8192; from=server" {
            return;
        }
    }
    panic!("it was not asked again");
}

/// A client of Gemini may have its key in the address.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_key_in_an_address_is_sent_with_the_question() {
    let stub = Stub::start(|asked: &Asked| {
        let is_known = asked.headers.get("x-goog-api-key").is_some_and(|key| key == "AIza-own");
        match asked.path.as_str() {
            "/v1/models" if is_known => {
                (200, r#"{"data":[{"id":"m","max_model_len":8192}]}"#.to_owned())
            }
            path if path.starts_with(CHAT) => (200, "{}".to_owned()),
            _ => (401, "{}".to_owned()),
        }
    })
    .await;
    let setting = before(&stub, "").await;
    let agent = ClientAgent::new(WireDialect::Chat, &setting.url());
    let body = history(DialectKind::OpenAiChat, "m", 40);
    let answer = agent.post(&format!("{CHAT}?key=AIza-own"), &body).await;
    assert_eq!(answer.header("midfold-window"), Some("8192; from=server"));
}

/// A key of midfold is the provider's in no case, so it goes to none, also where the server asks for no key.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_of_another_server_is_not_forwarded() {
    let stub = server(&[]).await;
    let setting = before(&stub, "").await;
    post(&setting, "m", &[("authorization", "Bearer mf_other"), ("midfold-key", "mf_own")]).await;
    post(&setting, "m", &[("authorization", "Bearer sk-own")]).await;
    let asked = stub.asked();
    assert!(asked.iter().all(|asked| !format!("{:?}", asked.headers).contains("mf_")));
    assert_eq!(asked.last().unwrap().headers["authorization"], "Bearer sk-own");
}

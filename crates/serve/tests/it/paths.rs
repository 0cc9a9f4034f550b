//! Whatever stands before the end of a path: what has a history is folded, or the answer says why not.

use midfold::DialectKind;
use midfold_serve::UpstreamTable;
use midfold_testkit::upstream::agent::ClientAgent;
use midfold_testkit::upstream::{UpstreamSettings, WireDialect};

use crate::setting::{Setting, rules};
use crate::stub::{Stub, history};

const CHAT: DialectKind = DialectKind::OpenAiChat;
const RESPONSES: DialectKind = DialectKind::OpenAiResponses;
const ANTHROPIC: DialectKind = DialectKind::Anthropic;
const GEMINI: DialectKind = DialectKind::Gemini;

/// Paths of clients, servers, gateways and clouds, and what they are called behind us.
const READ: [(&str, &str, DialectKind); 28] = [
    ("/v1/chat/completions", "/v1/chat/completions", CHAT),
    ("/chat/completions", "/chat/completions", CHAT),
    ("//v1//chat/completions/", "/v1/chat/completions", CHAT),
    ("/api/v1/chat/completions", "/api/v1/chat/completions", CHAT),
    ("/api/paas/v4/chat/completions", "/api/paas/v4/chat/completions", CHAT),
    ("/compatible-mode/v1/chat/completions", "/compatible-mode/v1/chat/completions", CHAT),
    ("/openai/v1/chat/completions", "/openai/v1/chat/completions", CHAT),
    (
        "/openai/deployments/gpt-5/chat/completions?api-version=2025-04-01",
        "/openai/deployments/gpt-5/chat/completions?api-version=2025-04-01",
        CHAT,
    ),
    ("/engines/llama/chat/completions", "/engines/llama/chat/completions", CHAT),
    ("/v1beta/openai/chat/completions", "/v1beta/openai/chat/completions", CHAT),
    (
        "/v1/projects/p/locations/l/endpoints/openapi/chat/completions",
        "/v1/projects/p/locations/l/endpoints/openapi/chat/completions",
        CHAT,
    ),
    ("/inference/v1/chat/completions", "/inference/v1/chat/completions", CHAT),
    ("/v1/responses", "/v1/responses", RESPONSES),
    ("/responses", "/responses", RESPONSES),
    ("/openai/v1/responses", "/openai/v1/responses", RESPONSES),
    ("/openai/responses?api-version=preview", "/openai/responses?api-version=preview", RESPONSES),
    ("/backend-api/codex/responses", "/backend-api/codex/responses", RESPONSES),
    ("/v1/messages", "/v1/messages", ANTHROPIC),
    ("/v1/messages?beta=true", "/v1/messages?beta=true", ANTHROPIC),
    ("/anthropic/v1/messages", "/anthropic/v1/messages", ANTHROPIC),
    ("/api/anthropic/v1/messages/", "/api/anthropic/v1/messages", ANTHROPIC),
    (
        "/v1/projects/p/locations/l/publishers/anthropic/models/claude-sonnet-4-5@20250929:rawPredict",
        "/v1/projects/p/locations/l/publishers/anthropic/models/claude-sonnet-4-5@20250929:rawPredict",
        ANTHROPIC,
    ),
    (
        "/v1/projects/p/locations/l/publishers/mistralai/models/mistral-large:rawPredict",
        "/v1/projects/p/locations/l/publishers/mistralai/models/mistral-large:rawPredict",
        CHAT,
    ),
    (
        "/v1beta/models/gemini-3-pro:generateContent",
        "/v1beta/models/gemini-3-pro:generateContent",
        GEMINI,
    ),
    ("/v1/models/gemini-3-pro:generateContent", "/v1/models/gemini-3-pro:generateContent", GEMINI),
    (
        "//v1beta/models/gemini-3-pro:generateContent",
        "/v1beta/models/gemini-3-pro:generateContent",
        GEMINI,
    ),
    (
        "/v1beta/tunedModels/mine:generateContent",
        "/v1beta/tunedModels/mine:generateContent",
        GEMINI,
    ),
    (
        "/v1/projects/p/locations/l/publishers/google/models/gemini-3-pro:generateContent",
        "/v1/projects/p/locations/l/publishers/google/models/gemini-3-pro:generateContent",
        GEMINI,
    ),
];

/// A proxy before a server that takes any path.
async fn before(stub: &Stub) -> Setting {
    Setting::with(UpstreamSettings::default(), |config| {
        let mut upstreams = UpstreamTable::default();
        upstreams.set(&stub.url).unwrap();
        config.upstreams = upstreams;
        config.rules = rules().window(4_000);
    })
    .await
}

fn agent(setting: &Setting, headers: &[(&str, &str)]) -> ClientAgent {
    let headers = headers.iter().map(|(name, it)| ((*name).to_owned(), (*it).to_owned()));
    let json = ("content-type".to_owned(), "application/json".to_owned());
    ClientAgent {
        headers: headers.chain([json]).collect(),
        ..ClientAgent::new(WireDialect::Chat, &setting.url())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_ends_like_a_path_of_a_provider_is_folded_whatever_stands_before() {
    let stub = Stub::quiet().await;
    let setting = before(&stub).await;
    for (path, wanted, kind) in READ {
        let body = history(kind, &format!("model of {path}"), 40);
        let answer = agent(&setting, &[]).post(path, &body).await;
        assert!(answer.header("midfold-fold").is_some(), "{path}: {answer:?}");
        let asked = stub.last();
        assert_eq!(asked.path, wanted);
        assert!(asked.body.len() < body.len() / 2, "{path}: {} bytes", asked.body.len());
    }
    assert_eq!(setting.figure("midfold_requests_folded_total"), READ.len() as u64);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_passes_unread_although_it_has_messages_says_so() {
    let stub = Stub::quiet().await;
    let setting = before(&stub).await;
    let long = history(CHAT, "m", 40);
    for path in ["/v2/chat", "/v1/threads/t/messages/bulk", "/model/meta.llama4/invoke"] {
        let answer = agent(&setting, &[]).post(path, &long).await;
        assert_eq!(answer.header("midfold-fault"), Some("path"), "{path}");
        assert_eq!((stub.last().path.as_str(), stub.last().body.len()), (path, long.len()));
    }
    assert_eq!(setting.figure("midfold_fail_open_total{cause=\"path\"}"), 3);
    // What has no list of messages has nothing to say.
    for (path, body) in [
        ("/v1/embeddings", r#"{"model":"m","input":["a","b"]}"#),
        ("/v1/threads/t/messages", r#"{"role":"user","content":"hi"}"#),
        ("/v1/messages/batches", r#"{"requests":[]}"#),
        ("/v1/completions", r#"{"model":"m","prompt":"a"}"#),
    ] {
        let answer = agent(&setting, &[]).post(path, body).await;
        assert_eq!(answer.header("midfold-fault"), None, "{path}");
        assert_eq!(stub.last().body, body.as_bytes());
    }
}

/// A key of Bedrock's and a token of Databricks cover no body. The model is in the path.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clouds_that_take_a_token_are_read_and_get_the_clients_own() {
    let stub = Stub::quiet().await;
    let setting = before(&stub).await;
    let claude = "/model/us.anthropic.claude-sonnet-4-5-v1%3A0";
    let arn =
        "/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Ainference-profile%2Fus.anthropic.claude";
    for (path, kind) in [
        (format!("{claude}/converse"), DialectKind::Bedrock),
        (format!("{claude}/converse-stream"), DialectKind::Bedrock),
        (format!("{claude}/invoke"), ANTHROPIC),
        (format!("{claude}/invoke-with-response-stream"), ANTHROPIC),
        (format!("{arn}/invoke"), ANTHROPIC),
        ("/model/openai.gpt-oss-120b-1%3A0/invoke".to_owned(), CHAT),
        ("/serving-endpoints/my-claude/invocations".to_owned(), CHAT),
    ] {
        let mut body: serde_json::Value = serde_json::from_str(&history(kind, "m", 40)).unwrap();
        body.as_object_mut().unwrap().remove("model");
        let body = body.to_string();
        let headers = [("authorization", "Bearer ABSKQmVkcm9jaw==")];
        let answer = agent(&setting, &headers).post(&path, &body).await;
        assert!(answer.header("midfold-fold").is_some(), "{path}: {answer:?}");
        let asked = stub.last();
        assert_eq!(asked.path, path);
        assert_eq!(asked.headers["authorization"], headers[0].1, "{path}");
        assert!(asked.body.len() < body.len() / 2, "{path}: {} bytes", asked.body.len());
        let sent: serde_json::Value = serde_json::from_slice(&asked.body).unwrap();
        assert!(sent.get("model").is_none() && sent.get("tools").is_none(), "{path}");
    }
}

/// The signature covers the body.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_signed_passes_and_says_why() {
    let stub = Stub::quiet().await;
    let setting = before(&stub).await;
    let signed = [("authorization", "AWS4-HMAC-SHA256 Credential=k/20260101/us-east-1/bedrock")];
    for path in ["/model/us.anthropic.claude-sonnet-4-5-v1:0/invoke", "/v1/messages"] {
        let long = history(ANTHROPIC, "m", 40);
        let answer = agent(&setting, &signed).post(path, &long).await;
        assert_eq!(answer.header("midfold-fault"), Some("signed"), "{path}");
        assert_eq!(stub.last().body, long.as_bytes());
    }
}

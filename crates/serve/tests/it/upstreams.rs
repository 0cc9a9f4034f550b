//! Several places that requests go to.

use midfold::{DialectKind, ServingUpstreams};
use midfold_serve::{ApiKey, ApiKeys, KeyHash, UpstreamTable};
use midfold_testkit::upstream::agent::ClientAgent;
use midfold_testkit::upstream::{UpstreamSettings, WireDialect};

use crate::raw::Raw;
use crate::setting::{Setting, rules};
use crate::stub::{Stub, history};

/// A place of one's own for some models, a second one for nothing in particular, and OpenAI's.
struct Three {
    local: Stub,
    spare: Stub,
    openai: Stub,
}

impl Three {
    async fn start() -> (Self, UpstreamTable) {
        let all = Self {
            local: Stub::quiet().await,
            spare: Stub::quiet().await,
            openai: Stub::quiet().await,
        };
        let Self { local, spare, openai } = &all;
        let said = serde_json::json!([
            {"name": "local", "url": format!("{}/v1", local.url), "models": ["llama*", "qwen*"]},
            {"name": "spare", "url": spare.url, "models": ["llama-guard*"]},
            {"name": "openai", "url": openai.url},
        ]);
        let said: ServingUpstreams = serde_json::from_value(said).unwrap();
        let mut upstreams = UpstreamTable::default();
        upstreams.set_all(&said).unwrap();
        (all, upstreams)
    }

    fn counts(&self) -> [usize; 3] {
        [&self.local, &self.spare, &self.openai].map(|stub| stub.asked().len())
    }
}

async fn post(setting: &Setting, path: &str, model: &str, headers: &[(&str, &str)]) -> u16 {
    let headers = headers.iter().map(|(name, it)| ((*name).to_owned(), (*it).to_owned()));
    let agent = ClientAgent {
        headers: headers.collect(),
        ..ClientAgent::new(WireDialect::Chat, &setting.url())
    };
    agent.post(path, &history(DialectKind::OpenAiChat, model, 1)).await.status
}

fn table(given: &[&str]) -> UpstreamTable {
    let mut table = UpstreamTable::default();
    table.set_all(&ServingUpstreams::from_texts(given.iter().copied())).unwrap();
    table
}

#[test]
fn one_address_is_shown_only_where_all_requests_go_there() {
    assert_eq!(table(&["http://h:1"]).to_string(), "http://h:1");
    let names = ["a=http://h:1", "b=http://h:1", "c=http://h:1", "d=http://h:1"];
    assert_eq!(table(&names).to_string(), names.join(" "));
}

/// Google's base for clients of OpenAI is `/v1beta/openai`, and these clients write `/v1` in front of the rest.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_version_inside_of_a_base_takes_the_place_of_the_clients() {
    let stub = Stub::quiet().await;
    let setting = Setting::with(UpstreamSettings::default(), |config| {
        config.upstreams = table(&[&format!("{}/v1beta/openai", stub.url)]);
    })
    .await;
    for path in ["/v1/chat/completions", "/chat/completions"] {
        post(&setting, path, "gemini-3-pro", &[]).await;
        assert_eq!(stub.last().path, "/v1beta/openai/chat/completions");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_model_the_path_or_a_header_choose() {
    let (all, upstreams) = Three::start().await;
    let setting = Setting::with(UpstreamSettings::default(), |config| {
        config.upstreams = upstreams;
        config.rules = rules().window(5_000);
    })
    .await;
    let chat = "/v1/chat/completions";
    post(&setting, chat, "Qwen3-Coder", &[]).await;
    assert_eq!((all.counts(), all.local.last().path.as_str()), ([1, 0, 0], chat));
    // Both know llamas; the second one says more of the name.
    post(&setting, chat, "llama-guard-4", &[]).await;
    assert_eq!(all.counts(), [1, 1, 0]);
    post(&setting, chat, "gpt-5", &[]).await;
    assert_eq!(all.counts(), [1, 1, 1]);
    post(&setting, "/to/spare/v1/chat/completions", "gpt-5", &[]).await;
    assert_eq!((all.counts(), all.spare.last().path.as_str()), ([1, 2, 1], chat));
    post(&setting, chat, "qwen3", &[("midfold-upstream", "openai")]).await;
    assert_eq!(all.counts(), [1, 2, 2]);
    assert!(!all.openai.last().headers.contains_key("midfold-upstream"));
    // The same model in the format of another provider.
    post(&setting, "/v1/messages", "qwen3", &[]).await;
    assert_eq!(all.counts(), [2, 2, 2]);
    assert_eq!(post(&setting, "/to/nowhere/v1/models", "m", &[]).await, 404);
    assert_eq!(all.counts(), [2, 2, 2]);
}

/// Whoever names one server of his own means it for everything.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_only_place_takes_whatever_there_is() {
    let stub = Stub::quiet().await;
    let setting = Setting::with(UpstreamSettings::default(), |config| {
        let mut upstreams = UpstreamTable::default();
        upstreams.set(&format!("local={}", stub.url)).unwrap();
        config.upstreams = upstreams;
        config.rules = rules().window(5_000);
    })
    .await;
    for path in ["/v1/chat/completions", "/v1/messages", "/v1/models", "/api/tags"] {
        post(&setting, path, "m", &[]).await;
    }
    assert_eq!(stub.asked().len(), 4);
}

/// A key of ours in the place of the provider's gives way to the one for where the request goes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_place_gets_its_own_key() {
    let (all, upstreams) = Three::start().await;
    let key = ApiKey::from_bytes([7; 32]);
    let keys = format!("[[key]]\nname = \"a\"\nhash = \"{}\"\n", KeyHash::of(key.as_str()));
    let keys = ApiKeys::from_toml(&keys).unwrap();
    let setting = Setting::with(UpstreamSettings::default(), |config| {
        config.upstreams = upstreams;
        config.keys = Some(keys);
        config.provider_keys.set("local", "sk-local").unwrap();
        config.rules = rules().window(5_000);
    })
    .await;
    let bearer = format!("Bearer {}", key.as_str());
    let with = [("authorization", bearer.as_str())];
    assert_eq!(post(&setting, "/v1/chat/completions", "qwen3", &with).await, 200);
    assert_eq!(all.local.last().headers["authorization"], "Bearer sk-local");
    // Nobody else is sent it, nor ours.
    assert_eq!(post(&setting, "/v1/chat/completions", "gpt-5", &with).await, 401);
    assert_eq!(all.counts(), [1, 0, 0]);
}

#[test]
fn what_cannot_be_named_is_refused() {
    let mut upstreams = UpstreamTable::default();
    for wrong in ["a b=http://h", "=http://h", "a%2f=http://h"] {
        assert!(upstreams.set(wrong).is_err(), "{wrong}");
    }
    upstreams.set("openai=http://h:1").unwrap();
    assert_eq!(upstreams.places().len(), 3);
}

/// A path with `..` would leave the folder of its upstream, and take the server's key along.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_path_leaves_the_base_of_its_upstream() {
    let stub = Stub::quiet().await;
    let mut upstreams = UpstreamTable::default();
    upstreams.set(&format!("gw={}/team-a/openai", stub.url)).unwrap();
    let setting =
        Setting::with(UpstreamSettings::default(), |config| config.upstreams = upstreams).await;
    let status = async |path: &str| {
        let mut client = Raw::to(setting.proxy.address()).await;
        let body = r#"{"model":"m","messages":[{"role":"user","content":"x"}]}"#;
        let head = "host: localhost\r\ncontent-type: application/json\r\nconnection: close";
        let length = body.len();
        client
            .write(format!(
                "POST {path} HTTP/1.1\r\n{head}\r\ncontent-length: {length}\r\n\r\n{body}"
            ))
            .await;
        client.rest().await
    };
    for rest in [
        "../../admin/keys",
        "v1/../../admin",
        "..",
        "v1/..",
        "..?a=b",
        "%2e%2e/admin",
        "%2E%2e/admin",
        ".%2e/admin",
        "%2e./admin",
        "..%2fadmin",
        "v1/..%2F..%2fadmin",
        "..%5cadmin",
        "v1%2f..%2fadmin",
        "%252e%252e/admin",
        "%25252e%252e%252fadmin",
        "%2%65%2e/admin",
        "..;a=b/admin",
        "..%3b/admin",
        "v1/chat/completions/../../../../team-b/openai/v1/chat/completions",
    ] {
        for before in ["/to/gw/", "/"] {
            let answer = status(&format!("{before}{rest}")).await;
            assert!(answer.starts_with("HTTP/1.1 400"), "{before}{rest}: {answer}");
            assert!(answer.contains("midfold_path"), "{answer}");
        }
    }
    assert_eq!(stub.asked().len(), 0);
    for rest in ["v1/files/a..b", "v1/files/...", "v1/files/%2e", "v1/x?y=../z", "v1/100%", "v1/."]
    {
        assert!(status(&format!("/to/gw/{rest}")).await.starts_with("HTTP/1.1 200"), "{rest}");
        assert!(stub.last().path.starts_with("/team-a/openai/"), "{}", stub.last().path);
    }
}

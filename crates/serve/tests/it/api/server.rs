//! What the server says of itself.

use midfold::DialectKind;
use midfold_serve::inside::problem_title;
use midfold_serve::{ApiKey, ApiKeys, KeyHash, UpstreamTable};
use midfold_testkit::upstream::WireDialect;
use midfold_testkit::upstream::agent::ClientAgent;
use serde_json::{Value, json};

use super::Asking;
use crate::setting::rules;
use crate::stub::history;

/// The fault of this name.
fn fault<'a>(server: &'a Value, cause: &str) -> &'a Value {
    server["faults"].as_array().unwrap().iter().find(|it| it["cause"] == cause).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_says_what_it_is_set_to() {
    let asking = Asking::with(|config| {
        let mut upstreams = UpstreamTable::default();
        upstreams.set("openai=https://gateway.example/v1").unwrap();
        config.upstreams = upstreams;
    })
    .await;
    let server = asking.get("/v1/server").await.done();
    assert_eq!(server["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(server["listen"], asking.setting.url());
    assert_eq!((&server["store"], &server["policy"]), (&json!("memory"), &json!("default")));
    assert!(server["now"].as_u64() > server["started"].as_u64(), "{server}");
    let upstreams = server["upstreams"].as_array().unwrap();
    let openai = json!({ "name": "openai", "url": "https://gateway.example/v1", "models": [] });
    assert!(upstreams.contains(&openai), "{server}");
    // The window that was said, before any request.
    let said = json!([{ "upstream": null, "model": "*", "window": 16_000, "from": "setting" }]);
    assert_eq!(server["windows"], said);
    assert_eq!(server["requests"]["all"], 0);
}

/// A server without a store says it, too.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_counts_faults_and_learns_windows() {
    let limit = 16_000;
    let asking = Asking::with(|config| (config.rules, config.store) = (rules(), None)).await;
    asking.setting.upstream.change(|settings| settings.limit = Some(limit));
    let agent = ClientAgent::new(WireDialect::Chat, &asking.setting.url());
    agent.post("/v1/chat/completions", &history(DialectKind::OpenAiChat, "gpt-4o", 60)).await;
    agent.post("/v1/chat/completions", r#"{"messages": 3}"#).await;
    let server = asking.get("/v1/server").await.done();
    assert_eq!(fault(&server, "unread")["requests"], 1, "{server}");
    assert_eq!(fault(&server, "panic")["requests"], 0);
    assert_eq!(
        (&server["requests"]["overflows"], &server["requests"]["recovered"]),
        (&json!(1), &json!(1))
    );
    let windows = server["windows"].as_array().unwrap();
    assert_eq!(windows.len(), 1, "{server}");
    assert_eq!((&windows[0]["model"], &windows[0]["from"]), (&json!("gpt-4o"), &json!("learned")));
    assert!(windows[0]["window"].as_u64().unwrap() <= limit, "{server}");
}

/// It tells of everybody's requests: a key of one's own sessions does not open it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_is_for_whoever_runs_the_server() {
    let key = |byte| ApiKey::from_bytes([byte; 32]).as_str().to_owned();
    let entry = |name, byte| {
        let hash = KeyHash::of(&key(byte));
        let scope = if name == "root" { "admin" } else { "sessions" };
        format!("[[key]]\nname = \"{name}\"\nhash = \"{hash}\"\nscopes = [\"{scope}\"]\n")
    };
    let text = format!("{}{}", entry("ann", 1), entry("root", 2));
    let asking =
        Asking::with(|config| config.keys = Some(ApiKeys::from_toml(&text).unwrap())).await;
    assert_eq!(asking.get("/v1/server").await.problem(401), "no-key");
    let refused = asking.as_key(&key(1)).get("/v1/server").await;
    assert_eq!(refused.problem(403), "wrong-scope");
    assert!(refused.json()["hints"][0].as_str().unwrap().contains("--scope admin"));
    let server = asking.as_key(&key(2)).get("/v1/server").await.done();
    assert_eq!(server["asks_for_keys"], true);
}

/// Why the requests of a session were not folded stands with the session.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_says_why_its_requests_went_on_as_they_came() {
    let asking = Asking::new().await;
    // Nearly all of the window travels with every request.
    let fixed = "Do as the house does. ".repeat(4_000);
    let body = json!({ "model": "m", "messages": [
        { "role": "system", "content": fixed },
        { "role": "user", "content": "Mend the lamp." },
        { "role": "assistant", "content": "It is mended." },
        { "role": "user", "content": "And the other one." },
    ] });
    let agent = ClientAgent::new(WireDialect::Chat, &asking.setting.url());
    let answer = agent.post("/v1/chat/completions", &body.to_string()).await;
    assert_eq!(answer.header("midfold-fault"), Some("fixed"));
    let id = answer.header("midfold-session").unwrap().to_owned();
    // It is written behind the answer.
    let session = loop {
        let answer = asking.get(&format!("/v1/sessions/{id}")).await;
        if answer.status.is_success() && answer.json()["faults"] != json!([]) {
            break answer.json();
        }
    };
    let faults = session["faults"].as_array().unwrap();
    assert_eq!((&faults[0]["cause"], &faults[0]["requests"]), (&json!("fixed"), &json!(1)));
    assert!(faults[0]["reason"].as_str().unwrap().contains("90 %"), "{session}");
    assert_eq!(session["title"], "Mend the lamp.");
}

#[test]
fn a_fault_of_midfolds_own_is_none_of_the_store() {
    assert_eq!(problem_title("store"), "The store failed");
    assert_ne!(problem_title("fault"), problem_title("store"));
}

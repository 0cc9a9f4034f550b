//! The same over HTTP: each request has its own scope.

use bytes::Bytes;
use http::{Request, StatusCode};
use http_body_util::{BodyExt, Full};
use midfold_mcp::{HttpService, SESSION_HEADER, SessionScope, http_service};
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::kit::{FACT, Plan, add, of, store};

/// What whoever checked the key put into the request.
#[derive(Clone)]
struct Key(&'static str);

async fn service() -> HttpService {
    let store = store();
    add(&store, &Plan { id: "mine", owner: Some("alice"), ..Plan::default() }).await;
    let theirs = Plan {
        id: "theirs",
        owner: Some("bob"),
        task: "Watch the safe",
        fact: "V1-5ec2",
        created: 2,
    };
    add(&store, &theirs).await;
    http_service(store, |parts| {
        parts.extensions.get().map_or_else(SessionScope::default, |key: &Key| of(key.0))
    })
}

fn request() -> http::request::Builder {
    Request::post("/mcp")
        .header("host", "midfold.example:8443")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", "2025-06-18")
}

async fn send(service: &HttpService, request: http::request::Builder, body: &Value) -> Value {
    let request = request.body(Full::new(Bytes::from(body.to_string()))).unwrap();
    let answer = service.clone().oneshot(request).await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK, "{answer:?}");
    assert_eq!(answer.headers()["content-type"], "application/json");
    let bytes = answer.into_body().collect().await.unwrap().to_bytes();
    serde_json::from_slice(&bytes).unwrap()
}

fn grep(query: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": { "name": "recall_find", "arguments": { "query": query } } })
}

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"))
}

#[tokio::test]
async fn each_request_sees_what_its_sender_may_see() {
    let service = service().await;
    let body = grep("locker");
    let mine = send(&service, request().extension(Key("alice")), &body).await;
    assert!(text(&mine).contains(FACT), "{mine}");
    let theirs = send(&service, request().extension(Key("bob")), &body).await;
    assert!(text(&theirs).starts_with("no message matches"), "{theirs}");
    let nobody = send(&service, request().extension(Key("eve")), &body).await;
    assert!(text(&nobody).starts_with("error: no session is stored yet\ndo: "), "{nobody}");
    let all = send(&service, request(), &body).await;
    assert!(text(&all).contains("looked into 2 of 2 sessions"), "{all}");
}

#[tokio::test]
async fn a_header_names_the_session() {
    let service = service().await;
    let body = grep("locker");
    let one = send(&service, request().header(SESSION_HEADER, "mine"), &body).await;
    assert!(text(&one).starts_with("Quoted history of this session"), "{one}");
    let other = request().header(SESSION_HEADER, "mine").extension(Key("bob"));
    let other = send(&service, other, &body).await;
    assert!(text(&other).starts_with("error: there is no session `mine`"), "{other}");
    assert_eq!(other["result"]["isError"], true);
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    let named = send(&service, request().header(SESSION_HEADER, "mine"), &list).await;
    assert!(named["result"]["tools"][0]["inputSchema"]["properties"]["said"].is_null());
    let unnamed = send(&service, request(), &list).await;
    assert!(unnamed["result"]["tools"][0]["inputSchema"]["properties"]["said"].is_object());
}

#[tokio::test]
async fn a_client_begins_and_keeps_no_state_here() {
    let service = service().await;
    let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" } } });
    let plain = Request::post("/mcp")
        .header("host", "midfold.example")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream");
    let told = send(&service, plain, &hello).await;
    assert_eq!(told["result"]["protocolVersion"], "2025-06-18");
    assert_eq!(told["result"]["serverInfo"]["name"], "midfold");
    let noted = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let noted = request().body(Full::new(Bytes::from(noted.to_string()))).unwrap();
    let answer = service.clone().oneshot(noted).await.unwrap();
    assert_eq!(answer.status(), StatusCode::ACCEPTED);
    let stream = Request::get("/mcp").header("host", "h").header("accept", "text/event-stream");
    let answer = service.oneshot(stream.body(Full::new(Bytes::new())).unwrap()).await.unwrap();
    assert_eq!(answer.status(), StatusCode::METHOD_NOT_ALLOWED);
}

//! Pages that lead a browser here, and names that lead here: refused on every path, and nothing of them is kept.

use std::sync::Arc;

use axum::body::Body;
use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::header::HeaderMap;
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::{TokioExecutor, TokioIo};
use midfold::store::{MemoryStore, Store};
use midfold_serve::inside::{OriginRefusal, may_ask};
use midfold_serve::{AllowedOrigins, ServeConfig};
use midfold_testkit::upstream::{FaultTime, PlannedFault, UpstreamScript, UpstreamSettings};
use serde_json::{Value, json};
use tokio::net::TcpStream;

use crate::setting::{Setting, rules};
use crate::tls;

/// A history that becomes a session.
fn history(list: &str) -> Value {
    let said = |role: &str, model: &str| match list {
        "contents" => json!({"role": model, "parts": [{"text": "a"}]}),
        _ => json!({"role": role, "content": "a"}),
    };
    json!({"model": "m", "max_tokens": 9, list: [said("user", "user"), said("assistant", "model"),
        said("user", "user")]})
}

/// Every kind of path, and a body for it.
fn paths() -> Vec<(&'static str, Value)> {
    vec![
        ("/v1/chat/completions", history("messages")),
        ("/v1/responses", history("input")),
        ("/v1/responses/compact", history("input")),
        ("/v1/messages", history("messages")),
        ("/v1/messages/count_tokens", history("messages")),
        ("/v1beta/models/m:generateContent", history("contents")),
        ("/v1/embeddings", json!({"input": "a"})),
        ("/api/pull", json!({"name": "m"})),
        ("/metrics", json!({})),
        ("/v1/sessions", json!({"id": "s", "messages": [{"role": "user", "content": "a"}]})),
        ("/mcp", json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})),
    ]
}

fn method(path: &str) -> Method {
    if path == "/metrics" { Method::GET } else { Method::POST }
}

async fn setting(change: impl FnOnce(&mut ServeConfig)) -> Setting {
    let settings =
        UpstreamSettings { script: UpstreamScript::fixed("fine"), ..UpstreamSettings::default() };
    with(settings, change).await
}

async fn with(settings: UpstreamSettings, change: impl FnOnce(&mut ServeConfig)) -> Setting {
    Setting::with(settings, |config| {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        config.rules = rules().window(16_000);
        config.store = Some(store);
        change(config);
    })
    .await
}

/// Asks with these headers; one called `host` takes the place of the usual one.
async fn ask(
    setting: &Setting,
    path: &str,
    body: &Value,
    headers: &[(&str, &str)],
) -> (StatusCode, Bytes) {
    let stream = TcpStream::connect(setting.proxy.address()).await.unwrap();
    let (mut client, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    let mut request = Request::builder()
        .method(method(path))
        .uri(path)
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream");
    let usual = [("host", "localhost:7878")];
    let is_named = headers.iter().any(|(name, _)| *name == "host");
    for (name, value) in usual.iter().filter(|_| !is_named).chain(headers) {
        request = request.header(*name, *value);
    }
    let request = request.body(Body::from(body.to_string())).unwrap();
    let answer = client.send_request(request).await.unwrap();
    let (head, body) = answer.into_parts();
    (head.status, body.collect().await.unwrap().to_bytes())
}

async fn sessions(setting: &Setting) -> usize {
    let url = format!("{}/v1/sessions", setting.url());
    let client =
        hyper_util::client::legacy::Client::builder(TokioExecutor::new()).build_http::<Body>();
    let answer = client.request(Request::get(url).body(Body::empty()).unwrap()).await.unwrap();
    let body = answer.into_body().collect().await.unwrap().to_bytes();
    let listed: Value = serde_json::from_slice(&body).unwrap();
    listed["sessions"].as_array().unwrap().len()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_and_names_of_others_are_refused_on_every_path() {
    let setting = setting(|_| {}).await;
    let strangers: &[&[(&str, &str)]] = &[
        &[("origin", "https://evil.example")],
        &[("origin", "null")],
        &[("origin", "http://localhost:3000")],
        &[("origin", "http://localhost:7878"), ("origin", "https://evil.example")],
        &[("origin", "http://h\u{e4}"), ("sec-fetch-site", "none")],
        &[("sec-fetch-site", "cross-site")],
        &[("sec-fetch-site", "same-site")],
        &[("host", "evil.example")],
        &[("host", "evil.example:7878"), ("origin", "http://evil.example:7878")],
        &[("host", "")],
        &[("host", "localhost"), ("host", "evil.example")],
    ];
    for (path, body) in paths() {
        for headers in strangers {
            let (status, said) = ask(&setting, path, &body, headers).await;
            let said = String::from_utf8_lossy(&said).into_owned();
            assert_eq!(status, StatusCode::FORBIDDEN, "{path} {headers:?}: {said}");
            assert!(said.contains("--allow-origin"), "{path}: {said}");
        }
    }
    assert!(setting.upstream.requests().is_empty());
    assert_eq!(setting.figure("midfold_conversations"), 0);
    assert_eq!(sessions(&setting).await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn programs_own_pages_and_those_that_are_let_in_may_ask() {
    let setting = setting(|config| {
        config.origins.allow("https://midfold.example").unwrap();
        config.origins.allow("chrome-extension://abc").unwrap();
    })
    .await;
    let friends: &[&[(&str, &str)]] = &[
        &[],
        &[("host", "127.0.0.1:7878")],
        &[("host", "[::1]:7878")],
        &[("host", "host.docker.internal:7878")],
        &[("origin", "http://localhost:7878"), ("sec-fetch-site", "same-origin")],
        &[("sec-fetch-site", "none")],
        &[("origin", "chrome-extension://abc"), ("sec-fetch-site", "cross-site")],
        // Behind something that has the public name.
        &[("host", "midfold.example")],
        &[("host", "midfold.example"), ("origin", "https://midfold.example")],
    ];
    for (path, body) in paths() {
        for headers in friends {
            let (status, _) = ask(&setting, path, &body, headers).await;
            assert_ne!(status, StatusCode::FORBIDDEN, "{path} {headers:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn http_2_says_its_name_in_another_place() {
    let setting = setting(|config| config.tls = Some(tls::served())).await;
    let address = setting.proxy.address();
    let client = tls::http_2(address).await;
    let ask = async |authority: &str, path: &str, origin: Option<String>, body: &Value| {
        let mut request = Request::builder()
            .method(method(path))
            .uri(format!("https://{authority}{path}"))
            .header("content-type", "application/json");
        if let Some(origin) = origin {
            request = request.header("origin", origin).header("sec-fetch-site", "same-origin");
        }
        let request = request.body(Body::from(body.to_string())).unwrap();
        client.clone().send_request(request).await.unwrap().status()
    };
    let own = format!("localhost:{}", address.port());
    // As the console makes a change.
    let made = json!({"id": "s", "window": 16_000});
    let page = Some(format!("https://{own}"));
    assert_eq!(ask(&own, "/v1/sessions", page.clone(), &made).await, StatusCode::CREATED);
    for (path, body) in paths() {
        assert_ne!(ask(&own, path, None, &body).await, StatusCode::FORBIDDEN, "{path}");
        assert_ne!(ask(&own, path, page.clone(), &body).await, StatusCode::FORBIDDEN, "{path}");
        let foreign = "https://evil.example".to_owned();
        for (authority, origin) in [
            (&own[..], Some(foreign.clone())),
            ("evil.example", None),
            ("evil.example", Some(foreign)),
        ] {
            let status = ask(authority, path, origin, &body).await;
            assert_eq!(status, StatusCode::FORBIDDEN, "{path} {authority}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_provider_refuses_begins_no_session() {
    for code in [401, 403, 429, 500] {
        let refused = PlannedFault::Status { code, headers: Vec::new(), body: "{}".to_owned() };
        let faults = vec![(FaultTime::Number(1), refused)];
        let settings = UpstreamSettings {
            script: UpstreamScript::fixed("fine"),
            faults,
            ..UpstreamSettings::default()
        };
        let setting = with(settings, |_| {}).await;
        let (path, body) = &paths()[0];
        let (status, _) = ask(&setting, path, body, &[]).await;
        assert_eq!((status.as_u16(), sessions(&setting).await), (code, 0));
        assert_eq!(setting.figure("midfold_unsaved_conversations"), 0);
        // Whoever has a key that counts goes on from there, and it is kept before they hear of it.
        let (status, _) = ask(&setting, path, body, &[]).await;
        assert_eq!((status.as_u16(), sessions(&setting).await), (200, 1), "{code}");
    }
}

#[test]
fn names_of_this_machine_and_the_usual_ports_are_known() {
    let ask = |host: &str, origin: Option<&str>| {
        let mut request = Request::get("/").header("host", host);
        if let Some(origin) = origin {
            request = request.header("origin", origin);
        }
        let (parts, ()) = request.body(()).unwrap().into_parts();
        may_ask(&parts, &AllowedOrigins::default(), false)
    };
    for host in
        ["127.0.0.1:7878", "localhost", "LOCALHOST:1", "[::1]:7878", "10.0.0.2", "a.localhost:1"]
    {
        assert_eq!(ask(host, None), Ok(()), "{host}");
    }
    for host in
        ["evil.example", "evil.example:7878", "localhost.evil.example", "127.0.0.1.evil.example"]
    {
        assert_eq!(ask(host, None), Err(OriginRefusal::Name), "{host}");
    }
    assert_eq!(ask("localhost:80", Some("http://localhost")), Ok(()));
    assert_eq!(ask("LOCALHOST:443", Some("https://localhost")), Ok(()));
    assert_eq!(ask("localhost:443", Some("http://localhost")), Err(OriginRefusal::Page));
    assert_eq!(ask("localhost:7878", Some("http://localhost")), Err(OriginRefusal::Page));
    let (parts, ()) = Request::get("/").body(()).unwrap().into_parts();
    assert!(parts.headers == HeaderMap::new());
    assert_eq!(
        may_ask(&parts, &AllowedOrigins::default(), false),
        Ok(()),
        "no browser says so little"
    );
}

//! Connections: slow ones, too many of them, those that are open when the server stops, and TLS.

use std::time::Duration;

use axum::body::Body;
use hyper::{Request, Version};
use hyper_rustls::HttpsConnectorBuilder;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use midfold_serve::{ServeLimits, TlsError, TlsIdentity};
use midfold_testkit::upstream::agent::ClientAgent;
use midfold_testkit::upstream::{
    FaultTime, PlannedFault, UpstreamScript, UpstreamSettings, WireDialect,
};

use crate::raw::Raw;
use crate::setting::{Setting, rules};
use crate::tls::{CERTIFICATE, KEY, served, trusting};

const OTHER: &[u8] = include_bytes!("../tls/other.pem");
/// Shorter than anybody waits, longer than loopback takes.
const SHORT: Duration = Duration::from_millis(200);
const ASKS: &str = "GET /livez HTTP/1.1\r\nhost: localhost\r\n\r\n";
const CHAT: &str = r#"{"model":"m","messages":[{"role":"user","content":"a"}]}"#;

fn settings() -> UpstreamSettings {
    UpstreamSettings { script: UpstreamScript::fixed("fine"), ..UpstreamSettings::default() }
}

async fn limited(limits: ServeLimits) -> Setting {
    Setting::with(settings(), |config| config.limits = limits).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_head_that_does_not_end_closes_its_connection() {
    let setting = limited(ServeLimits { head: SHORT, ..ServeLimits::default() }).await;
    let address = setting.proxy.address();
    // The second could still become the preface of HTTP/2; the last is one, without a request.
    for begun in
        ["", "P", "POST /v1/chat/completions HTTP/1.1\r\nhost:", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"]
    {
        let mut slow = Raw::to(address).await;
        slow.write(begun).await;
        let mut other = Raw::to(address).await;
        assert!(other.write(ASKS).await.answer().await.contains(" 200 "), "{begun}: others go on");
        let said = slow.rest().await;
        assert!(!said.contains(" 200 "), "{begun}: {said}");
    }
    assert!(setting.upstream.requests().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_that_stops_ends_its_request() {
    let setting = limited(ServeLimits { idle: SHORT, ..ServeLimits::default() }).await;
    // One is read here, the other passes.
    for path in ["/v1/chat/completions", "/v1/embeddings"] {
        let mut slow = Raw::to(setting.proxy.address()).await;
        let head =
            format!("POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000\r\n\r\n");
        slow.write(head).await.write(r#"{"messages":["#).await;
        let said = slow.rest().await;
        assert!(said.starts_with("HTTP/1.1 408 ") && said.contains("midfold_timeout"), "{said}");
    }
    // A body that comes in pieces is none that stops.
    let mut slow = Raw::to(setting.proxy.address()).await;
    let length = CHAT.len();
    slow.write(format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n"
    ))
    .await;
    for byte in CHAT.as_bytes().chunks(8) {
        slow.write(byte).await;
    }
    assert!(slow.rest().await.starts_with("HTTP/1.1 200 "));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_above_the_bound_wait_until_one_ends() {
    let setting = limited(ServeLimits { connections: 1, ..ServeLimits::default() }).await;
    let address = setting.proxy.address();
    let mut first = Raw::to(address).await;
    assert!(first.write(ASKS).await.answer().await.contains(" 200 "));
    let mut second = Raw::to(address).await;
    second.write(ASKS).await;
    for _ in 0..50 {
        assert!(first.write(ASKS).await.answer().await.contains(" 200 "));
    }
    let mut byte = [0];
    let said = second.0.try_read(&mut byte);
    assert!(said.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock));
    drop(first);
    assert!(second.answer().await.contains(" 200 "));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_stops_finishes_what_is_under_way() {
    let settings =
        UpstreamSettings { faults: vec![(FaultTime::Number(1), PlannedFault::Held)], ..settings() };
    let Setting { upstream, proxy } = Setting::new(settings).await;
    let address = proxy.address();
    let agent = ClientAgent::new(WireDialect::Chat, &format!("http://{address}"));
    let asking = tokio::spawn(async move { agent.post("/v1/chat/completions", CHAT).await });
    upstream.arrival().await;
    let stopping = tokio::spawn(proxy.stop());
    // It takes nobody new.
    while tokio::net::TcpStream::connect(address).await.is_ok() {
        tokio::task::yield_now().await;
    }
    assert!(!stopping.is_finished() && !asking.is_finished());
    upstream.release();
    upstream.release();
    let answer = asking.await.unwrap();
    let whole: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
    assert_eq!((answer.status, &whole["choices"][0]["message"]["content"]), (200, &"fine".into()));
    stopping.await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_does_not_end_in_time_is_cut_off() {
    let settings =
        UpstreamSettings { faults: vec![(FaultTime::Number(1), PlannedFault::Held)], ..settings() };
    let setting = Setting::with(settings, |config| config.drain = SHORT).await;
    let agent = ClientAgent::new(WireDialect::Chat, &setting.url());
    let asking = tokio::spawn(async move { agent.post("/v1/chat/completions", CHAT).await });
    setting.upstream.arrival().await;
    setting.proxy.stop().await;
    let answer = asking.await.unwrap();
    assert!(serde_json::from_slice::<serde_json::Value>(&answer.body).is_err(), "{answer:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tls_is_served_with_either_version_of_http() {
    let setting = Setting::with(settings(), |config| {
        config.tls = Some(served());
        config.rules = rules().window(16_000);
    })
    .await;
    let address = setting.proxy.address();
    // Nothing ever comes here, and nobody waits for it.
    let _silent = Raw::to(address).await;
    let trusting = trusting();
    for version in [Version::HTTP_11, Version::HTTP_2] {
        let https = HttpsConnectorBuilder::new().with_tls_config(trusting.clone()).https_only();
        let https = match version {
            Version::HTTP_2 => https.enable_http2().build(),
            _ => https.enable_http1().build(),
        };
        let client = Client::builder(TokioExecutor::new()).build(https);
        let url = format!("https://localhost:{}/v1/chat/completions", address.port());
        let request = Request::post(url).body(Body::from(CHAT)).unwrap();
        let answer = client.request(request).await.unwrap();
        assert_eq!((answer.status().as_u16(), answer.version()), (200, version));
    }
    assert_eq!(setting.upstream.requests().len(), 2);
    // Plain HTTP is no TLS.
    let mut plain = Raw::to(address).await;
    plain.write(ASKS).await;
    assert!(!plain.rest().await.contains("HTTP/1.1 200"));
}

#[test]
fn certificates_that_are_none_are_refused() {
    let why =
        |certificate: &[u8], key: &[u8]| TlsIdentity::from_pem(certificate, key).err().unwrap();
    assert!(matches!(why(KEY, KEY), TlsError::NoCertificate));
    assert!(matches!(why(b"", KEY), TlsError::NoCertificate));
    assert!(matches!(why(CERTIFICATE, CERTIFICATE), TlsError::Key(_)));
    assert!(matches!(why(CERTIFICATE, OTHER), TlsError::Pair(_)), "of another certificate");
    let cut = &CERTIFICATE[..CERTIFICATE.len() / 2];
    assert!(matches!(why(cut, KEY), TlsError::Certificate(_) | TlsError::NoCertificate));
}

//! Bodies that are too large, packed, broken or cut off, and clients that leave.

use std::convert::Infallible;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::body::Body;
use http_body_util::BodyExt;
use http_body_util::channel::Channel;
use hyper::body::{Bytes, Incoming};
use hyper::header::HeaderMap;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use midfold_serve::UpstreamTable;
use midfold_testkit::upstream::agent::ClientAgent;
use midfold_testkit::upstream::{
    FaultTime, PlannedFault, ScriptedUpstream, UpstreamScript, UpstreamSettings, WireDialect, task,
};
use tokio::io::AsyncWriteExt;

use crate::raw::Raw;
use crate::setting::{Setting, rules};

const MIB: usize = 1 << 20;
const CHAT: &str = r#"{"model":"m","messages":[{"role":"user","content":"a"}]}"#;

/// A provider that counts the bytes of bodies, and keeps none.
struct Counting {
    url: String,
    bytes: Arc<AtomicUsize>,
}

impl Counting {
    async fn start() -> Self {
        let tcp = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", tcp.local_addr().unwrap());
        let bytes = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&bytes);
        tokio::spawn(async move {
            while let Ok((stream, _)) = tcp.accept().await {
                let counted = Arc::clone(&counted);
                let count = service_fn(move |mut request: Request<Incoming>| {
                    let counted = Arc::clone(&counted);
                    async move {
                        while let Some(Ok(frame)) = request.body_mut().frame().await {
                            let length = frame.data_ref().map_or(0, Bytes::len);
                            counted.fetch_add(length, Ordering::Relaxed);
                        }
                        Ok::<_, Infallible>(Response::new(Body::from("{}")))
                    }
                });
                let builder = Builder::new(TokioExecutor::new());
                tokio::spawn(async move {
                    builder.serve_connection(TokioIo::new(stream), count).await.is_ok()
                });
            }
        });
        Self { url, bytes }
    }
}

/// An answer: its status, its headers, its body.
async fn post(setting: &Setting, headers: &[(&str, &str)], body: Body) -> (u16, HeaderMap, Bytes) {
    let mut request = Request::post(format!("{}/v1/chat/completions", setting.url()));
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let client = Client::builder(TokioExecutor::new()).build_http();
    let answer = client.request(request.body(body).unwrap()).await.unwrap();
    let (head, body) = answer.into_parts();
    (head.status.as_u16(), head.headers, body.collect().await.unwrap().to_bytes())
}

fn gzip(plain: &[u8]) -> Vec<u8> {
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    out.write_all(plain).unwrap();
    out.finish().unwrap()
}

fn fine() -> UpstreamSettings {
    UpstreamSettings { script: UpstreamScript::fixed("fine"), ..UpstreamSettings::default() }
}

fn fault(headers: &HeaderMap) -> Option<&str> {
    headers.get("midfold-fault")?.to_str().ok()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_of_300_mb_passes_without_being_held() {
    const ALL: usize = 300 * MIB;
    let provider = Counting::start().await;
    let setting = Setting::with(fine(), |config| {
        let mut upstreams = UpstreamTable::default();
        upstreams.set(&provider.url).unwrap();
        config.upstreams = upstreams;
        config.longest_request = 64 * MIB;
    })
    .await;
    // It does not say how long it is: what may be held is read, and no more.
    let (mut sender, channel) = Channel::<Bytes, Infallible>::new(1);
    tokio::spawn(async move {
        let piece = Bytes::from(vec![b' '; MIB]);
        for _ in 0..ALL / MIB {
            sender.send_data(piece.clone()).await.unwrap();
        }
    });
    let (status, headers, _) = post(&setting, &[], Body::new(channel)).await;
    assert_eq!((status, fault(&headers)), (200, Some("too-large")));
    assert_eq!(provider.bytes.load(Ordering::Relaxed), ALL);
    let peak = usize::try_from(setting.figure("midfold_request_bytes_peak")).unwrap();
    assert!((64 * MIB..66 * MIB).contains(&peak), "{peak}");
    assert_eq!(setting.figure("midfold_request_bytes"), 0);
}

/// A request that does not fit into 12,000 tokens.
async fn long_request() -> String {
    let script = UpstreamScript::shell_loop(40);
    let free = ScriptedUpstream::start(UpstreamSettings { script, ..UpstreamSettings::default() })
        .await
        .unwrap();
    let agent = ClientAgent { task: task(40), ..ClientAgent::new(WireDialect::Chat, free.url()) };
    agent.run().await.exchanges.pop().unwrap().sent
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn packed_requests_are_folded_and_else_go_on_packed() {
    let long = long_request().await;
    for (encoding, pack) in [
        ("gzip", gzip as fn(&[u8]) -> Vec<u8>),
        ("zstd", |plain| zstd::encode_all(plain, 3).unwrap()),
    ] {
        let setting = Setting::new(UpstreamSettings { limit: Some(12_000), ..fine() }).await;
        let encoded = [("content-encoding", encoding)];
        let short = pack(CHAT.as_bytes());
        // The scripted provider unpacks nothing: what it says to this is of no interest.
        let (_, headers, _) = post(&setting, &encoded, Body::from(short.clone())).await;
        assert_eq!(fault(&headers), None, "{encoding}: it was looked at");
        let sent = setting.upstream.requests().pop().unwrap();
        assert_eq!((sent.header("content-encoding"), &sent.body), (Some(encoding), &short));
        let (status, headers, _) =
            post(&setting, &encoded, Body::from(pack(long.as_bytes()))).await;
        assert!(status == 200 && headers.contains_key("midfold-fold"), "{encoding}: {headers:?}");
        let sent = setting.upstream.requests().pop().unwrap();
        assert_eq!(sent.header("content-encoding"), None, "{encoding}");
        assert!(sent.json()["messages"].is_array() && sent.body.len() < long.len(), "{encoding}");
        assert_eq!(setting.figure("midfold_request_bytes"), 0, "{encoding}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_unpacked_passes_packed() {
    let setting = Setting::with(fine(), |config| {
        config.rules = rules().window(12_000);
        config.longest_request = MIB;
    })
    .await;
    let bomb = gzip(&vec![b' '; 100 * MIB]);
    let whole = gzip(CHAT.as_bytes());
    for (encoding, body, why) in [
        ("gzip", bomb, "too-large"),
        ("gzip", whole[..whole.len() / 2].to_vec(), "encoded"),
        ("zstd", whole.clone(), "encoded"),
        ("br", whole, "encoded"),
        ("gzip", gzip(b"{\"messages\":"), "unread"),
    ] {
        let (_, headers, _) =
            post(&setting, &[("content-encoding", encoding)], Body::from(body.clone())).await;
        assert_eq!(fault(&headers), Some(why), "{encoding}");
        let sent = setting.upstream.requests().pop().unwrap();
        assert!(sent.header("content-encoding") == Some(encoding) && sent.body == body, "{why}");
    }
    let peak = usize::try_from(setting.figure("midfold_request_bytes_peak")).unwrap();
    assert!(peak < 2 * MIB, "{peak}");
    assert_eq!(setting.figure("midfold_request_bytes"), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_request_harms_nobody() {
    let setting = Setting::new(fine()).await;
    let deep = format!(r#"{{"messages":{}"#, "[".repeat(1_000_000));
    for body in [deep, "\0".repeat(1_000), format!("{CHAT}{CHAT}"), "\u{feff}".to_owned()] {
        let (_, headers, _) = post(&setting, &[], Body::from(body.clone())).await;
        assert_eq!(fault(&headers), Some("unread"));
        assert_eq!(setting.upstream.requests().pop().unwrap().body, body.as_bytes());
    }
    let (status, headers, _) = post(&setting, &[], Body::from(CHAT)).await;
    assert_eq!((status, fault(&headers)), (200, None));
}

/// An overflow of the stack ends the process, and with it all other conversations.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_nested_deeply_harms_nobody() {
    let setting = Setting::new(fine()).await;
    let lists = ["[".repeat(60_000), "]".repeat(60_000)].concat();
    let objects = [r#"{"a":"#.repeat(60_000), "1".to_owned(), "}".repeat(60_000)].concat();
    for deep in [lists, objects] {
        for message in [
            format!(r#"{{"role":"user","content":{deep}}}"#),
            format!(r#"{{"role":"user","content":[{{"type":"text","text":{deep}}}]}}"#),
            format!(r#"{{"role":"user","content":"hi","cache_control":{deep}}}"#),
        ] {
            let body = format!(r#"{{"model":"m","messages":[{message}]}}"#);
            // The upstream may refuse it, as providers do.
            post(&setting, &[], Body::from(body.clone())).await;
            assert_eq!(setting.upstream.requests().pop().unwrap().body, body.as_bytes());
        }
    }
    let (status, headers, _) = post(&setting, &[], Body::from(CHAT)).await;
    assert_eq!((status, fault(&headers)), (200, None));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn half_a_body_goes_nowhere() {
    let setting = Setting::new(fine()).await;
    let mut client = Raw::to(setting.proxy.address()).await;
    let head =
        "POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000\r\n\r\n";
    client.write(head).await.write(&CHAT[..20]).await;
    client.0.shutdown().await.unwrap();
    let said = client.rest().await;
    assert!(!said.contains(" 200 "), "{said}");
    assert!(setting.upstream.requests().is_empty());
    assert_eq!(setting.figure("midfold_request_bytes"), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_leaves_leaves_nothing_behind() {
    // Before the answer began, and in the middle of it.
    for fault in [PlannedFault::Held, PlannedFault::Hang { after: 2 }] {
        let faults = vec![(FaultTime::Number(1), fault.clone())];
        let setting = Setting::new(UpstreamSettings { faults, ..fine() }).await;
        // A request whose answer can be named later is held until the answer has come.
        let streamed = r#"{"model":"m","stream":true,"input":[{"role":"user","content":"hi"}]}"#;
        let mut client = Raw::to(setting.proxy.address()).await;
        let head = format!(
            "POST /v1/responses HTTP/1.1\r\nhost: localhost\r\ncontent-length: {}\r\n\r\n{streamed}",
            streamed.len()
        );
        client.write(head).await;
        setting.upstream.arrival().await;
        assert_eq!(setting.figure("midfold_request_bytes"), streamed.len() as u64, "{fault:?}");
        drop(client);
        while setting.figure("midfold_request_bytes") > 0 {
            tokio::task::yield_now().await;
        }
        let (status, ..) = post(&setting, &[], Body::from(CHAT)).await;
        assert_eq!(status, 200, "{fault:?}");
    }
}

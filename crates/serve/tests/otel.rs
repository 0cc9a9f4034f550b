//! Traces, as a collector on loopback gets them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use hyper::body::Bytes;
use hyper::http::request::Parts;
use hyper::{Response, StatusCode};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use midfold::Policy;
use midfold_proxy::ProxyRules;
use midfold_serve::{RunningServer, ServeConfig, ServeError, TraceCollector, UpstreamTable};
use serde_json::json;

/// The trace and the span of a client.
const CLIENT: (&str, &str) = ("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7");
/// A word of the messages.
const WORD: &str = "heliotrope";

/// A server that takes all and remembers it.
#[derive(Clone, Default)]
struct StubServer {
    url: String,
    asked: Arc<Mutex<Vec<(Parts, Bytes)>>>,
}

impl StubServer {
    async fn start(answer: fn(&[u8]) -> (u16, String)) -> Self {
        let tcp = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", tcp.local_addr().unwrap());
        let server = Self { url, ..Self::default() };
        let asked = Arc::clone(&server.asked);
        let handler = move |request: Request| {
            let asked = Arc::clone(&asked);
            async move {
                let (parts, body) = request.into_parts();
                let body = to_bytes(body, usize::MAX).await.unwrap();
                let (status, text) = answer(&body);
                asked.lock().unwrap().push((parts, body));
                let response = Response::builder().status(status);
                response.header("content-type", "application/json").body(Body::from(text)).unwrap()
            }
        };
        tokio::spawn(async move {
            axum::serve(tcp, Router::new().fallback(handler)).await.unwrap();
        });
        server
    }

    /// A provider with a window of 4,000 words that says what it counted.
    async fn provider() -> Self {
        Self::start(|body| match body.split(|byte| *byte == b' ').count() {
            ..4_000 => {
                let usage = json!({
                    "prompt_tokens": 120, "completion_tokens": 7, "total_tokens": 127,
                    "prompt_tokens_details": {"cached_tokens": 100},
                });
                let message = json!({"role": "assistant", "content": "well"});
                let choice = json!({"index": 0, "finish_reason": "stop", "message": message});
                let answer = json!({"id": "chatcmpl-9", "model": "gpt-9-mini", "choices": [choice], "usage": usage});
                (200, answer.to_string())
            }
            _ => {
                let text = "This model's maximum context length is 4096 tokens. However, your messages resulted in \
                            9000 tokens. Please reduce the length of the messages.";
                let error = json!({"message": text, "type": "invalid_request_error", "code": "context_length_exceeded"});
                (400, json!({"error": error}).to_string())
            }
        })
        .await
    }

    fn header(&self, name: &str) -> Option<String> {
        let asked = self.asked.lock().unwrap();
        let value = asked.last()?.0.headers.get(name)?;
        Some(value.to_str().unwrap().to_owned())
    }

    /// The spans that it got.
    fn spans(&self) -> Vec<ReceivedSpan> {
        let asked = self.asked.lock().unwrap();
        asked.iter().flat_map(|(_, body)| spans(body)).collect()
    }
}

async fn proxy(
    provider: &StubServer,
    collector: &str,
    window: u64,
) -> Result<RunningServer, ServeError> {
    let time = AtomicU64::new(1_700_000_000_000);
    let rules = ProxyRules::new(Policy::preset("default").unwrap()).window(window);
    let mut config =
        ServeConfig::new(rules, Arc::new(move || time.fetch_add(1_000, Ordering::Relaxed)));
    let mut upstreams = UpstreamTable::default();
    upstreams.set(&provider.url).unwrap();
    config.upstreams = upstreams;
    config.collector = Some(TraceCollector::at(collector));
    midfold_serve::start(config).await
}

/// Asks with a history of so many exchanges of 100 words each.
async fn ask(proxy: &RunningServer, exchanges: usize, parent: Option<&str>) -> StatusCode {
    let message = |at: usize, role: &str| json!({"role": role, "content": format!("{at} {}", format!("{WORD} ").repeat(100))});
    let mut messages: Vec<_> =
        (0..exchanges).flat_map(|at| [message(at, "user"), message(at, "assistant")]).collect();
    messages.push(message(exchanges, "user"));
    let body = json!({"model": "gpt-9", "max_tokens": 100, "messages": messages}).to_string();
    let uri = format!("http://{}/v1/chat/completions", proxy.address());
    let mut request = Request::post(uri).header("content-type", "application/json");
    if let Some(parent) = parent {
        request = request.header("traceparent", parent).header("tracestate", "rojo=1");
    }
    let client = Client::builder(TokioExecutor::new()).build_http::<Body>();
    let answer = client.request(request.body(Body::from(body)).unwrap()).await.unwrap();
    let status = answer.status();
    to_bytes(Body::new(answer.into_body()), usize::MAX).await.unwrap();
    status
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_collector_gets_a_span_of_the_request_and_one_of_its_fold() {
    let (provider, collector) =
        (StubServer::provider().await, StubServer::start(|_| (200, String::new())).await);
    let proxy = proxy(&provider, &format!("{}/v1/traces", collector.url), 3_000).await.unwrap();
    let (trace, parent) = CLIENT;
    assert_eq!(ask(&proxy, 15, Some(&format!("00-{trace}-{parent}-01"))).await, 200);
    let sent = provider.header("traceparent").unwrap();
    assert_eq!(provider.header("tracestate").as_deref(), Some("rojo=1"));
    proxy.stop().await;

    assert_eq!(collector.asked.lock().unwrap()[0].0.uri, "/v1/traces");
    let spans = collector.spans();
    let [fold, request] = &spans[..] else { panic!("{spans:#?}") };
    assert_eq!((request.trace.as_str(), request.parent.as_str()), CLIENT);
    assert_eq!((request.name.as_str(), request.kind), ("chat gpt-9", 3), "a client's");
    assert_eq!(sent, format!("00-{trace}-{}-01", request.id));
    for (name, value) in [
        ("gen_ai.operation.name", "chat"),
        ("gen_ai.provider.name", "openai"),
        ("gen_ai.request.model", "gpt-9"),
        ("gen_ai.response.model", "gpt-9-mini"),
        ("gen_ai.response.id", "chatcmpl-9"),
        ("gen_ai.usage.input_tokens", "120"),
        ("gen_ai.usage.output_tokens", "7"),
        ("gen_ai.usage.cache_read.input_tokens", "100"),
        ("server.address", "127.0.0.1"),
        ("http.request.method", "POST"),
        ("http.response.status_code", "200"),
    ] {
        assert_eq!(request.said(name), value, "{name}");
    }
    assert_eq!(request.said("gen_ai.conversation.id"), request.said("midfold.session"));
    assert_eq!((fold.trace.as_str(), fold.parent.as_str()), (trace, request.id.as_str()));
    assert_eq!((fold.name.as_str(), fold.said("midfold.cause")), ("midfold.fold", "threshold"));
    for name in ["midfold.session", "midfold.fold", "midfold.tokens.before", "midfold.tokens.after"]
    {
        assert_eq!(fold.said(name), request.said(name), "{name}");
    }
    let tokens = |name| fold.said(name).parse::<u64>().unwrap();
    assert!(tokens("midfold.tokens.after") < tokens("midfold.tokens.before"));
    assert!(request.from <= fold.from && fold.from <= fold.to && fold.to <= request.to);
    assert!(request.attributes.keys().all(|name| !name.starts_with("error")));
    // No text of a message leaves.
    let asked = collector.asked.lock().unwrap();
    assert!(asked.iter().all(|(_, body)| !String::from_utf8_lossy(body).contains(WORD)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn headers_stay_where_the_client_names_no_span() {
    let (provider, collector) =
        (StubServer::provider().await, StubServer::start(|_| (200, String::new())).await);
    let proxy = proxy(&provider, &format!("{}/v1/traces", collector.url), 200_000).await.unwrap();
    assert_eq!(ask(&proxy, 2, None).await, 200);
    assert_eq!(provider.header("traceparent"), None);
    proxy.stop().await;
    let spans = collector.spans();
    let [request] = &spans[..] else { panic!("{spans:#?}") };
    assert_eq!(request.parent, "", "it begins a trace");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refusal_is_an_error_and_its_fold_has_its_cause() {
    let (provider, collector) =
        (StubServer::provider().await, StubServer::start(|_| (200, String::new())).await);
    let proxy = proxy(&provider, &format!("{}/v1/traces", collector.url), 200_000).await.unwrap();
    assert_eq!(ask(&proxy, 25, None).await, 200, "folded after the refusal");
    let one =
        json!({"model": "gpt-9", "messages": [{"role": "user", "content": "x ".repeat(5_000)}]});
    let uri = format!("http://{}/v1/chat/completions", proxy.address());
    let request = Request::post(uri).header("content-type", "application/json");
    let client = Client::builder(TokioExecutor::new()).build_http::<Body>();
    let answer = client.request(request.body(Body::from(one.to_string())).unwrap()).await.unwrap();
    assert_eq!(answer.status(), 400);
    drop(answer);
    proxy.stop().await;
    let spans = collector.spans();
    let causes: Vec<_> = spans.iter().filter_map(|it| it.attributes.get("midfold.cause")).collect();
    assert_eq!(causes, ["overflow"], "{spans:#?}");
    let errors: Vec<_> = spans.iter().filter_map(|it| it.attributes.get("error.type")).collect();
    assert_eq!(errors, ["400"], "{spans:#?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_collector_that_is_away_costs_nothing_and_is_said() {
    // It is said on another thread; other tests here have a collector.
    let _ = tracing::subscriber::set_global_default(WarningListener);
    let provider = StubServer::provider().await;
    // The port is free again, and nobody listens there.
    let tcp = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let gone = format!("http://{}/v1/traces", tcp.local_addr().unwrap());
    drop(tcp);
    let proxy = proxy(&provider, &gone, 3_000).await.unwrap();
    assert_eq!(ask(&proxy, 15, None).await, 200);
    let totals = proxy.stop().await;
    assert_eq!((totals.requests, totals.folds, totals.unanswered), (1, 1, 0));
    let said = SAID.lock().unwrap();
    let away: Vec<_> =
        said.iter().filter(|it| it.starts_with("the collector takes no traces")).collect();
    assert_eq!(away.len(), 1, "{said:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_address_that_is_none_is_said() {
    let provider = StubServer::provider().await;
    let Err(error) = proxy(&provider, "http://[", 3_000).await else { panic!("started") };
    assert!(error.to_string().starts_with("traces cannot be sent: "), "{error}");
}

/// Words of the log.
static SAID: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Writes down the words of warnings.
struct WarningListener;

impl tracing::Subscriber for WarningListener {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        *metadata.level() == tracing::Level::WARN
    }

    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::Id {
        tracing::Id::from_u64(1)
    }

    fn record(&self, _: &tracing::Id, _: &tracing::span::Record<'_>) {}

    fn record_follows_from(&self, _: &tracing::Id, _: &tracing::Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        event.record(&mut |field: &tracing::field::Field, value: &dyn std::fmt::Debug| {
            if field.name() == "message" {
                SAID.lock().unwrap().push(format!("{value:?}"));
            }
        });
    }

    fn enter(&self, _: &tracing::Id) {}

    fn exit(&self, _: &tracing::Id) {}
}

/// A span as it came.
#[derive(Debug, Default)]
struct ReceivedSpan {
    trace: String,
    id: String,
    parent: String,
    name: String,
    kind: u64,
    from: u64,
    to: u64,
    attributes: BTreeMap<String, String>,
}

impl ReceivedSpan {
    fn said(&self, name: &str) -> &str {
        self.attributes.get(name).unwrap_or_else(|| panic!("no {name} in {self:#?}"))
    }
}

/// The value of one field of a protobuf message.
enum ProtoField<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

impl<'a> ProtoField<'a> {
    fn bytes(self) -> &'a [u8] {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Number(number) => panic!("{number}"),
        }
    }

    fn number(self) -> u64 {
        match self {
            Self::Number(number) => number,
            Self::Bytes(bytes) => panic!("{bytes:?}"),
        }
    }

    fn text(self) -> String {
        String::from_utf8(self.bytes().to_vec()).unwrap()
    }

    fn hex(self) -> String {
        self.bytes().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// The fields of a protobuf message, by their numbers.
fn fields(mut bytes: &[u8]) -> Vec<(u64, ProtoField<'_>)> {
    let mut all = Vec::new();
    while !bytes.is_empty() {
        let tag = varint(&mut bytes);
        let field = match tag & 7 {
            0 => ProtoField::Number(varint(&mut bytes)),
            1 => ProtoField::Number(u64::from_le_bytes(taken(&mut bytes, 8).try_into().unwrap())),
            2 => {
                let length = varint(&mut bytes);
                ProtoField::Bytes(taken(&mut bytes, usize::try_from(length).unwrap()))
            }
            5 => ProtoField::Bytes(taken(&mut bytes, 4)),
            other => panic!("{other}"),
        };
        all.push((tag >> 3, field));
    }
    all
}

fn taken<'a>(bytes: &mut &'a [u8], length: usize) -> &'a [u8] {
    let (first, rest) = bytes.split_at(length);
    *bytes = rest;
    first
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let mut number = 0;
    for shift in (0..).step_by(7) {
        let byte = taken(bytes, 1)[0];
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            break;
        }
    }
    number
}

/// The fields with this number.
fn below(bytes: &[u8], number: u64) -> impl Iterator<Item = &[u8]> {
    fields(bytes).into_iter().filter(move |(at, _)| *at == number).map(|(_, field)| field.bytes())
}

/// The spans of a batch: its resources have scopes, and those have spans.
fn spans(batch: &[u8]) -> Vec<ReceivedSpan> {
    let scopes = below(batch, 1).flat_map(|resource| below(resource, 2));
    scopes.flat_map(|scope| below(scope, 2)).map(traced).collect()
}

fn traced(span: &[u8]) -> ReceivedSpan {
    let mut it = ReceivedSpan::default();
    for (number, field) in fields(span) {
        match number {
            1 => it.trace = field.hex(),
            2 => it.id = field.hex(),
            4 => it.parent = field.hex(),
            5 => it.name = field.text(),
            6 => it.kind = field.number(),
            7 => it.from = field.number(),
            8 => it.to = field.number(),
            9 => {
                let (key, value) = attribute(field.bytes());
                assert!(it.attributes.insert(key.clone(), value).is_none(), "{key} twice");
            }
            _ => {}
        }
    }
    it
}

/// A name and its value; of a list, its length.
fn attribute(bytes: &[u8]) -> (String, String) {
    let key = fields(bytes).remove(0).1.text();
    let value = below(bytes, 2).next().unwrap();
    let (number, value) = fields(value).remove(0);
    let value = match number {
        1 => value.text(),
        5 => fields(value.bytes()).len().to_string(),
        _ => value.number().to_string(),
    };
    (key, value)
}

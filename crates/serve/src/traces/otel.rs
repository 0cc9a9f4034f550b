//! One span for each request, and one below it for each fold, by the conventions of OpenTelemetry for generative AI.
//!
//! A request's span begins with its head. It ends with the answer of a request that has a history, and with the head of
//! the answer of any other one.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use axum::response::Response;
use hyper::header::{HeaderName, HeaderValue};
use hyper::http::request::Parts;
use hyper::{HeaderMap, Uri};
use midfold::core::event::Usage;
use midfold::formats::answer::AnswerFacts;
use midfold_proxy::OutgoingRequest;
use midfold_proxy::vendor::RequestPurpose;
use opentelemetry::propagation::TextMapPropagator;
use opentelemetry::trace::{
    Span, SpanBuilder, SpanContext, SpanKind, Status, TraceContextExt, Tracer, TracerProvider,
};
use opentelemetry::{Array, Context, KeyValue, StringValue, Value};
use opentelemetry_http::HeaderExtractor;
use opentelemetry_otlp::{RetryPolicy, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::{SdkTracer, SdkTracerProvider};

use super::sender::TraceSender;
use crate::headers;
use crate::provider::Provider;
use crate::upstream::UpstreamClient;
use crate::upstreams::UpstreamTarget;

/// Names the span that a request belongs to (W3C Trace Context).
const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
/// The name of the service, where the environment says none.
const SERVICE: &str = "midfold";
/// How long the last spans may take to leave when the server stops.
const LAST: Duration = Duration::from_secs(2);

/// Who collects traces, by OTLP over HTTP (protobuf). The standard variables say the rest
/// (`OTEL_EXPORTER_OTLP_…`, `OTEL_SERVICE_NAME`, `OTEL_RESOURCE_ATTRIBUTES`, `OTEL_TRACES_SAMPLER`, `OTEL_BSP_…`).
#[derive(Clone, Debug, Default)]
pub struct TraceCollector {
    address: Option<String>,
}

impl TraceCollector {
    /// The one that the environment names.
    #[must_use]
    pub fn of_environment() -> Self {
        Self::default()
    }

    /// The one at this address, whatever the environment says: `http://127.0.0.1:4318/v1/traces`.
    #[must_use]
    pub fn at(address: &str) -> Self {
        Self { address: Some(address.to_owned()) }
    }
}

/// The spans of a server.
pub(crate) struct RequestTraces {
    provider: SdkTracerProvider,
    tracer: SdkTracer,
}

impl RequestTraces {
    /// Begins to send spans, on a thread of its own. Called within a runtime.
    ///
    /// # Errors
    /// When the settings cannot be used: an address that is none, or a compression that is not built in.
    pub fn start(collector: &TraceCollector, upstream: &UpstreamClient) -> Result<Self, String> {
        // Not sent again: what the next batch says is newer, and nobody waits for a collector that is away.
        let exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(TraceSender::new(upstream))
            .with_retry_policy(RetryPolicy::disabled());
        let exporter = match &collector.address {
            Some(address) => exporter.with_endpoint(address),
            None => exporter,
        };
        let exporter = exporter.build().map_err(|error| error.to_string())?;
        let provider = SdkTracerProvider::builder()
            .with_resource(resource())
            .with_batch_exporter(exporter)
            .build();
        let tracer = provider.tracer(SERVICE);
        Ok(Self { provider, tracer })
    }

    /// Follows a request from now on.
    pub fn request(&self, parts: &Parts) -> RequestTrace {
        let parent = TraceContextPropagator::new()
            .extract_with_context(&Context::new(), &HeaderExtractor(&parts.headers));
        let method = parts.method.as_str().to_owned();
        let span = SpanBuilder::from_name(method.clone())
            .with_kind(SpanKind::Client)
            .with_attributes([KeyValue::new("http.request.method", method)]);
        let span = self.tracer.build_with_context(span, &parent);
        let (tracer, context) = (self.tracer.clone(), parent.with_span(span));
        RequestTrace(Some(Arc::new(OpenSpan { tracer, context, spent: Mutex::default() })))
    }

    /// Sends what is left.
    pub async fn end(&self) {
        let provider = self.provider.clone();
        // It blocks until the thread that sends has done so.
        let ending = tokio::task::spawn_blocking(move || provider.shutdown_with_timeout(LAST));
        if let Ok(Err(error)) = ending.await {
            tracing::debug!(%error, "the last spans were not sent");
        }
    }
}

/// Whose spans they are: as the environment says, or midfold's.
fn resource() -> Resource {
    let said = Resource::builder().build();
    let name = said.get(&"service.name".into());
    match name {
        Some(name) if !name.as_str().starts_with("unknown_service") => said,
        _ => Resource::builder().with_service_name(SERVICE).build(),
    }
}

/// The span of one request; nothing where nobody collects traces. The last copy that is dropped ends it.
#[derive(Clone, Default)]
pub(crate) struct RequestTrace(Option<Arc<OpenSpan>>);

/// A span that is open.
struct OpenSpan {
    tracer: SdkTracer,
    context: Context,
    /// Tokens of the answers so far, together.
    spent: Mutex<Option<Usage>>,
}

impl RequestTrace {
    /// A request with a history: whom it asks for what.
    pub fn asks(
        &self,
        (way, purpose): (Provider, RequestPurpose),
        (target, address): (&UpstreamTarget, &Uri),
        model: Option<&str>,
    ) {
        let Some(followed) = &self.0 else { return };
        let operation = operation(way, purpose);
        let span = followed.context.span();
        let name = model.map_or(operation.to_owned(), |model| format!("{operation} {model}"));
        span.update_name(name);
        span.set_attribute(KeyValue::new("gen_ai.operation.name", operation));
        span.set_attribute(KeyValue::new("gen_ai.provider.name", provider(way, target)));
        if let Some(model) = model {
            span.set_attribute(KeyValue::new("gen_ai.request.model", model.to_owned()));
        }
        if let Some(host) = address.host() {
            span.set_attribute(KeyValue::new("server.address", host.to_owned()));
        }
        if let Some(port) = address.port_u16() {
            span.set_attribute(KeyValue::new("server.port", i64::from(port)));
        }
    }

    /// A decision that began then is made: it has a span where it is a new fold.
    pub fn folded(&self, sent: &OutgoingRequest, since: SystemTime) {
        let (Some(followed), Some(fold)) = (&self.0, sent.fold.filter(|_| sent.is_new_fold)) else {
            return;
        };
        let mut attributes = vec![
            KeyValue::new("midfold.fold", fold.to_hex()[..16].to_owned()),
            tokens("midfold.tokens.before", sent.tokens_before),
            tokens("midfold.tokens.after", sent.tokens_after),
        ];
        attributes.extend(sent.session.clone().map(|it| KeyValue::new("midfold.session", it)));
        attributes.extend(sent.cause.map(|it| KeyValue::new("midfold.cause", it.name())));
        let span = SpanBuilder::from_name("midfold.fold")
            .with_kind(SpanKind::Internal)
            .with_start_time(since)
            .with_attributes(attributes);
        followed.tracer.build_with_context(span, &followed.context).end();
    }

    /// Names this span to the provider, where the client named one. Other headers stay as they are.
    pub fn goes_on(&self, out: &mut HeaderMap) {
        let Some(followed) = &self.0 else { return };
        let parent = traceparent(followed.context.span().span_context());
        if let (true, Ok(value)) = (out.contains_key(TRACEPARENT), HeaderValue::from_str(&parent)) {
            out.insert(TRACEPARENT, value);
        }
    }

    /// The head of the answer that the client gets.
    pub fn answered(&self, answer: &Response) {
        let Some(followed) = &self.0 else { return };
        let span = followed.context.span();
        let said =
            |name: HeaderName| answer.headers().get(name).and_then(|value| value.to_str().ok());
        let status = answer.status();
        span.set_attribute(KeyValue::new("http.response.status_code", i64::from(status.as_u16())));
        if status.is_client_error() || status.is_server_error() {
            span.set_attribute(KeyValue::new("error.type", status.as_str().to_owned()));
            span.set_status(Status::error(""));
        }
        for (name, header) in [
            ("gen_ai.conversation.id", headers::SESSION),
            ("midfold.session", headers::SESSION),
            ("midfold.fold", headers::FOLD),
            ("midfold.fault", headers::FAULT),
        ] {
            if let Some(text) = said(header) {
                span.set_attribute(KeyValue::new(name, text.to_owned()));
            }
        }
        for (name, header) in
            [("midfold.tokens.before", headers::BEFORE), ("midfold.tokens.after", headers::AFTER)]
        {
            if let Some(count) = said(header).and_then(|text| text.parse().ok()) {
                span.set_attribute(tokens(name, count));
            }
        }
    }

    /// An answer has cost so much.
    pub fn spent(&self, usage: Usage) {
        let Some(followed) = &self.0 else { return };
        let mut spent = followed.spent.lock().unwrap_or_else(PoisonError::into_inner);
        let sum = spent.get_or_insert_default();
        sum.prompt += usage.prompt;
        sum.output += usage.output;
        sum.cache_read += usage.cache_read;
        sum.cache_write += usage.cache_write;
    }

    /// The answer has passed.
    pub fn seen(&self, seen: &AnswerFacts) {
        let Some(followed) = &self.0 else { return };
        seen.usage.iter().for_each(|usage| self.spent(*usage));
        let span = followed.context.span();
        for (name, said) in
            [("gen_ai.response.id", &seen.id), ("gen_ai.response.model", &seen.model)]
        {
            if let Some(said) = said {
                span.set_attribute(KeyValue::new(name, said.clone()));
            }
        }
        if let Some(finish) = seen.finish.clone() {
            let all = Value::Array(Array::String(vec![StringValue::from(finish)]));
            span.set_attribute(KeyValue::new("gen_ai.response.finish_reasons", all));
        }
    }
}

impl Drop for OpenSpan {
    fn drop(&mut self) {
        let spent = self.spent.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(usage) = spent.take() {
            for (name, count) in [
                ("gen_ai.usage.input_tokens", usage.prompt),
                ("gen_ai.usage.output_tokens", usage.output),
                ("gen_ai.usage.cache_read.input_tokens", usage.cache_read),
                ("gen_ai.usage.cache_creation.input_tokens", usage.cache_write),
            ] {
                self.context.span().set_attribute(tokens(name, count));
            }
        }
        self.context.span().end();
    }
}

fn tokens(name: &'static str, count: u64) -> KeyValue {
    KeyValue::new(name, i64::try_from(count).unwrap_or(i64::MAX))
}

/// The name of what is asked for; of the conventions' where they have one.
fn operation(way: Provider, purpose: RequestPurpose) -> &'static str {
    match (purpose, way) {
        (RequestPurpose::Answer, Provider::Gemini) => "generate_content",
        (RequestPurpose::Answer, _) => "chat",
        (RequestPurpose::Count, _) => "count_tokens",
        (RequestPurpose::Compact, _) => "compact",
    }
}

/// The name of who is asked: the conventions' for a provider itself, else that of the upstream.
fn provider(way: Provider, target: &UpstreamTarget) -> String {
    match way {
        Provider::Gemini if target.is_usual => "gcp.gemini".to_owned(),
        _ => target.name.clone(),
    }
}

fn traceparent(span: &SpanContext) -> String {
    format!("00-{}-{}-{:02x}", span.trace_id(), span.span_id(), span.trace_flags().to_u8())
}

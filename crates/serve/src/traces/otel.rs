//! Makes a span for each request, and one below it for each fold, by OpenTelemetry's conventions for generative AI.
//!
//! The span of a request begins with its head. It ends when the answer has passed, or for a request without a history
//! with the head of the answer.

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

/// The header that names the span to which a request belongs (W3C Trace Context).
const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
/// The name of the service, if the environment sets none.
const SERVICE: &str = "midfold";
/// How long sending the last spans may take when the server stops.
const LAST: Duration = Duration::from_secs(2);

/// The collector of traces, which receives OTLP over HTTP (protobuf). The standard environment variables have the other
/// settings (`OTEL_EXPORTER_OTLP_…`, `OTEL_SERVICE_NAME`, `OTEL_RESOURCE_ATTRIBUTES`, `OTEL_TRACES_SAMPLER`,
/// `OTEL_BSP_…`).
#[derive(Clone, Debug, Default)]
pub struct TraceCollector {
    address: Option<String>,
}

impl TraceCollector {
    /// The collector that the environment names.
    #[must_use]
    pub fn of_environment() -> Self {
        Self::default()
    }

    /// The collector at this address, whatever the environment says: `http://127.0.0.1:4318/v1/traces`.
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
    /// Starts to send spans, on a thread of its own. Has to be called within a Tokio runtime.
    ///
    /// # Errors
    /// If the settings cannot be used: an invalid address, or a compression that is not built in.
    pub fn start(collector: &TraceCollector, upstream: &UpstreamClient) -> Result<Self, String> {
        // No retries: the spans of the next batch are newer, and no request should wait for a collector that is
        // unreachable.
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

    /// Starts the span of a request.
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

    /// Sends the spans that are left.
    pub async fn end(&self) {
        let provider = self.provider.clone();
        // This blocks until the sending thread has finished.
        let ending = tokio::task::spawn_blocking(move || provider.shutdown_with_timeout(LAST));
        if let Ok(Err(error)) = ending.await {
            tracing::debug!(%error, "the last spans were not sent");
        }
    }
}

/// The service that the spans belong to: the one of the environment, or else midfold.
fn resource() -> Resource {
    let detected = Resource::builder().build();
    let name = detected.get(&"service.name".into());
    match name {
        // The SDK begins the name so if the environment sets none.
        Some(name) if !name.as_str().starts_with("unknown_service") => detected,
        _ => Resource::builder().with_service_name(SERVICE).build(),
    }
}

/// The span of one request; empty if no traces are collected. The span ends when its last copy is dropped.
#[derive(Clone, Default)]
pub(crate) struct RequestTrace(Option<Arc<OpenSpan>>);

/// A span that has not ended yet.
struct OpenSpan {
    tracer: SdkTracer,
    context: Context,
    /// The summed tokens of the answers so far.
    spent: Mutex<Option<Usage>>,
}

impl RequestTrace {
    /// Adds the facts of a request with a history: provider, purpose, upstream and model.
    pub fn add_request(
        &self,
        (upstream, purpose): (Provider, RequestPurpose),
        (target, address): (&UpstreamTarget, &Uri),
        model: Option<&str>,
    ) {
        let Some(followed) = &self.0 else { return };
        let operation = operation(upstream, purpose);
        let span = followed.context.span();
        let name = model.map_or(operation.to_owned(), |model| format!("{operation} {model}"));
        span.update_name(name);
        span.set_attribute(KeyValue::new("gen_ai.operation.name", operation));
        span.set_attribute(KeyValue::new("gen_ai.provider.name", provider(upstream, target)));
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

    /// Adds a span for a new fold. `since` is the time at which midfold began to decide.
    pub fn add_fold(&self, outgoing: &OutgoingRequest, since: SystemTime) {
        let (Some(followed), Some(fold)) =
            (&self.0, outgoing.fold.filter(|_| outgoing.is_new_fold))
        else {
            return;
        };
        let mut attributes = vec![
            KeyValue::new("midfold.fold", fold.to_hex()[..16].to_owned()),
            tokens("midfold.tokens.before", outgoing.tokens_before),
            tokens("midfold.tokens.after", outgoing.tokens_after),
        ];
        attributes.extend(outgoing.session.clone().map(|id| KeyValue::new("midfold.session", id)));
        attributes.extend(outgoing.cause.map(|cause| KeyValue::new("midfold.cause", cause.name())));
        let span = SpanBuilder::from_name("midfold.fold")
            .with_kind(SpanKind::Internal)
            .with_start_time(since)
            .with_attributes(attributes);
        followed.tracer.build_with_context(span, &followed.context).end();
    }

    /// Sets the request's `traceparent` to this span, if the client sent one. Other headers stay unchanged.
    pub fn goes_on(&self, out: &mut HeaderMap) {
        let Some(followed) = &self.0 else { return };
        let parent = traceparent(followed.context.span().span_context());
        if let (true, Ok(value)) = (out.contains_key(TRACEPARENT), HeaderValue::from_str(&parent)) {
            out.insert(TRACEPARENT, value);
        }
    }

    /// Adds the facts of the answer's head.
    pub fn add_head(&self, answer: &Response) {
        let Some(followed) = &self.0 else { return };
        let span = followed.context.span();
        let header_text =
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
            if let Some(text) = header_text(header) {
                span.set_attribute(KeyValue::new(name, text.to_owned()));
            }
        }
        for (name, header) in
            [("midfold.tokens.before", headers::BEFORE), ("midfold.tokens.after", headers::AFTER)]
        {
            if let Some(count) = header_text(header).and_then(|text| text.parse().ok()) {
                span.set_attribute(tokens(name, count));
            }
        }
    }

    /// Adds the tokens of an answer.
    pub fn add_usage(&self, usage: Usage) {
        let Some(followed) = &self.0 else { return };
        let mut spent = followed.spent.lock().unwrap_or_else(PoisonError::into_inner);
        let sum = spent.get_or_insert_default();
        sum.prompt += usage.prompt;
        sum.output += usage.output;
        sum.cache_read += usage.cache_read;
        sum.cache_write += usage.cache_write;
    }

    /// Adds the facts of an answer that has ended.
    pub fn add_answer(&self, seen: &AnswerFacts) {
        let Some(followed) = &self.0 else { return };
        seen.usage.iter().for_each(|usage| self.add_usage(*usage));
        let span = followed.context.span();
        for (name, text) in
            [("gen_ai.response.id", &seen.id), ("gen_ai.response.model", &seen.model)]
        {
            if let Some(text) = text {
                span.set_attribute(KeyValue::new(name, text.clone()));
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

/// The name of the operation; the conventions' name if they have one.
fn operation(upstream: Provider, purpose: RequestPurpose) -> &'static str {
    match (purpose, upstream) {
        (RequestPurpose::Answer, Provider::Gemini) => "generate_content",
        (RequestPurpose::Answer, _) => "chat",
        (RequestPurpose::Count, _) => "count_tokens",
        (RequestPurpose::Compact, _) => "compact",
    }
}

/// The name of the provider: for Gemini itself the conventions' name, else that of the upstream.
fn provider(upstream: Provider, target: &UpstreamTarget) -> String {
    match upstream {
        Provider::Gemini if target.is_usual => "gcp.gemini".to_owned(),
        _ => target.name.clone(),
    }
}

fn traceparent(span: &SpanContext) -> String {
    format!("00-{}-{}-{:02x}", span.trace_id(), span.span_id(), span.trace_flags().to_u8())
}

//! The types for traces in a build without the feature `otel`. They do nothing.

use std::time::SystemTime;

use axum::response::Response;
use hyper::http::request::Parts;
use hyper::{HeaderMap, Uri};
use midfold::core::event::Usage;
use midfold::formats::answer::AnswerFacts;
use midfold_proxy::OutgoingRequest;
use midfold_proxy::vendor::RequestPurpose;

use crate::provider::Provider;
use crate::upstream::UpstreamClient;
use crate::upstreams::UpstreamTarget;

/// The collector of traces. Without the feature `otel` it has no values, so none can be set.
#[derive(Clone, Debug)]
pub enum TraceCollector {}

/// The spans of a server. Like the collector, it has no values.
pub(crate) enum RequestTraces {}

impl RequestTraces {
    pub fn start(collector: &TraceCollector, _: &UpstreamClient) -> Result<Self, String> {
        match *collector {}
    }

    pub fn request(&self, _: &Parts) -> RequestTrace {
        match *self {}
    }

    pub async fn end(&self) {
        match *self {}
    }
}

/// The trace of a request, which does nothing.
#[derive(Clone, Default)]
pub(crate) struct RequestTrace;

impl RequestTrace {
    pub fn add_request(
        &self,
        _: (Provider, RequestPurpose),
        _: (&UpstreamTarget, &Uri),
        _: Option<&str>,
    ) {
    }

    pub fn add_fold(&self, _: &OutgoingRequest, _: SystemTime) {}

    pub fn goes_on(&self, _: &mut HeaderMap) {}

    pub fn add_head(&self, _: &Response) {}

    pub fn add_usage(&self, _: Usage) {}

    pub fn add_answer(&self, _: &AnswerFacts) {}
}

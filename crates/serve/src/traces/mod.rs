//! Traces of requests: by OpenTelemetry with the feature `otel`, and none without it. No text of a message is in them.

#[cfg(not(feature = "otel"))]
mod none;
#[cfg(feature = "otel")]
mod otel;
#[cfg(feature = "otel")]
mod sender;

#[cfg(not(feature = "otel"))]
pub use none::TraceCollector;
#[cfg(not(feature = "otel"))]
pub(crate) use none::{RequestTrace, RequestTraces};
#[cfg(feature = "otel")]
pub use otel::TraceCollector;
#[cfg(feature = "otel")]
pub(crate) use otel::{RequestTrace, RequestTraces};

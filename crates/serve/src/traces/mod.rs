//! Traces of requests, sent with OpenTelemetry (feature `otel`); without the feature there are none. They have no text
//! of messages.

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

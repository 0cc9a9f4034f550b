//! The log: one event for each request, with what was done for it. Nothing of what a client wrote is in it but the
//! path.

use std::time::Instant;

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use midfold::proxy::{Heard, Sent};

use crate::headers;

/// Paths that are asked all the time, by whoever watches over the server: no more than a step.
const WATCHED: [&str; 3] = ["/livez", "/readyz", "/metrics"];

/// Says what became of a request, once its answer begins.
pub(crate) async fn logged(request: Request, next: Next) -> Response {
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let start = Instant::now();
    let answer = next.run(request).await;
    let (status, ms) = (answer.status().as_u16(), start.elapsed().as_millis());
    if WATCHED.contains(&path.as_str()) {
        tracing::debug!(%method, path, status, ms, "request");
        return answer;
    }
    let said = |name| answer.headers().get(name).and_then(|value| value.to_str().ok());
    let number = |name| said(name).and_then(|text| text.parse::<u64>().ok());
    tracing::info!(
        %method,
        path,
        status,
        ms,
        session = said(&headers::SESSION),
        fold = said(&headers::FOLD),
        fault = said(&headers::FAULT),
        before = number(&headers::BEFORE),
        after = number(&headers::AFTER),
        "request"
    );
    answer
}

/// Says that a fold was made.
pub(crate) fn folded(sent: &Sent) {
    if let Some(fold) = sent.fold.filter(|_| sent.is_new_fold) {
        let (session, fold) = (sent.session.as_deref(), &fold.to_hex()[..16]);
        tracing::info!(
            session,
            fold,
            before = sent.tokens_before,
            after = sent.tokens_after,
            "folded"
        );
    }
}

/// Says that the model looked something up.
pub(crate) fn recalled(sent: &Sent, heard: Heard) {
    let Heard { calls, asks_again } = heard;
    tracing::info!(session = sent.session.as_deref(), calls, asks_again, "recalled");
}

//! The log: one event for each request, with what was done for it. Nothing of what a client wrote is in it but the
//! path.

use std::time::Instant;

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use midfold_proxy::{MatchedRequest, OutgoingRequest, RecallRound, SilentTruncation};

use crate::headers;
use crate::metrics::PassCause;

/// Paths that are asked all the time, by whoever watches over the server: no more than a step.
const WATCHED: [&str; 3] = ["/livez", "/readyz", "/metrics"];

/// Says what became of a request, once its answer begins.
pub(crate) async fn logged(request: Request, next: Next) -> Response {
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let start = Instant::now();
    let answer = next.run(request).await;
    let (status, ms) = (answer.status().as_u16(), start.elapsed().as_millis());
    if WATCHED.contains(&path.as_str()) {
        tracing::trace!(%method, path, status, ms, "request");
        return answer;
    }
    let said = |name| answer.headers().get(name).and_then(|value| value.to_str().ok());
    let number = |name| said(name).and_then(|text| text.parse::<u64>().ok());
    tracing::debug!(
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
pub(crate) fn folded(sent: &OutgoingRequest) {
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

/// Says that a request was sent as it came, and why.
pub(crate) fn unfolded(path: &str, session: Option<&str>, cause: PassCause) {
    tracing::warn!(path, session, fault = cause.name(), "sent as it came: {}", cause.reason());
}

/// Says that a provider found a request too long, and the window that this taught.
pub(crate) fn overflowed(turn: &MatchedRequest, again: Option<&OutgoingRequest>) {
    let (model, session) = (turn.model(), turn.sent().session.as_deref());
    let window = turn.window();
    match again {
        Some(sent) => tracing::info!(
            session,
            model,
            window,
            sent = sent.tokens_after,
            reply = sent.reply,
            "too long for the provider: sent again, folded or with less room for the reply"
        ),
        None => tracing::warn!(
            session,
            model,
            window,
            "too long for the provider, and nothing shorter can be sent"
        ),
    }
}

/// Says that nothing tells how much a model holds.
pub(crate) fn unknown_window(turn: &MatchedRequest, upstream: &str) {
    let (model, window) = (turn.model(), turn.window());
    tracing::warn!(
        model,
        upstream,
        window,
        "nothing is known of this model's window, so a default holds: say it with --window, MIDFOLD_WINDOW, or \
         `windows` in your config.toml"
    );
}

/// Says that a server dropped what did not fit, and said nothing.
pub(crate) fn truncated(truncation: &SilentTruncation) {
    let SilentTruncation { session, sent, window } = truncation;
    tracing::warn!(
        session,
        sent,
        window,
        "the server cut the prompt in silence: what it read is its window from now on, and the history is folded"
    );
}

/// Says that the model called tools that are answered here.
pub(crate) fn recalled(sent: &OutgoingRequest, heard: RecallRound) {
    let RecallRound { calls, wishes, asks_again } = heard;
    let session = sent.session.as_deref();
    if calls > 0 {
        tracing::info!(session, calls, asks_again, "recalled");
    }
    if wishes > 0 {
        tracing::info!(
            session,
            calls = wishes,
            asks_again,
            "the agent said what should become of it"
        );
    }
}

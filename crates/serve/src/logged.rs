//! The log of requests: one event for each, with what midfold did. Of the client's text it has the path, the
//! model and the session's name.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use hyper::header::HeaderValue;
use midfold_proxy::{MatchedRequest, OutgoingRequest, RecallRound, SilentTruncation};
use tracing::Instrument;
use tracing::Span;
use tracing::field::Empty;

use crate::headers;
use crate::metric_labels::RequestLabels;
use crate::pass_cause::PassCause;

/// Paths that monitoring requests all the time: they are only logged at the level `trace`.
const WATCHED: [&str; 3] = ["/livez", "/readyz", "/metrics"];

/// The second of the first request and the number of a request, so that an id is not used again after a restart.
static BEGUN: OnceLock<u64> = OnceLock::new();
static NUMBER: AtomicU64 = AtomicU64::new(1);

fn new_id() -> String {
    let seconds =
        || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    format!("{:x}-{number}", BEGUN.get_or_init(seconds))
}

/// Gives a request its id, which is in each line of the log about it and in a header of its answer, and logs it.
pub(crate) async fn log_request(request: Request, next: Next) -> Response {
    let id = new_id();
    // A span of the highest level is there for a line of any level.
    let span = tracing::error_span!("request", id, key = Empty, upstream = Empty, model = Empty);
    let mut answer = log_answer(request, next).instrument(span).await;
    if let Ok(id) = HeaderValue::try_from(id) {
        answer.headers_mut().insert(headers::REQUEST, id);
    }
    answer
}

/// Logs a request when its answer begins.
async fn log_answer(request: Request, next: Next) -> Response {
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let start = Instant::now();
    let answer = next.run(request).await;
    let ms = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
    let status = answer.status().as_u16();
    if WATCHED.contains(&path.as_str()) {
        tracing::trace!(%method, path, status, ms, "request");
        return answer;
    }
    let header = |name| answer.headers().get(name).and_then(|value| value.to_str().ok());
    let number = |name| header(name).and_then(|text| text.parse::<u64>().ok());
    tracing::debug!(
        %method,
        path,
        status,
        ms,
        session = header(&headers::SESSION),
        fold = header(&headers::FOLD),
        fault = header(&headers::FAULT),
        before = number(&headers::BEFORE),
        after = number(&headers::AFTER),
        "request"
    );
    answer
}

/// Notes in each further line about the request whose it is and where it goes.
pub(crate) fn note_sender(labels: &RequestLabels) {
    note([("key", &labels.key), ("upstream", &labels.upstream)]);
}

/// Notes in each further line about the request which model it asks for.
pub(crate) fn note_model(labels: &RequestLabels) {
    note([("model", &labels.model)]);
}

/// Notes fields of the current request. A line has a field as often as it was noted, so each is noted once.
fn note<const N: usize>(fields: [(&str, &String); N]) {
    let span = Span::current();
    for (name, value) in fields.into_iter().filter(|(_, value)| !value.is_empty()) {
        span.record(name, value.as_str());
    }
}

/// Logs a new fold.
pub(crate) fn log_fold(outgoing: &OutgoingRequest) {
    if let Some(fold) = outgoing.fold.filter(|_| outgoing.is_new_fold) {
        let (session, fold) = (outgoing.session.as_deref(), &fold.to_hex()[..16]);
        tracing::info!(
            session,
            fold,
            before = outgoing.tokens_before,
            after = outgoing.tokens_after,
            "folded"
        );
    }
}

/// Logs that results of a request were shown cut.
pub(crate) fn log_cut(turn: &MatchedRequest) {
    let outgoing = turn.sent();
    if outgoing.cut > 0 {
        tracing::info!(
            session = outgoing.session.as_deref(),
            model = turn.model(),
            window = turn.window(),
            left_out = outgoing.cut,
            after = outgoing.tokens_after,
            "the newest results alone are too long for the window: shown cut"
        );
    }
}

/// Logs that a request was sent unchanged, and why.
pub(crate) fn log_unfolded(path: &str, session: Option<&str>, cause: PassCause) {
    tracing::warn!(path, session, fault = cause.name(), "sent as it came: {}", cause.reason());
}

/// Logs that a provider refused a request as too long, and the window that was learned from that.
pub(crate) fn log_overflow(turn: &MatchedRequest, again: Option<&OutgoingRequest>) {
    let (model, session) = (turn.model(), turn.sent().session.as_deref());
    let window = turn.window();
    match again {
        Some(outgoing) => tracing::info!(
            session,
            model,
            window,
            sent = outgoing.tokens_after,
            reply = outgoing.reply,
            left_out = outgoing.cut,
            "too long for the provider: sent again, folded, with results cut, or with less room for the reply"
        ),
        None => tracing::warn!(
            session,
            model,
            window,
            "too long for the provider, and nothing shorter can be sent"
        ),
    }
}

/// Logs that the window of a model is not known.
pub(crate) fn log_unknown_window(turn: &MatchedRequest, upstream: &str) {
    let (model, window) = (turn.model(), turn.window());
    tracing::warn!(
        model,
        upstream,
        window,
        "nothing is known of this model's window, so a default holds: say it with --window, MIDFOLD_WINDOW, or \
         `windows` in your config.toml"
    );
}

/// Logs that a server silently dropped a part of a prompt.
pub(crate) fn log_truncation(truncation: &SilentTruncation) {
    let SilentTruncation { session, sent, window } = truncation;
    tracing::warn!(
        session,
        sent,
        window,
        "the server cuts prompts in silence: the history is folded for what it reads"
    );
}

/// Logs that the model called tools which midfold answered.
pub(crate) fn log_look_ups(outgoing: &OutgoingRequest, round: &RecallRound) {
    let RecallRound { calls, wishes, asks_again, .. } = *round;
    let session = outgoing.session.as_deref();
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

/// Logs that calls copied what a fold printed in the place of content: how many midfold did not let run, and how many
/// went to the client.
pub(crate) fn log_placeholders(session: Option<&str>, unrun: usize, handed_on: usize) {
    if unrun > 0 {
        tracing::warn!(
            session,
            calls = unrun,
            "calls held placeholders of a fold as content: not run, and the model was given the originals"
        );
    }
    if handed_on > 0 {
        tracing::warn!(
            session,
            calls = handed_on,
            "calls hold placeholders of a fold as content and went to the client: look at what they wrote"
        );
    }
}

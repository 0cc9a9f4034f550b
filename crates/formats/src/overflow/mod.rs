//! Tells why a provider refused a request: its prompt is too long for the window, or something else in similar words.
//! Compacting for the wrong reason loses context and does not help.
//!
//! What providers say is a table, `refusals.tsv`; this module reads an error's own words and finds their row. Only the
//! fields that hold those words are read, and of a long text only its two ends: an error that echoes the conversation
//! must not be diagnosed by the conversation's words.

mod body;
mod diagnosis;
mod table;

use body::{ErrorBody, plain_words};
pub use diagnosis::{Diagnosis, PictureLimit};
use table::first_match;

/// Diagnoses an error response. `status` is the HTTP status; `None` for an error without one.
///
/// ```
/// use midfold_formats::overflow::{Diagnosis, classify};
/// let body = br#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 213462 tokens > 200000 maximum"}}"#;
/// let found = classify(Some(400), body);
/// assert_eq!(found, Diagnosis::Overflow { have: Some(213_462), limit: Some(200_000) });
/// ```
#[must_use]
pub fn classify(status: Option<u16>, body: &[u8]) -> Diagnosis {
    judge(status, &ErrorBody::read(body))
}

fn judge(status: Option<u16>, body: &ErrorBody) -> Diagnosis {
    first_match(status, body).map_or(Diagnosis::Other, |refusal| refusal.diagnosis(body))
}

/// Whether the error's words about a window are a quotation of the request. Providers quote values that they do not
/// know; such an error reports no limit, whatever the quoted value says.
///
/// ```
/// use midfold_formats::overflow::is_echo;
/// let error = br#"{"error":{"message":"unknown role 'prompt is too long: 600 tokens > 557 maximum'"}}"#;
/// let request = br#"{"messages":[{"role":"prompt is too long: 600 tokens > 557 maximum","content":"hi"}]}"#;
/// assert!(is_echo(error, request) && !is_echo(error, b"{}"));
/// ```
#[must_use]
pub fn is_echo(error: &[u8], request: &[u8]) -> bool {
    let read = ErrorBody::read(error);
    first_match(None, &read).and_then(|refusal| refusal.words()).is_some_and(|words| {
        let request = plain_words(&midfold_core::jsonstr::decode(request)).to_lowercase();
        request.contains(&words.to_lowercase())
    })
}

/// Diagnoses an error response as [`classify`] does, with the tokens of the prompt and of the window. An error without
/// text to a prompt above 60 % of the window is [`Diagnosis::Probable`]; that is a bare 400 or 413, or a closed
/// connection (`status` is `None`). A server may stop counting the prompt at its limit; the larger of its count and
/// `prompt` is then returned.
///
/// ```
/// use midfold_formats::overflow::{Diagnosis, diagnose};
/// let body = b"This model's maximum context length is 32768 tokens. However, you requested 8192 output tokens and your prompt contains at least 24577 input tokens";
/// let cap = |input| Diagnosis::SharedCap { input, output: 8_192, limit: 32_768 };
/// assert_eq!(diagnose(Some(400), body, 20_000, 32_768), cap(24_577));
/// assert_eq!(diagnose(Some(400), body, 40_000, 32_768), cap(40_000));
/// ```
#[must_use]
pub fn diagnose(status: Option<u16>, body: &[u8], prompt: u64, window: u64) -> Diagnosis {
    let read = ErrorBody::read(body);
    let bare = says_nothing(&read.text) && read.codes.is_empty();
    let quiet = bare && matches!(status, None | Some(400 | 413));
    if quiet && u128::from(prompt) * 100 > u128::from(window) * PROBABLE_PERCENT {
        return Diagnosis::Probable;
    }
    judge(status, &read).with_prompt(prompt)
}

/// The percentage of the window above which an error without text counts as an overflow. Measurements put it between 40
/// and 60; it is the higher one, since a fold without need loses context.
const PROBABLE_PERCENT: u128 = 60;

/// Whether the text only repeats the status, so that it says nothing about the cause.
fn says_nothing(text: &str) -> bool {
    let text = text.trim().trim_end_matches('.').to_ascii_lowercase();
    matches!(text.as_str(), "" | "bad request" | "error" | "400 bad request" | "unknown error")
        || text.ends_with("status code (no body)")
}

/// Diagnoses one event of a stream, or the body of a 200: `response.failed`, an `error` object, or a stop reason such
/// as `model_context_window_exceeded`. `None` for an event that reports no error. `event` is the JSON, with or without
/// `data:` before it.
#[must_use]
pub fn in_stream(event: &[u8]) -> Option<Diagnosis> {
    let read = ErrorBody::read(event);
    if read.stopped_by_window {
        return Some(Diagnosis::Overflow { have: None, limit: None });
    }
    read.is_error.then(|| judge(None, &read))
}

/// Diagnoses an event as [`in_stream`] does, without its stop reason: an answer that stopped at the window is an
/// answer.
pub(crate) fn reported_error(event: &[u8]) -> Option<Diagnosis> {
    let read = ErrorBody::read(event);
    read.is_error.then(|| judge(None, &read))
}

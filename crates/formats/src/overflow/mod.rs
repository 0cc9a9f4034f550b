//! Tells why a provider refused a request: its prompt is too long for the window, or something else in similar words.
//! Compacting for the wrong reason loses context and does not help.
//!
//! Codes count before wordings. Only the fields that hold an error's own words are read, and of a long text only its
//! two ends: an error that echoes the conversation must not be diagnosed by the conversation's words.

mod body;
mod diagnosis;
mod pictures;
mod wording;

use body::ErrorBody;
pub use diagnosis::{Diagnosis, PictureLimit};
use wording::CONTEXT_CODES;

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

/// Diagnoses an error body. The order matters: look-alikes of an overflow are excluded before its wordings are tried.
fn judge(status: Option<u16>, body: &ErrorBody) -> Diagnosis {
    let text = body.text.as_str();
    // A code is the provider's own verdict, so it counts before any wording.
    if body.has_code(&CONTEXT_CODES) {
        return wording::overflow(body).unwrap_or(Diagnosis::Overflow { have: None, limit: None });
    }
    if body.has_code(&POLICY_CODES) || wording::content_policy(text) {
        return Diagnosis::ContentPolicy;
    }
    if wording::bound_reasoning(text) {
        return Diagnosis::BoundReasoning;
    }
    // This comes before the status: a plan without long prompts refuses with 429 as well, and waiting would not help.
    if wording::tier_gate(text) {
        return Diagnosis::TierGate;
    }
    if status == Some(429) || body.has_code(&RATE_CODES) || wording::rate_limit(text) {
        return Diagnosis::RateLimit;
    }
    if let Some(limit) = pictures::pictures(text) {
        return Diagnosis::Pictures(limit);
    }
    if body.has_code(&PARAMETER_CODES) || wording::unsupported(text) {
        return Diagnosis::Unsupported;
    }
    if body.has_code(&MALFORMED_CODES) {
        // A `max_tokens` above the model's cap is such a value too. Such an error says nothing about the prompt.
        let cap = wording::overflow(body);
        let is_cap = |found: &Diagnosis| matches!(found, Diagnosis::OutputCap { input: None, .. });
        return cap.filter(is_cap).unwrap_or(Diagnosis::Malformed);
    }
    if wording::malformed(text) {
        return Diagnosis::Malformed;
    }
    if wording::empty_reply(text) {
        return Diagnosis::Other;
    }
    if let Some(found) = wording::overflow(body) {
        return found;
    }
    if body.has_code(&["request_too_large"]) || wording::payload(text) {
        return Diagnosis::PayloadTooLarge;
    }
    match status {
        // A bare 413 says nothing about its cause. `diagnose` judges it by the size of the prompt.
        Some(413) if !text.is_empty() => Diagnosis::PayloadTooLarge,
        _ => Diagnosis::Other,
    }
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
    wording::matched(&read.text).is_some_and(|said| {
        let request = midfold_core::jsonstr::decode(request);
        request.to_lowercase().contains(&said.to_lowercase())
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
/// let cap = |input| Diagnosis::OutputCap { input: Some(input), output: Some(8_192), limit: Some(32_768) };
/// assert_eq!(diagnose(Some(400), body, 20_000, 32_768), cap(24_577));
/// assert_eq!(diagnose(Some(400), body, 40_000, 32_768), cap(40_000));
/// ```
#[must_use]
pub fn diagnose(status: Option<u16>, body: &[u8], prompt: u64, window: u64) -> Diagnosis {
    let read = ErrorBody::read(body);
    let bare = wording::says_nothing(&read.text) && read.codes.is_empty();
    let quiet = bare && matches!(status, None | Some(400 | 413));
    if quiet && u128::from(prompt) * 100 > u128::from(window) * PROBABLE_PERCENT {
        return Diagnosis::Probable;
    }
    judge(status, &read).with_prompt(prompt)
}

/// The percentage of the window above which an error without text counts as an overflow. Measurements put it between 40
/// and 60; it is the higher one, since a fold without need loses context.
const PROBABLE_PERCENT: u128 = 60;

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

/// Codes of content filters.
const POLICY_CODES: [&str; 4] =
    ["content_filter", "content_policy_violation", "moderation_blocked", "data_inspection_failed"];

/// Codes of a rate limit, a quota or an overload.
const RATE_CODES: [&str; 9] = [
    "rate_limit_exceeded",
    "rate_limit_error",
    "insufficient_quota",
    "throttlingexception",
    "throttling",
    "too_many_requests",
    "resource_exhausted",
    "overloaded_error",
    "servicequotaexceededexception",
];

/// Codes of wrong values. What such an error says about windows is a quotation of the value.
const MALFORMED_CODES: [&str; 6] = [
    "string_above_max_length",
    "invalid_value",
    "invalid_type",
    "invalid_enum_value",
    "literal_error",
    "missing_required_parameter",
];

/// Codes of unknown parameters.
const PARAMETER_CODES: [&str; 3] =
    ["unsupported_parameter", "unknown_parameter", "unsupported_value"];

//! What a provider meant when it refused a request: too long for the window, or something that
//! only sounds like it. Compacting on a look-alike costs context and helps nothing.
//!
//! Structured codes come first, wordings second. Only the fields that hold an error's own words
//! are read, and of a long one only its ends: an error that echoes the conversation must not be
//! diagnosed by what the conversation says.

use midfold_core::Usage;
use midfold_core::engine::Overflow;

mod body;
mod wording;

use body::Body;

/// What a refused request needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Diagnosis {
    /// The prompt is longer than the window: compact, then retry once.
    Overflow {
        /// Tokens of the prompt, as the provider counts them.
        have: Option<u64>,
        /// Tokens that it takes.
        limit: Option<u64>,
    },
    /// The room asked for the reply is too large: lower `max_tokens` first. With an `input`, the
    /// two together pass the window; without one, the reply alone passes what the model can write,
    /// and compacting cannot help.
    OutputCap {
        /// Tokens of the prompt.
        input: Option<u64>,
        /// Tokens asked for the reply.
        output: Option<u64>,
        /// What the two together (or the reply alone) may have.
        limit: Option<u64>,
    },
    /// The body has too many bytes, whatever its tokens are (413).
    PayloadTooLarge,
    /// Nothing was said, but the prompt was most of the window (see [`diagnose`]).
    Probable,
    /// Too many requests or tokens per minute, a quota, an overloaded server: wait.
    RateLimit,
    /// Long context is not part of the plan that pays for it: another model or a smaller window.
    TierGate,
    /// A parameter that the model does not know: leave it out.
    Unsupported,
    /// Reasoning of another model or an edited one: strip it, never compact.
    BoundReasoning,
    /// Refused for what it says.
    ContentPolicy,
    /// The request breaks a rule of the wire format.
    Malformed,
    /// Anything else.
    Other,
}

impl Diagnosis {
    /// Whether prompt (and reply) were too much for the window or the wire.
    #[must_use]
    pub fn exceeds_window(&self) -> bool {
        match self {
            Self::Overflow { .. } | Self::PayloadTooLarge | Self::Probable => true,
            Self::OutputCap { input, .. } => input.is_some(),
            _ => false,
        }
    }

    /// What [`Session::recover`](midfold_core::engine::Session::recover) is told, when compacting
    /// is what the request needs: its prompt is too long, or leaves less than `reply` tokens of
    /// what prompt and reply may have together. None for everything else.
    ///
    /// ```
    /// use midfold_core::engine::Overflow;
    /// use midfold_formats::overflow::Diagnosis;
    /// let cap = Diagnosis::OutputCap { input: Some(199_000), output: Some(32_000), limit: Some(200_000) };
    /// assert_eq!(cap.recovery(500), None, "max_tokens = 1,000 is enough");
    /// let told = Overflow { have: Some(199_000), limit: Some(196_000) };
    /// assert_eq!(cap.recovery(4_000), Some(told));
    /// ```
    #[must_use]
    pub fn recovery(&self, reply: u64) -> Option<Overflow> {
        match *self {
            Self::Overflow { have, limit } => Some(Overflow { have, limit }),
            Self::PayloadTooLarge | Self::Probable => Some(Overflow::default()),
            Self::OutputCap { input: Some(input), limit: Some(limit), .. }
                if limit.saturating_sub(input) < reply =>
            {
                let limit = limit.checked_sub(reply);
                Some(Overflow { have: Some(input), limit })
            }
            _ => None,
        }
    }

    /// The `max_tokens` that the request may be sent with again, when that is all it needs: what
    /// the prompt leaves of the limit.
    ///
    /// ```
    /// use midfold_formats::overflow::Diagnosis;
    /// let cap = Diagnosis::OutputCap { input: Some(190_000), output: Some(32_000), limit: Some(200_000) };
    /// assert_eq!(cap.room_for_reply(), Some(10_000));
    /// ```
    #[must_use]
    pub fn room_for_reply(&self) -> Option<u64> {
        match *self {
            Self::OutputCap { input, limit: Some(limit), .. } => {
                limit.checked_sub(input.unwrap_or(0)).filter(|room| *room > 0)
            }
            _ => None,
        }
    }
}

/// Classifies an error response. `status` is the HTTP status, where there was one.
///
/// ```
/// use midfold_formats::overflow::{Diagnosis, classify};
/// let body = br#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 213462 tokens > 200000 maximum"}}"#;
/// let found = classify(Some(400), body);
/// assert_eq!(found, Diagnosis::Overflow { have: Some(213_462), limit: Some(200_000) });
/// ```
#[must_use]
pub fn classify(status: Option<u16>, body: &[u8]) -> Diagnosis {
    judge(status, &Body::read(body))
}

fn judge(status: Option<u16>, body: &Body) -> Diagnosis {
    let text = body.text.as_str();
    // A code is the provider's own verdict: no wording outvotes it.
    if body.has_code(&CONTEXT_CODES) {
        return wording::overflow(body).unwrap_or(Diagnosis::Overflow { have: None, limit: None });
    }
    if body.has_code(&POLICY_CODES) || wording::content_policy(text) {
        return Diagnosis::ContentPolicy;
    }
    if wording::bound_reasoning(text) {
        return Diagnosis::BoundReasoning;
    }
    if wording::tier_gate(text) {
        return Diagnosis::TierGate;
    }
    if status == Some(429) || body.has_code(&RATE_CODES) || wording::rate_limit(text) {
        return Diagnosis::RateLimit;
    }
    if body.has_code(&PARAMETER_CODES) || wording::unsupported(text) {
        return Diagnosis::Unsupported;
    }
    if body.has_code(&["string_above_max_length"]) || wording::malformed(text) {
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
        Some(413) if !text.is_empty() => Diagnosis::PayloadTooLarge,
        _ => Diagnosis::Other,
    }
}

/// As [`classify`], knowing the size of the prompt: an error without a word (a bare 400 or 413, or
/// a connection that closed: `status` is none) to a prompt above 60 % of the window is
/// [`Diagnosis::Probable`].
#[must_use]
pub fn diagnose(status: Option<u16>, body: &[u8], prompt: u64, window: u64) -> Diagnosis {
    let read = Body::read(body);
    let bare = wording::says_nothing(&read.text) && read.codes.is_empty();
    let quiet = bare && matches!(status, None | Some(400 | 413));
    if quiet && u128::from(prompt) * 100 > u128::from(window) * PROBABLE_PERCENT {
        return Diagnosis::Probable;
    }
    judge(status, &read)
}

/// Share of the window above which a wordless error is taken for an overflow
/// (wire-formats section 6: between 40 and 60; the higher one, since a false fold costs context).
const PROBABLE_PERCENT: u128 = 60;

/// What an event of a stream, or the body of a 200, says about the window: `response.failed`, an
/// `error` object, or a stop reason such as `model_context_window_exceeded`. None for every event
/// that reports no error. `event` is the JSON, with or without `data:` before it.
#[must_use]
pub fn in_stream(event: &[u8]) -> Option<Diagnosis> {
    let read = Body::read(event);
    if read.stopped_by_window {
        return Some(Diagnosis::Overflow { have: None, limit: None });
    }
    read.is_error.then(|| judge(None, &read))
}

/// How a prompt that was too long shows although the provider reported success.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Silent {
    /// More tokens than the window has were accepted (z.ai).
    OverWindow,
    /// Far fewer tokens were read than sent: the front was cut off, the system prompt with it
    /// (Ollama).
    Truncated,
    /// The reply is empty, because the prompt left no room for it.
    NoRoom,
}

/// Whether a success was none. `sent` is what was counted before the request, calibrated.
///
/// ```
/// use midfold_core::Usage;
/// use midfold_formats::overflow::{Silent, silent_overflow};
/// let usage = Usage { prompt: 32_770, output: 900, ..Usage::default() };
/// assert_eq!(silent_overflow(&usage, 65_600, 65_536), Some(Silent::Truncated));
/// assert_eq!(silent_overflow(&usage, 33_000, 65_536), None);
/// ```
#[must_use]
pub fn silent_overflow(usage: &Usage, sent: u64, window: u64) -> Option<Silent> {
    if window == 0 || usage.prompt == 0 {
        return None;
    }
    if usage.prompt > window {
        return Some(Silent::OverWindow);
    }
    // Nearly the whole window sent, less than two thirds of it read: no estimate errs that far.
    let full = u128::from(sent) * 10 >= u128::from(window) * 9;
    if full && u128::from(usage.prompt) * 3 < u128::from(sent) * 2 {
        return Some(Silent::Truncated);
    }
    let brim = u128::from(usage.prompt) * 100 >= u128::from(window) * 99;
    (usage.output == 0 && brim).then_some(Silent::NoRoom)
}

/// Codes that say that the prompt is longer than the window.
const CONTEXT_CODES: [&str; 6] = [
    "context_length_exceeded",
    "exceed_context_size_error",
    "model_context_window_exceeded",
    "context_window_exceeded",
    "contextwindowexceedederror",
    "model_max_prompt_tokens_exceeded",
];

/// Codes of filters.
const POLICY_CODES: [&str; 4] =
    ["content_filter", "content_policy_violation", "moderation_blocked", "data_inspection_failed"];

/// Codes that ask for patience.
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

/// Codes of parameters that are not known.
const PARAMETER_CODES: [&str; 3] =
    ["unsupported_parameter", "unknown_parameter", "unsupported_value"];

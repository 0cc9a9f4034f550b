//! The wordings of overflows as data: what each provider writes, and where its numbers are.

use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::body::ErrorBody;
use super::diagnosis::Diagnosis;

/// The smallest and the largest number of tokens that can be a window (docs/SOURCES.md, Hermes, section 2). Any other
/// number in an error text is a code, a version or a date.
const SANE: std::ops::RangeInclusive<u64> = 1_024..=10_000_000;

/// A number, with or without separators of thousands.
const NUMBER: &str = r"\d+(?:[,_]\d{3})*";

/// Wordings of an overflow, the most specific first. Each mark is a number of tokens: `<h>` is the prompt, `<l>` the
/// model's limit, `<t>` prompt and reply together, `<i>` and `<o>` the two apart. The prompt is above `<u>`, and above
/// the limit by `<x>`.
const OVERFLOWS: &[&str] = &[
    // Fireworks: before Anthropic, whose first words it shares
    r"prompt is too long: <h>, model maximum context length: <l>",
    // Anthropic; z.ai without a number
    r"prompt (?:is )?too long(?:: <h> tokens > <l>)?",
    r"input length and .?max_tokens.? exceed context limit(?:: <i> \+ <o> > <l>)?",
    // vLLM, new: it counts only as much of the prompt as shows that it is too long
    r"maximum context length is <l> tokens.{0,40}requested <o> output tokens.{0,40}contains (?:at least )?<i> input tokens",
    r"maximum context length is <l> tokens.{0,40}requested <o> output tokens.{0,120}upper bound for <u> input tokens",
    r"passed <i> input tokens.{0,40}requested <o> output tokens.{0,80}context length is (?:only )?<l>",
    r"is too large: <o>.{0,60}maximum context length is <l> tokens and your request has <i> input",
    // SGLang
    r"maximum context length of <l> tokens.{0,40}requested a total of <t> tokens: <i> tokens from the input.{0,40} <o> tokens for",
    r"requested a total of <t> tokens: <i> tokens from the input.{0,40} <o> tokens for",
    r"\(<h> tokens\) is longer than the model's context length \(<l> tokens\)",
    r"input length \(<h> tokens\) exceeds the maximum allowed length \(<l> tokens\)",
    // vLLM, inside the engine
    r"prompt \((?:total )?length <h>\) is (?:too long to fit into the model|longer than the maximum model length)[^\d]{1,20}<l>",
    // OpenAI (old), vLLM (old), OpenRouter: prompt and reply apart
    r"maximum context length (?:is|of) <l> tokens.{0,60}requested (?:about )?<t> tokens \(<i> (?:in the messages|in your prompt|of text input).{0,80}?<o> (?:in|for) the (?:completion|output)",
    // OpenAI, and most that copy it
    r"maximum context length (?:is|of) <l> tokens.{0,60}(?:resulted in|requested|request has|contains?) (?:about )?<h>",
    r"exceed the configured limit of <l> tokens.{0,40}resulted in <h>",
    r"maximum context length (?:is|of) <l>",
    // Gemini
    r"input token count \(?<h>\)? exceeds the maximum number of tokens allowed \(?<l>",
    // llama.cpp
    r"request \(<h> tokens\) exceeds the available context size \(<l>",
    r"exceeds the available context size",
    // xAI
    r"maximum prompt length is <l> but the request contains <h>",
    // Mistral
    r"prompt contains <h> tokens.{0,60}too large for model with <l> maximum context",
    // Kimi
    r"exceeded model token limit: <l> \(requested: <h>\)",
    // Copilot
    r"prompt token count of <h> exceeds the limit of <l>",
    // TGI
    r"inputs.? must have less than <l> tokens\. given: <h>",
    // TabbyAPI
    r"(?:context|prompt) length <h> is greater than max_seq_len <l>",
    // Cloudflare
    r"input and maximum output tokens \(<t>\) exceeded this model context window limit \(<l>",
    // Together, Fireworks
    r"input length <h> exceeds the maximum allowed (?:input )?length of <l>",
    r"tokens \+ .?max_new_tokens.? must be <= <l>\. given: <i> .{0,20}and <o>",
    // Cerebras, Groq
    r"current length is <h> while limit is <l>",
    r"reduce the length of (?:the|your) (?:messages|prompt|input)",
    // Bedrock
    r"max(?:imum)? input tokens: <l>.{0,20}input token count: <h>",
    r"input is too long for (?:the )?requested model",
    r"too many input tokens",
    // DashScope
    r"range of input length should be \[\d+, ?<l>\]",
    // Cohere: by how much it is over, and the limit
    r"too many tokens: size limit exceeded by <x> tokens.{0,160}limit for this model is <l>",
    r"too many tokens",
    // LM Studio: the first number is the tokens that it would keep, not those that it has
    r"loaded with context length of (?:only )?<l>",
    r"n_keep: \d+ ?>= ?n_ctx: <l>",
    r"reached context length of <l> tokens",
    // GLM
    r"tokens in request more than max tokens allowed",
    r"prompt exceeds max length",
    // Codes of gateways in a text
    r"contextwindowexceedederror|context_length_exceeded|model_context_window_exceeded",
    // A word for the window, and one for too much, in one sentence
    r"(?:context (?:window|length|size|limit)|maximum context|context_length)[^.\n]{0,60}(?:exceed|too (?:long|large)|overflow)",
    r"(?:exceed|greater than|longer than|larger than|too (?:long|large) for|overflow)[^.\n]{0,60}(?:context (?:window|length|size|limit)|maximum context|context_length)",
];

/// Wordings for a cap of the reply alone: the model cannot write that much, whatever the prompt.
const CAPS: &[&str] = &[
    r"max(?:_completion)?_tokens.{0,20}is too large: <o>.{0,40}supports at most <l>",
    r"max_tokens: <o> > <l>, which is the maximum allowed number of output tokens",
    r"range of max_tokens should be \[\d+, ?<l>\]",
    r"max(?:_completion|_output)?_tokens.{0,60}(?:must be less than or equal to|at most|maximum value (?:of|is)) .?<l>",
    r"max(?:_completion)?_tokens=<o> cannot be greater than max_model_len=(?:max_total_tokens=)?<l>",
    r"maximum tokens you requested (?:\(<o>\) )?exceeds the model limit of <l>",
];

static OVERFLOW: LazyLock<Vec<Regex>> = LazyLock::new(|| compile(OVERFLOWS));
static CAP: LazyLock<Vec<Regex>> = LazyLock::new(|| compile(CAPS));

/// Compiles the wordings, with each mark replaced by a named group for a number.
pub(super) fn compile(patterns: &[&str]) -> Vec<Regex> {
    let expand = |pattern: &&str| {
        let spelled =
            ["h", "l", "t", "i", "o", "u", "x"].iter().fold((*pattern).to_owned(), |text, name| {
                text.replace(&format!("<{name}>"), &format!("(?P<{name}>{NUMBER})"))
            });
        Regex::new(&format!("(?is){spelled}")).ok()
    };
    patterns.iter().filter_map(expand).collect()
}

/// Codes of a prompt that is longer than the window.
pub(super) const CONTEXT_CODES: [&str; 6] = [
    "context_length_exceeded",
    "exceed_context_size_error",
    "model_context_window_exceeded",
    "context_window_exceeded",
    "contextwindowexceedederror",
    "model_max_prompt_tokens_exceeded",
];

/// The overflow, or the cap of the reply, that the body reports. `None` where it reports neither.
pub(super) fn overflow(body: &ErrorBody) -> Option<Diagnosis> {
    let first =
        |all: &[Regex]| all.iter().find_map(|pattern| pattern.captures(&body.text).map(read));
    if let Some(cap) = first(&CAP) {
        return Some(Diagnosis::OutputCap { input: None, output: cap.output, limit: cap.limit });
    }
    let found = first(&OVERFLOW);
    if found.is_none() && !body.has_code(&CONTEXT_CODES) {
        return None;
    }
    let found = found.unwrap_or_default();
    let field_or_text =
        |text: Option<u64>, field: Option<u64>| field.filter(|n| SANE.contains(n)).or(text);
    let limit = field_or_text(found.limit, body.limit);
    // The prompt alone would fit: the reply has to become shorter first.
    if let (Some(input), Some(output), Some(limit)) = (found.input, found.output, limit)
        && input < limit
    {
        let (input, output) = (Some(input), Some(output));
        return Some(Diagnosis::OutputCap { input, output, limit: Some(limit) });
    }
    // Without numbers, the wording itself says that prompt and reply are too many together.
    if found.input_and_output && found.limit.is_none() {
        return Some(Diagnosis::OutputCap { input: None, output: None, limit: None });
    }
    let input = found.input.filter(|n| SANE.contains(n));
    let own = found.have.or(input).or(found.total);
    Some(Diagnosis::Overflow { have: field_or_text(own, body.have), limit })
}

/// The words from which [`overflow`] would read a diagnosis. `None` where no wording matches.
pub(super) fn matched(text: &str) -> Option<&str> {
    let found = CAP.iter().chain(OVERFLOW.iter()).find_map(|pattern| pattern.find(text))?;
    Some(found.as_str())
}

/// The numbers of one match, by meaning, in tokens.
#[derive(Clone, Copy, Debug, Default)]
struct WordingNumbers {
    /// The tokens of the prompt.
    have: Option<u64>,
    /// The limit of the model.
    limit: Option<u64>,
    /// The tokens of prompt and reply together.
    total: Option<u64>,
    /// The tokens of the prompt, where the reply is counted apart.
    input: Option<u64>,
    /// The tokens of the reply.
    output: Option<u64>,
    /// Whether the wording says that prompt and reply together exceed the limit.
    input_and_output: bool,
}

/// The number in the group `name` of a match.
pub(super) fn number(found: &Captures<'_>, name: &str) -> Option<u64> {
    let digits: String = found.name(name)?.as_str().chars().filter(char::is_ascii_digit).collect();
    digits.parse().ok()
}

fn read(found: Captures<'_>) -> WordingNumbers {
    let number = |name: &str| number(&found, name);
    let sane = |name: &str| number(name).filter(|n| SANE.contains(n));
    // Where prompt and reply are counted apart, each of them may be small.
    let part = |name: &str| number(name).filter(|n| n <= SANE.end());
    let (total, output) = (sane("t"), part("o"));
    // The total may include tools and images that `<i>` leaves out, so the larger count is taken.
    let rest = total.zip(output).and_then(|(total, output)| total.checked_sub(output));
    let above = part("u").map(|under| under + 1);
    let limit = sane("l");
    let over = number("x").zip(limit).map(|(over, limit)| limit.saturating_add(over));
    let text = found.get(0).map_or("", |whole| whole.as_str());
    WordingNumbers {
        have: sane("h").or(over.filter(|n| SANE.contains(n))),
        limit,
        total,
        input: part("i").max(rest).or(above),
        output,
        input_and_output: text.to_ascii_lowercase().starts_with("input length and"),
    }
}

/// Whether `text` contains any of `needles`. Upper and lower case are equal.
fn any(text: &str, needles: &[&str]) -> bool {
    let text = text.to_ascii_lowercase();
    needles.iter().any(|needle| text.contains(needle))
}

pub(super) fn content_policy(text: &str) -> bool {
    any(
        text,
        &[
            "content policy",
            "content management policy",
            "safety system",
            "usage policy",
            "usage policies",
        ],
    )
}

pub(super) fn bound_reasoning(text: &str) -> bool {
    let thinking = any(text, &["thinking", "reasoning", "thought"]);
    thinking && any(text, &["signature", "cannot be modified", "must start with a thinking block"])
}

/// Anthropic sells long context as an extra: 429 "extra usage is required for long context requests".
pub(super) fn tier_gate(text: &str) -> bool {
    any(text, &["long context", "long-context"])
        && any(text, &["extra usage", "subscription", "tier", "not yet available", "not available"])
}

pub(super) fn rate_limit(text: &str) -> bool {
    any(
        text,
        &[
            "throttl",
            "rate limit",
            "rate_limit",
            "rate-limit",
            "tokens per min",
            "requests per min",
            "tokens per day",
            "(tpm)",
            "(rpm)",
            "quota",
            "too many requests",
            "resource exhausted",
            "resource has been exhausted",
            "please wait before trying again",
            "overloaded",
        ],
    )
}

pub(super) fn unsupported(text: &str) -> bool {
    let refused = any(
        text,
        &[
            "unsupported",
            "not supported",
            "unrecognized",
            "unknown parameter",
            "unexpected keyword",
            "extra inputs are not permitted",
        ],
    );
    refused && any(text, &["parameter", "argument", "field", "max_tokens", "inputs"])
}

pub(super) fn malformed(text: &str) -> bool {
    any(
        text,
        &[
            "non-empty content",
            "must not be empty",
            "must be non-empty",
            "cannot be empty",
            "at least one message is required",
            "did not have response messages",
            "unexpected `tool_use_id`",
            "without `tool_result` blocks",
            "must be a response to a preceding",
            "roles must alternate",
            "conversation roles",
            "invalid json",
            "could not parse",
            "we could not process your request",
            "string too long",
        ],
    )
}

/// Whether the error is advice about an empty reply. Such advice names `max_tokens` and says nothing about the prompt.
pub(super) fn empty_reply(text: &str) -> bool {
    any(
        text,
        &["empty response", "empty reply", "returned no content", "no content in the response"],
    )
}

pub(super) fn payload(text: &str) -> bool {
    any(
        text,
        &[
            "payload size exceeds",
            "payload too large",
            "request entity too large",
            "exceeds the maximum allowed number of bytes",
            "request exceeds the maximum size",
            "request body too large",
            "content too large",
        ],
    )
}

/// Whether the text only repeats the status, so that it says nothing about the cause.
pub(super) fn says_nothing(text: &str) -> bool {
    let text = text.trim().trim_end_matches('.').to_ascii_lowercase();
    matches!(text.as_str(), "" | "bad request" | "error" | "400 bad request" | "unknown error")
        || text.ends_with("status code (no body)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles() {
        assert_eq!(compile(OVERFLOWS).len(), OVERFLOWS.len());
        assert_eq!(compile(CAPS).len(), CAPS.len());
    }
}

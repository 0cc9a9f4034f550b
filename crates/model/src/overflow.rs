//! Whether a server's refusal says that the prompt was too long.
//!
//! A narrow reading for the summariser's own calls: where it errs, a chunk is made smaller or a
//! fallback stands. The engine's classifier, which decides about folds, has its own fixture.

/// Codes that say it plainly.
const CODES: &[&str] =
    &["context_length_exceeded", "exceed_context_size_error", "request_too_large"];

/// Wordings; each needs no second one.
const WORDINGS: &[&str] = &[
    "context length",
    "context window",
    "context size",
    "context limit",
    "prompt is too long",
    "input is too long",
    "too many input tokens",
    "input token count",
    "maximum prompt length",
    "prompt contains",
    "prompt token count",
    "exceeded model token limit",
    "maximum allowed input length",
    "reduce the length of the messages",
    "request payload size exceeds",
    "while limit is",
];

/// Whether it does.
pub(crate) fn is_overflow(status: u16, code: Option<&str>, text: &str) -> bool {
    if code.is_some_and(|code| CODES.contains(&code)) || status == 413 {
        return true;
    }
    let text = text.to_ascii_lowercase();
    let parameter = text.contains("unsupported parameter") || text.contains("throttl");
    (400..600).contains(&status) && !parameter && WORDINGS.iter().any(|said| text.contains(said))
}

/// The limit that the text names: the smallest of its numbers that can be a window. The other one
/// is what was sent.
pub(crate) fn limit(text: &str) -> Option<u64> {
    let plain: String = text.chars().filter(|c| *c != ',').collect();
    plain
        .split(|c: char| !c.is_ascii_digit())
        .filter_map(|digits| digits.parse().ok())
        .filter(|number| (256..100_000_000).contains(number))
        .min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overflows_and_look_alikes() {
        for text in [
            "This model's maximum context length is 8192 tokens. However, you requested 9000",
            "prompt is too long: 213462 tokens > 200000 maximum",
            "the request exceeds the available context size, try increasing it",
            "The input token count (1196265) exceeds the maximum number of tokens allowed",
        ] {
            assert!(is_overflow(400, None, text), "{text}");
        }
        for text in ["Unsupported parameter: 'max_tokens'", "Throttling error: Too many tokens"] {
            assert!(!is_overflow(400, None, text), "{text}");
        }
        assert_eq!(limit("prompt is too long: 213,462 tokens > 200,000 maximum"), Some(200_000));
        assert_eq!(limit("no numbers"), None);
    }
}

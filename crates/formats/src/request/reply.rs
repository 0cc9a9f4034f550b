//! Rewrites the most tokens of a reply.

use std::ops::Range;

use bytes::Bytes;

use crate::fields::ObjectFields;
use crate::scan;

/// The members that hold that number, in the request itself or in one of its objects.
const NAMES: [(&str, &str); 6] = [
    ("", "max_completion_tokens"),
    ("", "max_output_tokens"),
    ("", "max_tokens"),
    ("generationConfig", "maxOutputTokens"),
    ("inferenceConfig", "maxTokens"),
    ("options", "num_predict"),
];
/// Anthropic's smallest budget for reasoning, in tokens. The budget has to be below that of the reply.
const LEAST_THINKING: u64 = 1_024;

/// A request for a reply of at most `tokens` tokens, where it allowed more. Nothing else in it changes, except a budget
/// for reasoning that would be larger than the reply: it becomes smaller, or the reasoning is turned off where no budget
/// is small enough.
///
/// ```
/// use midfold_formats::request::with_shorter_reply;
/// let body = bytes::Bytes::from_static(br#"{"model":"m", "max_tokens": 32000,"messages":[]}"#);
/// assert_eq!(with_shorter_reply(&body, 8_000), r#"{"model":"m", "max_tokens": 8000,"messages":[]}"#);
/// ```
#[must_use]
pub fn with_shorter_reply(body: &Bytes, tokens: u64) -> Bytes {
    let start = scan::skip_space(body, 0);
    let Some(whole) = scan::value(body, start).filter(|_| body.get(start) == Some(&b'{')) else {
        return body.clone();
    };
    let fields = ObjectFields::of(body, whole).in_either_spelling();
    let value_of = |(part, name): (&str, &str)| match part {
        "" => fields.get(name),
        part => fields.inner(part).get(name),
    };
    let number = |range: &Range<usize>| -> Option<u64> {
        std::str::from_utf8(body.get(range.clone())?).ok()?.parse().ok()
    };
    let allowed = NAMES.into_iter().filter_map(value_of);
    let mut changes: Vec<(Range<usize>, String)> = allowed
        .filter(|range| number(range).is_some_and(|limit| limit > tokens))
        .map(|range| (range, tokens.to_string()))
        .collect();
    let budget = value_of(("thinking", "budget_tokens"));
    if let Some(budget) = budget.filter(|range| number(range).is_some_and(|limit| limit >= tokens))
    {
        let less = (tokens / 4 * 3).max(LEAST_THINKING);
        changes.push(match fields.object("thinking") {
            // No budget is below such a reply, so the model answers without reasoning.
            Some(thinking) if less >= tokens => (thinking, r#"{"type":"disabled"}"#.to_owned()),
            _ => (budget, less.to_string()),
        });
    }
    changed(body, changes)
}

/// The body with these values in place of those at the ranges.
fn changed(body: &Bytes, mut changes: Vec<(Range<usize>, String)>) -> Bytes {
    if changes.is_empty() {
        return body.clone();
    }
    changes.sort_by_key(|(range, _)| range.start);
    let mut out = Vec::with_capacity(body.len());
    let mut at = 0;
    for (range, value) in changes {
        out.extend_from_slice(&body[at..range.start]);
        out.extend_from_slice(value.as_bytes());
        at = range.end;
    }
    out.extend_from_slice(&body[at..]);
    Bytes::from(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Anthropic wants `1,024 <= budget_tokens < max_tokens`.
    #[test]
    fn a_budget_for_reasoning_is_below_the_reply() {
        let body = Bytes::from(
            r#"{"max_tokens":32000,"thinking":{"type":"enabled","budget_tokens":1024},"a":1}"#,
        );
        for (tokens, thinking) in [
            (8_000, r#"{"type":"enabled","budget_tokens":1024}"#),
            (1_025, r#"{"type":"enabled","budget_tokens":1024}"#),
            (1_024, r#"{"type":"disabled"}"#),
            (500, r#"{"type":"disabled"}"#),
        ] {
            let wanted = format!(r#"{{"max_tokens":{tokens},"thinking":{thinking},"a":1}}"#);
            assert_eq!(with_shorter_reply(&body, tokens), wanted);
        }
        let large = Bytes::from(r#"{"thinking":{"budget_tokens":9000},"max_tokens":32000}"#);
        let wanted = r#"{"thinking":{"budget_tokens":3000},"max_tokens":4000}"#;
        assert_eq!(with_shorter_reply(&large, 4_000), wanted);
        assert_eq!(with_shorter_reply(&large, 40_000), large);
    }
}

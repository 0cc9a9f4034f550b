//! Rewrites the most tokens of a reply.

use std::ops::Range;

use bytes::Bytes;

use crate::fields::ObjectFields;
use crate::scan;

/// The members that hold that number, in the request itself or in one of its objects.
const NAMES: [(&str, &str); 5] = [
    ("", "max_completion_tokens"),
    ("", "max_output_tokens"),
    ("", "max_tokens"),
    ("generationConfig", "maxOutputTokens"),
    ("options", "num_predict"),
];
/// Anthropic's smallest budget for reasoning, in tokens. The budget has to be below that of the reply.
const LEAST_THINKING: u64 = 1_024;

/// A request for a reply of at most `tokens` tokens, where it allowed more. Nothing else in it changes, except a budget
/// for reasoning that would be larger than the reply.
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
    let found = |(part, name): (&str, &str)| match part {
        "" => fields.get(name),
        part => fields.inner(part).get(name),
    };
    let number = |range: &Range<usize>| -> Option<u64> {
        std::str::from_utf8(body.get(range.clone())?).ok()?.parse().ok()
    };
    let mut changes: Vec<(Range<usize>, u64)> = NAMES
        .into_iter()
        .filter_map(found)
        .filter(|range| number(range).is_some_and(|asked| asked > tokens))
        .map(|range| (range, tokens))
        .collect();
    let thinking = tokens / 4 * 3;
    let budget = found(("thinking", "budget_tokens"));
    let is_too_large = |range: &Range<usize>| number(range).is_some_and(|asked| asked >= tokens);
    changes.extend(budget.filter(is_too_large).map(|range| (range, thinking.max(LEAST_THINKING))));
    changes.sort_by_key(|(range, _)| range.start);
    let mut out = Vec::with_capacity(body.len());
    let mut at = 0;
    for (range, tokens) in changes {
        out.extend_from_slice(&body[at..range.start]);
        out.extend_from_slice(tokens.to_string().as_bytes());
        at = range.end;
    }
    if at == 0 {
        return body.clone();
    }
    out.extend_from_slice(&body[at..]);
    Bytes::from(out)
}

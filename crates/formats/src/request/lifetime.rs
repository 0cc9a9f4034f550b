//! The time for which a request asks its provider to keep the prompt in the cache.

use memchr::memmem;
use serde_json::Value;

use crate::fields::ObjectFields;

/// The number of newest messages that are searched for cache marks. A mark ends the part of the prompt that the provider
/// is to keep, and a request may have four marks (Anthropic).
pub(super) const MARKED: usize = 4;

/// The time in seconds that a member of the request itself asks for (OpenAI's `prompt_cache_retention`, Anthropic's
/// automatic `cache_control`). `None` if no member does.
pub(super) fn top_level_seconds(fields: &ObjectFields<'_>) -> Option<u64> {
    let of_all = fields.text("prompt_cache_retention").and_then(|text| seconds(&text));
    of_all.or_else(|| fields.inner("cache_control").text("ttl").and_then(|text| seconds(&text)))
}

/// The longest time in seconds that the cache marks of a system prompt, a list of tools or a message ask for. `None` if
/// no mark does.
pub(super) fn longest_mark_seconds(json: &[u8]) -> Option<u64> {
    // Most values have no such member, and may be long; only one that has it is parsed.
    memmem::find(json, b"\"ttl\"")?;
    longest_in(&serde_json::from_slice(json).ok()?)
}

fn longest_in(value: &Value) -> Option<u64> {
    match value {
        Value::Array(all) => all.iter().filter_map(longest_in).max(),
        // The arguments of a call may have members of these names, which are no marks. So only these places are read.
        Value::Object(members) => {
            let ttl = |name: &str| members.get(name)?.get("ttl")?.as_str().and_then(seconds);
            let inner = members.get("content").and_then(longest_in);
            ["cache_control", "cachePoint"].into_iter().filter_map(ttl).chain(inner).max()
        }
        _ => None,
    }
}

/// A whole number of seconds, minutes or hours (`30s`, `5m`, `24h`), in seconds. `None` for any other text.
fn seconds(text: &str) -> Option<u64> {
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let unit = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3_600,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use crate::DialectKind;
    use crate::request::Request;

    #[test]
    fn the_longest_time_counts_wherever_it_is_said() {
        let lifetime = |kind, body: &str| {
            Request::read(kind, body.to_owned().into()).unwrap().cache_lifetime()
        };
        let anthropic = [
            (r#"{"messages":[]}"#, None),
            (
                r#"{"messages":[],"system":[{"text":"a","cache_control":{"type":"ephemeral"}}]}"#,
                None,
            ),
            (r#"{"messages":[],"cache_control":{"type":"ephemeral","ttl":"1h"}}"#, Some(3_600)),
            (r#"{"messages":[],"tools":[{"name":"a","cache_control":{"ttl":"1h"}}]}"#, Some(3_600)),
            (
                r#"{"system":[{"text":"a","cache_control":{"ttl":"1h"}}],
                    "messages":[{"role":"user","content":[{"text":"a","cache_control":{"ttl":"5m"}}]}]}"#,
                Some(3_600),
            ),
            (
                r#"{"messages":[{"role":"user","content":[{"type":"tool_result","content":[
                    {"text":"a","cache_control":{"ttl":"5m"}}]}]}]}"#,
                Some(300),
            ),
            // These are a tool's own arguments.
            (
                r#"{"messages":[{"role":"assistant","content":[{"type":"tool_use","input":{
                    "cache_control":{"ttl":"9h"},"ttl":"9h"}}]}]}"#,
                None,
            ),
        ];
        for (body, expected) in anthropic {
            assert_eq!(lifetime(DialectKind::Anthropic, body), expected, "{body}");
        }
        let openai = r#"{"input":[],"prompt_cache_retention":"24h"}"#;
        assert_eq!(lifetime(DialectKind::OpenAiResponses, openai), Some(86_400));
        let openai = r#"{"input":[],"prompt_cache_retention":"in_memory"}"#;
        assert_eq!(lifetime(DialectKind::OpenAiResponses, openai), None);
    }
}

//! Reads the usage that providers report, in tokens. No other module reads it.

use midfold_core::event::Usage;

use crate::fields::ObjectFields;
use crate::scan;

/// Reads the usage of a provider's answer, or of its `usage` (`usageMetadata`) alone: Chat Completions, Responses,
/// Anthropic, Gemini, Bedrock, Ollama. `None` where the answer reports none, or an impossible count. A prompt of 0
/// tokens was not counted.
///
/// ```
/// use midfold_formats::usage::reported;
/// let answer = br#"{"usage":{"input_tokens":3,"cache_read_input_tokens":5,"output_tokens":1}}"#;
/// assert_eq!(reported(answer).map(|usage| (usage.prompt, usage.output)), Some((8, 1)));
/// assert_eq!(reported(b"{}"), None);
/// ```
#[must_use]
pub fn reported(json: &[u8]) -> Option<Usage> {
    let whole = ObjectFields::of(json, scan::skip_space(json, 0)..json.len());
    let usage = inside(&whole.inner("response")).or_else(|| inside(&whole));
    usage.or_else(|| of(&whole)).filter(Usage::is_possible)
}

/// The usage inside an answer. `None` where it has none.
fn inside(answer: &ObjectFields<'_>) -> Option<Usage> {
    ["usage", "usageMetadata"].into_iter().find_map(|name| of(&answer.inner(name)))
}

/// Reads the counts of any provider. The names of the members identify the provider.
fn of(usage: &ObjectFields<'_>) -> Option<Usage> {
    let has = |name| usage.count(name).is_some();
    let caches = ["cache_read_input_tokens", "cache_creation_input_tokens"];
    if has("prompt_tokens") {
        Some(of_chat(usage))
    } else if has("promptTokenCount") {
        Some(of_gemini(usage))
    } else if has("inputTokens") {
        Some(of_bedrock(usage))
    } else if has("prompt_eval_count") {
        Some(of_ollama(usage))
    } else if caches.into_iter().any(has) || usage.has("iterations") {
        // Responses has `input_tokens` too: the members about the cache tell the two apart.
        has("input_tokens").then(|| of_anthropic(usage))
    } else {
        has("input_tokens").then(|| of_responses(usage))
    }
}

/// The usage where the count of the prompt leaves out the tokens that the cache read or wrote.
fn beside_cache(input: u64, output: u64, cache_read: u64, cache_write: u64) -> Usage {
    let prompt = input.saturating_add(cache_read).saturating_add(cache_write);
    Usage { prompt, output, cache_read, cache_write }
}

fn of_anthropic(usage: &ObjectFields<'_>) -> Usage {
    let last = last_sampling(usage);
    let prompt = last.as_ref().unwrap_or(usage);
    beside_cache(
        prompt.number("input_tokens"),
        usage.number("output_tokens"),
        prompt.number("cache_read_input_tokens"),
        prompt.number("cache_creation_input_tokens"),
    )
}

/// Reads the counts of input, output, and what the cache read and wrote, which have these names.
fn divided(usage: &ObjectFields<'_>, names: [&str; 4]) -> Usage {
    let [input, output, cache_read, cache_write] = names.map(|name| usage.number(name));
    beside_cache(input, output, cache_read, cache_write)
}

fn of_bedrock(usage: &ObjectFields<'_>) -> Usage {
    let names = ["inputTokens", "outputTokens", "cacheReadInputTokens", "cacheWriteInputTokens"];
    divided(usage, names)
}

/// Ollama's counts. They are beside the message, and there are none for a cache.
fn of_ollama(answer: &ObjectFields<'_>) -> Usage {
    Usage {
        prompt: answer.number("prompt_eval_count"),
        output: answer.number("eval_count"),
        ..Usage::default()
    }
}

/// Gemini's counts. Reasoning is billed as output and counted apart from the reply.
fn of_gemini(usage: &ObjectFields<'_>) -> Usage {
    let candidates = usage.number("candidatesTokenCount");
    Usage {
        prompt: usage.number("promptTokenCount"),
        output: candidates.saturating_add(usage.number("thoughtsTokenCount")),
        cache_read: usage.number("cachedContentTokenCount"),
        cache_write: 0,
    }
}

fn of_responses(usage: &ObjectFields<'_>) -> Usage {
    let details = usage.inner("input_tokens_details");
    Usage {
        prompt: usage.number("input_tokens"),
        output: usage.number("output_tokens"),
        cache_read: details.number("cached_tokens"),
        cache_write: details.number("cache_write_tokens"),
    }
}

/// The counts of Chat Completions, with DeepSeek's and Moonshot's counts of the cache.
fn of_chat(usage: &ObjectFields<'_>) -> Usage {
    let details = usage.inner("prompt_tokens_details");
    let beside = usage.number("prompt_cache_hit_tokens").max(usage.number("cached_tokens"));
    Usage {
        prompt: usage.number("prompt_tokens"),
        output: usage.number("completion_tokens"),
        cache_read: details.number("cached_tokens").max(beside),
        cache_write: details.number("cache_write_tokens"),
    }
}

/// Anthropic's counts in a stream: most come at the start, the output at the end. A later count replaces an earlier
/// one, except that a prompt of 0 tokens is ignored: gateways write 0 for an unknown count.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StreamCounts {
    input: Option<u64>,
    output: Option<u64>,
    cache_read: Option<u64>,
    cache_write: Option<u64>,
}

impl StreamCounts {
    /// Adds the counts of one more `usage`.
    pub(crate) fn add(&mut self, usage: &ObjectFields<'_>) {
        let last = last_sampling(usage);
        let prompt = last.as_ref().unwrap_or(usage);
        // The counts of a last sampling are whole, so it had no tokens of the kinds that it leaves out.
        let is_whole = last.is_some();
        let newest = |slot: &mut Option<u64>, name| {
            *slot = prompt.count(name).or(slot.filter(|_| !is_whole));
        };
        // Every sampling is billed, so the output is that of the whole reply.
        self.output = usage.count("output_tokens").or(self.output);
        // Zeros at the end of a stream must not replace the counts from its start.
        if self.input.is_some() && !has_prompt(prompt) {
            return;
        }
        newest(&mut self.input, "input_tokens");
        newest(&mut self.cache_read, "cache_read_input_tokens");
        newest(&mut self.cache_write, "cache_creation_input_tokens");
    }

    /// The usage. `None` until the prompt's count is known.
    pub(crate) fn usage(&self) -> Option<Usage> {
        let known = |count: Option<u64>| count.unwrap_or(0);
        let (output, read) = (known(self.output), known(self.cache_read));
        let usage = beside_cache(self.input?, output, read, known(self.cache_write));
        Some(usage).filter(Usage::is_possible)
    }
}

/// Reads Anthropic's `usage` in a recording.
pub(crate) fn anthropic(usage: &ObjectFields<'_>) -> Option<Usage> {
    known(of_anthropic(usage))
}

/// The last sampling of a reply that took several, because of the provider's own tools or its compaction. The sum of
/// their prompts is not the size of any prompt.
fn last_sampling<'a>(usage: &ObjectFields<'a>) -> Option<ObjectFields<'a>> {
    let list = usage.array("iterations")?;
    let iterations =
        scan::elements(usage.bytes(), list).map(|at| ObjectFields::of(usage.bytes(), at));
    iterations.filter(|one| one.is("type", "message") && has_prompt(one)).last()
}

/// Whether Anthropic's counts include a prompt.
fn has_prompt(usage: &ObjectFields<'_>) -> bool {
    let counts = ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"];
    counts.into_iter().any(|name| usage.number(name) > 0)
}

/// Reads the `usage` of Chat Completions in a recording.
pub(crate) fn chat(usage: &ObjectFields<'_>) -> Option<Usage> {
    known(of_chat(usage))
}

/// Reads Codex' `last_token_usage`, which has the names of Responses on one level.
pub(crate) fn codex(usage: &ObjectFields<'_>) -> Option<Usage> {
    let cache_read = usage.number("cached_input_tokens");
    known(Usage { cache_read, ..of_responses(usage) })
}

/// Reads pi's `usage`, whose input leaves out the cache.
pub(crate) fn pi(usage: &ObjectFields<'_>) -> Option<Usage> {
    known(divided(usage, ["input", "output", "cacheRead", "cacheWrite"]))
}

/// Reads `OpenCode`'s `tokens`, whose input leaves out the cache and whose output leaves out the reasoning.
pub(crate) fn opencode(tokens: &ObjectFields<'_>) -> Option<Usage> {
    let cache = tokens.inner("cache");
    let output = tokens.number("output").saturating_add(tokens.number("reasoning"));
    known(beside_cache(tokens.number("input"), output, cache.number("read"), cache.number("write")))
}

/// Reads Gemini's `usageMetadata` in a recording.
pub(crate) fn gemini(usage: &ObjectFields<'_>) -> Option<Usage> {
    known(of_gemini(usage))
}

/// Reads an `assistant.usage` of Copilot CLI, whose input includes the tokens that the cache read.
pub(crate) fn copilot(data: &ObjectFields<'_>) -> Option<Usage> {
    known(Usage {
        prompt: data.number("inputTokens"),
        output: data.number("outputTokens"),
        cache_read: data.number("cacheReadTokens"),
        cache_write: data.number("cacheWriteTokens"),
    })
}

/// Reads `metrics` of Cline, whose prompt includes the tokens that the cache read.
pub(crate) fn cline(metrics: &ObjectFields<'_>) -> Option<Usage> {
    let tokens = metrics.inner("tokens");
    if tokens.is_empty() {
        return copilot(metrics);
    }
    known(Usage {
        prompt: tokens.number("prompt"),
        output: tokens.number("completion"),
        cache_read: tokens.number("cached"),
        cache_write: 0,
    })
}

/// Reads `token_usage` of Kimi CLI, which divides the input into three counts.
pub(crate) fn kimi(usage: &ObjectFields<'_>) -> Option<Usage> {
    known(divided(usage, ["input_other", "output", "input_cache_read", "input_cache_creation"]))
}

/// Reads `usage` of Kimi Code, which divides the input into three counts.
pub(crate) fn kimi_code(usage: &ObjectFields<'_>) -> Option<Usage> {
    known(divided(usage, ["inputOther", "output", "inputCacheRead", "inputCacheCreation"]))
}

/// Reads `tokens` of Gemini CLI, which counts reasoning apart from the output.
pub(crate) fn gemini_cli(tokens: &ObjectFields<'_>) -> Option<Usage> {
    known(Usage {
        prompt: tokens.number("input"),
        output: tokens.number("output").saturating_add(tokens.number("thoughts")),
        cache_read: tokens.number("cached"),
        cache_write: 0,
    })
}

/// Reads `usageDetails` or `usage` of a generation in Langfuse, whose input leaves out the cache.
pub(crate) fn langfuse(usage: &ObjectFields<'_>) -> Option<Usage> {
    let first = |names: &[&str]| names.iter().find_map(|name| usage.count(name)).unwrap_or(0);
    known(beside_cache(
        first(&["input", "promptTokens"]),
        first(&["output", "completionTokens"]),
        first(&["cache_read_input_tokens", "input_cached_tokens", "input_cache_read"]),
        first(&["cache_creation_input_tokens", "input_cache_creation"]),
    ))
}

/// Reads the metadata of a turn in Copilot Chat.
pub(crate) fn copilot_chat(metadata: &ObjectFields<'_>) -> Option<Usage> {
    let (prompt, output) = (metadata.number("promptTokens"), metadata.number("outputTokens"));
    known(Usage { prompt, output, ..Usage::default() })
}

/// Reads `usage` of Continue, whose prompt includes what the cache read.
pub(crate) fn continue_dev(usage: &ObjectFields<'_>) -> Option<Usage> {
    let details = usage.inner("promptTokensDetails");
    known(Usage {
        prompt: usage.number("promptTokens"),
        output: usage.number("completionTokens"),
        cache_read: details.number("cachedTokens"),
        cache_write: details.number("cacheWriteTokens"),
    })
}

/// The usage, unless its prompt is 0: a failed request is recorded with zeros.
pub(crate) fn known(usage: Usage) -> Option<Usage> {
    (usage.prompt > 0 && usage.is_possible()).then_some(usage)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_is_read_as_providers_write_it() {
        let cases = [
            (
                r#"{"prompt_tokens":10,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":4}}"#,
                (10, 2, 4, 0),
            ),
            (r#"{"usage":{"prompt_tokens":10,"prompt_cache_hit_tokens":6}}"#, (10, 0, 6, 0)),
            (r#"{"usage":{"prompt_tokens":10,"cached_tokens":6}}"#, (10, 0, 6, 0)),
            (
                r#" {"usage":{"input_tokens":10,"output_tokens":2,"input_tokens_details":{"cached_tokens":4,"cache_write_tokens":3}}}"#,
                (10, 2, 4, 3),
            ),
            (
                r#"{"type":"response.completed","response":{"usage":{"input_tokens":10,"output_tokens":2}}}"#,
                (10, 2, 0, 0),
            ),
            (
                r#"{"usage":{"input_tokens":3,"cache_read_input_tokens":5,"cache_creation_input_tokens":2,"output_tokens":1}}"#,
                (10, 1, 5, 2),
            ),
            (
                r#"{"usageMetadata":{"promptTokenCount":10,"cachedContentTokenCount":4,"candidatesTokenCount":2,"thoughtsTokenCount":3,"totalTokenCount":15}}"#,
                (10, 5, 4, 0),
            ),
            (
                r#"{"usage":{"inputTokens":3,"outputTokens":1,"totalTokens":11,"cacheReadInputTokens":5,"cacheWriteInputTokens":2}}"#,
                (10, 1, 5, 2),
            ),
            (
                r#"{"message":{"role":"assistant"},"done":true,"prompt_eval_count":10,"eval_count":2}"#,
                (10, 2, 0, 0),
            ),
            (r#"{"usage":{"prompt_tokens":0}}"#, (0, 0, 0, 0)),
            (
                r#"{"usage":{"input_tokens":900,"cache_read_input_tokens":90,"output_tokens":7,"iterations":[
                {"type":"compaction","input_tokens":600},{"type":"message","input_tokens":100},
                {"type":"message","input_tokens":200,"cache_read_input_tokens":30},{"type":"advisor","input_tokens":5}]}}"#,
                (230, 7, 30, 0),
            ),
            (
                r#"{"usage":{"input_tokens":300,"output_tokens":7,"iterations":[
                {"type":"message","input_tokens":100},{"type":"message","input_tokens":200,"output_tokens":7},
                {"type":"message","input_tokens":null},{"type":"message","input_tokens":0}]}}"#,
                (200, 7, 0, 0),
            ),
            (r#"{"usage":{"input_tokens":9,"output_tokens":7,"iterations":[]}}"#, (9, 7, 0, 0)),
            (
                r#"{"usage":{"input_tokens":9,"output_tokens":7,"iterations":[{"type":"compaction","input_tokens":5}]}}"#,
                (9, 7, 0, 0),
            ),
        ];
        for (json, (prompt, output, cache_read, cache_write)) in cases {
            let expected = Usage { prompt, output, cache_read, cache_write };
            assert_eq!(reported(json.as_bytes()), Some(expected), "{json}");
        }
        for json in [
            r#"{"id":1}"#,
            r#"{"usage":null}"#,
            r#"{"usage":{"prompt_tokens":"1"}}"#,
            r#"{"usage":{"prompt_tokens":null,"completion_tokens":null}}"#,
            r#"{"usage":{"input_tokens":null,"cache_read_input_tokens":0,"output_tokens":3}}"#,
            r#"{"usage":{"prompt_tokens":-1,"completion_tokens":2}}"#,
            r#"{"usage":{"prompt_tokens":18446744073709551615,"completion_tokens":2}}"#,
            r#"{"usage":{"input_tokens":5,"cache_read_input_tokens":9223372036854775807}}"#,
            "[]",
            "",
        ] {
            assert_eq!(reported(json.as_bytes()), None, "{json}");
        }
    }

    #[test]
    fn a_stream_that_ends_with_zeros_keeps_its_prompt() {
        let after = |reports: &[&str]| {
            let mut counts = StreamCounts::default();
            for json in reports {
                counts.add(&ObjectFields::of(json.as_bytes(), 0..json.len()));
            }
            counts.usage().map(|usage| (usage.prompt, usage.output))
        };
        let start = r#"{"input_tokens":900,"cache_read_input_tokens":90,"output_tokens":1}"#;
        let zeros = r#"{"input_tokens":0,"cache_read_input_tokens":0,"output_tokens":7}"#;
        assert_eq!(after(&[start, zeros]), Some((990, 7)));
        assert_eq!(after(&[start, r#"{"output_tokens":7}"#]), Some((990, 7)));
        let nothing = r#"{"input_tokens":null,"output_tokens":7}"#;
        assert_eq!(after(&[start, nothing]), Some((990, 7)));
        assert_eq!(after(&[zeros, start]), Some((990, 1)), "counted when it ends");
        let whole = r#"{"input_tokens":3,"cache_read_input_tokens":990,"output_tokens":7}"#;
        assert_eq!(after(&[start, whole]), Some((993, 7)));
        let sums = r#"{"input_tokens":1800,"cache_read_input_tokens":180,"output_tokens":7,"iterations":[{"type":"message","input_tokens":900,"cache_read_input_tokens":90}]}"#;
        assert_eq!(after(&[start, sums]), Some((990, 7)));
        let uncached =
            r#"{"output_tokens":7,"iterations":[{"type":"message","input_tokens":200}]}"#;
        assert_eq!(after(&[start, uncached]), Some((200, 7)));
        assert_eq!(after(&[r#"{"input_tokens":18446744073709551615}"#]), None);
    }
}

//! What providers report about tokens, in the words of the core.

use midfold_core::event::Usage;

use super::fields::Fields;

/// Anthropic's `usage`: its input leaves out what the cache read or wrote.
pub(super) fn anthropic(usage: &Fields<'_>) -> Option<Usage> {
    let cache_read = usage.number("cache_read_input_tokens");
    let cache_write = usage.number("cache_creation_input_tokens");
    known(Usage {
        prompt: usage.number("input_tokens").saturating_add(cache_read).saturating_add(cache_write),
        output: usage.number("output_tokens"),
        cache_read,
        cache_write,
    })
}

/// The `usage` of Chat Completions, with the cache count that `DeepSeek` keeps beside it.
pub(super) fn chat(usage: &Fields<'_>) -> Option<Usage> {
    let details = usage.inner("prompt_tokens_details");
    known(Usage {
        prompt: usage.number("prompt_tokens"),
        output: usage.number("completion_tokens"),
        cache_read: details.number("cached_tokens").max(usage.number("prompt_cache_hit_tokens")),
        cache_write: details.number("cache_write_tokens"),
    })
}

/// Codex' `last_token_usage`: Responses names, flat.
pub(super) fn codex(usage: &Fields<'_>) -> Option<Usage> {
    known(Usage {
        prompt: usage.number("input_tokens"),
        output: usage.number("output_tokens"),
        cache_read: usage.number("cached_input_tokens"),
        cache_write: 0,
    })
}

/// pi's `usage`: its input leaves out the cache.
pub(super) fn pi(usage: &Fields<'_>) -> Option<Usage> {
    let (cache_read, cache_write) = (usage.number("cacheRead"), usage.number("cacheWrite"));
    known(Usage {
        prompt: usage.number("input").saturating_add(cache_read).saturating_add(cache_write),
        output: usage.number("output"),
        cache_read,
        cache_write,
    })
}

/// A request that failed is recorded with zeros.
fn known(usage: Usage) -> Option<Usage> {
    (usage.prompt > 0).then_some(usage)
}

//! What a model's name tells.

use midfold_tokens::inside::WINDOWS;
use midfold_tokens::{for_model, window_of};

#[test]
fn counters_by_model() {
    let rows = [
        ("gpt-4o-mini", "o200k"),
        ("openai/gpt-5.1-codex", "o200k"),
        ("o3-mini", "o200k"),
        ("gpt-4.1", "o200k"),
        ("gpt-4-turbo", "cl100k"),
        ("gpt-3.5-turbo-0125", "cl100k"),
        ("claude-3-5-sonnet-20241022", "estimate:claude-old"),
        ("claude-sonnet-4-20250514", "estimate:claude-old"),
        ("us.anthropic.claude-opus-4-5-20251101-v1:0", "estimate:claude-old"),
        ("anthropic/claude-opus-4.6", "estimate:claude-old"),
        ("claude-opus-4-7", "estimate:claude"),
        ("claude-sonnet-5-20260901", "estimate:claude"),
        ("Claude-5.5-Opus", "estimate:claude"),
        ("claude-opus-latest", "estimate:claude"),
        ("models/gemini-2.5-pro", "estimate:gemini-old"),
        ("gemini-3-pro-preview", "estimate:gemini"),
        ("Qwen/Qwen3-32B", "o200k"),
        ("", "o200k"),
    ];
    for (model, counter) in rows {
        assert_eq!(for_model(model), counter, "{model}");
    }
}

#[test]
fn the_longest_prefix_wins() {
    let rows = [
        ("gpt-4", Some(8_192)),
        ("gpt-4o-2024-08-06", Some(128_000)),
        ("gpt-4.1-mini", Some(1_047_576)),
        ("gpt-5-codex", Some(400_000)),
        ("o1-preview-2024-09-12", Some(128_000)),
        ("anthropic/claude-sonnet-4-5", Some(200_000)),
        ("deepseek-ai/DeepSeek-V3", Some(131_072)),
        ("Qwen/Qwen2.5-72B-Instruct", Some(131_072)),
        ("meta-llama/Llama-3.1-8B-Instruct", Some(131_072)),
        ("moonshotai/Kimi-K2-Instruct-0905", Some(262_144)),
        ("zai-org/GLM-4.6", Some(200_000)),
        ("mistral-large-latest", Some(131_072)),
        ("my-own-model", None),
        ("", None),
    ];
    for (model, window) in rows {
        assert_eq!(window_of(model), window, "{model}");
    }
}

#[test]
fn the_table_has_no_prefix_twice() {
    let mut prefixes: Vec<_> = WINDOWS.iter().map(|(prefix, _)| prefix).collect();
    prefixes.sort_unstable();
    prefixes.dedup();
    assert_eq!(prefixes.len(), WINDOWS.len());
}

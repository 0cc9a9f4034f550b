//! What a model's name tells.

use midfold_tokens::inside::window_prefixes;
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
        ("gpt-5-codex", Some(272_000)),
        ("o1-preview-2024-09-12", Some(128_000)),
        ("anthropic/claude-sonnet-4-5", Some(200_000)),
        ("deepseek-ai/DeepSeek-V3", Some(131_072)),
        ("Qwen/Qwen2.5-72B-Instruct", Some(131_072)),
        ("meta-llama/Llama-3.1-8B-Instruct", Some(131_072)),
        ("moonshotai/Kimi-K2-Instruct-0905", Some(262_144)),
        ("zai-org/GLM-4.6", Some(200_000)),
        ("mistral-large-latest", Some(262_144)),
        ("my-own-model", None),
        ("", None),
    ];
    for (model, window) in rows {
        assert_eq!(window_of(model), window, "{model}");
    }
}

/// Names of later versions, of clouds and of routers.
#[test]
fn what_is_newer_than_the_table_is_not_taken_for_the_oldest() {
    let rows = [
        ("claude-opus-5", 1_000_000),
        ("claude-sonnet-4-9-20270101", 1_000_000),
        ("claude-opus-latest", 1_000_000),
        ("claude-opus-4-5-20251101", 200_000),
        ("claude-3-5-sonnet-20241022", 200_000),
        ("claude-haiku-4-5", 200_000),
        ("claude-haiku-5-5", 1_000_000),
        ("claude-fable-5-1", 1_000_000),
        ("us.anthropic.claude-opus-4-7-v1:0", 1_000_000),
        ("claude-sonnet-4-5@20250929", 200_000),
        ("claude-sonnet-4-5[1m]", 1_000_000),
        ("anthropic/claude-opus-5:beta", 1_000_000),
        ("gpt-5.9", 922_000),
        ("gpt-6.3-sol", 922_000),
        ("gpt-5.2-codex", 272_000),
        ("gpt-5.9-mini", 400_000),
        ("gpt-5.3-chat-latest", 128_000),
        ("gpt-4.1-mini", 1_047_576),
        ("o3-mini", 200_000),
        ("o5", 200_000),
        ("glm-6", 1_000_000),
        ("glm-5.1", 200_000),
        ("glm-4.5-air", 131_072),
        ("kimi-k4", 1_048_576),
        ("kimi-k2.7-code", 262_144),
        ("kimi-k2-instruct", 131_072),
        ("qwen4-72b", 131_072),
        ("qwen4-coder", 262_144),
        ("qwen2-7b", 32_768),
        ("deepseek-v3", 131_072),
        ("deepseek-v5", 1_000_000),
        ("gemini-4-pro", 1_048_576),
        ("llama3.2:3b", 131_072),
        ("llama-5", 131_072),
        // A newer version of a variant continues the variant, whether or not the table has the version itself.
        ("gpt-5.5-mini", 400_000),
        ("gpt-5.6-mini", 400_000),
        ("gpt-5.6-nano", 400_000),
        ("gpt-6-mini", 400_000),
        ("gpt-7-mini", 400_000),
        ("gpt-5-mini", 272_000),
        ("o1-mini", 128_000),
        ("o5-mini", 200_000),
        ("gemini-1.5-flash", 1_048_576),
        ("gemini-1.0-pro", 32_760),
        ("grok-4.20-beta", 1_000_000),
        ("grok-4.8", 500_000),
        ("grok-5", 500_000),
        ("grok-latest", 500_000),
        ("qwen3-coder-plus-2025-09-23", 997_952),
    ];
    for (model, window) in rows {
        assert_eq!(window_of(model), Some(window), "{model}");
    }
}

/// Each model, as its makers, clouds and runners spell it.
#[test]
fn all_spellings_of_a_name_have_its_window() {
    let rows: [(u64, &[&str]); 8] = [
        (100_000, &["claude-2", "claude-2.0", "anthropic.claude-v2", "anthropic.claude-v2:0"]),
        (200_000, &["claude-2.1", "claude-2-1", "claude-3-opus", "claude-3.5-sonnet"]),
        (100_000, &["claude-instant-1.2", "anthropic.claude-instant-v1"]),
        (1_000_000, &["claude-opus-4-6", "claude-opus-4.6", "claude-opus-4_6"]),
        (
            131_072,
            &["llama-3.1-8b", "llama3.1:8b", "llama3-1-8b", "meta.llama3-1-8b-instruct-v1:0"],
        ),
        (8_192, &["llama-3-8b", "llama3-70b-8192", "meta-llama/Meta-Llama-3-8B"]),
        (16_385, &["gpt-3.5-turbo", "gpt-35-turbo", "gpt-35-turbo-16k"]),
        (1_000_000, &["deepseek-v4", "deepseek-v4-flash"]),
    ];
    for (window, names) in rows {
        for name in names {
            assert_eq!(window_of(name), Some(window), "{name}");
        }
    }
}

#[test]
fn a_million_parameters_are_no_window() {
    assert_eq!(window_of("roneneldan/TinyStories-1M"), None);
    for name in ["gemini-1.5-pro-1m", "Qwen/Qwen2.5-7B-Instruct-1M", "internlm2_5-7b-chat-1m"] {
        assert_eq!(window_of(name), Some(1_000_000), "{name}");
    }
}

#[test]
fn the_table_has_no_model_twice() {
    let (mut prefixes, mut subjects): (Vec<_>, Vec<_>) = window_prefixes().into_iter().unzip();
    // Each line that is no comment is a row.
    let table = include_str!("../../data/windows.tsv");
    assert_eq!(prefixes.len(), table.lines().filter(|line| !line.starts_with('#')).count());
    prefixes.sort_unstable();
    let all = prefixes.len();
    prefixes.dedup();
    assert_eq!(prefixes.len(), all);
    subjects.sort_unstable();
    let doubles: Vec<_> = subjects.windows(2).filter(|pair| pair[0] == pair[1]).collect();
    assert!(doubles.is_empty(), "{doubles:?}");
}

//! What a model's name tells: which counter fits, and how large its window is.

/// The name of the counter that fits a model best. Vendor prefixes (`anthropic/`, `models/`,
/// `us.anthropic.`) and case do not matter. An unknown model gets `o200k`.
#[must_use]
pub fn for_model(model: &str) -> &'static str {
    let name = bare(model);
    if name.starts_with("claude") {
        return if version(&name) < (4, 7) { "estimate:claude-old" } else { "estimate:claude" };
    }
    if name.starts_with("gemini") {
        return if version(&name) < (3, 0) { "estimate:gemini-old" } else { "estimate:gemini" };
    }
    if name.starts_with("gemma") {
        return "estimate:gemini";
    }
    let newer_gpt_4 = ["gpt-4o", "gpt-4.1", "gpt-4.5"].iter().any(|p| name.starts_with(p));
    let older = ["gpt-4", "gpt-3.5", "gpt-35", "text-embedding"];
    if !newer_gpt_4 && older.iter().any(|prefix| name.starts_with(prefix)) {
        return "cl100k";
    }
    "o200k"
}

/// The context window of a model in tokens, input and output together, where it is known. The
/// longest matching prefix of the name wins.
#[must_use]
pub fn window_of(model: &str) -> Option<u64> {
    let name = bare(model);
    WINDOWS
        .iter()
        .filter(|(prefix, _)| name.starts_with(prefix))
        .max_by_key(|(prefix, _)| prefix.len())
        .map(|&(_, window)| window)
}

/// The name without vendor and router prefixes, in lower case.
fn bare(model: &str) -> String {
    let name = model.trim().to_ascii_lowercase();
    let name = name.rsplit('/').next().unwrap_or_default();
    let vendors = ["anthropic.", "meta.", "mistral.", "deepseek.", "openai.", "qwen.", "google."];
    for vendor in vendors {
        if let Some(at) = name.find(vendor) {
            return name[at + vendor.len()..].to_owned();
        }
    }
    name.to_owned()
}

/// The version in a name: `claude-opus-4-7` and `claude-4.7-opus` are (4, 7), a date is no version, and
/// a name without one is the newest.
fn version(name: &str) -> (u32, u32) {
    let mut numbers =
        name.split(['-', '.', '@', ':', '_']).skip_while(|part| !is_version(part)).map_while(
            |part| if is_version(part) { part.trim_start_matches('v').parse().ok() } else { None },
        );
    match (numbers.next(), numbers.next()) {
        (None, _) => (u32::MAX, 0),
        (Some(major), minor) => (major, minor.unwrap_or(0)),
    }
}

fn is_version(part: &str) -> bool {
    let digits = part.strip_prefix('v').unwrap_or(part);
    (1..=2).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit())
}

const K: u64 = 1_024;

/// Prefix of the name and window, from the providers' model pages and model cards.
pub const WINDOWS: &[(&str, u64)] = &[
    // OpenAI
    ("gpt-3.5-turbo", 16_385),
    ("gpt-35-turbo", 16_385),
    ("gpt-4", 8_192),
    ("gpt-4-32k", 32_768),
    ("gpt-4-turbo", 128_000),
    ("gpt-4-1106", 128_000),
    ("gpt-4-0125", 128_000),
    ("gpt-4-vision", 128_000),
    ("gpt-4o", 128_000),
    ("chatgpt-4o", 128_000),
    ("gpt-4.1", 1_047_576),
    ("gpt-4.5", 128_000),
    ("gpt-5", 400_000),
    ("gpt-5-chat", 128_000),
    ("gpt-5.1-chat", 128_000),
    ("gpt-5.2-chat", 128_000),
    ("gpt-5.4", 1_050_000),
    ("gpt-5.4-mini", 400_000),
    ("gpt-5.4-nano", 400_000),
    ("gpt-oss", 131_072),
    ("o1", 200_000),
    ("o1-mini", 128_000),
    ("o1-preview", 128_000),
    ("o3", 200_000),
    ("o4", 200_000),
    ("codex-mini", 200_000),
    // Anthropic
    ("claude", 200_000),
    ("claude-2.0", 100_000),
    ("claude-instant", 100_000),
    ("claude-opus-4-6", 1_000_000),
    ("claude-opus-4.6", 1_000_000),
    ("claude-sonnet-4-6", 1_000_000),
    ("claude-sonnet-4.6", 1_000_000),
    ("claude-opus-4-7", 1_000_000),
    ("claude-opus-4.7", 1_000_000),
    // Google
    ("gemini", 1_048_576),
    ("gemini-1.0", 32_760),
    ("gemini-1.5-pro", 2_097_152),
    ("gemma-2", 8_192),
    ("gemma-3", 131_072),
    // DeepSeek
    ("deepseek", 128 * K),
    ("deepseek-chat", 128_000),
    ("deepseek-reasoner", 128_000),
    ("deepseek-v4", 1_000_000),
    // Qwen
    ("qwen", 32 * K),
    ("qwen2.5", 128 * K),
    ("qwen3", 128 * K),
    ("qwen3-coder", 256 * K),
    ("qwen3-max", 256 * K),
    ("qwen3-next", 256 * K),
    ("qwen-plus", 1_000_000),
    ("qwen-turbo", 1_000_000),
    ("qwq", 128 * K),
    // Moonshot
    ("kimi", 128 * K),
    ("kimi-k2-0905", 256 * K),
    ("kimi-k2-instruct-0905", 256 * K),
    ("kimi-k2-thinking", 256 * K),
    ("kimi-k2.5", 256 * K),
    ("kimi-k2.6", 256 * K),
    ("moonshot-v1-8k", 8 * K),
    ("moonshot-v1-32k", 32 * K),
    ("moonshot-v1-128k", 128 * K),
    // Zhipu
    ("glm-4", 128 * K),
    ("glm-4.6", 200_000),
    ("glm-4.7", 200_000),
    ("glm-5", 200_000),
    // Meta
    ("llama-3", 8 * K),
    ("llama3", 8 * K),
    ("llama-3.1", 128 * K),
    ("llama-3.2", 128 * K),
    ("llama-3.3", 128 * K),
    ("llama3.1", 128 * K),
    ("llama3.2", 128 * K),
    ("llama3.3", 128 * K),
    ("llama3-1", 128 * K),
    ("llama3-2", 128 * K),
    ("llama3-3", 128 * K),
    ("llama-4-scout", 10_485_760),
    ("llama-4-maverick", 1_048_576),
    // Mistral
    ("mistral", 32 * K),
    ("mistral-large", 128 * K),
    ("mistral-medium", 128 * K),
    ("mistral-small", 128 * K),
    ("mistral-nemo", 128 * K),
    ("mixtral-8x22b", 64 * K),
    ("codestral", 256 * K),
    ("devstral", 128 * K),
    ("magistral", 128 * K),
    ("ministral", 128 * K),
];

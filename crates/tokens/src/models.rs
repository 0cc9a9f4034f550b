//! Reads a model's name: its parts, and the counter that fits it.

/// The name of the counter that fits a model best. Vendor prefixes (`anthropic/`, `models/`,
/// `us.anthropic.`) and case do not matter. An unknown model gets `o200k`, the vocabulary of OpenAI's newer models.
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
    // These names begin like the older models and have the newer vocabulary.
    let newer_gpt_4 = ["gpt-4o", "gpt-4.1", "gpt-4.5"].iter().any(|p| name.starts_with(p));
    let older = ["gpt-4", "gpt-3.5", "gpt-35", "text-embedding"];
    if !newer_gpt_4 && older.iter().any(|prefix| name.starts_with(prefix)) {
        return "cl100k";
    }
    "o200k"
}

/// The name without vendor and router prefixes, in lower case.
pub(crate) fn bare(model: &str) -> String {
    let name = model.trim().to_ascii_lowercase();
    let name = name.rsplit('/').next().unwrap_or_default();
    let vendors =
        ["anthropic.", "meta.", "meta-", "mistral.", "deepseek.", "openai.", "qwen.", "google."];
    // A region may come before the vendor: `us.anthropic.`.
    for vendor in vendors {
        if let Some(at) = name.find(vendor) {
            return name[at + vendor.len()..].to_owned();
        }
    }
    name.to_owned()
}

/// The version in a model's name: `claude-opus-4-7` and `claude-4.7-opus` give (4, 7). A date is no version. A name
/// without a version counts as the newest.
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

/// Whether a part is a number of at most two digits, such as `4` or `v2`.
pub(crate) fn is_version(part: &str) -> bool {
    let digits = part.strip_prefix('v').unwrap_or(part);
    (1..=2).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit())
}

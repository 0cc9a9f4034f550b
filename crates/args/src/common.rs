//! Arguments that several commands share, and the parsers of numbers.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

/// When outputs have colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ColorChoice {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// Flags that say how tokens are counted, and the window that they have to fit.
#[derive(Clone, Debug, Args)]
pub struct MeasureArgs {
    /// The window to fit, in tokens [default: that of the model that the input names, else 128,000]
    #[arg(long, value_name = "N", value_parser = tokens, help_heading = "Measuring")]
    pub window: Option<u64>,
    /// How to count: o200k, cl100k, estimate:claude, chars:3.2, a tokenizer.json, …
    /// [default: what fits the model that the input names]
    #[arg(
        long,
        value_name = "NAME|FILE|chars:R",
        help_heading = "Measuring",
        hide_short_help = true
    )]
    pub tokenizer: Option<String>,
    /// The rules of the provider that the result goes to: openai, responses, anthropic, gemini, bedrock,
    /// ollama, strict, deepseek, sharegpt [default: the provider of the dialect]
    #[arg(long, value_name = "PROFILE", help_heading = "Measuring", hide_short_help = true)]
    pub profile: Option<String>,
}

/// Flags that choose the policy.
#[derive(Clone, Debug, Args)]
pub struct FoldingArgs {
    /// When and how to fold: see `midfold print presets`
    /// [default: `lean` where midfold gives the agent recall, else `default`]
    #[arg(long, value_name = "PRESET", help_heading = "Folding", conflicts_with = "policy")]
    pub preset: Option<String>,
    /// A policy of your own, as TOML; `base = "default"` starts from a preset
    #[arg(long, value_name = "FILE", help_heading = "Folding", hide_short_help = true)]
    pub policy: Option<PathBuf>,
}

/// Parses a number of seconds: `90` or `0.5`. Zero is refused.
pub fn seconds(text: &str) -> Result<Duration, String> {
    let number = text.parse().ok().and_then(|number| Duration::try_from_secs_f64(number).ok());
    number
        .filter(|limit| !limit.is_zero())
        .ok_or_else(|| "write a number of seconds: 90, 0.5".to_owned())
}

/// Parses a number of tokens: `32000`, `32_000`, `32,000`, `32k` or `1m`. Zero is refused.
pub fn tokens(text: &str) -> Result<u64, String> {
    let digits = text.replace(['_', ','], "").to_ascii_lowercase();
    let (digits, unit) = match digits.strip_suffix('k') {
        Some(rest) => (rest, 1_000),
        None => digits.strip_suffix('m').map_or((digits.as_str(), 1), |rest| (rest, 1_000_000)),
    };
    let number = digits.parse::<u64>().ok().and_then(|n| n.checked_mul(unit)).filter(|n| *n > 0);
    number.ok_or_else(|| "write a number of tokens: 32000, 32k, 1m".to_owned())
}

/// Parses a number of bytes: `500000`, `500k`, `16m` or `1g`, in units of 1,024. Zero is refused.
pub fn size(text: &str) -> Result<u64, String> {
    let text = text.replace(['_', ',', ' '], "").to_ascii_lowercase();
    let bare = text.trim_end_matches("ib").trim_end_matches('b');
    let (digits, unit) = match bare.chars().last() {
        Some('k') => (&bare[..bare.len() - 1], 1 << 10),
        Some('m') => (&bare[..bare.len() - 1], 1 << 20),
        Some('g') => (&bare[..bare.len() - 1], 1 << 30),
        _ => (bare, 1),
    };
    let number = digits.parse::<u64>().ok().and_then(|n| n.checked_mul(unit)).filter(|n| *n > 0);
    number.ok_or_else(|| "write a number of bytes: 500000, 500k, 16m".to_owned())
}

/// Parses `NAME=VALUE`, as in `--inject NAME=FILE` or `--reserve NAME=N`.
pub fn pair(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').unwrap_or((text, ""));
    match (name.trim(), value) {
        ("", _) | (_, "") => Err("it takes a name and a value: NAME=VALUE".to_owned()),
        (name, value) => Ok((name.to_owned(), value.to_owned())),
    }
}

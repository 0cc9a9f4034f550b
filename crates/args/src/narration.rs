//! Arguments that name the model which narrates while a server runs.

use std::path::PathBuf;

use clap::Args;

use crate::common::tokens;

/// Flags that name a model to narrate in the background.
#[derive(Debug, Args)]
#[command(next_help_heading = "Narration")]
pub struct NarrationArgs {
    /// Have this model write a part of the next recap, in the background: an OpenAI-compatible
    /// service. No request waits for it; where it fails, recaps are computed
    #[arg(long = "narrator", value_name = "URL")]
    pub url: Option<String>,
    /// The model's name at that service
    #[arg(
        long = "narrator-model",
        value_name = "NAME",
        default_value = "default",
        hide_short_help = true
    )]
    pub model: String,
    /// The environment variable that holds its key
    #[arg(long = "narrator-key-env", value_name = "NAME", hide_short_help = true)]
    pub key_env: Option<String>,
    /// The file that holds the key
    #[arg(
        long = "narrator-key-file",
        value_name = "FILE",
        conflicts_with = "key_env",
        hide_short_help = true
    )]
    pub key_file: Option<PathBuf>,
    /// The most narrations in an hour
    #[arg(long = "narrator-calls", value_name = "N", default_value_t = 60, hide_short_help = true)]
    pub calls: u32,
    /// The most tokens in an hour, of prompts and replies
    #[arg(long = "narrator-tokens", value_name = "N", value_parser = tokens, default_value = "2m", hide_short_help = true)]
    pub tokens: u64,
}

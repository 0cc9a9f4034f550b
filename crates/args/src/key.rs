//! The arguments of `midfold serve key`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use crate::common::size;

/// The arguments of `midfold serve key`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  midfold serve key new alice --keys keys.toml
  midfold serve key new ci --requests-per-minute 60 --longest-body 16m --keys keys.toml
  midfold serve key new prometheus --scope admin --keys keys.toml
  midfold serve key list --keys keys.toml
  midfold serve key remove alice --keys keys.toml

A server that was started with `midfold serve --keys keys.toml` reads the file again on SIGHUP.")]
pub struct KeyCommands {
    /// The subcommand.
    #[command(subcommand)]
    pub command: KeyCommand,
}

/// The subcommands of `midfold serve key`.
#[derive(Debug, Subcommand)]
pub enum KeyCommand {
    /// Make a key and print it, once: the file keeps only its hash
    New(NewKey),
    /// List the keys of a file
    List(KeysFile),
    /// Take a key out of a file
    Remove(RemoveKey),
}

/// The arguments of `midfold serve key new`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  midfold serve key new alice --keys keys.toml

Without --keys the lines for the file are printed to standard error.")]
pub struct NewKey {
    /// The client's name: letters, digits, `.`, `_`, `-` and `@`. Conversations belong to this name
    #[arg(value_name = "NAME")]
    pub name: String,
    /// What it may be used for (may be repeated) [default: proxy]
    #[arg(long, value_name = "SCOPE")]
    pub scope: Vec<ScopeName>,
    /// How many requests it may make a minute [default: any number]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub requests_per_minute: Option<u32>,
    /// The most bytes in the body of a request: 500k, 16m [default: any number]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub longest_body: Option<u64>,
    /// How many messages a request may have [default: any number]
    #[arg(long, value_name = "N")]
    pub longest_history: Option<u64>,
    /// Whether the model gets `midfold_recall` [default: as the server is set]
    #[arg(long, value_name = "BOOL")]
    pub recall: Option<bool>,
    /// Whether an agent gets the tools for its own conversation [default: as the server is set]
    #[arg(long, value_name = "BOOL")]
    pub agent_tools: Option<bool>,
    /// Append the key to this file, which is made if it is missing [default: the file of keys of the settings]
    #[arg(long, value_name = "FILE")]
    pub keys: Option<PathBuf>,
}

/// The arguments of `midfold serve key list`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  midfold serve key list --keys keys.toml")]
pub struct KeysFile {
    /// The file of keys [default: that of the settings]
    #[arg(long, value_name = "FILE")]
    pub keys: Option<PathBuf>,
}

/// The arguments of `midfold serve key remove`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  midfold serve key remove alice --keys keys.toml")]
pub struct RemoveKey {
    /// The client's name
    #[arg(value_name = "NAME")]
    pub name: String,
    /// The file of keys [default: that of the settings]
    #[arg(long, value_name = "FILE")]
    pub keys: Option<PathBuf>,
}

/// The kinds of requests that a key may be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ScopeName {
    /// Requests to providers
    Proxy,
    /// The client's own stored sessions
    Sessions,
    /// The server's metrics
    Admin,
}

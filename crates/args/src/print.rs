//! The arguments of `midfold print`.

use clap::{Args, Subcommand, ValueEnum};

use crate::about::{CompletionsArgs, ConfigArgs, ManArgs};

/// The arguments of `midfold print`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  midfold print presets
  midfold print config
  midfold print completions zsh > ~/.zfunc/_midfold")]
pub struct PrintArgs {
    /// The subcommand.
    #[command(subcommand)]
    pub command: PrintCommand,
}

/// The subcommands of `midfold print`.
#[derive(Debug, Subcommand)]
pub enum PrintCommand {
    /// List the presets, or print one
    Presets(PresetsArgs),
    /// Show which settings hold, and from which file
    Config(ConfigArgs),
    /// Print the JSON schema of a fold record, a policy or settings, or the OpenAPI document
    Schema(SchemaArgs),
    /// Print completions for a shell
    Completions(CompletionsArgs),
    /// Print the man page, or write one for each command
    Man(ManArgs),
}

/// The arguments of `midfold print presets`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  midfold print presets
  midfold print presets default > my-policy.toml")]
pub struct PresetsArgs {
    /// Print this preset, with its comments
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
}

/// The arguments of `midfold print schema`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  midfold print schema policy > policy.schema.json")]
pub struct SchemaArgs {
    /// The schema to print
    #[arg(value_name = "WHAT", default_value = "fold")]
    pub of: SchemaOf,
}

/// The things whose schema can be printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SchemaOf {
    /// The record of one compaction
    Fold,
    /// A policy file
    Policy,
    /// A file of settings: midfold.toml
    Config,
    /// The HTTP interface to sessions, in OpenAPI 3.1
    Openapi,
}

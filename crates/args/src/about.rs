//! Arguments of commands about midfold itself: settings, completions, man pages; and of the logs.

use std::path::PathBuf;

use clap::builder::PossibleValue;
use clap::{Args, ValueEnum, ValueHint};

/// The arguments of `midfold print config`: only those that every command has.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  midfold print config
  midfold print config --json

Settings are read from two files: the project's, midfold.toml in the working directory or the nearest folder \
above it, and yours, midfold/config.toml in your config folder ($XDG_CONFIG_HOME, else ~/.config). The project's \
file wins over yours, and flags and environment win over both. Paths are relative to the file's folder. The \
project's file may come from somebody else, so these are read from yours alone: a policy that runs a command, a \
store on a server, and all of `[serve]` but `strict`.

  window    = 128000                 # the model's window, in tokens
  windows   = { \"llama3.2*\" = 8192 } # windows of models by name: they win over `window`
  tokenizer = \"o200k\"                # a name, or a tokenizer.json
  profile   = \"openai\"               # the provider's rules
  to        = \"anthropic\"            # the dialect that messages are converted to
  model     = \"gpt-5\"                # the model, where a transcript names none
  preset    = \"default\"              # or: policy = \"my-policy.toml\"
  tiers     = { results = 0.3 }      # the most that a class of content may take
  narrate   = false                  # have a model write parts of recaps
  store     = \"sqlite:sessions.db\"   # or postgres://…
  prices    = \"reference\"            # a table by name, or a TOML file

  [serve]                            # `midfold serve --help` says what they mean
  listen       = \"0.0.0.0:7878\"
  keys         = \"keys.toml\"
  tls_cert     = \"cert.pem\"
  tls_key      = \"key.pem\"
  upstream     = { openai = \"http://127.0.0.1:8080/v1\" }
  ca           = \"corporate.pem\"      # more authorities to trust
  upstream_key = { openai = \"OPENAI_API_KEY\" }       # the variable that holds the key
  allow_origin = [\"https://midfold.example\"]
  open         = false
  strict       = false
  recall       = false               # give agents a tool that looks up what was folded
  agent_tools  = false               # give agents tools that fold, pin and note
  cache_lifetime = 300               # seconds that the provider's cache keeps a prompt

  [after_fold]                       # texts that are put back after each fold
  text   = \"Answer in German.\"
  files  = [\"PLAN.md\"]              # read again from disk at each fold
  tokens = 4000                      # the most that they take

  [[upstream]]                       # one for each place
  name   = \"local\"                  # requests to /to/local/… go there
  url    = \"http://127.0.0.1:11434\"
  models = [\"llama*\", \"qwen*\"]     # and so do requests for these models

Each key with its type, its variable and its flag: docs/CONFIG.md. `midfold print schema config` prints a JSON schema.")]
pub struct ConfigArgs {}

/// The arguments of `midfold print completions`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  midfold print completions bash > ~/.local/share/bash-completion/completions/midfold
  midfold print completions zsh > ~/.zfunc/_midfold
  midfold print completions fish > ~/.config/fish/completions/midfold.fish")]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub shell: Shell,
}

/// The shells for which completions can be printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shell {
    /// `bash`
    Bash,
    /// `elvish`
    Elvish,
    /// `fish`
    Fish,
    /// `powershell`
    PowerShell,
    /// `zsh`
    Zsh,
}

// Not derived, because the help would then print the comment above each variant, which only repeats the name.
impl ValueEnum for Shell {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Bash, Self::Elvish, Self::Fish, Self::PowerShell, Self::Zsh]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(match self {
            Self::Bash => "bash",
            Self::Elvish => "elvish",
            Self::Fish => "fish",
            Self::PowerShell => "powershell",
            Self::Zsh => "zsh",
        }))
    }
}

/// The arguments of `midfold print man`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  midfold print man | man -l -
  midfold print man -o ~/.local/share/man/man1")]
pub struct ManArgs {
    /// Write a page for each command into this folder [default: print the page of `midfold`]
    #[arg(long, short, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub output: Option<PathBuf>,
}

/// Flags about logs: which ones are written, and where.
#[derive(Debug, Args)]
pub struct LoggingArgs {
    /// Say what is done, on standard error; twice: also each step
    #[arg(long, short, global = true, action = clap::ArgAction::Count, help_heading = "Logging")]
    pub verbose: u8,
    /// Write what is done to FILE, one JSON object a line (`-`: standard error)
    #[arg(long, global = true, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Logging")]
    pub log: Option<PathBuf>,
}

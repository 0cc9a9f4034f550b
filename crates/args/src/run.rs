//! The arguments of `midfold run`.

use std::ffi::OsString;

use clap::{Args, ValueHint};

use crate::ProxyArgs;

/// The arguments of `midfold run`.
#[derive(Debug, Args)]
#[command(override_usage = "midfold run [OPTIONS] -- <CMD> [ARGUMENT]...")]
#[command(after_help = "\
Examples:
  midfold run -- claude
  midfold run -- codex exec \"fix the tests\"
  midfold run --window 32k --upstream openai=http://127.0.0.1:8080/v1 -- python my_agent.py
  midfold run --store memory --preset lean -- aider
  midfold run --client pi -- node cli.js

A proxy like that of `midfold serve` listens on a free port of this machine for as long as CMD runs. CMD \
gets this terminal, and finds the proxy by variables: OPENAI_BASE_URL, OPENAI_API_BASE, ANTHROPIC_BASE_URL, \
ANTHROPIC_API_URL, ANTHROPIC_API_BASE, GOOGLE_GEMINI_BASE_URL, GEMINI_BASE_URL, GEMINI_API_BASE, and \
MIDFOLD_URL, the address alone. Requests go on to --upstream, else to what CMD's own configuration or these \
variables said before, else to the providers themselves. Keys and logins are CMD's own, and go on with its \
requests.

Some clients need further settings: claude, codex, opencode, pi, hermes. They are recognised by the name of CMD, or \
named with --client, and get options or variables; no file of theirs is changed.

Signals go on to CMD. The exit code is that of CMD, 128 + N where signal N ended it, 127 where it is not \
found, 126 where it cannot be run. At the end one line on standard error says what was saved; with --json it is JSON.")]
pub struct RunArgs {
    /// Treat CMD as this client, whatever its name is
    #[arg(long, value_name = "NAME")]
    pub client: Option<String>,
    /// Say nothing at the end
    #[arg(long, short)]
    pub quiet: bool,
    /// The program, and its arguments
    #[arg(
        value_name = "CMD",
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_hint = ValueHint::CommandWithArguments
    )]
    pub command: Vec<OsString>,
    // This field has to be the last: it sets a help heading that would also apply to fields after it.
    /// The proxy.
    #[command(flatten)]
    pub proxy: ProxyArgs,
}

//! The `midfold` command: files and the terminal around the engine.
//!
//! This crate has no stable interface: only its bin and its tests use it, and it may change with every release.

#![cfg_attr(
    not(feature = "sessions"),
    expect(dead_code, reason = "what commands share that this build does not have")
)]

mod about;
#[cfg(feature = "sessions")]
mod after_fold;
#[cfg(feature = "sessions")]
mod audit;
#[cfg(feature = "sessions")]
mod banner;
mod bounded;
#[cfg(feature = "sessions")]
mod clients;
mod compact;
mod compacted_conversation;
mod config;
#[cfg(feature = "sessions")]
mod deletion;
#[cfg(feature = "sessions")]
mod doctor;
mod env;
mod error;
mod eval_archive;
mod exam;
#[cfg(feature = "sessions")]
mod explain;
mod fabric;
mod fates;
#[cfg(feature = "sessions")]
mod hooks;
#[cfg(feature = "sessions")]
mod host;
mod html;
#[cfg(feature = "sessions")]
mod import;
mod input;
mod inspect;
#[cfg(feature = "sessions")]
mod key;
mod keys;
mod logging;
#[cfg(feature = "sessions")]
mod mcp;
mod narrator;
mod note;
mod output;
mod page;
mod paths;
mod picture;
mod prepare;
mod presets;
#[cfg(feature = "sessions")]
mod recall;
#[cfg(feature = "sessions")]
mod recordings;
#[cfg(feature = "sessions")]
mod regular;
mod replay;
mod report;
#[cfg(feature = "sessions")]
mod run;
mod runtime;
#[cfg(feature = "sessions")]
mod saving;
mod schema;
#[cfg(feature = "sessions")]
mod seal;
#[cfg(feature = "sessions")]
mod serve;
#[cfg(feature = "sessions")]
mod serving;
#[cfg(feature = "sessions")]
mod session;
mod session_folder;
#[cfg(feature = "sessions")]
mod signals;
mod stdin;
#[cfg(feature = "sessions")]
mod store;
#[cfg(feature = "sessions")]
mod subject;
mod summariser;
mod table;
#[cfg(feature = "sessions")]
mod tls;
#[cfg(feature = "sessions")]
mod top;
mod trajectories;
mod transcript;
mod verify;
mod visible;
mod whole_file;
mod words;
#[cfg(feature = "sessions")]
mod worker;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{ColorChoice, FromArgMatches};
#[cfg(feature = "sessions")]
use midfold_args::ServeCommand;
use midfold_args::{CheckCommand, Cli, Command, MeasureCommand, PrintCommand};

use crate::error::CommandError;
use crate::output::Output;

/// The parts of this crate that its tests use. They are no interface and may change at any time.
#[doc(hidden)]
pub mod inside {
    #[cfg(feature = "sessions")]
    pub use crate::clients::{KnownClient, ProxyFront, VARIABLES};
    #[cfg(feature = "sessions")]
    pub use crate::doctor::clients::shown;
    #[cfg(feature = "sessions")]
    pub use crate::doctor::near::local;
    #[cfg(feature = "sessions")]
    pub use crate::host::{OpenStore, StoreCreation, new_id, random};
    #[cfg(feature = "sessions")]
    pub use crate::import::watch::FileFollower;
    pub use crate::keys::{KEYS, SettingKey};
    pub use crate::output::cut;
    pub use crate::trajectories::cache::AnswerCache;
    pub use crate::trajectories::config::{JobFile, family};
    pub use crate::trajectories::lines::{LineChunks, LinePosition};
    pub use crate::trajectories::lock::RunLock;
    pub use crate::trajectories::transcripts::TranscriptRows;
    pub use crate::visible::{painted, visible, visible_bytes, with_plain_codes};

    /// Hooks of Claude Code.
    #[cfg(feature = "sessions")]
    pub mod hooks {
        pub use crate::hooks::claude::{NoText, RecallCommand, after_compaction, hooks};
        pub use crate::hooks::settings::{
            HookSetting, SettingsChange, install, installed, uninstall,
        };
    }

    /// Imports of transcripts.
    #[cfg(feature = "sessions")]
    pub mod import {
        pub use crate::import::plan::{ImportExtent, ImportPlan, ImportedSession};
        pub use crate::recordings::{TranscriptPart, TranscriptRecordings};
    }

    /// Names of strategies in an exam.
    pub mod exam {
        pub use crate::exam::free_name;
    }

    /// The page of a replay.
    pub mod html {
        pub use crate::html::{SLOT, TEMPLATE, write};
    }

    /// Reading of files.
    pub mod input {
        pub use crate::input::{not_unpacked, unpacked};
    }

    /// Reading of files packed with zstd.
    pub mod packed {
        pub use crate::trajectories::packed::{assemble, open, pack};
    }

    /// Names of transcripts.
    pub mod paths {
        pub use crate::paths::{is_transcript, unpacked};
    }

    /// Figures of a run of `midfold trajectories`.
    pub mod report {
        pub use crate::trajectories::report::time;
    }

    /// The line about saved tokens at the end of `midfold run`.
    #[cfg(feature = "sessions")]
    pub mod saving {
        pub use crate::saving::line;
    }

    /// Texts with figures.
    pub mod words {
        pub use crate::words::{line, printable, time};
    }
}

/// Runs the command with the arguments and streams of this process. Only the bin and the tests of the crate use it.
pub fn main() -> ExitCode {
    let (args, renamed) = midfold_args::present(std::env::args_os().collect());
    let command = midfold_args::command().color(help_color(&args));
    let parsed = command.try_get_matches_from(args).map_err(about::with_near_command);
    let cli = match parsed.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(error) => {
            // Printing may fail because nobody reads our output any more. That is no error.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    let output = Output::new(cli.color);
    if let Some(renamed) = renamed {
        about::say_renamed(renamed, &output);
    }
    let is_server = matches!(&cli.command, Command::Serve(args) if args.command.is_none());
    match logging::start(&cli.logging, is_server).and_then(|()| run(&cli, &output)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            output.error(&error);
            ExitCode::from(error.code)
        }
    }
}

fn run(cli: &Cli, output: &Output) -> Result<(), CommandError> {
    match &cli.command {
        Command::Compact(args) => compact::run(args, cli.json, output),
        Command::Inspect(args) => inspect::run(args, cli.json, output),
        Command::Trajectories(args) => trajectories::run(args, cli.json, output),
        Command::Measure(args) => match &args.command {
            MeasureCommand::Replay(args) => replay::run(args, cli.json, output),
            MeasureCommand::Exam(args) => exam::run(args, cli.json, output),
        },
        Command::Print(args) => match &args.command {
            PrintCommand::Presets(args) => presets::run(args, cli.json, output),
            PrintCommand::Schema(args) => schema::run(args, output),
            PrintCommand::Config(_) => config::run(cli.json, output),
            PrintCommand::Completions(args) => about::completions(args, output),
            PrintCommand::Man(args) => about::man(args, output),
        },
        Command::Check(args) => match &args.command {
            CheckCommand::File(args) => verify::run(args, cli.json, output),
            _ => over_sessions(&cli.command, cli.json, output),
        },
        command => over_sessions(command, cli.json, output),
    }
}

/// Runs the commands that need more than files: stored sessions, servers, clients.
#[cfg(feature = "sessions")]
fn over_sessions(command: &Command, json: bool, output: &Output) -> Result<(), CommandError> {
    match command {
        Command::Session(args) => session::run(args, json, output),
        Command::Import(args) => import::run(args, json, output),
        Command::Explain(args) => explain::run(args, json, output),
        Command::Recall(args) => recall::run(args, json, output),
        Command::Worker(args) => worker::run(args, json, output),
        Command::Serve(args) => match &args.command {
            Some(ServeCommand::Key(args)) => key::run(&args.command, json, output),
            None => serve::run(args, json, output),
        },
        Command::Run(args) => run::run(args, json, output),
        Command::Connect(args) => hooks::connect(args, json, output),
        Command::Hooks(args) => hooks::run(args, output),
        Command::Mcp(args) => mcp::run(args, output),
        Command::Doctor(args) => doctor::run(args, json, output),
        Command::Store(args) => store::run(args, json, output),
        Command::Top(args) => top::run(args, json, output),
        Command::Check(args) => match &args.command {
            CheckCommand::Session(args) => audit::run(args, json, output),
            CheckCommand::Store(args) => store::check(&args.at, json, output),
            // `run` has run this one, and those below.
            CheckCommand::File(_) => Ok(()),
        },
        Command::Compact(_)
        | Command::Inspect(_)
        | Command::Trajectories(_)
        | Command::Measure(_)
        | Command::Print(_) => Ok(()),
    }
}

#[cfg(not(feature = "sessions"))]
fn over_sessions(_: &Command, _: bool, _: &Output) -> Result<(), CommandError> {
    Err(CommandError::usage(
        "this build of midfold works on files alone: it has no sessions and no server",
    )
    .hint("build it with the feature `sessions`, which is on by default"))
}

/// The colours of help texts. Help is printed while arguments are parsed, so `--color` is looked up here before.
fn help_color(args: &[OsString]) -> ColorChoice {
    // Behind `--` are the arguments of a program that is run.
    let own = args.split(|arg| arg == "--").next().unwrap_or_default();
    let after = |name: &str| own.windows(2).any(|pair| pair[0] == "--color" && pair[1] == name);
    let says = |name: &str| own.iter().any(|arg| *arg == *format!("--color={name}")) || after(name);
    match () {
        () if says("never") => ColorChoice::Never,
        () if says("always") => ColorChoice::Always,
        () => ColorChoice::Auto,
    }
}

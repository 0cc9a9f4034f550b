//! The `midfold` command: arguments, files and the terminal around the engine.

mod about;
mod args;
mod audit;
mod clients;
mod compact;
mod config;
mod deletion;
mod doctor;
mod done;
mod env;
mod error;
mod explain;
mod fabric;
mod fates;
mod hooks;
mod host;
mod html;
mod import;
mod input;
mod inspect;
mod key;
mod logging;
mod mcp;
mod narrator;
mod note;
mod output;
mod page;
mod paths;
mod picture;
mod prepare;
mod presets;
mod recall;
mod replay;
mod report;
mod run;
mod schema;
mod seal;
mod serve;
mod serving;
mod session;
mod signals;
mod store;
mod summariser;
mod table;
mod tls;
mod top;
mod trajectories;
mod transcript;
mod tune;
mod verify;
mod words;
mod worker;

use std::process::ExitCode;

use clap::{ColorChoice, CommandFactory, FromArgMatches};

use crate::args::{Cli, Command};
use crate::error::CommandError;
use crate::output::Output;

fn main() -> ExitCode {
    let matches = match Cli::command().color(help_color()).try_get_matches() {
        Ok(matches) => matches,
        Err(error) => {
            // A reader that left is no error.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    let cli = match Cli::from_arg_matches(&matches) {
        Ok(cli) => cli,
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(2);
        }
    };
    let output = Output::new(cli.color);
    match logging::start(&cli.logging).and_then(|()| run(&cli, &output)) {
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
        Command::Verify(args) => verify::run(args, cli.json, output),
        Command::Session(args) => session::run(args, cli.json, output),
        Command::Import(args) => import::run(args, cli.json, output),
        Command::Explain(args) => explain::run(args, cli.json, output),
        Command::Audit(args) => audit::run(args, cli.json, output),
        Command::Recall(args) => recall::run(args, cli.json, output),
        Command::Worker(args) => worker::run(args, cli.json, output),
        Command::Serve(args) => serve::run(args, cli.json, output),
        Command::Key(args) => key::run(&args.command, cli.json, output),
        Command::Run(args) => run::run(args, cli.json, output),
        Command::Hooks(args) => hooks::run(args, cli.json, output),
        Command::Mcp(args) => mcp::run(args, output),
        Command::Doctor(args) => doctor::run(args, cli.json, output),
        Command::Store(args) => store::run(args, cli.json, output),
        Command::Top(args) => top::run(args, cli.json, output),
        Command::Replay(args) => replay::run(args, cli.json, output),
        Command::Trajectories(args) => trajectories::run(args, cli.json, output),
        Command::Tune(args) => tune::run(args, cli.json, output),
        Command::Presets(args) => presets::run(args, cli.json, output),
        Command::Schema(args) => schema::run(args, output),
        Command::Config(_) => config::run(cli.json, output),
        Command::Completions(args) => about::completions(args, output),
        Command::Man(args) => about::man(args, output),
    }
}

/// Help is printed while arguments are parsed, so `--color` has to be looked up before.
fn help_color() -> ColorChoice {
    let args: Vec<String> = std::env::args().collect();
    let after = |name: &str| args.windows(2).any(|pair| pair[0] == "--color" && pair[1] == name);
    let says = |name: &str| args.contains(&format!("--color={name}")) || after(name);
    match () {
        () if says("never") => ColorChoice::Never,
        () if says("always") => ColorChoice::Always,
        () => ColorChoice::Auto,
    }
}

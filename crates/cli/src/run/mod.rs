//! `midfold run`: runs an agent with a proxy of its own.

mod child;
mod file;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use midfold::store::Millis;
use midfold_args::RunArgs as Args;
use midfold_serve::{RunningServer, UpstreamTable};
use tokio::process::Command;

use crate::clients::{
    BaseUrlVariable, CLIENTS, ClientInstructions, ClientSurroundings, KnownClient, OwnProvider,
    PROXY_URL_VARIABLE, ProxyFront, VARIABLES,
};
use crate::env;
use crate::error::CommandError;
use crate::output::{Output, reason};
use crate::runtime::{block_on, now};
use crate::saving;
use crate::serve;
use crate::serving;

/// The most time that requests may go on after the agent has ended. Nobody waits for their answers any more.
const DRAIN: Duration = Duration::from_secs(2);

pub fn run(args: &Args, json: bool, output: &Output) -> Result<(), CommandError> {
    let Some((program, arguments)) = args.command.split_first() else {
        return Err(CommandError::usage("there is no program to run").hint("midfold run -- claude"));
    };
    let client = client(args, program)?;
    let surroundings = ClientSurroundings {
        home: env::home(),
        folder: std::env::current_dir().unwrap_or_default(),
        variable: &env::get,
        arguments: arguments
            .iter()
            .map(|argument| argument.to_string_lossy().into_owned())
            .collect(),
    };
    let own_provider = client.as_ref().and_then(|client| client.own(&surroundings));
    let (flags, lower_settings) = (serving::flags(&args.proxy), serving::below()?);
    let upstreams = serve::upstreams(&lower_settings, UpstreamTable::default())?;
    let upstreams = earlier_upstreams(client.as_ref(), own_provider.as_ref(), upstreams)?;
    let upstreams = serve::upstreams(&flags, upstreams)?;
    let settings = flags.over(lower_settings);
    let (mut config, policy) = serve::configured(&args.proxy, &settings, upstreams.clone())?;
    config.drain = DRAIN;
    // No request comes after the agent has ended, so its last step becomes history then.
    config.rules = config.rules.with_last_steps();
    if !args.quiet && !json {
        saving::say_start(&policy, serve::recalls(&settings), output);
    }
    let began = now();
    block_on(async {
        serve::keep(&mut config, &args.proxy, output).await?;
        let running = midfold_serve::start(config).await;
        let running = running.map_err(|error| CommandError::failed(error.to_string()))?;
        let front = ProxyFront { origin: format!("http://{}", running.address()), upstreams };
        let instructions = client.map_or_else(ClientInstructions::default, |client| {
            client.instructions(&surroundings, &front, own_provider.as_ref())
        });
        // With `--client` the program may be an interpreter, whose first argument is a script.
        let place =
            if args.client.is_some() { AddedArguments::Last } else { AddedArguments::First };
        let ended = start(program, arguments, place, &front, instructions).await;
        finish(running, ended, args, json, began, output).await
    })
}

/// Stops the proxy, says what it saved, and passes the program's exit code on.
async fn finish(
    running: RunningServer,
    ended: Result<u8, CommandError>,
    args: &Args,
    json: bool,
    began: Millis,
    output: &Output,
) -> Result<(), CommandError> {
    // Stopped before an error is returned, so that the last conversations are written in any case.
    let (busiest, learned) = (running.busiest_session(), running.learned_windows());
    let totals = RunningServer::stop(running).await;
    let code = ended?;
    if !args.quiet {
        let session = match totals.with_history {
            0 => None,
            _ => saving::session_of_run(&args.proxy.at, busiest, began).await,
        };
        if json {
            saving::say_json(&totals, session.as_deref(), output);
        } else {
            saving::say(&totals, output);
            saving::say_windows(&learned, output);
            session.iter().for_each(|id| saving::say_session(id, output));
        }
    }
    if code == 0 { Ok(()) } else { Err(CommandError::silent(code)) }
}

/// The client that `--client` names, or the one that the program's name tells. `None` where midfold does not know the
/// program.
fn client(args: &Args, program: &OsStr) -> Result<Option<KnownClient>, CommandError> {
    let Some(name) = &args.client else { return Ok(KnownClient::of(Path::new(program))) };
    match KnownClient::of(Path::new(name)) {
        Some(client) => Ok(Some(client)),
        None => Err(CommandError::usage(format!("there is no client `{name}`")).hint(format!(
            "the clients that are known: {}",
            CLIENTS.map(|client| client.name).join(", ")
        ))),
    }
}

/// The upstreams that the client used before, as its variables and its configuration say. A gateway of the user thus
/// stays in use behind the proxy. Variables that the client does not read are ignored, because it never sends its key
/// there.
fn earlier_upstreams(
    client: Option<&KnownClient>,
    own: Option<&OwnProvider>,
    mut upstreams: UpstreamTable,
) -> Result<UpstreamTable, CommandError> {
    let is_read = |variable: &&BaseUrlVariable| {
        client.is_none_or(|client| client.providers.contains(&variable.provider))
    };
    // In this order the first variable of a provider is set last, and so overrides the others.
    for variable in VARIABLES.iter().rev().filter(is_read) {
        let Some(url) = env::get(variable.name) else { continue };
        upstreams.set(&format!("{}={url}", variable.provider.name())).map_err(|error| {
            CommandError::usage(format!("{}: {error}", variable.name))
                .hint(format!("correct it, or unset it: env -u {} midfold run …", variable.name))
        })?;
    }
    if let Some(own) = own {
        upstreams.set(&format!("{}={}", own.provider.name(), own.url)).map_err(|error| {
            CommandError::usage(format!("{}: {error}", own.from.display()))
                .hint("correct the address of the provider there")
        })?;
    }
    Ok(upstreams)
}

/// Where the arguments go that midfold adds to those of the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AddedArguments {
    First,
    Last,
}

/// Runs the program with its instructions, and returns its exit code.
async fn start(
    program: &OsStr,
    arguments: &[OsString],
    place: AddedArguments,
    front: &ProxyFront,
    instructions: ClientInstructions,
) -> Result<u8, CommandError> {
    file::sweep();
    // Kept until the program has ended: dropping it removes the file.
    let file = instructions.file.as_deref().map(file::TemporaryFile::new).transpose().map_err(
        |error| {
            CommandError::failed(format!("no file can be made for the client: {}", reason(&error)))
        },
    )?;
    let mut more: Vec<OsString> = instructions.arguments.into_iter().map(OsString::from).collect();
    more.extend(file.as_ref().map(|file| file.path().into()));
    let mut command = Command::new(program);
    match place {
        AddedArguments::First => command.args(more).args(arguments),
        AddedArguments::Last => command.args(arguments).args(more),
    };
    command.env(PROXY_URL_VARIABLE, &front.origin).envs(no_proxy_here());
    for variable in &VARIABLES {
        let before = env::get(variable.name);
        command.env(variable.name, front.value(variable, before.as_deref()));
    }
    // Last, because the variables of a known client override the common ones.
    command.envs(instructions.variables);
    // `file` lives until here, because a client may read it at any time.
    let ended = child::run(command).await;
    ended.map(child::code).map_err(|error| not_started(program, &error))
}

/// `NO_PROXY` with this machine in it, where the environment sends HTTP through a proxy. Otherwise the client would
/// send requests for this proxy there. Programs read the one spelling or the other, so each is set.
fn no_proxy_here() -> Vec<(&'static str, String)> {
    if env::proxy_variable("http").is_none() {
        return Vec::new();
    }
    let names = ["NO_PROXY", "no_proxy"];
    let listed = names.map(env::get);
    let either = listed.iter().flatten().next().cloned();
    let with_this_machine = |listed: Option<String>| match listed.or_else(|| either.clone()) {
        None => "127.0.0.1".to_owned(),
        // All hosts, but only where it is alone.
        Some(all) if all.trim() == "*" => all,
        Some(hosts) => format!("{hosts},127.0.0.1"),
    };
    names.into_iter().zip(listed.map(with_this_machine)).collect()
}

/// The file that a program's name leads to. `None` where there is none.
fn file_of(program: &OsStr) -> Option<PathBuf> {
    let path = Path::new(program);
    if path.components().count() > 1 {
        return path.is_file().then(|| path.to_owned());
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders).map(|folder| folder.join(path)).find(|file| file.is_file())
}

fn not_started(program: &OsStr, error: &std::io::Error) -> CommandError {
    let name = program.to_string_lossy();
    let (code, text, hint) = match error.kind() {
        std::io::ErrorKind::NotFound if name.starts_with('-') => (
            2,
            format!("`{name}` is no option of midfold run"),
            "midfold run --help lists them; the program and its own options follow `--`",
        ),
        // The file is there, so what is missing is the program that its first line names.
        std::io::ErrorKind::NotFound if file_of(program).is_some() => (
            126,
            format!("`{name}` cannot be run: the interpreter that its first line names is missing"),
            "correct that line, or name an interpreter in front: midfold run -- sh FILE",
        ),
        std::io::ErrorKind::NotFound if KnownClient::of(Path::new(program)).is_some() => (
            127,
            format!("`{name}` is not on the PATH"),
            "install it, or give its whole path; `midfold doctor` shows the clients that are here",
        ),
        std::io::ErrorKind::NotFound => (
            127,
            format!("there is no program `{name}`"),
            "options of midfold come before `--`, the program after it: midfold run --window 32k -- claude",
        ),
        _ => (
            126,
            format!("`{name}` cannot be run: {}", reason(error)),
            "name a program; a script needs to be executable, or its interpreter in front",
        ),
    };
    CommandError { code, ..CommandError::failed(text).hint(hint) }
}

//! `midfold top`.

use std::sync::Arc;

use midfold_args::Top;
use midfold_top::{
    Ask, Id, Screen, ServerSource, Source, State, StoreSource, Trouble, plain, settle,
};
use serde_json::json;

use crate::env;
use crate::error::CommandError;
use crate::host::{Host, Make};
use crate::input::Input;
use crate::output::Output;
use crate::presets::pretty;
use crate::runtime::{block_on, now};
use crate::signals;

/// Holds the key that a server asks for.
const KEY: &str = "MIDFOLD_KEY";

pub fn run(args: &Top, json: bool, output: &Output) -> Result<(), CommandError> {
    block_on(async {
        match &args.server {
            Some(url) => {
                let source = ServerSource::new(url, key(args)?.as_deref()).map_err(failed)?;
                show(Arc::new(source), args, json, output).await
            }
            None => {
                let host = Host::open(&args.at, Make::No).await?;
                let source = StoreSource::new(host.store, Arc::new(now));
                show(Arc::new(source), args, json, output).await
            }
        }
    })
}

/// The key, from where it was named. It is never an argument: those are seen by everybody.
fn key(args: &Top) -> Result<Option<String>, CommandError> {
    let Some(path) = &args.key_file else { return Ok(env::named(KEY)) };
    let key = Input::text(path)?;
    if key.trim().is_empty() {
        return Err(CommandError::failed(format!("{} holds no key", path.display())));
    }
    Ok(Some(key))
}

async fn show<S: Source>(
    source: Arc<S>,
    args: &Top,
    json: bool,
    output: &Output,
) -> Result<(), CommandError> {
    let session = args.session.clone().map(Id::from);
    if json {
        return print(&*source, session, output).await;
    }
    let style = output.stdout_style();
    let mut state = State::new(&source.place(), style.color, now());
    let mut asks = vec![Ask::Sessions];
    if let Some(id) = &session {
        asks.extend(state.open(id));
    }
    // Asked before the terminal is taken over: what fails says so as any other command does.
    settle(&*source, &mut state, asks).await.map_err(failed)?;
    if !output.is_terminal() || env::get("TERM").is_some_and(|term| term == "dumb") {
        let width = u16::try_from(style.width).unwrap_or(u16::MAX);
        return output.stdout(plain(&state, width));
    }
    let (mut screen, happened) = Screen::open().map_err(|error| {
        let why = crate::output::reason(&error);
        CommandError::failed(format!("the terminal cannot be used: {why}"))
            .hint("`midfold top | cat` prints the list once")
    })?;
    let clock = Arc::new(now);
    let ended = signals::told_to_end();
    let done = midfold_top::run(source, state, &mut screen.terminal, happened, clock, ended).await;
    drop(screen);
    done.map_err(CommandError::failed)
}

async fn print<S: Source>(
    source: &S,
    session: Option<Id>,
    output: &Output,
) -> Result<(), CommandError> {
    let value = match session {
        None => source.json(&Ask::Sessions).await.map_err(failed)?,
        Some(id) => {
            let detail = source.json(&Ask::Detail(id.clone())).await.map_err(failed)?;
            let fabric = source.json(&Ask::Fabric(id)).await.map_err(failed)?;
            json!({ "session": detail, "fabric": fabric })
        }
    };
    output.stdout(pretty(&value)?)
}

fn failed(trouble: Trouble) -> CommandError {
    let hints = trouble.hints.iter().map(ToString::to_string);
    hints.fold(CommandError::failed(trouble.to_string()), CommandError::hint)
}

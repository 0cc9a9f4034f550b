//! `midfold top`: shows sessions in the terminal, or prints the list once.

use std::sync::Arc;

use midfold_args::TopArgs;
use midfold_top::{
    AnswerSource, Screen, ServerSource, SessionId, SourceQuestion, SourceTrouble, StoreSource,
    TopState, plain, settle,
};
use serde_json::json;

use crate::env;
use crate::error::CommandError;
use crate::host::{OpenStore, StoreCreation};
use crate::input::InputFile;
use crate::output::Output;
use crate::presets::pretty;
use crate::runtime::{block_on, now};
use crate::signals;

/// The variable with the key that a server asks for.
const KEY: &str = "MIDFOLD_KEY";

pub fn run(args: &TopArgs, json: bool, output: &Output) -> Result<(), CommandError> {
    block_on(async {
        match &args.server {
            Some(url) => {
                let source = ServerSource::new(url, key(args)?.as_deref()).map_err(failed)?;
                show(Arc::new(source), args.session.clone(), json, output).await
            }
            None => {
                let host = OpenStore::open(&args.at, StoreCreation::No).await?;
                let session = match &args.session {
                    Some(word) => Some(host.id(word, output).await?),
                    None => None,
                };
                let source = StoreSource::new(host.store, Arc::new(now));
                show(Arc::new(source), session, json, output).await
            }
        }
    })
}

/// The key, from a file or a variable. It is never an argument, because other users can see the arguments of a process.
fn key(args: &TopArgs) -> Result<Option<String>, CommandError> {
    let Some(path) = &args.key_file else { return Ok(env::named(KEY)) };
    let key = InputFile::text(path)?;
    if key.trim().is_empty() {
        return Err(CommandError::failed(format!("{} holds no key", path.display())));
    }
    Ok(Some(key))
}

async fn show<S: AnswerSource>(
    source: Arc<S>,
    session: Option<String>,
    json: bool,
    output: &Output,
) -> Result<(), CommandError> {
    let session = session.map(SessionId::from);
    if json {
        return print(&*source, session, output).await;
    }
    let style = output.stdout_style();
    let mut state = TopState::new(&source.place(), style.color, now());
    let mut asks = vec![SourceQuestion::Sessions];
    if let Some(id) = &session {
        asks.extend(state.open(id));
    }
    // The first questions are asked before the terminal is taken over, so that an error is printed as by any other
    // command.
    settle(&*source, &mut state, asks).await.map_err(failed)?;
    if !output.is_terminal() || crate::output::is_dumb() {
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
    let outcome =
        midfold_top::run(source, state, &mut screen.terminal, happened, clock, ended).await;
    drop(screen);
    outcome.map_err(CommandError::failed)
}

async fn print<S: AnswerSource>(
    source: &S,
    session: Option<SessionId>,
    output: &Output,
) -> Result<(), CommandError> {
    let value = match session {
        None => source.json(&SourceQuestion::Sessions).await.map_err(failed)?,
        Some(id) => {
            let detail = source.json(&SourceQuestion::Detail(id.clone())).await.map_err(failed)?;
            let fabric = source.json(&SourceQuestion::Fabric(id)).await.map_err(failed)?;
            json!({ "session": detail, "fabric": fabric })
        }
    };
    output.stdout(pretty(&value)?)
}

fn failed(trouble: SourceTrouble) -> CommandError {
    let hints = trouble.hints.iter().map(ToString::to_string);
    hints.fold(CommandError::failed(trouble.to_string()), CommandError::hint)
}

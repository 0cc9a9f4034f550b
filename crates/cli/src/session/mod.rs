//! `midfold session`: keeps a conversation in a store. Each subcommand has a module.

mod append;
mod change;
mod context;
mod delete;
mod feedback;
mod fold;
mod inject;
mod log;
mod new;
mod observe;
mod show;
mod text;

use midfold_args::{SessionArgs, SessionCommand};

use crate::error::CommandError;
use crate::host::{OpenStore, StoreCreation};
use crate::output::Output;
use crate::runtime::block_on;

pub use fold::find;
pub use text::short;

pub fn run(args: &SessionArgs, json: bool, output: &Output) -> Result<(), CommandError> {
    if let SessionCommand::New(new) = &args.command {
        // Input is read before the store is opened, so that unusable input does not make a store.
        let prepared = new::prepare(new)?;
        return block_on(async {
            let host = OpenStore::open(&args.at, StoreCreation::Yes).await?;
            new::run(new, prepared, &host, json, output).await
        });
    }
    block_on(async {
        let host = OpenStore::open(&args.at, StoreCreation::No).await?;
        let mut command = args.command.clone();
        for word in command.session_words() {
            *word = host.id(word, output).await?;
        }
        over(&command, &host, json, output).await
    })
}

/// Runs a subcommand whose sessions are given by their ids.
async fn over(
    command: &SessionCommand,
    host: &OpenStore,
    json: bool,
    output: &Output,
) -> Result<(), CommandError> {
    match command {
        SessionCommand::New(_) => Ok(()),
        SessionCommand::Append(args) => append::run(args, host, json, output).await,
        SessionCommand::Observe(args) => observe::run(args, host, json, output).await,
        SessionCommand::Recover(args) => context::recover(args, host, json, output).await,
        SessionCommand::Context(args) => context::run(args, host, json, output).await,
        SessionCommand::Compact(args) => fold::compact(args, host, json, output).await,
        SessionCommand::Undo(args) => fold::undo(args, host, json, output).await,
        SessionCommand::Pin(args) => fold::pin(args, true, host, json, output).await,
        SessionCommand::Unpin(args) => fold::pin(args, false, host, json, output).await,
        SessionCommand::Fork(args) => fold::fork(args, host, json, output).await,
        SessionCommand::Delete(args) => delete::run(args, host, json, output).await,
        SessionCommand::Policy(args) => change::policy(args, host, json, output).await,
        SessionCommand::Model(args) => change::model(args, host, json, output).await,
        SessionCommand::Status(args) => show::status(args, host, json, output).await,
        SessionCommand::List(args) => show::list(args, host, json, output).await,
        SessionCommand::Log(args) => log::run(args, host, json, output).await,
    }
}

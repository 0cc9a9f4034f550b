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
    // Input is read before the store is opened, so that unusable input neither opens nor makes a store.
    let work = SessionWork { args };
    match &args.command {
        SessionCommand::New(new) => {
            let prepared = new::prepare(new)?;
            work.with(StoreCreation::Yes, async |host| {
                new::run(new, prepared, host, json, output).await
            })
        }
        SessionCommand::Append(append) => {
            let input = append::input(&append.file)?;
            work.open(async |host| append::run(append, &input, host, json, output).await)
        }
        SessionCommand::Observe(observe) => {
            let usage = observe::usage(observe)?;
            work.open(async |host| observe::run(observe, usage, host, json, output).await)
        }
        SessionCommand::Recover(recover) => {
            let body = context::body(&recover.body)?;
            work.open(async |host| context::recover(recover, &body, host, json, output).await)
        }
        SessionCommand::Context(args) => {
            work.open(async |host| context::run(args, host, json, output).await)
        }
        SessionCommand::Compact(args) => {
            work.open(async |host| fold::compact(args, host, json, output).await)
        }
        SessionCommand::Preview(args) => {
            work.open(async |host| fold::preview(args, host, json, output).await)
        }
        SessionCommand::Undo(args) => {
            work.open(async |host| fold::undo(args, host, json, output).await)
        }
        SessionCommand::Pin(args) => {
            work.open(async |host| fold::pin(args, true, host, json, output).await)
        }
        SessionCommand::Unpin(args) => {
            work.open(async |host| fold::pin(args, false, host, json, output).await)
        }
        SessionCommand::Fork(args) => {
            work.open(async |host| fold::fork(args, host, json, output).await)
        }
        SessionCommand::Delete(args) => {
            work.open(async |host| delete::run(args, host, json, output).await)
        }
        SessionCommand::Policy(args) => {
            let policy = change::wanted(args)?;
            work.open(async |host| change::policy(args, policy, host, json, output).await)
        }
        SessionCommand::Model(args) => {
            work.open(async |host| change::model(args, host, json, output).await)
        }
        SessionCommand::Status(args) => {
            work.open(async |host| show::status(args, host, json, output).await)
        }
        SessionCommand::List(args) => {
            work.open(async |host| show::list(args, host, json, output).await)
        }
        SessionCommand::Log(args) => {
            work.open(async |host| log::run(args, host, json, output).await)
        }
    }
}

struct SessionWork<'a> {
    args: &'a SessionArgs,
}

impl SessionWork<'_> {
    fn open(
        &self,
        work: impl AsyncFnOnce(&OpenStore) -> Result<(), CommandError>,
    ) -> Result<(), CommandError> {
        self.with(StoreCreation::No, work)
    }

    fn with(
        &self,
        make: StoreCreation,
        work: impl AsyncFnOnce(&OpenStore) -> Result<(), CommandError>,
    ) -> Result<(), CommandError> {
        block_on(async {
            let host = OpenStore::open(&self.args.at, make).await?;
            work(&host).await
        })
    }
}

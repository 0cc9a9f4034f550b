//! How transcripts are read, and by which policy they are looked at.

use midfold::formats::read::{Conversation, Format};
use midfold::{Advise, Door, Policy, Prepared, Setup};
use midfold_args::Inspect;

use crate::error::CommandError;
use crate::input::Input;
use crate::note::Note;
use crate::prepare;

/// A conversation, and what its reader noted.
pub type Noted = (Conversation, Vec<Note>);

/// What was asked for, looked up once for all transcripts.
pub struct Reading {
    from: Option<Format>,
    setup: Setup,
    pub policy: Policy,
}

impl Reading {
    pub fn new(args: &Inspect) -> Result<Self, CommandError> {
        Ok(Self {
            from: prepare::format(args.from.as_deref())?,
            setup: prepare::setup(&args.measure, None)?,
            policy: prepare::policy(&args.folding)?,
        })
    }

    /// The conversations of a file.
    pub fn conversations(&self, input: &Input) -> Result<Vec<Noted>, CommandError> {
        let found = input.conversations(self.from)?;
        let notes = Note::by_conversation(found.problems, &found.conversations);
        Ok(found.conversations.into_iter().zip(notes).collect())
    }

    /// One of them, counted.
    pub fn prepare(&mut self, found: Conversation, name: &str) -> Result<Prepared, CommandError> {
        let prepared = self.setup.prepare(found);
        let place = || format!("{name}: ");
        Ok(prepared.map_err(|error| error.advise(Door::Command).at(place()))?)
    }
}

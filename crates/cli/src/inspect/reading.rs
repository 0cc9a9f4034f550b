//! Reads transcripts for `midfold inspect`, and knows the policy to inspect them by.

use midfold::formats::read::{Conversation, TranscriptFormat};
use midfold::view::CarriedProblem;
use midfold::{AdvisedError, Door, Policy, PreparedConversation, Setup};
use midfold_args::InspectArgs;

use crate::error::CommandError;
use crate::input::InputFile;
use crate::note::by_conversation;
use crate::prepare;

/// A conversation, with its reader's notes.
pub type NotedConversation = (Conversation, Vec<CarriedProblem>);

/// The flags of `midfold inspect`, resolved once for all transcripts.
pub struct InspectReader {
    from: Option<TranscriptFormat>,
    setup: Setup,
    pub policy: Policy,
}

impl InspectReader {
    pub fn new(args: &InspectArgs) -> Result<Self, CommandError> {
        Ok(Self {
            from: prepare::format(args.from.as_deref())?,
            setup: prepare::setup(&args.measure, None)?,
            policy: prepare::policy(&args.folding)?,
        })
    }

    /// The conversations of a file.
    pub fn conversations(&self, input: &InputFile) -> Result<Vec<NotedConversation>, CommandError> {
        let outcome = input.conversations(self.from)?;
        let notes = by_conversation(outcome.problems, &outcome.conversations);
        Ok(outcome.conversations.into_iter().zip(notes).collect())
    }

    /// One of these conversations with its tokens counted.
    pub fn prepare(
        &mut self,
        conversation: Conversation,
        name: &str,
    ) -> Result<PreparedConversation, CommandError> {
        let prepared = self.setup.prepare(conversation);
        let place = || format!("{name}: ");
        Ok(prepared.map_err(|error| error.advise(Door::Command).at(place()))?)
    }
}

//! Reads and compacts each transcript as the flags ask.

use midfold::formats::read::{Conversation, TranscriptFormat};
use midfold::view::{CarriedProblem, CompactionReport};
use midfold::{
    AdvisedError, CompactionOutcome, CompactionRequest, Door, ModelNarration, PreparedConversation,
    Setup,
};
use midfold_args::CompactArgs;
use regex::Regex;

use crate::compacted_conversation::CompactedConversation;
use crate::error::CommandError;
use crate::input::InputFile;
use crate::narrator::{UrlNarrator, warning};
use crate::note::by_conversation;
use crate::output::{Output, OutputColor};
use crate::prepare;
use crate::words;

/// The flags of `midfold compact`, resolved once for all transcripts: format, policy, pins, narrator.
pub struct CompactJob<'a> {
    from: Option<TranscriptFormat>,
    setup: Setup,
    pub compaction: CompactionRequest,
    pins: Vec<Regex>,
    narrator: Option<UrlNarrator>,
    output: &'a Output,
}

impl<'a> CompactJob<'a> {
    pub fn new(args: &CompactArgs, output: &'a Output) -> Result<Self, CommandError> {
        let from = prepare::format(args.from.as_deref())?;
        let setup = prepare::setup(&args.measure, args.to.as_deref())?;
        let compaction = CompactionRequest {
            policy: prepare::policy(&args.folding)?,
            focus: args.focus.clone(),
            target: args.target,
            keep_last: args.keep_last,
            if_needed: args.if_needed,
        };
        let pins = args.pin.iter().map(|pin| regex(pin)).collect::<Result<Vec<_>, _>>()?;
        let narrator = if args.preview { None } else { UrlNarrator::of(&args.narrator)? };
        if compaction.focus.is_some() && narrator.is_none() {
            words::unheeded(&compaction.policy, output);
        }
        Ok(Self { from, setup, compaction, pins, narrator, output })
    }

    /// The conversations of a file, not compacted.
    pub fn prepared(
        &mut self,
        input: &InputFile,
    ) -> Result<Vec<PreparedConversation>, CommandError> {
        let conversations = input.conversations(self.from)?.conversations;
        let count = conversations.len();
        let numbered = conversations.into_iter().enumerate();
        numbered
            .map(|(at, conversation)| self.prepare(conversation, &place(input, at, count)))
            .collect()
    }

    /// The conversations of a file, compacted.
    pub fn compacted(
        &mut self,
        input: &InputFile,
    ) -> Result<Vec<CompactedConversation>, CommandError> {
        let outcome = input.conversations(self.from)?;
        let count = outcome.conversations.len();
        let notes = by_conversation(outcome.problems, &outcome.conversations);
        let all = outcome.conversations.into_iter().zip(notes).enumerate();
        let conversations = all.map(|(at, (conversation, notes))| {
            let place = place(input, at, count);
            let prepared = self.prepare(conversation, &place)?;
            self.compact(prepared, notes, &place)
        });
        conversations.collect()
    }

    fn prepare(
        &mut self,
        conversation: Conversation,
        place: &str,
    ) -> Result<PreparedConversation, CommandError> {
        let prepared = self.setup.prepare(conversation);
        Ok(prepared.map_err(|error| error.advise(Door::Command).at(place))?)
    }

    fn compact(
        &self,
        prepared: PreparedConversation,
        notes: Vec<CarriedProblem>,
        place: &str,
    ) -> Result<CompactedConversation, CommandError> {
        let pins = self.pinned(&prepared);
        let mut outcome = self.outcome(&prepared, &pins, place, &ModelNarration::default())?;
        if let (Some(narrator), Some(fold)) = (&self.narrator, outcome.fold()) {
            // The first run says which messages leave, and so what the model has to narrate.
            let narration = narrator.narrate(&prepared, &self.compaction, fold)?;
            outcome = self.outcome(&prepared, &pins, place, &narration)?;
            if let Some(warning) = warning(&narration, outcome.fold()) {
                let style = self.output.stderr_style();
                let line = style.paint(OutputColor::Yellow, &format!("warning: {place}{warning}"));
                self.output.stderr(&format!("{line}\n"));
            }
        }
        let report = CompactionReport::of(&prepared, &outcome, notes);
        Ok(CompactedConversation { prepared, outcome, report })
    }

    fn outcome(
        &self,
        prepared: &PreparedConversation,
        pins: &[u32],
        place: &str,
        narration: &ModelNarration,
    ) -> Result<CompactionOutcome, CommandError> {
        let outcome = self.compaction.run(prepared, pins, narration, Door::Command);
        Ok(outcome.map_err(|failure| failure.at(place))?)
    }

    fn pinned(&self, prepared: &PreparedConversation) -> Vec<u32> {
        if self.pins.is_empty() {
            return Vec::new();
        }
        let matches = |text: &str| self.pins.iter().any(|pin| pin.is_match(text));
        let events = prepared.log.events().iter();
        events.filter(|event| matches(&event.text())).map(|event| event.seq).collect()
    }
}

fn regex(pattern: &str) -> Result<Regex, CommandError> {
    Regex::new(pattern).map_err(|error| {
        CommandError::usage(format!("--pin: {error}")).hint(
            "a pin is a regular expression; put a \\ before characters that should be literal",
        )
    })
}

/// Names the conversation and its file, as the start of a message about it.
fn place(input: &InputFile, at: usize, count: usize) -> String {
    match count {
        1 => format!("{}: ", input.name),
        _ => format!("{}: conversation {} of {count}: ", input.name, at + 1),
    }
}

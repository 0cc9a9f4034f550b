//! Reads the conversations to replay one after the other.

use std::path::PathBuf;

use midfold::formats::read::{Conversation, TranscriptFormat};
use midfold::{DialectKind, Setup};
use midfold_args::{MeasureArgs, ReplayMeasure};
use midfold_eval::replay::Recording;

use crate::error::CommandError;
use crate::input::InputFile;
use crate::paths::{self, FolderContent, FoundFile};
use crate::prepare;

/// A conversation that is long enough to be replayed.
pub struct CorpusConversation {
    /// The name of its file, and its number where the file has several conversations.
    pub name: String,
    /// The number of its file, from 1, and the number of all files.
    pub file: (usize, usize),
    pub dialect: DialectKind,
    pub tokens: u64,
    pub recording: Recording,
}

/// The conversations to replay. Each file is read only when it is needed, so a folder of thousands needs little memory.
pub struct ReplayCorpus {
    count: usize,
    files: std::vec::IntoIter<FoundFile>,
    open: std::vec::IntoIter<(String, Conversation)>,
    setup: Setup,
    from: Option<TranscriptFormat>,
    /// Whether an unreadable file is an error. It is one if the user named only files; in a folder it becomes a note.
    strict: bool,
    /// Conversations need more tokens than this.
    least: u64,
    pub skipped: SkippedConversations,
}

/// The conversations and files that were left out.
#[derive(Default)]
pub struct SkippedConversations {
    /// The number of conversations that are too short.
    pub short: usize,
    /// The tokens of the longest conversation that is too short.
    pub longest: u64,
    /// A message for each file without a transcript, and each folder that cannot be read.
    pub unreadable: Vec<String>,
}

impl ReplayCorpus {
    pub fn new(
        files: &[PathBuf],
        measure: &ReplayMeasure,
        windows: &[u64],
    ) -> Result<Self, CommandError> {
        let FolderContent { files: inputs, closed } = paths::transcripts(files)?;
        let setup = MeasureArgs {
            window: None,
            tokenizer: Some(measure.tokenizer.clone()),
            profile: measure.profile.clone(),
        };
        let smallest = windows.iter().copied().min().unwrap_or(0);
        Ok(Self {
            count: inputs.len(),
            strict: !files.iter().any(|path| paths::is_folder(path)),
            files: inputs.into_iter(),
            open: Vec::new().into_iter(),
            setup: prepare::setup(&setup, measure.to.as_deref())?,
            from: prepare::format(measure.from.as_deref())?,
            least: (smallest as f64 * measure.longer_than) as u64,
            skipped: SkippedConversations { unreadable: closed, ..SkippedConversations::default() },
        })
    }

    /// The next conversation that is long enough for some window. `None` at the end.
    pub fn next(&mut self) -> Result<Option<CorpusConversation>, CommandError> {
        loop {
            let Some((name, conversation)) = self.open.next() else {
                if !self.next_file()? {
                    return Ok(None);
                }
                continue;
            };
            if conversation.events.is_empty() {
                continue;
            }
            let prepared = self.setup.prepare(conversation)?;
            let tokens = prepared.log.tokens();
            if tokens <= self.least {
                self.skipped.short += 1;
                self.skipped.longest = self.skipped.longest.max(tokens);
                continue;
            }
            let recording = Recording::new(prepared.log);
            let dialect = prepared.kind;
            let file = (self.file(), self.count);
            return Ok(Some(CorpusConversation { name, file, dialect, tokens, recording }));
        }
    }

    /// The number of the open file, from 1.
    fn file(&self) -> usize {
        // The open file has left `files` already.
        self.count - self.files.len()
    }

    /// Opens the next file. Returns false where there is none.
    fn next_file(&mut self) -> Result<bool, CommandError> {
        let Some(FoundFile { path, name }) = self.files.next() else { return Ok(false) };
        let name = name.display().to_string();
        let outcome = InputFile::load(&path).and_then(|input| input.recorded(self.from));
        match outcome {
            Ok(outcome) => {
                let several = outcome.conversations.len() > 1;
                let named = |(at, conversation)| match several {
                    true => (format!("{name}#{}", at + 1), conversation),
                    false => (name.clone(), conversation),
                };
                let all: Vec<_> =
                    outcome.conversations.into_iter().enumerate().map(named).collect();
                self.open = all.into_iter();
            }
            Err(error) if self.strict => return Err(error),
            Err(error) => self.skipped.unreadable.push(error.message),
        }
        Ok(true)
    }
}

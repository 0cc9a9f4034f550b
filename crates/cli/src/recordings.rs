//! The conversations of a transcript, with what clients that compact sent before.

use bytes::Bytes;
use midfold::formats::ReadProblem;
use midfold::formats::read::{
    Conversation, ReadError, TranscriptFormat, newest_reply, read, read_recorded, whole_lines,
};

/// A conversation of a transcript. A client that compacts starts its context anew, and goes on in the
/// same file: each stretch is what it sent up to that, the last one is what it sends now.
#[derive(Clone, Debug)]
pub struct TranscriptPart {
    stretches: Vec<Conversation>,
}

/// The conversations of a transcript.
#[derive(Clone, Debug, Default)]
pub struct TranscriptRecordings {
    /// In the order of the file.
    pub recordings: Vec<TranscriptPart>,
    /// What was repaired or left out.
    pub problems: Vec<ReadProblem>,
    /// Messages at the end that were left out: their client may still write them.
    pub waiting: usize,
}

impl TranscriptRecordings {
    /// Reads a transcript that nobody writes any more, or whose newest message is complete.
    ///
    /// # Errors
    /// When nothing at all can be read.
    pub fn read(bytes: &Bytes, from: Option<TranscriptFormat>) -> Result<Self, ReadError> {
        let found = read(bytes, from)?;
        let compacts = |it: &Conversation| {
            matches!(
                it.format,
                TranscriptFormat::ClaudeCode | TranscriptFormat::Codex | TranscriptFormat::Pi
            )
        };
        let all = match found.problems.iter().any(|problem| problem.code == "compacted-before") {
            true => read_recorded(bytes, from)?.conversations,
            false => found.conversations,
        };
        let mut recordings: Vec<TranscriptPart> = Vec::new();
        for conversation in all {
            let goes_on = |last: &&mut TranscriptPart| {
                compacts(&conversation) && last.live().id == conversation.id
            };
            match recordings.last_mut().filter(goes_on) {
                Some(last) => last.stretches.push(conversation),
                None => recordings.push(TranscriptPart { stretches: vec![conversation] }),
            }
        }
        Ok(Self { recordings, problems: found.problems, waiting: 0 })
    }

    /// Reads what is there for good of a transcript that its client still writes. `is_quiet`: nobody
    /// wrote for a while, so that a reply that ended is complete.
    ///
    /// # Errors
    /// When nothing at all can be read.
    pub fn so_far(
        bytes: &Bytes,
        from: Option<TranscriptFormat>,
        is_quiet: bool,
    ) -> Result<Self, ReadError> {
        let mut found = Self::read(&whole_lines(bytes), from)?;
        for recording in &mut found.recordings {
            let Some(live) = recording.stretches.last_mut() else { continue };
            let Some(reply) = newest_reply(live) else { continue };
            if !(reply.ended && is_quiet) {
                found.waiting += live.events.len() - reply.at;
                live.events.truncate(reply.at);
            }
        }
        Ok(found)
    }
}

impl TranscriptPart {
    /// What its client sends now.
    #[must_use]
    pub fn live(&self) -> &Conversation {
        &self.stretches[self.newest()]
    }

    /// There is no message in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.stretches.iter().all(|stretch| stretch.events.is_empty())
    }

    /// The position of the stretch that its client sends now.
    #[must_use]
    pub fn newest(&self) -> usize {
        // There is always one: a recording is made of its first stretch.
        self.stretches.len() - 1
    }

    /// The stretches from this one on, as one conversation.
    #[must_use]
    pub fn since(&self, at: usize) -> Conversation {
        let mut whole = self.live().clone();
        whole.events = self.stretches[at..].iter().flat_map(|it| it.events.clone()).collect();
        whole
    }
}

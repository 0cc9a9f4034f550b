//! Reads the conversations of a transcript, each with the messages that its client sent before it compacted.

use bytes::Bytes;
use midfold::formats::ReadProblem;
use midfold::formats::read::{
    Conversation, ReadError, TranscriptFormat, newest_reply, read, read_recorded, whole_lines,
};

/// One conversation of a transcript. A client that compacts starts a new context and goes on in the same file. So a
/// conversation has a stretch for each context, and the last stretch is the one that the client sends now.
#[derive(Clone, Debug)]
pub struct TranscriptPart {
    stretches: Vec<Conversation>,
}

/// All conversations of a transcript.
#[derive(Clone, Debug, Default)]
pub struct TranscriptRecordings {
    /// The conversations, in the order of the file.
    pub recordings: Vec<TranscriptPart>,
    /// Notes about messages that were repaired or left out.
    pub problems: Vec<ReadProblem>,
    /// The number of messages at the end that were left out, because the client may still write them.
    pub waiting: usize,
}

impl TranscriptRecordings {
    /// Reads a transcript that is complete: nobody writes to it any more, or its newest message has ended.
    ///
    /// # Errors
    /// When nothing in the file can be read.
    pub fn read(bytes: &Bytes, from: Option<TranscriptFormat>) -> Result<Self, ReadError> {
        let outcome = read(bytes, from)?;
        let compacted = outcome.problems.iter().any(|problem| problem.code == "compacted-before");
        let compacts = |part: &Conversation| {
            let writes_stretches = matches!(
                part.format,
                TranscriptFormat::ClaudeCode | TranscriptFormat::Codex | TranscriptFormat::Pi
            );
            writes_stretches || compacted && part.format.is_session()
        };
        let all = match compacted {
            true => read_recorded(bytes, from)?.conversations,
            false => outcome.conversations,
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
        Ok(Self { recordings, problems: outcome.problems, waiting: 0 })
    }

    /// Reads the complete messages of a transcript that its client still writes. With `is_quiet` nobody has written for
    /// a while, so the newest reply is complete if the file says that it ended.
    ///
    /// # Errors
    /// When nothing in the file can be read.
    pub fn so_far(
        bytes: &Bytes,
        from: Option<TranscriptFormat>,
        is_quiet: bool,
    ) -> Result<Self, ReadError> {
        let mut transcript = Self::read(&whole_lines(bytes), from)?;
        for recording in &mut transcript.recordings {
            let Some(live) = recording.stretches.last_mut() else { continue };
            let Some(reply) = newest_reply(live) else { continue };
            if !(reply.ended && is_quiet) {
                transcript.waiting += live.events.len() - reply.at;
                live.events.truncate(reply.at);
            }
        }
        Ok(transcript)
    }
}

impl TranscriptPart {
    /// The context that the client sends now.
    #[must_use]
    pub fn live(&self) -> &Conversation {
        &self.stretches[self.newest()]
    }

    /// Whether no stretch has a message.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.stretches.iter().all(|stretch| stretch.events.is_empty())
    }

    /// The position of the stretch that the client sends now.
    #[must_use]
    pub fn newest(&self) -> usize {
        // There is always a stretch: a conversation is made with its first one.
        self.stretches.len() - 1
    }

    /// The positions from which the recording may go on, the likeliest first: that of the newest stretch, and then from
    /// the first one on, which gives the longest.
    pub fn likeliest(&self) -> impl Iterator<Item = usize> + use<> {
        let newest = self.newest();
        std::iter::once(newest).chain(0..newest)
    }

    /// The stretches from this position on, joined into one conversation.
    #[must_use]
    pub fn since(&self, at: usize) -> Conversation {
        let mut whole = self.live().clone();
        whole.events =
            self.stretches[at..].iter().flat_map(|stretch| stretch.events.clone()).collect();
        whole
    }
}

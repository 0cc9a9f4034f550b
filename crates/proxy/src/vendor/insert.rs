//! Parts that midfold inserts into a provider's answer.

use midfold_formats::vendor::{anthropic, openai};

/// A part that is inserted into a provider's answer; everything else of the answer stays.
pub enum AnswerInsert {
    /// An item before the output of Responses.
    OpenAi(Box<openai::ItemInsertion>, openai::CompactionItem),
    /// A block before the content of Messages, and the report of what edits did.
    Anthropic(Box<anthropic::BlockInsertion>),
    /// Tokens that edits removed from the counted request.
    Counted(u64),
}

impl AnswerInsert {
    pub(super) fn openai(item: &openai::CompactionItem) -> Self {
        Self::OpenAi(Box::new(openai::ItemInsertion::new(item)), item.clone())
    }

    /// Rewrites a part of a stream into `out`. An incomplete event at its end is kept until the next part.
    pub fn push(&mut self, chunk: &[u8], out: &mut Vec<u8>) {
        match self {
            Self::OpenAi(insertion, _) => insertion.push(chunk, out),
            Self::Anthropic(insertion) => insertion.push(chunk, out),
            Self::Counted(_) => out.extend_from_slice(chunk),
        }
    }

    /// Writes the rest that is still held back, at the end of the stream.
    pub fn finish(self, out: &mut Vec<u8>) {
        match self {
            Self::OpenAi(insertion, _) => insertion.finish(out),
            Self::Anthropic(insertion) => insertion.finish(out),
            Self::Counted(_) => {}
        }
    }

    /// Inserts into an answer that came as a whole.
    #[must_use]
    pub fn whole(&self, body: &[u8]) -> Vec<u8> {
        match self {
            Self::OpenAi(_, item) => openai::insert(item, body),
            Self::Anthropic(insertion) => anthropic::insert(insertion, body),
            Self::Counted(cleared) => anthropic::counted(body, *cleared),
        }
    }
}

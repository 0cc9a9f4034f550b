//! What is put into an answer that a provider gives.

use midfold_formats::vendor::{anthropic, openai};

/// What is put into an answer that a provider gives; everything else of it stays.
pub enum AnswerInsert {
    /// An item before the output of Responses.
    OpenAi(Box<openai::ItemInsertion>, openai::CompactionItem),
    /// A block before the content of Messages, and what edits did.
    Anthropic(Box<anthropic::BlockInsertion>),
    /// Tokens that edits took of what is counted.
    Counted(u64),
}

impl AnswerInsert {
    pub(super) fn openai(item: &openai::CompactionItem) -> Self {
        Self::OpenAi(Box::new(openai::ItemInsertion::new(item)), item.clone())
    }

    /// Rewrites a part of a stream; what is not at its end is held back.
    pub fn push(&mut self, chunk: &[u8], out: &mut Vec<u8>) {
        match self {
            Self::OpenAi(insertion, _) => insertion.push(chunk, out),
            Self::Anthropic(insertion) => insertion.push(chunk, out),
            Self::Counted(_) => out.extend_from_slice(chunk),
        }
    }

    /// Passes on what was held back.
    pub fn finish(self, out: &mut Vec<u8>) {
        match self {
            Self::OpenAi(insertion, _) => insertion.finish(out),
            Self::Anthropic(insertion) => insertion.finish(out),
            Self::Counted(_) => {}
        }
    }

    /// The same for an answer that came whole.
    #[must_use]
    pub fn whole(&self, body: &[u8]) -> Vec<u8> {
        match self {
            Self::OpenAi(_, item) => openai::insert(item, body),
            Self::Anthropic(insertion) => anthropic::insert(insertion, body),
            Self::Counted(cleared) => anthropic::counted(body, *cleared),
        }
    }
}

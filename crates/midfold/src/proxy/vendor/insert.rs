//! What is put into an answer that a provider gives.

use midfold_formats::vendor::openai;

/// What is put into an answer that a provider gives; everything else of it stays.
pub enum Insert {
    /// An item before the output of Responses.
    OpenAi(Box<openai::Insertion>, openai::Item),
}

impl Insert {
    pub(super) fn openai(item: &openai::Item) -> Self {
        Self::OpenAi(Box::new(openai::Insertion::new(item)), item.clone())
    }

    /// Rewrites a part of a stream; what is not at its end is held back.
    pub fn push(&mut self, chunk: &[u8], out: &mut Vec<u8>) {
        match self {
            Self::OpenAi(insertion, _) => insertion.push(chunk, out),
        }
    }

    /// Passes on what was held back.
    pub fn finish(self, out: &mut Vec<u8>) {
        match self {
            Self::OpenAi(insertion, _) => insertion.finish(out),
        }
    }

    /// The same for an answer that came whole.
    #[must_use]
    pub fn whole(&self, body: &[u8]) -> Vec<u8> {
        match self {
            Self::OpenAi(_, item) => openai::insert(item, body),
        }
    }
}

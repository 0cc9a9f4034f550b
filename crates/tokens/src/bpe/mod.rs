//! Byte pair encoding with tables that are compiled into the program, so that nothing is unpacked or built at its
//! start.
//!
//! `build.rs` writes the tables in the form of [`layout`]. [`pieces`] splits a text, [`merge`] counts the tokens of a
//! piece in a [`vocabulary`], and [`recent`] remembers the counts of short pieces.

mod layout;
mod merge;
mod pieces;
mod recent;
mod vocabulary;

use pieces::{SplitExpression, TextPieces};
use vocabulary::{BpeVocabulary, embedded};

/// A vocabulary, and the expression that splits texts into pieces for it.
pub struct Encoding {
    vocabulary: BpeVocabulary,
    expression: SplitExpression,
}

/// The vocabulary of OpenAI's newer models.
#[cfg(feature = "o200k")]
pub static O200K: Encoding =
    Encoding { vocabulary: embedded!(0, "o200k"), expression: SplitExpression::O200k };
/// The vocabulary of GPT-4 and GPT-3.5.
#[cfg(feature = "cl100k")]
pub static CL100K: Encoding =
    Encoding { vocabulary: embedded!(1, "cl100k"), expression: SplitExpression::Cl100k };

impl Encoding {
    /// The number of tokens in a text. The texts of special tokens count as ordinary text.
    pub fn count(&self, text: &str) -> u64 {
        TextPieces::of(text, self.expression)
            .map(|piece| merge::count(&self.vocabulary, piece))
            .sum()
    }

    /// The token with this rank; empty where there is none.
    pub fn token(&self, rank: u32) -> &'static [u8] {
        self.vocabulary.token(rank)
    }

    /// The rank of a token of two bytes or more; `None` where the bytes are no token.
    pub fn rank(&self, token: &[u8]) -> Option<u32> {
        Some(self.vocabulary.rank(token)).filter(|&rank| rank != layout::ABSENT)
    }

    /// How many tokens the vocabulary has.
    pub fn size(&self) -> usize {
        self.vocabulary.size()
    }
}

//! Byte pair encoding with tables that are part of the program: nothing is unpacked or built when it starts.
//!
//! `build.rs` writes the tables, [`layout`] says how; [`pieces`] splits a text, [`merge`] counts the tokens of a piece
//! in a [`vocabulary`]; [`recent`] remembers those of short ones.

mod layout;
mod merge;
mod pieces;
mod recent;
mod vocabulary;

use pieces::{SplitExpression, TextPieces};
use vocabulary::{BpeVocabulary, embedded};

/// A vocabulary and the expression that texts are split with before.
pub struct Encoding {
    vocabulary: BpeVocabulary,
    expression: SplitExpression,
}

/// The vocabulary of the newer models of OpenAI.
#[cfg(feature = "o200k")]
pub static O200K: Encoding =
    Encoding { vocabulary: embedded!(0, "o200k"), expression: SplitExpression::O200k };
/// The vocabulary of GPT-4 and GPT-3.5.
#[cfg(feature = "cl100k")]
pub static CL100K: Encoding =
    Encoding { vocabulary: embedded!(1, "cl100k"), expression: SplitExpression::Cl100k };

impl Encoding {
    /// The tokens of a text. The texts of special tokens count as ordinary ones.
    pub fn count(&self, text: &str) -> u64 {
        TextPieces::of(text, self.expression)
            .map(|piece| merge::count(&self.vocabulary, piece))
            .sum()
    }

    /// The token of a rank; nothing where there is none.
    pub fn token(&self, rank: u32) -> &'static [u8] {
        self.vocabulary.token(rank)
    }

    /// The rank of a token of two bytes or more, where these are one.
    pub fn rank(&self, token: &[u8]) -> Option<u32> {
        Some(self.vocabulary.rank(token)).filter(|&rank| rank != layout::ABSENT)
    }

    /// How many tokens there are.
    pub fn size(&self) -> usize {
        self.vocabulary.size()
    }
}

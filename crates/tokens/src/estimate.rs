//! Estimates the token count from the shape of a text, in one fast pass.
//!
//! A vocabulary of the GPT kind uses about one token for each word, each hump of a name, each run of digits or marks,
//! and each line. All of these can be counted without the vocabulary. The weights below are a non-negative
//! least-squares fit of such counts to exact `o200k` counts over 15 MB: source in four languages, READMEs, listings,
//! logs, JSON, tables, hex, base64, and messages of real agent runs.
//!
//! For other families, the parts are scaled to the measured characters per token (for Chinese: relative to `o200k`):
//!
//! | text | `o200k` | Claude to 4.6 | Claude from 4.7 | Gemini |
//! |---|---|---|---|---|
//! | prose | 4.50 | 4.10 | 2.95 | 4.32 |
//! | code | 4.7 | 3.5 | 2.7 | 3.8 |
//! | JSON | 3.6 | 2.85 | 2.25 | 2.7 |
//! | numbers | 1.85 | 1.85 | 1.71 | 1.05 |
//! | Chinese | 1 | 0.77 | 0.67 | 1.02 |
//!
//! Rulers, banners and boxes are runs of one character, of which a token holds many. The vocabularies of Gemini and Claude
//! are not public, but those of Gemma 3 and of Claude 2 are. There a token holds 16 or 64 characters of `===`, 16 or 8 of
//! `───`, and 31 or more spaces.

use midfold_core::view::MediaRef;
use midfold_core::{Counter, TextKind};

use crate::scan::TextShape;
use crate::{ProviderFamily, clamp};

/// `estimate:FAMILY`: a counter that estimates tokens from the shape of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EstimateCounter {
    family: ProviderFamily,
}

/// Weights are in 1/1,024 of a token, and a family's factors in 1/1,000 of the `o200k` tokens.
const UNIT: u64 = 1_024 * 1_000;

/// For each kind of content, how many tokens a family makes where `o200k` makes 1,000.
struct Factors {
    words: u64,
    numbers: u64,
    marks: u64,
    /// Characters outside ASCII.
    wide: u64,
    /// The cost of a character in a ruler, in 1/1,024 of a token.
    rulers: u64,
    /// A further factor for call arguments, which have many escapes and quotes.
    arguments: u64,
    /// Tokens around each message. For `OpenAI`, these are 3, and one for the role's name (their cookbook). For others
    /// it is small, because the meter learns from `usage` what a provider adds for each call.
    per_message: u32,
}

/// `o200k` itself, so all factors are 1.
const OPEN_AI: Factors = Factors {
    words: 1_000,
    numbers: 1_000,
    marks: 1_000,
    wide: 1_000,
    rulers: 32,
    arguments: 1_000,
    per_message: 4,
};
/// Claude 4.7 and later.
const CLAUDE: Factors = Factors {
    words: 1_500,
    numbers: 900,
    marks: 1_950,
    wide: 1_490,
    rulers: 32,
    arguments: 1_050,
    per_message: 8,
};
/// Claude up to 4.6.
const CLAUDE_OLD: Factors = Factors {
    words: 1_080,
    numbers: 900,
    marks: 1_550,
    wide: 1_300,
    rulers: 32,
    arguments: 1_050,
    per_message: 8,
};
/// All versions of Gemini, which share a vocabulary.
const GEMINI: Factors = Factors {
    words: 990,
    numbers: 1_650,
    marks: 1_450,
    wide: 980,
    rulers: 64,
    arguments: 1_000,
    per_message: 4,
};

/// The cost of a space in a long run and of a character of a box, in 1/1,024 of a token.
const BLANK: u64 = 32;
const BOX: u64 = 128;

impl EstimateCounter {
    /// The counter for a family.
    #[must_use]
    pub const fn new(family: ProviderFamily) -> Self {
        Self { family }
    }

    const fn factors(&self) -> &'static Factors {
        match self.family {
            ProviderFamily::OpenAi => &OPEN_AI,
            ProviderFamily::Claude => &CLAUDE,
            ProviderFamily::ClaudeOld => &CLAUDE_OLD,
            ProviderFamily::Gemini | ProviderFamily::GeminiOld => &GEMINI,
        }
    }
}

/// The cost in `o200k` of the words, numbers, marks and wide characters of a text, in 1/1,024 of a token.
fn parts(s: &TextShape) -> [u64; 4] {
    [
        14 * s.letters + 886 * s.words + 1_371 * s.humps + 94 * s.upper + 551 * s.excess,
        131 * s.digits + 1_458 * s.numbers,
        124 * s.marks + 752 * s.mark_runs + 48 * s.spaces + 256 * s.indents + 486 * s.breaks,
        410 * s.two + 700 * s.three + 2_048 * s.four,
    ]
}

impl Counter for EstimateCounter {
    fn name(&self) -> &str {
        match self.family {
            ProviderFamily::OpenAi => "estimate:openai",
            ProviderFamily::Claude => "estimate:claude",
            ProviderFamily::ClaudeOld => "estimate:claude-old",
            ProviderFamily::Gemini => "estimate:gemini",
            ProviderFamily::GeminiOld => "estimate:gemini-old",
        }
    }

    fn count(&self, text: &str, content: TextKind) -> u32 {
        let factors = self.factors();
        let shape = TextShape::of(text);
        let [words, numbers, marks, wide] = parts(&shape);
        let runs = factors.rulers * shape.rulers + BLANK * shape.blanks + BOX * shape.boxes;
        let scaled = words * factors.words
            + numbers * factors.numbers
            + marks * factors.marks
            + wide * factors.wide
            + runs * 1_000;
        let tokens = match content {
            // All factors are in thousandths, so one thousand is divided out again.
            TextKind::Arguments => (scaled / 1_000).saturating_mul(factors.arguments),
            _ => scaled,
        };
        clamp(tokens.div_ceil(UNIT))
    }

    fn media(&self, media: &MediaRef) -> u32 {
        self.family.media(media)
    }

    fn per_message(&self) -> u32 {
        self.factors().per_message
    }
}

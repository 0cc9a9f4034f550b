//! An estimate of the token count from the shape of a text, in one pass at memory-like speed.
//!
//! A vocabulary of the GPT kind spends its tokens on things that can be counted without it: about
//! one for each word, each hump of a name, each run of digits and marks, each line. The weights
//! below are a non-negative least-squares fit of those counts to exact `o200k` counts over
//! 15 MB: source in four languages, READMEs, listings, logs, JSON, tables, hex, base64, and the
//! messages of real agent runs. For other families the parts are scaled so that the measured
//! characters per token come out: prose 4.50 | 4.10 | 2.95 | 4.32 (`o200k`, Claude to 4.6, Claude
//! 4.7 and later, Gemini), code 4.7 | 3.5 | 2.7 | 3.8, JSON 3.6 | 2.85 | 2.25 | 2.7,
//! numbers 1.85 | 1.85 | 1.71 | 1.05, Chinese 1 | 0.77 | 0.67 | 1.02 of `o200k`.

use midfold_core::view::MediaRef;
use midfold_core::{Counter, TextKind};

use crate::scan::TextShape;
use crate::{ProviderFamily, clamp};

/// `estimate:FAMILY`: tokens from the shape of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EstimateCounter {
    family: ProviderFamily,
}

/// Weights are in tokens / 1,024; a family's factors in 1/1,000 of the `o200k` tokens.
const UNIT: u64 = 1_024 * 1_000;

/// How many tokens of each kind of content a family makes where `o200k` makes 1,000.
struct Factors {
    words: u64,
    numbers: u64,
    marks: u64,
    /// Characters beyond ASCII.
    wide: u64,
    /// The whole again for call arguments, where escapes and quotes are dense.
    arguments: u64,
    /// Tokens around each message. `OpenAI`: 3 and one for the role's name (their cookbook).
    /// Others: small, because what providers add per call shows up in `usage` and is learned.
    per_message: u32,
}

const OPEN_AI: Factors = Factors {
    words: 1_000,
    numbers: 1_000,
    marks: 1_000,
    wide: 1_000,
    arguments: 1_000,
    per_message: 4,
};
const CLAUDE: Factors = Factors {
    words: 1_500,
    numbers: 900,
    marks: 1_950,
    wide: 1_490,
    arguments: 1_050,
    per_message: 8,
};
const CLAUDE_OLD: Factors = Factors {
    words: 1_080,
    numbers: 900,
    marks: 1_550,
    wide: 1_300,
    arguments: 1_050,
    per_message: 8,
};
const GEMINI: Factors = Factors {
    words: 990,
    numbers: 1_650,
    marks: 1_450,
    wide: 980,
    arguments: 1_000,
    per_message: 4,
};

impl EstimateCounter {
    /// The estimate for a family.
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

/// Tokens / 1,024 that the parts of a text cost in `o200k`: words, numbers, marks, wide.
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
        let [words, numbers, marks, wide] = parts(&TextShape::of(text));
        let scaled = words * factors.words
            + numbers * factors.numbers
            + marks * factors.marks
            + wide * factors.wide;
        let tokens = match content {
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

//! A summary by a model, as values: what it is asked, by which name its answer is kept, and what
//! of the answer may stand. Nothing here calls anybody.

use midfold_core::budget::Ratio;
use midfold_core::narrate::{Narrated, SummaryReply, SummaryRequest, Verdict};
use midfold_core::policy::NarrationStyle;
use midfold_core::recap::ground::judge;
use midfold_core::recap::sources::{Limits, sources};
use midfold_core::{Counter, Hash, fold};

use super::compress::Folding;
use super::reading::log;
use super::summary::{HEADER, span_hash};

/// How a model is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ask {
    /// The model; another one gives other summaries.
    pub model: String,
    /// Sampling temperature (seed 002: 0.3).
    pub temperature: Ratio,
    /// Longest wait for the first byte, in seconds.
    pub timeout_seconds: u32,
}

/// The sections that a summary is asked for: what was done, found and decided.
const SECTIONS: [&str; 4] = ["Completed Actions", "Facts", "Key Decisions", "Critical Context"];

/// The share of a summary that a model writes, in parts of ten thousand: the computed sections
/// stand beside it.
const SHARE: Ratio = Ratio(4_000);

/// Words that a token makes, in parts of ten thousand: models are asked for words.
const WORDS: Ratio = Ratio(6_500);

/// Below this a model is not asked, in tokens: four sections say nothing in less.
const LEAST: u64 = 48;

/// Changes where what a model is asked or shown changes, so that old answers are not found.
const VERSION: &str = "trajectory-narration/1";

impl Folding<'_> {
    fn most(&self) -> u64 {
        SHARE.of(self.cap)
    }

    /// Whether there is room for what a model would write.
    #[must_use]
    pub fn wants_model(&self) -> bool {
        self.most() >= LEAST
    }

    /// The name of the answer: the same turns, asked alike, have the same one in every row.
    #[must_use]
    pub fn key(&self, ask: &Ask) -> Hash {
        let how = format!("{VERSION} {} {} {}", ask.model, ask.temperature.0, self.most());
        span_hash(&self.row, self.span).chain(how.as_bytes())
    }

    /// What is asked. Secrets are redacted, long texts cut, the turns fenced.
    #[must_use]
    pub fn request(&self, ask: &Ask) -> SummaryRequest {
        self.ask(ask, true)
    }

    fn ask(&self, ask: &Ask, with_sources: bool) -> SummaryRequest {
        let place = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        let turns = &self.weights.turns[self.span.range()];
        let key = self.key(ask);
        let shown = match with_sources {
            true => sources(&log(&self.row, self.span.range()), 0..usize::MAX, &Limits::default()),
            false => Vec::new(),
        };
        SummaryRequest {
            id: key,
            session: String::new(),
            span: fold::Span {
                start: place(self.span.start),
                end: place(self.span.end),
                before: Hash::ROOT,
                through: key,
            },
            header: HEADER.to_owned(),
            sections: SECTIONS.map(str::to_owned).into(),
            style: NarrationStyle::Headings,
            words: u32::try_from(WORDS.of(self.most())).ok(),
            max_tokens: u32::try_from(self.most()).unwrap_or(u32::MAX),
            temperature: ask.temperature,
            timeout_seconds: ask.timeout_seconds,
            previous: None,
            sources: shown,
            focus: None,
            today: None,
            replaces: turns.iter().map(|turn| turn.tokens).sum(),
        }
    }

    /// What of an answer may stand: form, size, secrets, forged structure, orders, names and
    /// claims that no turn up to the end of the span has. The same judgement as for a session.
    ///
    /// # Errors
    /// The verdict and, for people, what was wrong.
    pub fn judge(
        &self,
        ask: &Ask,
        reply: &SummaryReply,
        counter: &dyn Counter,
    ) -> Result<Narrated, (Verdict, String)> {
        judge(&log(&self.row, 0..self.span.end), &self.ask(ask, false), reply, counter)
    }
}

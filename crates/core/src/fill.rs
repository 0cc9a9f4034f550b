//! How full a session is: one figure, with its source.

use serde::{Deserialize, Serialize};

use crate::event::Hash;
use crate::meter::Meter;

/// What the last sent context was made of, kept until the provider reports its count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentContext {
    /// Tokens as our counter counts them, not calibrated.
    pub counted: u64,
    /// Events of the log at that time.
    pub events: u32,
    /// The fold that it was read through; `None` where nothing was folded.
    pub fold: Option<Hash>,
    /// Tokens of messages that were sent behind it and are not in the log yet, in the provider's tokens.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub beside: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// How full the model's window is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContextFill {
    /// Tokens of the context in the provider's tokens, with everything that a request carries beside its messages.
    pub tokens: u64,
    /// The model's window in tokens; 0 if it is not known.
    pub window: u64,
    /// The source of the tokens.
    pub source: FillSource,
}

/// The source of a context's tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum FillSource {
    /// The provider counted the last prompt, and nothing was added since.
    Counted,
    /// The provider counted the last prompt. Newer messages are estimated.
    CountedAndNewer {
        /// Tokens of the last prompt, as the provider counted them.
        counted: u64,
    },
    /// All of it is estimated.
    Estimated,
}

/// The present context, as far as its fill depends on it. Tokens are in midfold's own count.
pub struct PresentContext {
    /// The number of events in the log.
    pub events: u64,
    /// Tokens of the context, with its envelope.
    pub counted: u64,
    /// Tokens of the events that were added since the provider's count.
    pub newer: u64,
}

impl ContextFill {
    /// The fill of a context. `settled` is the last context that the provider counted, with that count, if it was sent
    /// under the fold that is active now.
    #[must_use]
    pub fn of(
        settled: Option<(SentContext, u64)>,
        now: &PresentContext,
        meter: &Meter,
        window: u64,
    ) -> Self {
        let (tokens, source) = match settled {
            Some((context, counted)) if u64::from(context.events) == now.events => {
                (counted, FillSource::Counted)
            }
            Some((context, counted)) => {
                // The messages that were sent behind that context are events by now, and the provider counted them.
                let newer = meter.ratio.of(now.newer).saturating_sub(context.beside);
                (counted.saturating_add(newer), FillSource::CountedAndNewer { counted })
            }
            None => (meter.calibrated(now.counted), FillSource::Estimated),
        };
        Self { tokens, window, source }
    }

    /// The percentage of the window that the context takes; `None` without a window.
    #[must_use]
    pub fn percent(&self) -> Option<u64> {
        self.tokens.saturating_mul(100).checked_div(self.window)
    }
}

impl FillSource {
    /// Says of a number of tokens where it is from: `12,345 tokens as the provider counted`.
    #[must_use]
    pub fn said_of(self, tokens: &str) -> String {
        match self {
            Self::Counted => format!("{tokens} tokens as the provider counted"),
            Self::CountedAndNewer { .. } | Self::Estimated => format!("about {tokens} tokens"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SENT: SentContext = SentContext { counted: 800, events: 7, fold: None, beside: 40 };

    fn fill(settled: Option<(SentContext, u64)>, events: u64, newer: u64) -> ContextFill {
        let now = PresentContext { events, counted: 900, newer };
        let meter = Meter { unseen: 5, ..Meter::exact() };
        ContextFill::of(settled, &now, &meter, 2_000)
    }

    #[test]
    fn a_count_is_said_as_a_count_and_an_estimate_as_one() {
        let counted = fill(Some((SENT, 1_300)), 7, 0);
        assert_eq!((counted.tokens, counted.source), (1_300, FillSource::Counted));
        assert_eq!(counted.source.said_of("1,300"), "1,300 tokens as the provider counted");
        // Of the 100 newer tokens the provider counted 40 behind the context.
        let newer = fill(Some((SENT, 1_300)), 8, 100);
        assert_eq!(newer.tokens, 1_360);
        assert_eq!(newer.source, FillSource::CountedAndNewer { counted: 1_300 });
        let estimated = fill(None, 7, 0);
        assert_eq!((estimated.tokens, estimated.source), (905, FillSource::Estimated));
        assert_eq!(estimated.source.said_of("905"), "about 905 tokens");
    }

    #[test]
    fn an_impossible_count_is_no_overflow() {
        assert_eq!(fill(Some((SENT, u64::MAX)), 8, 100).tokens, u64::MAX);
    }

    #[test]
    fn a_context_may_be_larger_than_the_window_and_the_window_unknown() {
        let full = ContextFill { tokens: 3_000, window: 2_000, source: FillSource::Estimated };
        assert_eq!(full.percent(), Some(150));
        assert_eq!(ContextFill { window: 0, ..full }.percent(), None);
    }
}

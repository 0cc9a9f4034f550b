//! Rules of a model that only its refusals show.

use midfold_core::ProviderProfile;
use midfold_core::profile::ReasoningText;
use midfold_formats::profile::STRICT;

/// The rules that refusals have shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ShownRules {
    /// User and assistant take turns.
    turns: bool,
    /// Each message of the model has reasoning.
    reasoning: bool,
}

impl ShownRules {
    pub const TURNS: Self = Self { turns: true, reasoning: false };
    pub const REASONING: Self = Self { turns: false, reasoning: true };

    /// Whether there is one.
    pub fn any(self) -> bool {
        self.turns || self.reasoning
    }

    /// Adds the rules of another one. False where all of them were here.
    pub fn add(&mut self, other: Self) -> bool {
        let before = *self;
        self.turns |= other.turns;
        self.reasoning |= other.reasoning;
        *self != before
    }

    /// The profile with these rules. The profiles of other dialects have them already where their providers want them.
    pub fn over(self, own: ProviderProfile) -> ProviderProfile {
        let ProviderProfile { reasoning, reasoning_text, .. } = own;
        if own.dialect != STRICT.dialect {
            return own;
        }
        let mut profile = own;
        if self.turns {
            profile = ProviderProfile { reasoning, reasoning_text, ..STRICT };
        }
        if self.reasoning {
            profile.reasoning_text = ReasoningText::Demanded;
        }
        profile
    }
}

//! Why the proxy sent a request unchanged although it might have needed a fold.

/// The reason why a request was sent unchanged although it might have needed a fold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RequestFault {
    /// The request asks for a preset or a profile that does not exist.
    Preset,
    /// The messages that may not be folded are larger than the budget, or the policy does not fold.
    Floor,
    /// The client's system prompt and tools take nearly all of the window and come with every request. No fold of the
    /// rest would help.
    Fixed,
}

impl RequestFault {
    const ALL: [Self; 3] = [Self::Preset, Self::Floor, Self::Fixed];

    /// The fault with this name; `None` for another name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|fault| fault.name() == name)
    }

    /// The reason in words.
    #[must_use]
    pub fn reason(self) -> &'static str {
        match self {
            Self::Preset => "the preset or profile that it asks for does not exist here",
            Self::Floor => "what may not be folded does not fit",
            Self::Fixed => {
                "the client's own prompt and tools are 90 % of the window: no fold leaves room beside them"
            }
        }
    }

    /// The name, for headers and metrics.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Preset => "preset",
            Self::Floor => "floor",
            Self::Fixed => "fixed",
        }
    }
}

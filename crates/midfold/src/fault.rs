//! Why a request was sent as it came.

/// Why a request was sent as it came although it might have needed a fold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RequestFault {
    /// There is no preset of the name that the request asks for.
    Preset,
    /// What may not be folded is larger than the budget, or the policy's folding is switched off.
    Floor,
    /// What travels with every request of the client is nearly all of the window: folding the rest each time would
    /// help nothing.
    Fixed,
}

impl RequestFault {
    const ALL: [Self; 3] = [Self::Preset, Self::Floor, Self::Fixed];

    /// The fault of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|fault| fault.name() == name)
    }

    /// It in words.
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

    /// Its name, in headers and metrics.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Preset => "preset",
            Self::Floor => "floor",
            Self::Fixed => "fixed",
        }
    }
}

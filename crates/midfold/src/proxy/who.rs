//! Who sends a request, and why it may be sent as it came.

/// Who sends a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Who {
    /// Whose conversations it may go on with: nothing is ever matched across scopes.
    pub scope: String,
    /// What the client calls its session. A hint: it keeps apart what has one history and several
    /// sessions, and finds nothing by itself.
    pub hint: Option<String>,
    /// The program that sends it, as it names itself.
    pub client: Option<String>,
    /// The preset that is asked for.
    pub preset: Option<String>,
    /// The model, where the body does not name it.
    pub model: Option<String>,
    /// The name of the place that it goes to; of places with other names, nothing is learned from each other.
    pub upstream: String,
    /// The window of the model in tokens, as the server says that the request goes to.
    pub window: Option<u64>,
    /// It asks for the window of a million that a model of Anthropic's has for whoever asks for it.
    pub asks_for_million: bool,
}

/// Why a request was sent as it came although it might have needed a fold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Fault {
    /// There is no preset of the name that the request asks for.
    Preset,
    /// What may not be folded is larger than the budget, or the policy's folding is switched off.
    Floor,
    /// What travels with every request of the client is nearly all of the window: folding the rest each time would
    /// help nothing.
    Fixed,
}

impl Fault {
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

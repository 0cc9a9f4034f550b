//! Who sends a request.

/// Who sends a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestSender {
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

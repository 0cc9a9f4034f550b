//! The sender of a request.

/// The sender of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestSender {
    /// The scope of the sender's conversations: a request is never matched across scopes.
    pub scope: String,
    /// The client's name for its session. It keeps sessions apart that have the same history; no conversation is found
    /// by it alone.
    pub hint: Option<String>,
    /// The program that sends it, as the program names itself.
    pub client: Option<String>,
    /// The preset that the request asks for.
    pub preset: Option<String>,
    /// The model, if the body does not name it.
    pub model: Option<String>,
    /// The name of the upstream. Nothing that is learned at one upstream is used for another.
    pub upstream: String,
    /// The window of the model in tokens, as the upstream reports it.
    pub window: Option<u64>,
    /// Whether the upstream runs on this machine or in its network, as servers of local models do.
    pub is_local: bool,
    /// Whether it asks for the window of a million tokens, which Anthropic gives on request.
    pub asks_for_million: bool,
}

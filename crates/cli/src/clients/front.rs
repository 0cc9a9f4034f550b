//! The proxy as its clients see it: the variables that name it, and base URLs with the path that each client expects.

use midfold_serve::UpstreamTable;
use midfold_serve::config::Provider;

/// An environment variable that clients read a provider's base URL from.
pub struct BaseUrlVariable {
    pub name: &'static str,
    pub provider: Provider,
    /// The path at the end of the base URL, as the clients that read this variable expect it.
    end: &'static str,
}

/// All variables with base URLs. The first one of a provider is the one that most clients read.
pub const VARIABLES: [BaseUrlVariable; 8] = [
    BaseUrlVariable::new("OPENAI_BASE_URL", Provider::OpenAi, "/v1"),
    // Read by LiteLLM, programs built on it (aider), and LangChain.
    BaseUrlVariable::new("OPENAI_API_BASE", Provider::OpenAi, "/v1"),
    BaseUrlVariable::new("ANTHROPIC_BASE_URL", Provider::Anthropic, ""),
    // Read by LangChain.
    BaseUrlVariable::new("ANTHROPIC_API_URL", Provider::Anthropic, ""),
    // Read by LiteLLM.
    BaseUrlVariable::new("ANTHROPIC_API_BASE", Provider::Anthropic, ""),
    BaseUrlVariable::new("GOOGLE_GEMINI_BASE_URL", Provider::Gemini, ""),
    // Read by Hermes.
    BaseUrlVariable::new("GEMINI_BASE_URL", Provider::Gemini, "/v1beta"),
    // Read by LiteLLM.
    BaseUrlVariable::new("GEMINI_API_BASE", Provider::Gemini, "/v1beta"),
];

/// The variable with the proxy's address alone, for programs that take the address from a variable or an option of
/// their own.
pub const PROXY_URL_VARIABLE: &str = "MIDFOLD_URL";

impl BaseUrlVariable {
    const fn new(name: &'static str, provider: Provider, end: &'static str) -> Self {
        Self { name, provider, end }
    }
}

/// The proxy as its clients see it.
pub struct ProxyFront {
    /// `http://127.0.0.1:PORT`.
    pub origin: String,
    /// The upstreams to which the proxy sends requests of OpenAI's, Anthropic's and Gemini's clients.
    pub upstreams: UpstreamTable,
}

impl ProxyFront {
    /// The new value of a variable. `before` is its old value, `None` where it was not set.
    pub fn value(&self, variable: &BaseUrlVariable, before: Option<&str>) -> String {
        self.base(variable.provider, variable.end, before)
    }

    /// A base URL of the proxy: its origin, and the version at which the client's paths begin. The version is that of
    /// `before`, the client's own URL, if it has one. Otherwise it is `usual` if the upstream's URL looks like a
    /// provider's own, and left out if it does not.
    pub fn base(&self, provider: Provider, usual: &str, before: Option<&str>) -> String {
        let upstream = self.upstreams.url(provider);
        // Clients take a variable without a value for one that is not set.
        let end = match before.filter(|before| !before.is_empty()) {
            Some(before) => version(before),
            None if is_bare(&upstream) => usual,
            None => "",
        };
        format!("{}{end}", self.origin)
    }
}

/// The version at the end of a base URL. Empty where it is no version that the proxy's own paths start with.
fn version(url: &str) -> &'static str {
    let url = url.trim_end_matches('/');
    ["/v1", "/v1beta"].into_iter().find(|end| url.ends_with(end)).unwrap_or("")
}

/// Whether a URL looks like a provider's own: a host alone, or a version at the end.
fn is_bare(url: &str) -> bool {
    let is_host =
        url.split_once("://").is_some_and(|(_, rest)| !rest.trim_end_matches('/').contains('/'));
    is_host || !version(url).is_empty()
}

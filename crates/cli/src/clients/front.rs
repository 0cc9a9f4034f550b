//! The proxy as clients see it: variables, and base URLs that end as each expects.

use midfold_serve::UpstreamTable;
use midfold_serve::config::Provider;

/// A variable that clients read a base URL from.
pub struct BaseUrlVariable {
    pub name: &'static str,
    pub provider: Provider,
    /// What the base URL ends with, as clients expect it.
    end: &'static str,
}

/// All of them; the first one of a provider is the one that most clients read.
pub const VARIABLES: [BaseUrlVariable; 8] = [
    BaseUrlVariable::new("OPENAI_BASE_URL", Provider::OpenAi, "/v1"),
    // LiteLLM and what is built on it (aider), LangChain.
    BaseUrlVariable::new("OPENAI_API_BASE", Provider::OpenAi, "/v1"),
    BaseUrlVariable::new("ANTHROPIC_BASE_URL", Provider::Anthropic, ""),
    // LangChain.
    BaseUrlVariable::new("ANTHROPIC_API_URL", Provider::Anthropic, ""),
    // LiteLLM.
    BaseUrlVariable::new("ANTHROPIC_API_BASE", Provider::Anthropic, ""),
    BaseUrlVariable::new("GOOGLE_GEMINI_BASE_URL", Provider::Gemini, ""),
    // Hermes.
    BaseUrlVariable::new("GEMINI_BASE_URL", Provider::Gemini, "/v1beta"),
    // LiteLLM.
    BaseUrlVariable::new("GEMINI_API_BASE", Provider::Gemini, "/v1beta"),
];

/// The address of the proxy alone, for programs that are told in a way of their own.
pub const URL: &str = "MIDFOLD_URL";

impl BaseUrlVariable {
    const fn new(name: &'static str, provider: Provider, end: &'static str) -> Self {
        Self { name, provider, end }
    }
}

/// The proxy, as clients see it.
pub struct ProxyFront {
    /// `http://127.0.0.1:PORT`.
    pub origin: String,
    /// Where it sends what OpenAI's, Anthropic's and Gemini's clients ask.
    pub upstreams: UpstreamTable,
}

impl ProxyFront {
    /// The value of a variable that had the value `before`.
    pub fn value(&self, variable: &BaseUrlVariable, before: Option<&str>) -> String {
        self.base(variable.provider, variable.end, before)
    }

    /// A base URL: with the end that the client's had `before`, so that the paths that it adds still fit;
    /// else with the one that its clients expect, where the upstream is written like the provider's own.
    pub fn base(&self, provider: Provider, usual: &str, before: Option<&str>) -> String {
        let upstream = self.upstreams.url(provider);
        let end = match before {
            Some(before) => version(before),
            None if is_bare(&upstream) => usual,
            None => "",
        };
        format!("{}{end}", self.origin)
    }
}

/// The version at the end of a base URL, of those that the proxy's own paths start with.
fn version(url: &str) -> &'static str {
    let url = url.trim_end_matches('/');
    ["/v1", "/v1beta"].into_iter().find(|end| url.ends_with(end)).unwrap_or("")
}

/// Written as a provider writes its own: a host alone, or a version at the end.
fn is_bare(url: &str) -> bool {
    let is_host = url.split_once("://").is_some_and(|(_, rest)| !rest.contains('/'));
    is_host || !version(url).is_empty()
}

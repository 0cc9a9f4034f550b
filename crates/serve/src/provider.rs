//! Providers, and the server's own keys for them, which it uses for clients that have none.

use std::collections::BTreeMap;
use std::fmt;

use hyper::HeaderMap;
use hyper::header::{AUTHORIZATION, HeaderName, HeaderValue};

const X_API_KEY: HeaderName = HeaderName::from_static("x-api-key");
const X_GOOG_API_KEY: HeaderName = HeaderName::from_static("x-goog-api-key");

/// The provider whose API a request uses. It decides the default upstream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Provider {
    /// Chat Completions and Responses.
    OpenAi,
    /// Messages.
    Anthropic,
    /// `generateContent`.
    Gemini,
    /// A model server on the user's own machine, with an API of its own.
    Ollama,
}

impl Provider {
    /// All providers.
    pub const ALL: [Self; 4] = [Self::OpenAi, Self::Anthropic, Self::Gemini, Self::Ollama];

    /// The provider with this name; `None` for another name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|provider| provider.name() == name)
    }

    /// The name: `openai`, `anthropic`, `gemini` or `ollama`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Ollama => "ollama",
        }
    }

    /// The default address.
    pub(crate) fn origin(self) -> &'static str {
        match self {
            Self::OpenAi => "https://api.openai.com",
            Self::Anthropic => "https://api.anthropic.com",
            Self::Gemini => "https://generativelanguage.googleapis.com",
            Self::Ollama => "http://127.0.0.1:11434",
        }
    }
}

/// Why one of the server's keys cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProviderKeyError {
    /// No header can contain the key. The error text does not show it.
    #[error("the key for {0} is empty, or has characters that no key has")]
    Key(String),
}

/// The server's own keys, by the names of upstreams. They are never printed.
#[derive(Clone, Default)]
pub struct ProviderKeys(BTreeMap<String, String>);

impl ProviderKeys {
    /// Sets the key for the upstream of this name: `openai`, `anthropic`, `gemini`, or one of the user's own.
    ///
    /// # Errors
    /// If no header can contain the key.
    pub fn set(&mut self, upstream: &str, key: &str) -> Result<(), ProviderKeyError> {
        let key = key.trim();
        let is_usable = !key.is_empty() && HeaderValue::from_str(key).is_ok();
        if !is_usable {
            return Err(ProviderKeyError::Key(upstream.to_owned()));
        }
        self.0.insert(upstream.to_owned(), key.to_owned());
        Ok(())
    }

    /// The names of the upstreams that have a key.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Adds the server's key for an upstream to a request, in the header that `way` uses. Returns false if there is
    /// none.
    pub(crate) fn give(&self, upstream: &str, provider: Provider, headers: &mut HeaderMap) -> bool {
        let Some(key) = self.0.get(upstream) else { return false };
        let (name, text) = match provider {
            Provider::OpenAi | Provider::Ollama => (AUTHORIZATION, format!("Bearer {key}")),
            Provider::Anthropic => (X_API_KEY, key.clone()),
            Provider::Gemini => (X_GOOG_API_KEY, key.clone()),
        };
        let Ok(mut value) = HeaderValue::from_str(&text) else { return false };
        value.set_sensitive(true);
        headers.insert(name, value);
        true
    }
}

impl fmt::Debug for ProviderKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.keys()).finish()
    }
}

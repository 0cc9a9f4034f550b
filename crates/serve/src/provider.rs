//! Providers, and the keys for them that the server has itself, for clients that have none.

use std::fmt;

use hyper::HeaderMap;
use hyper::header::{AUTHORIZATION, HeaderName, HeaderValue};

const X_API_KEY: HeaderName = HeaderName::from_static("x-api-key");
const X_GOOG_API_KEY: HeaderName = HeaderName::from_static("x-goog-api-key");

/// Whose wire format a request has, and so where it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Provider {
    /// Chat Completions and Responses.
    OpenAi,
    /// Messages.
    Anthropic,
    /// `generateContent`.
    Gemini,
}

impl Provider {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::OpenAi, Self::Anthropic, Self::Gemini];

    /// `openai`, `anthropic` or `gemini`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
        }
    }
}

/// Why a key of the server's is of no use.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProviderKeyError {
    /// A name that no provider has.
    #[error("there is no provider `{0}`: openai, anthropic or gemini")]
    Provider(String),
    /// A key that no header can hold. The text holds none of it.
    #[error("the key for {0} is empty, or has characters that no key has")]
    Key(&'static str),
}

/// The server's own keys, by provider. Nothing prints them.
#[derive(Clone, Default)]
pub struct ProviderKeys([Option<HeaderValue>; Provider::ALL.len()]);

impl ProviderKeys {
    /// Sets the key of `openai`, `anthropic` or `gemini`.
    ///
    /// # Errors
    /// When there is no such provider, or the key is none that a header can hold.
    pub fn set(&mut self, provider: &str, key: &str) -> Result<(), ProviderKeyError> {
        let at = Provider::ALL.iter().position(|known| known.name() == provider);
        let at = at.ok_or_else(|| ProviderKeyError::Provider(provider.to_owned()))?;
        let key = key.trim();
        let text = match Provider::ALL[at] {
            Provider::OpenAi => format!("Bearer {key}"),
            Provider::Anthropic | Provider::Gemini => key.to_owned(),
        };
        let value = HeaderValue::from_str(&text).ok().filter(|_| !key.is_empty());
        let mut value = value.ok_or(ProviderKeyError::Key(Provider::ALL[at].name()))?;
        value.set_sensitive(true);
        self.0[at] = Some(value);
        Ok(())
    }

    /// Gives a request the key of a provider, where there is one.
    pub(crate) fn give(&self, provider: Provider, headers: &mut HeaderMap) -> bool {
        let at = Provider::ALL.iter().position(|known| *known == provider);
        let Some(key) = at.and_then(|at| self.0[at].clone()) else { return false };
        let name = match provider {
            Provider::OpenAi => AUTHORIZATION,
            Provider::Anthropic => X_API_KEY,
            Provider::Gemini => X_GOOG_API_KEY,
        };
        headers.insert(name, key);
        true
    }
}

impl fmt::Debug for ProviderKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let set = Provider::ALL.iter().zip(&self.0).filter(|(_, key)| key.is_some());
        f.debug_list().entries(set.map(|(provider, _)| provider.name())).finish()
    }
}

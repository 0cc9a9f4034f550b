//! Keys of the providers that the server has itself, for clients that have none.

use std::fmt;

use hyper::HeaderMap;
use hyper::header::{AUTHORIZATION, HeaderName, HeaderValue};

use crate::config::{ConfigError, Provider};

const X_API_KEY: HeaderName = HeaderName::from_static("x-api-key");
const X_GOOG_API_KEY: HeaderName = HeaderName::from_static("x-goog-api-key");

/// The server's own keys, by provider. Nothing prints them.
#[derive(Clone, Default)]
pub struct ProviderKeys([Option<HeaderValue>; Provider::ALL.len()]);

impl ProviderKeys {
    /// Sets the key of `openai`, `anthropic` or `gemini`.
    ///
    /// # Errors
    /// When there is no such provider, or the key is none that a header can hold.
    pub fn set(&mut self, provider: &str, key: &str) -> Result<(), ConfigError> {
        let at = Provider::ALL.iter().position(|known| known.name() == provider);
        let at = at.ok_or_else(|| ConfigError::Provider(provider.to_owned()))?;
        let key = key.trim();
        let text = match Provider::ALL[at] {
            Provider::OpenAi => format!("Bearer {key}"),
            Provider::Anthropic | Provider::Gemini => key.to_owned(),
        };
        let value = HeaderValue::from_str(&text).ok().filter(|_| !key.is_empty());
        let mut value = value.ok_or(ConfigError::Key(Provider::ALL[at].name()))?;
        value.set_sensitive(true);
        self.0[at] = Some(value);
        Ok(())
    }

    /// Gives a request the key of a provider, where there is one.
    pub(super) fn give(&self, provider: Provider, headers: &mut HeaderMap) -> bool {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_not_printed() {
        let mut keys = ProviderKeys::default();
        keys.set("anthropic", " sk-secret\n").unwrap();
        assert_eq!(format!("{keys:?}"), "[\"anthropic\"]");
        let mut headers = HeaderMap::new();
        assert!(keys.give(Provider::Anthropic, &mut headers));
        assert!(!keys.give(Provider::OpenAi, &mut headers));
        assert_eq!(headers["x-api-key"], "sk-secret");
        assert!(!format!("{headers:?}").contains("secret"));
        for wrong in ["", " ", "a\nb"] {
            let error = keys.set("openai", wrong).unwrap_err();
            assert_eq!(error, ConfigError::Key("openai"));
        }
    }
}

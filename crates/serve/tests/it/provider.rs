//! The server's own keys for providers.

use hyper::HeaderMap;
use midfold_serve::config::Provider;
use midfold_serve::inside::give;
use midfold_serve::{ProviderKeyError, ProviderKeys};

#[test]
fn keys_are_not_printed() {
    let mut keys = ProviderKeys::default();
    keys.set("anthropic", " sk-secret\n").unwrap();
    assert_eq!(format!("{keys:?}"), "[\"anthropic\"]");
    let mut headers = HeaderMap::new();
    assert!(give(&keys, "anthropic", Provider::Anthropic, &mut headers));
    assert!(!give(&keys, "openai", Provider::OpenAi, &mut headers));
    assert_eq!(headers["x-api-key"], "sk-secret");
    assert!(!format!("{headers:?}").contains("secret"));
    for wrong in ["", " ", "a\nb"] {
        let error = keys.set("openai", wrong).unwrap_err();
        assert_eq!(error, ProviderKeyError::Key("openai".into()));
    }
}

#[test]
fn providers_are_called_what_settings_call_them() {
    assert_eq!(Provider::ALL.map(Provider::name), midfold::PROVIDERS);
}

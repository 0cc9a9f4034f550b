//! Where requests go.

use midfold_serve::config::Provider;
use midfold_serve::inside::address;
use midfold_serve::{ConfigError, Upstreams};

#[test]
fn addresses_join_a_base_and_a_path() {
    let mut upstreams = Upstreams::default();
    for (base, path, wanted) in [
        ("http://h:1", "/v1/chat/completions?a=b", "http://h:1/v1/chat/completions?a=b"),
        ("http://h:1/", "/v1/models", "http://h:1/v1/models"),
        ("http://h/v1", "/v1/responses", "http://h/v1/responses"),
        ("http://h/v1/", "/chat/completions", "http://h/v1/chat/completions"),
        ("https://h/api/v1", "/v1/models?x", "https://h/api/v1/models?x"),
        ("https://h/api", "/v1/models", "https://h/api/v1/models"),
        ("https://h/v1", "/v1beta/models", "https://h/v1/v1beta/models"),
    ] {
        upstreams.set(&format!("openai={base}")).unwrap();
        let address = address(&upstreams, Provider::OpenAi, path).unwrap();
        assert_eq!(address.to_string(), wanted, "{base} {path}");
    }
}

#[test]
fn one_address_serves_all() {
    let mut upstreams = Upstreams::default();
    upstreams.set("http://127.0.0.1:9").unwrap();
    let to = address(&upstreams, Provider::Gemini, "/v1beta/models/m:generateContent").unwrap();
    assert_eq!(to.to_string(), "http://127.0.0.1:9/v1beta/models/m:generateContent");
}

#[test]
fn what_is_no_address_is_refused_without_being_repeated() {
    let mut upstreams = Upstreams::default();
    for wrong in ["openai=ftp://h", "openai=https://joe:pw@h", "anthropic=h", "gemini=http://h?k=1"]
    {
        let error = upstreams.set(wrong).unwrap_err().to_string();
        assert!(!error.contains("pw"), "{error}");
    }
    assert_eq!(upstreams.set("oepnai=http://h"), Err(ConfigError::Provider("oepnai".into())));
}

//! Where requests go.

use midfold_serve::config::Provider;
use midfold_serve::inside::address;
use midfold_serve::{ConfigError, UpstreamTable};

#[test]
fn addresses_join_a_base_and_a_path() {
    let mut upstreams = UpstreamTable::default();
    for (base, path, wanted) in [
        ("http://h:1", "/v1/chat/completions?a=b", "http://h:1/v1/chat/completions?a=b"),
        ("http://h:1/", "/v1/models", "http://h:1/v1/models"),
        ("http://h/v1", "/v1/responses", "http://h/v1/responses"),
        ("http://h/v1/", "/chat/completions", "http://h/v1/chat/completions"),
        ("https://h/api/v1", "/v1/models?x", "https://h/api/v1/models?x"),
        ("https://h/api", "/v1/models", "https://h/api/v1/models"),
        ("https://h/v1", "/v1beta/models", "https://h/v1/v1beta/models"),
        // Both wrote the folders of the server.
        ("https://h/api/v1", "/api/v1/chat/completions", "https://h/api/v1/chat/completions"),
        ("https://h/anthropic", "/anthropic/v1/messages", "https://h/anthropic/v1/messages"),
        // The client's version is one of OpenAI's, the server has another.
        ("https://h/api/paas/v4", "/v1/chat/completions", "https://h/api/paas/v4/chat/completions"),
        ("https://h/api/paas/v4", "/v10/x", "https://h/api/paas/v4/v10/x"),
    ] {
        upstreams.set(&format!("openai={base}")).unwrap();
        let address = address(&upstreams, Provider::OpenAi, (None, None), path).unwrap();
        assert_eq!(address.to_string(), wanted, "{base} {path}");
    }
}

#[test]
fn one_address_serves_all() {
    let mut upstreams = UpstreamTable::default();
    upstreams.set("http://127.0.0.1:9").unwrap();
    let to =
        address(&upstreams, Provider::Gemini, (None, None), "/v1beta/models/m:generateContent")
            .unwrap();
    assert_eq!(to.to_string(), "http://127.0.0.1:9/v1beta/models/m:generateContent");
}

#[test]
fn what_is_no_address_is_refused_without_being_repeated() {
    let mut upstreams = UpstreamTable::default();
    for wrong in ["openai=ftp://h", "openai=https://joe:pw@h", "anthropic=h", "gemini=http://h?k=1"]
    {
        let error = upstreams.set(wrong).unwrap_err().to_string();
        assert!(!error.contains("pw"), "{error}");
    }
    assert_eq!(upstreams.set("open ai=http://h"), Err(ConfigError::Name("open ai".into())));
}

//! How a service is spoken to.

use midfold_core::narrate::FailureClass;
use midfold_model::WireProtocol;
use midfold_model::inside::{endpoint, refusal};
use reqwest::Url;

#[test]
fn endpoints_are_found_from_any_base() {
    for (base, wanted) in [
        ("http://h:1", "http://h:1/v1/chat/completions"),
        ("http://h/v1/", "http://h/v1/chat/completions"),
        ("https://h/api/openai", "https://h/api/openai/chat/completions"),
        (
            "https://h/x/chat/completions?api-version=1",
            "https://h/x/chat/completions?api-version=1",
        ),
    ] {
        let base = Url::parse(base).unwrap();
        assert_eq!(endpoint(WireProtocol::OpenAiChat, &base).as_str(), wanted);
    }
}

#[test]
fn details_hold_nothing_that_a_server_echoes() {
    let body = br#"{"error":{"message":"Incorrect API key provided: sk-abc","type":"invalid_request_error","code":"invalid_api_key"}}"#;
    let refusal = refusal(WireProtocol::OpenAiChat, 401, body);
    assert_eq!(refusal.class, FailureClass::Auth);
    assert_eq!(refusal.detail, "HTTP 401, invalid_api_key");
}

//! Where a server is asked, and what it says when it refuses.

use midfold_top::inside::{refused, url};
use midfold_top::{ServerSource, SessionId, SourceQuestion};
use reqwest::StatusCode;

#[test]
fn ids_and_texts_are_escaped() {
    let source = ServerSource::new("http://127.0.0.1:1/below/", None).ok();
    let url = |ask| source.as_ref().map(|source| url(source, &ask).to_string()).unwrap_or_default();
    let id = || SessionId::from("a/b ?c".to_owned());
    assert_eq!(url(SourceQuestion::Sessions), "http://127.0.0.1:1/below/v1/sessions?limit=500");
    assert_eq!(
        url(SourceQuestion::Fold(id(), 3)),
        "http://127.0.0.1:1/below/v1/sessions/a%2Fb%20%3Fc/folds/3"
    );
    assert_eq!(
        url(SourceQuestion::Explain(id(), "x&y=é".to_owned())),
        "http://127.0.0.1:1/below/v1/sessions/a%2Fb%20%3Fc/explain?text=x%26y%3D%C3%A9"
    );
}

#[test]
fn an_address_that_cannot_be_used_is_named() {
    for url in ["nothing", "ftp://host", "http://me:secret@host"] {
        let error = ServerSource::new(url, None).err().unwrap_or_default();
        assert!(error.message.as_str().contains("cannot be used"), "{url}: {error}");
        assert!(!error.message.as_str().contains("secret"), "{error}");
    }
}

#[test]
fn what_the_server_says_is_passed_on() {
    let body = br#"{"detail":"there is no session `x`","hints":["see \u001b[2Jthere"]}"#;
    let trouble = refused("P", StatusCode::NOT_FOUND, body);
    assert_eq!(trouble.message.as_str(), "there is no session `x`");
    assert!(trouble.hints[0].as_str().contains("midfold top"));
    let trouble = refused("P", StatusCode::CONFLICT, body);
    assert_eq!(trouble.hints[0].as_str(), "see there");
    let trouble = refused("P", StatusCode::UNAUTHORIZED, br#"{"error":{"message":"a key"}}"#);
    assert_eq!(trouble.message.as_str(), "a key");
    assert!(trouble.hints[0].as_str().contains("--key-file"));
    let trouble = refused("P", StatusCode::BAD_GATEWAY, b"<html>");
    assert_eq!(trouble.message.as_str(), "P answers with status 502 Bad Gateway");
}

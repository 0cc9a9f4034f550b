//! What a path asks for.

use hyper::{HeaderMap, Method};
use midfold::DialectKind;
use midfold_serve::config::Provider;
use midfold_serve::inside::{Asked, Route, Work, route};

fn of(method: &Method, path: &str) -> Route {
    route(method, path, &HeaderMap::new())
}

#[test]
fn paths_are_read() {
    let kind = |path: &str| match of(&Method::POST, path).work {
        Work::Generate(asked) | Work::Count(asked) | Work::Compact(asked) => Some(asked.kind),
        Work::Pass => None,
    };
    assert_eq!(kind("/v1/chat/completions"), Some(DialectKind::OpenAiChat));
    assert_eq!(kind("/chat/completions"), Some(DialectKind::OpenAiChat));
    assert_eq!(kind("/v1/responses"), Some(DialectKind::OpenAiResponses));
    assert_eq!(kind("/v1/responses/compact"), Some(DialectKind::OpenAiResponses));
    assert_eq!(kind("/v1/messages/count_tokens"), Some(DialectKind::Anthropic));
    for path in ["/v1/embeddings", "/v1/responses/resp_1/cancel", "/v1/messages/batches", "/"] {
        assert_eq!(kind(path), None, "{path}");
    }
    assert_eq!(of(&Method::GET, "/v1/responses").work, Work::Pass);
    let streamed = of(&Method::POST, "/v1beta/models/gemini-3:streamGenerateContent");
    let asked = Asked { kind: DialectKind::Gemini, model: Some("gemini-3".into()), stream: true };
    assert_eq!(streamed, Route { provider: Provider::Gemini, work: Work::Generate(asked) });
}

#[test]
fn what_has_no_history_goes_to_whoever_its_headers_name() {
    let mut headers = HeaderMap::new();
    assert_eq!(route(&Method::GET, "/v1/models", &headers).provider, Provider::OpenAi);
    headers.insert("x-api-key", "k".parse().unwrap());
    assert_eq!(route(&Method::GET, "/v1/models", &headers).provider, Provider::Anthropic);
}

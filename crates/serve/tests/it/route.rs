//! What a path asks for.

use hyper::{HeaderMap, Method};
use midfold::DialectKind;
use midfold_serve::config::Provider;
use midfold_serve::inside::{HistoryRequest, RequestRoute, RouteWork, route};

#[test]
fn a_path_may_name_its_place() {
    let RequestRoute { upstream, path, work, .. } = of(&Method::POST, "/to/local/v1//messages/");
    assert_eq!((upstream.as_deref(), path.as_str()), (Some("local"), "/v1/messages"));
    assert!(matches!(work, RouteWork::Generate(_)));
    let RequestRoute { upstream, path, .. } = of(&Method::GET, "/to/local");
    assert_eq!((upstream.as_deref(), path.as_str()), (Some("local"), "/"));
    assert_eq!(of(&Method::GET, "/v1/models").upstream, None);
}

fn of(method: &Method, path: &str) -> RequestRoute {
    route(method, path, &HeaderMap::new())
}

#[test]
fn paths_are_read() {
    let kind = |path: &str| match of(&Method::POST, path).work {
        RouteWork::Generate(asked) | RouteWork::Count(asked) | RouteWork::Compact(asked) => {
            Some(asked.kind)
        }
        RouteWork::Signed | RouteWork::Pass => None,
    };
    assert_eq!(kind("/v1/chat/completions"), Some(DialectKind::OpenAiChat));
    assert_eq!(kind("/chat/completions"), Some(DialectKind::OpenAiChat));
    assert_eq!(kind("/v1/responses"), Some(DialectKind::OpenAiResponses));
    assert_eq!(kind("/v1/responses/compact"), Some(DialectKind::OpenAiResponses));
    assert_eq!(kind("/v1/messages/count_tokens"), Some(DialectKind::Anthropic));
    // Only Vertex has it for others' models.
    assert_eq!(kind("/v1/publishers/nobody/models/m:rawPredict"), None);
    let model = |path: &str| match of(&Method::POST, path).work {
        RouteWork::Generate(asked) => asked.model,
        _ => None,
    };
    assert_eq!(model("/openai/deployments/gpt-5/chat/completions").as_deref(), Some("gpt-5"));
    let vertex =
        "/v1/projects/p/locations/l/publishers/anthropic/models/claude-x@1:streamRawPredict";
    assert_eq!(model(vertex).as_deref(), Some("claude-x@1"));
    let arn = "/model/arn%3Aaws%3Abedrock%3Ax%3A1%3Ainference-profile%2Fus.anthropic.c/converse";
    let named = "arn:aws:bedrock:x:1:inference-profile/us.anthropic.c";
    assert_eq!(model(arn).as_deref(), Some(named));
    assert_eq!(model("/serving-endpoints/mine/invocations").as_deref(), Some("mine"));
    for path in [
        "/model/amazon.titan-embed-text-v2/invoke",
        "/endpoints/mine/invocations",
        "/v1/threads/t/messages",
        "/v1/embeddings",
        "/v1/responses/resp_1/cancel",
        "/v1/messages/batches",
        "/",
    ] {
        assert_eq!(kind(path), None, "{path}");
    }
    assert_eq!(of(&Method::GET, "/v1/responses").work, RouteWork::Pass);
    let streamed = of(&Method::POST, "/v1beta/models/gemini-3:streamGenerateContent");
    let asked =
        HistoryRequest { kind: DialectKind::Gemini, model: Some("gemini-3".into()), stream: true };
    assert_eq!((streamed.provider, streamed.work), (Provider::Gemini, RouteWork::Generate(asked)));
}

#[test]
fn what_has_no_history_goes_to_whoever_its_headers_name() {
    let mut headers = HeaderMap::new();
    assert_eq!(route(&Method::GET, "/v1/models", &headers).provider, Provider::OpenAi);
    assert_eq!(route(&Method::GET, "/api/tags", &headers).provider, Provider::Ollama);
    headers.insert("x-api-key", "k".parse().unwrap());
    assert_eq!(route(&Method::GET, "/v1/models", &headers).provider, Provider::Anthropic);
}

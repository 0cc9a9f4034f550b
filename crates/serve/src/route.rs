//! Reads the route of a request from its path. Paths are matched by their ends, because servers, gateways and clouds
//! put their own folders before them.

use hyper::header::AUTHORIZATION;
use hyper::{HeaderMap, Method};
use midfold::DialectKind;

use crate::provider::Provider;
use crate::upstreams::decoded;

/// The route of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestRoute {
    /// The upstream that its path or its header names.
    pub upstream: Option<String>,
    /// The provider whose API it uses.
    pub provider: Provider,
    /// How it is handled.
    pub work: RouteWork,
    /// The path for the upstream, without the prefix `/to/NAME`.
    pub path: String,
}

/// How a request is handled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RouteWork {
    /// It has a history that is made to fit.
    Generate(HistoryRequest),
    /// It has a history whose tokens are only counted.
    Count(HistoryRequest),
    /// It has a history that is only compacted.
    Compact(HistoryRequest),
    /// It is signed, so another body would be refused.
    Signed,
    /// It is forwarded without being read.
    Pass,
}

/// A request with a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryRequest {
    /// The wire format.
    pub kind: DialectKind,
    /// The model, if the path names it.
    pub model: Option<String>,
    /// Whether the path says that the answer is a stream. False for Bedrock's streams, whose framing nobody reads here.
    pub stream: bool,
}

/// The header that names an upstream.
const UPSTREAM: &str = "midfold-upstream";

/// Reads the route from a request's method, path and headers.
pub fn route(method: &Method, path: &str, headers: &HeaderMap) -> RequestRoute {
    let named = path.strip_prefix("/to/").map(|rest| rest.split_once('/').unwrap_or((rest, "")));
    let by_header = || headers.get(UPSTREAM).and_then(|name| Some(name.to_str().ok()?.to_owned()));
    let (upstream, path) = match named {
        Some((name, rest)) => (Some(name.to_owned()), format!("/{rest}")),
        None => (by_header(), path.to_owned()),
    };
    let segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
    let known = if method == Method::POST { work(&segments) } else { None };
    match known {
        Some((provider, _)) if is_signed(headers) => {
            RequestRoute { upstream, provider, work: RouteWork::Signed, path }
        }
        // A base URL that ends with a slash makes two slashes, so the path is joined again.
        Some((provider, work)) => {
            RequestRoute { upstream, provider, work, path: format!("/{}", segments.join("/")) }
        }
        None => {
            let provider = provider(&segments, headers);
            let is_signed = method == Method::POST && is_signed(headers);
            let work = if is_signed { RouteWork::Signed } else { RouteWork::Pass };
            RequestRoute { upstream, provider, work, path }
        }
    }
}

/// The provider and the kind of request that a path with these segments means; `None` if it is unknown.
fn work(segments: &[&str]) -> Option<(Provider, RouteWork)> {
    let (last, before) = segments.split_last()?;
    let above = before.last().copied().unwrap_or_default();
    let history = |kind| HistoryRequest { kind, model: named_model(before), stream: false };
    // Google serves OpenAI's formats under paths of its own, and such a request needs Google's address and key.
    let openai = if is_google(before) { Provider::Gemini } else { Provider::OpenAi };
    let provider_work = match (above, *last) {
        ("api", "chat") => (Provider::Ollama, RouteWork::Generate(history(DialectKind::Ollama))),
        ("chat", "completions") => (openai, RouteWork::Generate(history(DialectKind::OpenAiChat))),
        (_, "responses") => (openai, RouteWork::Generate(history(DialectKind::OpenAiResponses))),
        ("responses", "compact") => {
            (openai, RouteWork::Compact(history(DialectKind::OpenAiResponses)))
        }
        (_, "messages") if !is_stored_there(before) => {
            (Provider::Anthropic, RouteWork::Generate(history(DialectKind::Anthropic)))
        }
        ("messages", "count_tokens") => {
            (Provider::Anthropic, RouteWork::Count(history(DialectKind::Anthropic)))
        }
        _ => return cloud(last, before).or_else(|| verb(last, before)),
    };
    Some(provider_work)
}

/// Reads `model/NAME/converse` and `model/NAME/invoke` of Bedrock, and `serving-endpoints/NAME/invocations` of
/// Databricks. Both take a bearer token, as `OpenAI` does. Their addresses have a region or a workspace, so somebody has
/// named them.
fn cloud(last: &str, before: &[&str]) -> Option<(Provider, RouteWork)> {
    let [.., folder, name] = before else { return None };
    let name = String::from_utf8_lossy(&decoded(name)).into_owned();
    let kind = match (*folder, last) {
        ("model", "converse" | "converse-stream") => DialectKind::Bedrock,
        // The body is in the wire format of the model's maker.
        ("model", "invoke" | "invoke-with-response-stream") => {
            let is_of = |maker: &str| name.split(['.', '/']).any(|part| part == maker);
            match () {
                () if is_of("anthropic") => DialectKind::Anthropic,
                () if is_of("openai") => DialectKind::OpenAiChat,
                () => return None,
            }
        }
        ("serving-endpoints", "invocations") => DialectKind::OpenAiChat,
        _ => return None,
    };
    let history = HistoryRequest { kind, model: Some(name), stream: false };
    Some((Provider::OpenAi, RouteWork::Generate(history)))
}

/// Reads `models/NAME:generateContent` and similar paths of Gemini and Vertex.
fn verb(last: &str, before: &[&str]) -> Option<(Provider, RouteWork)> {
    let (model, verb) = last.rsplit_once(':')?;
    if !matches!(before.last(), Some(&"models" | &"tunedModels" | &"endpoints")) {
        return None;
    }
    let history = |kind, stream| HistoryRequest { kind, model: Some(model.to_owned()), stream };
    let gemini = |stream| history(DialectKind::Gemini, stream);
    let work = match verb {
        "generateContent" => RouteWork::Generate(gemini(false)),
        "streamGenerateContent" => RouteWork::Generate(gemini(true)),
        "countTokens" => RouteWork::Count(gemini(false)),
        // A model of another maker at Vertex, in that maker's wire format.
        "rawPredict" | "streamRawPredict" => {
            let publisher = before.iter().rev().nth(1).copied().unwrap_or_default();
            let kind = match publisher {
                "anthropic" => DialectKind::Anthropic,
                "mistralai" | "meta" | "openai" => DialectKind::OpenAiChat,
                _ => return None,
            };
            match model {
                // The body names the model in this case.
                "count-tokens" => {
                    RouteWork::Count(HistoryRequest { kind, model: None, stream: false })
                }
                _ => RouteWork::Generate(history(kind, verb == "streamRawPredict")),
            }
        }
        _ => return None,
    };
    Some((Provider::Gemini, work))
}

/// The model in `deployments/NAME/…` (Azure) or `engines/NAME/…`.
fn named_model(before: &[&str]) -> Option<String> {
    let at = before.iter().position(|segment| matches!(*segment, "deployments" | "engines"))?;
    before.get(at + 1).map(|&name| name.to_owned())
}

/// Whether the path is one of Google's for other wire formats.
fn is_google(before: &[&str]) -> bool {
    matches!(before.first(), Some(&"v1beta")) || before.contains(&"locations")
}

/// Whether messages are added one by one to a history that the provider keeps: such a request has no history.
fn is_stored_there(before: &[&str]) -> bool {
    before.iter().any(|segment| matches!(*segment, "threads" | "sessions" | "conversations"))
}

/// Whether the request has a signature that covers its body (Bedrock, SageMaker).
fn is_signed(headers: &HeaderMap) -> bool {
    headers
        .get(AUTHORIZATION)
        .is_some_and(|value| value.as_bytes().starts_with(b"AWS4-HMAC-SHA256"))
}

/// The provider of a request without a history: by its headers, or else by its path.
fn provider(segments: &[&str], headers: &HeaderMap) -> Provider {
    // Headers first, because several providers list their models at the same path.
    if headers.contains_key("anthropic-version") || headers.contains_key("x-api-key") {
        Provider::Anthropic
    } else if headers.contains_key("x-goog-api-key") || is_google(segments) {
        Provider::Gemini
    } else if is_ollama(segments) {
        Provider::Ollama
    } else {
        Provider::OpenAi
    }
}

/// Whether the path is one that only Ollama has.
fn is_ollama(segments: &[&str]) -> bool {
    let own = [
        "blobs",
        "chat",
        "copy",
        "create",
        "delete",
        "embed",
        "embeddings",
        "generate",
        "ps",
        "pull",
        "push",
        "show",
        "tags",
        "version",
    ];
    matches!(segments, ["api", second, ..] if own.contains(second))
}

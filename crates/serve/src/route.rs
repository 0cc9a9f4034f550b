//! What a path asks for. Paths are known by their endings: servers, gateways and clouds put their own folders in
//! front.

use hyper::header::AUTHORIZATION;
use hyper::{HeaderMap, Method};
use midfold::DialectKind;

use crate::provider::Provider;

/// What a request asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestRoute {
    /// The place that its path or its header names.
    pub upstream: Option<String>,
    /// Whose format it has.
    pub provider: Provider,
    /// The work for it.
    pub work: RouteWork,
    /// The path that it goes on with, without the place that it names.
    pub path: String,
}

/// The work for a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RouteWork {
    /// It has a history, and is made to fit.
    Generate(HistoryRequest),
    /// It has a history that is only to be counted.
    Count(HistoryRequest),
    /// Its history is to be compacted, and nothing else.
    Compact(HistoryRequest),
    /// It is signed: another body would be refused.
    Signed,
    /// It passes.
    Pass,
}

/// A request with a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryRequest {
    /// The format that it is written in.
    pub kind: DialectKind,
    /// The model, where the path names it.
    pub model: Option<String>,
    /// The path says that the answer is streamed.
    pub stream: bool,
}

/// The place that a request goes to, where it names one.
const UPSTREAM: &str = "midfold-upstream";

/// Reads a request's line and headers.
pub fn route(method: &Method, path: &str, headers: &HeaderMap) -> RequestRoute {
    let named = path.strip_prefix("/to/").map(|rest| rest.split_once('/').unwrap_or((rest, "")));
    let by_header = || headers.get(UPSTREAM).and_then(|name| Some(name.to_str().ok()?.to_owned()));
    let (upstream, path) = match named {
        Some((name, rest)) => (Some(name.to_owned()), format!("/{rest}")),
        None => (by_header(), path.to_owned()),
    };
    let segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
    let found = if method == Method::POST { work(&segments) } else { None };
    match found {
        Some((provider, _)) if is_signed(headers) => {
            RequestRoute { upstream, provider, work: RouteWork::Signed, path }
        }
        // A base URL that ends with a slash leaves two of them behind.
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

/// What a path with these segments asks for, of whom.
fn work(segments: &[&str]) -> Option<(Provider, RouteWork)> {
    let (last, before) = segments.split_last()?;
    let above = before.last().copied().unwrap_or_default();
    let asked = |kind| HistoryRequest { kind, model: named_model(before), stream: false };
    let openai = if is_google(before) { Provider::Gemini } else { Provider::OpenAi };
    let found = match (above, *last) {
        ("api", "chat") => (Provider::Ollama, RouteWork::Generate(asked(DialectKind::Ollama))),
        ("chat", "completions") => (openai, RouteWork::Generate(asked(DialectKind::OpenAiChat))),
        (_, "responses") => (openai, RouteWork::Generate(asked(DialectKind::OpenAiResponses))),
        ("responses", "compact") => {
            (openai, RouteWork::Compact(asked(DialectKind::OpenAiResponses)))
        }
        (_, "messages") if !is_stored_there(before) => {
            (Provider::Anthropic, RouteWork::Generate(asked(DialectKind::Anthropic)))
        }
        ("messages", "count_tokens") => {
            (Provider::Anthropic, RouteWork::Count(asked(DialectKind::Anthropic)))
        }
        _ => verb(last, before)?,
    };
    Some(found)
}

/// `models/NAME:generateContent` and its siblings, as Gemini and Vertex have them.
fn verb(last: &str, before: &[&str]) -> Option<(Provider, RouteWork)> {
    let (model, verb) = last.rsplit_once(':')?;
    if !matches!(before.last(), Some(&"models" | &"tunedModels" | &"endpoints")) {
        return None;
    }
    let asked = |kind, stream| HistoryRequest { kind, model: Some(model.to_owned()), stream };
    let gemini = |stream| asked(DialectKind::Gemini, stream);
    let work = match verb {
        "generateContent" => RouteWork::Generate(gemini(false)),
        "streamGenerateContent" => RouteWork::Generate(gemini(true)),
        "countTokens" => RouteWork::Count(gemini(false)),
        // Somebody else's model at Vertex, in its maker's format.
        "rawPredict" | "streamRawPredict" => {
            let publisher = before.iter().rev().nth(1).copied().unwrap_or_default();
            let kind = match publisher {
                "anthropic" => DialectKind::Anthropic,
                "mistralai" | "meta" | "openai" => DialectKind::OpenAiChat,
                _ => return None,
            };
            match model {
                // The body names the model then.
                "count-tokens" => {
                    RouteWork::Count(HistoryRequest { kind, model: None, stream: false })
                }
                _ => RouteWork::Generate(asked(kind, verb == "streamRawPredict")),
            }
        }
        _ => return None,
    };
    Some((Provider::Gemini, work))
}

/// The model in `deployments/NAME/…` (Azure) or `engines/NAME/…`.
fn named_model(before: &[&str]) -> Option<String> {
    let at = before.iter().position(|it| matches!(*it, "deployments" | "engines"))?;
    before.get(at + 1).map(|&name| name.to_owned())
}

/// Google's places for what is written in others' formats.
fn is_google(before: &[&str]) -> bool {
    matches!(before.first(), Some(&"v1beta")) || before.contains(&"locations")
}

/// Messages are added one by one to what the provider keeps: no history is in the request.
fn is_stored_there(before: &[&str]) -> bool {
    before.iter().any(|it| matches!(*it, "threads" | "sessions" | "conversations"))
}

/// The signature covers the body (Bedrock, SageMaker).
fn is_signed(headers: &HeaderMap) -> bool {
    headers.get(AUTHORIZATION).is_some_and(|it| it.as_bytes().starts_with(b"AWS4-HMAC-SHA256"))
}

/// Whose a request is that has no history: what its headers say, else what its path looks like.
fn provider(segments: &[&str], headers: &HeaderMap) -> Provider {
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

/// Paths that only Ollama has.
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

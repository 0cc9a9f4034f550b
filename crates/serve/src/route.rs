//! What a path asks for.

use hyper::{HeaderMap, Method};
use midfold::DialectKind;

use crate::provider::Provider;

/// What a request asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// Whose it is.
    pub provider: Provider,
    /// What is done with it.
    pub work: Work,
}

/// What is done with a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Work {
    /// It has a history, and is made to fit.
    Generate(Asked),
    /// It has a history that is only to be counted.
    Count(Asked),
    /// Its history is to be compacted, and nothing else.
    Compact(Asked),
    /// It passes.
    Pass,
}

/// A request with a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The format that it is written in.
    pub kind: DialectKind,
    /// The model, where the path names it.
    pub model: Option<String>,
    /// The path says that the answer is streamed.
    pub stream: bool,
}

/// Reads a request's line and headers. Clients put `/v1` in front or leave it to their base URL.
pub fn route(method: &Method, path: &str, headers: &HeaderMap) -> Route {
    let short = path.strip_prefix("/v1").filter(|rest| rest.starts_with('/')).unwrap_or(path);
    let asked = |kind| Asked { kind, model: None, stream: false };
    let is_post = method == Method::POST;
    let generate = |provider, kind| Route { provider, work: Work::Generate(asked(kind)) };
    match short {
        "/chat/completions" if is_post => generate(Provider::OpenAi, DialectKind::OpenAiChat),
        "/responses" if is_post => generate(Provider::OpenAi, DialectKind::OpenAiResponses),
        "/responses/compact" if is_post => Route {
            provider: Provider::OpenAi,
            work: Work::Compact(asked(DialectKind::OpenAiResponses)),
        },
        "/messages" if is_post => generate(Provider::Anthropic, DialectKind::Anthropic),
        "/messages/count_tokens" if is_post => Route {
            provider: Provider::Anthropic,
            work: Work::Count(asked(DialectKind::Anthropic)),
        },
        _ => match gemini(path).filter(|_| is_post) {
            Some(work) => Route { provider: Provider::Gemini, work },
            None => Route { provider: provider(path, headers), work: Work::Pass },
        },
    }
}

/// `/v1beta/models/NAME:generateContent` and its siblings.
fn gemini(path: &str) -> Option<Work> {
    let (before, verb) = path.rsplit_once(':')?;
    let (before, model) = before.rsplit_once('/')?;
    if !before.ends_with("/models") {
        return None;
    }
    let asked = |stream| Asked { kind: DialectKind::Gemini, model: Some(model.to_owned()), stream };
    match verb {
        "generateContent" => Some(Work::Generate(asked(false))),
        "streamGenerateContent" => Some(Work::Generate(asked(true))),
        "countTokens" => Some(Work::Count(asked(false))),
        _ => None,
    }
}

/// Whose a request is that has no history: what its headers say, else what its path looks like.
fn provider(path: &str, headers: &HeaderMap) -> Provider {
    if headers.contains_key("anthropic-version") || headers.contains_key("x-api-key") {
        Provider::Anthropic
    } else if headers.contains_key("x-goog-api-key") || path.starts_with("/v1beta") {
        Provider::Gemini
    } else {
        Provider::OpenAi
    }
}

//! Recognises endpoints by method and path.

use super::request_parts::WireDialect;

/// An endpoint of a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Endpoint {
    /// Asks for a reply of the model.
    Model {
        dialect: WireDialect,
        /// The model, if the path names it.
        model: Option<String>,
        how: ReplyMode,
    },
    /// Counts the tokens of a prompt.
    Count {
        dialect: WireDialect,
        model: Option<String>,
    },
    Models(WireDialect),
    Unknown(WireDialect),
}

/// Whether and how a reply is streamed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReplyMode {
    /// Streamed if the body says `stream: true`.
    AsBodySays,
    Whole,
    /// Streamed as events.
    Events,
    /// Streamed as one JSON array, chunk by chunk.
    Array,
}

impl Endpoint {
    pub fn of(method: &str, path: &str, query: &str) -> Self {
        let plain = path.trim_end_matches('/');
        let plain = plain.strip_prefix("/v1").filter(|rest| rest.starts_with('/')).unwrap_or(plain);
        let model = |dialect| Self::Model { dialect, model: None, how: ReplyMode::AsBodySays };
        match (method, plain) {
            ("POST", "/chat/completions") => model(WireDialect::Chat),
            ("POST", "/responses") => model(WireDialect::Responses),
            ("POST", "/messages") => model(WireDialect::Messages),
            ("POST", "/messages/count_tokens") => {
                Self::Count { dialect: WireDialect::Messages, model: None }
            }
            ("GET", "/models") => Self::Models(WireDialect::Chat),
            ("GET", "/v1beta/models") => Self::Models(WireDialect::Gemini),
            _ => Self::gemini(method, plain, query),
        }
    }

    fn gemini(method: &str, path: &str, query: &str) -> Self {
        let beta = path.strip_prefix("/v1beta");
        let named =
            beta.unwrap_or(path).strip_prefix("/models/").and_then(|rest| rest.rsplit_once(':'));
        if let Some((model, action)) = named.filter(|_| method == "POST") {
            let sse = query.split('&').any(|pair| pair == "alt=sse");
            let how = match action {
                "streamGenerateContent" if sse => Some(ReplyMode::Events),
                "streamGenerateContent" => Some(ReplyMode::Array),
                "generateContent" => Some(ReplyMode::Whole),
                _ => None,
            };
            let (dialect, model) = (WireDialect::Gemini, Some(model.to_owned()));
            if let Some(how) = how {
                return Self::Model { dialect, model, how };
            }
            if action == "countTokens" {
                return Self::Count { dialect, model };
            }
        }
        Self::Unknown(if beta.is_some() {
            WireDialect::Gemini
        } else if path.starts_with("/messages") {
            WireDialect::Messages
        } else {
            WireDialect::Chat
        })
    }
}

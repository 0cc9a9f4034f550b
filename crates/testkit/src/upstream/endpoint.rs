//! Which endpoint a path is.

use super::asked::Dialect;

/// An endpoint of a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Endpoint {
    /// A reply of the model.
    Model {
        dialect: Dialect,
        /// The model, where the path names it.
        model: Option<String>,
        how: How,
    },
    /// Tokens of a prompt.
    Count {
        dialect: Dialect,
        model: Option<String>,
    },
    Models(Dialect),
    Unknown(Dialect),
}

/// Whether a reply is streamed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    /// Where the body says `stream: true`.
    AsBodySays,
    Whole,
    /// Events.
    Events,
    /// One JSON array, chunk by chunk.
    Array,
}

impl Endpoint {
    pub fn of(method: &str, path: &str, query: &str) -> Self {
        let plain = path.trim_end_matches('/');
        let plain = plain.strip_prefix("/v1").filter(|rest| rest.starts_with('/')).unwrap_or(plain);
        let model = |dialect| Self::Model { dialect, model: None, how: How::AsBodySays };
        match (method, plain) {
            ("POST", "/chat/completions") => model(Dialect::Chat),
            ("POST", "/responses") => model(Dialect::Responses),
            ("POST", "/messages") => model(Dialect::Messages),
            ("POST", "/messages/count_tokens") => {
                Self::Count { dialect: Dialect::Messages, model: None }
            }
            ("GET", "/models") => Self::Models(Dialect::Chat),
            ("GET", "/v1beta/models") => Self::Models(Dialect::Gemini),
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
                "streamGenerateContent" if sse => Some(How::Events),
                "streamGenerateContent" => Some(How::Array),
                "generateContent" => Some(How::Whole),
                _ => None,
            };
            let (dialect, model) = (Dialect::Gemini, Some(model.to_owned()));
            if let Some(how) = how {
                return Self::Model { dialect, model, how };
            }
            if action == "countTokens" {
                return Self::Count { dialect, model };
            }
        }
        Self::Unknown(if beta.is_some() {
            Dialect::Gemini
        } else if path.starts_with("/messages") {
            Dialect::Messages
        } else {
            Dialect::Chat
        })
    }
}

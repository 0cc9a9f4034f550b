//! How the body of an answer is divided, by its content type or else by its first byte.

/// How the body of an answer is divided into events or documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AnswerFraming {
    /// One JSON document.
    Json,
    /// Server-sent events. A body that starts with `{` or `[` is read as one JSON document: some servers refuse a
    /// stream that way.
    Sse,
    /// An array whose elements arrive one by one: Gemini's `streamGenerateContent` without `alt=sse`.
    JsonArray,
    /// JSON documents, one per line (Ollama).
    NdJson,
}

/// What the head of an answer says about its body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeclaredFraming {
    /// The content type says it.
    Said(AnswerFraming),
    /// The content type says nothing, as `text/plain` does: the first byte decides between JSON and events.
    Unsaid {
        /// Whether the client asked for a stream.
        is_stream: bool,
    },
}

impl DeclaredFraming {
    /// The framing of an answer with this content type. `is_stream` says whether the client asked for a stream.
    ///
    /// ```
    /// use midfold_formats::answer::{AnswerFraming, DeclaredFraming};
    /// let events = DeclaredFraming::Said(AnswerFraming::Sse);
    /// assert_eq!(DeclaredFraming::of("Text/Event-Stream; charset=utf-8", true), events);
    /// assert_eq!(DeclaredFraming::of("text/plain", true), DeclaredFraming::Unsaid { is_stream: true });
    /// ```
    #[must_use]
    pub fn of(content_type: &str, is_stream: bool) -> Self {
        let is = |media_type| is_media_type(content_type, media_type);
        if is("text/event-stream") {
            Self::Said(AnswerFraming::Sse)
        } else if is("application/x-ndjson") || is("application/ndjson") {
            Self::Said(AnswerFraming::NdJson)
        } else if is("application/json") {
            Self::Said(json(is_stream))
        } else {
            Self::Unsaid { is_stream }
        }
    }

    /// The framing as far as it is known before the first byte.
    pub(super) fn likely(self) -> AnswerFraming {
        match self {
            Self::Said(framing) => framing,
            Self::Unsaid { is_stream: true } => AnswerFraming::Sse,
            Self::Unsaid { is_stream: false } => AnswerFraming::Json,
        }
    }

    /// The framing of a body that starts with this byte.
    pub(super) fn starting_with(self, first: u8) -> AnswerFraming {
        match (self, first) {
            (Self::Said(framing), _) => framing,
            (Self::Unsaid { is_stream }, b'{' | b'[') => json(is_stream),
            (Self::Unsaid { .. }, _) => AnswerFraming::Sse,
        }
    }
}

impl From<AnswerFraming> for DeclaredFraming {
    fn from(framing: AnswerFraming) -> Self {
        Self::Said(framing)
    }
}

/// Gemini streams one JSON array unless the client asks for events, and its content type says no more than JSON.
fn json(is_stream: bool) -> AnswerFraming {
    if is_stream { AnswerFraming::JsonArray } else { AnswerFraming::Json }
}

/// Whether a content type names this media type, which is given in lower case: `Application/JSON; charset=utf-8` names
/// `application/json`.
#[must_use]
pub fn is_media_type(content_type: &str, media_type: &str) -> bool {
    let named = content_type.split(';').next().unwrap_or_default();
    named.trim().eq_ignore_ascii_case(media_type)
}

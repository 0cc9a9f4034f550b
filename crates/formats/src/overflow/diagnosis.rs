//! Why a provider refused a request, and so what has to change before it is sent again.

use midfold_core::engine::ReportedOverflow;

/// Why a provider refused a request. Each variant says what has to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Diagnosis {
    /// The prompt is longer than the window, or it is too long together with the reply and the provider does not say by
    /// how much: compact, then retry once.
    Overflow {
        /// The tokens of the prompt, as the provider counts them. `None` where it gives no number.
        have: Option<u64>,
        /// The tokens that the provider takes. `None` where it gives no number.
        limit: Option<u64>,
    },
    /// Prompt and reply together exceed the window, and the prompt alone does not: lower `max_tokens` first.
    SharedCap {
        /// The tokens of the prompt. vLLM stops counting as soon as the two together exceed the limit by one token; the
        /// prompt may then be longer.
        input: u64,
        /// The tokens reserved for the reply.
        output: u64,
        /// The most tokens of the two together.
        limit: u64,
    },
    /// The reply alone exceeds what the model can write: lower `max_tokens`, compacting cannot help.
    ReplyCap {
        /// The tokens reserved for the reply. `None` where the provider gives no number.
        output: Option<u64>,
        /// The most tokens of a reply. `None` where the provider gives no number.
        limit: Option<u64>,
    },
    /// The body has too many bytes, whatever its tokens (HTTP 413).
    PayloadTooLarge,
    /// Its images are too many or too large. Every later request with them is refused the same way: leave out older
    /// ones.
    Pictures(PictureLimit),
    /// The error has no text, but the prompt was most of the window (see [`diagnose`](super::diagnose)).
    Probable,
    /// Too many requests or tokens per minute, a quota, an overloaded server: wait.
    RateLimit,
    /// The model does not know a parameter: leave it out.
    Unsupported,
    /// Reasoning is of another model or was edited: remove it, do not compact.
    BoundReasoning,
    /// The model wants its reasoning back as text, and messages of the history have none: fill them.
    MissingReasoning,
    /// The model's chat template wants user and assistant to take turns: put messages between those that do not.
    RoleOrder,
    /// A filter refused the content.
    ContentPolicy,
    /// The request breaks a rule of the wire format.
    Malformed,
    /// Anything else.
    Other,
}

/// Which limit for images a request exceeds, whatever its tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PictureLimit {
    /// The request has too many images.
    Count {
        /// The most images of a request. Some providers count pages of documents as images.
        most: Option<u64>,
    },
    /// One side of an image is too long.
    Side {
        /// The most pixels of the longer side.
        most: Option<u64>,
        /// Whether the limit is that of requests with many images. With fewer images it is higher.
        among_many: bool,
    },
    /// An image has too many bytes.
    Bytes {
        /// The most bytes of one image.
        most: Option<u64>,
    },
}

impl Diagnosis {
    /// Whether the prompt, or prompt and reply, were too large for the window or the body, so that a fold may help.
    #[must_use]
    pub fn exceeds_window(&self) -> bool {
        matches!(
            self,
            Self::Overflow { .. }
                | Self::SharedCap { .. }
                | Self::PayloadTooLarge
                | Self::Pictures(_)
                | Self::Probable
        )
    }

    /// The overflow to report to [`Session::recover`](midfold_core::engine::Session::recover), where compacting is what
    /// the request needs: its prompt is too long, or leaves less than `reply` tokens of the limit for both. `None` for
    /// every other diagnosis.
    ///
    /// ```
    /// use midfold_core::engine::ReportedOverflow;
    /// use midfold_formats::overflow::Diagnosis;
    /// let cap = Diagnosis::SharedCap { input: 199_000, output: 32_000, limit: 200_000 };
    /// assert_eq!(cap.recovery(500), None, "max_tokens = 1,000 is enough");
    /// let told = ReportedOverflow { have: Some(199_000), limit: Some(196_000) };
    /// assert_eq!(cap.recovery(4_000), Some(told));
    /// ```
    #[must_use]
    pub fn recovery(&self, reply: u64) -> Option<ReportedOverflow> {
        match *self {
            Self::Overflow { have, limit } => Some(ReportedOverflow { have, limit }),
            Self::PayloadTooLarge | Self::Pictures(_) | Self::Probable => {
                Some(ReportedOverflow::default())
            }
            Self::SharedCap { input, limit, .. } if limit.saturating_sub(input) < reply => {
                // The session knows nothing of the reply, so its room is taken off the limit here.
                let limit = limit.checked_sub(reply);
                Some(ReportedOverflow { have: Some(input), limit })
            }
            _ => None,
        }
    }

    /// The `max_tokens` with which the request may be sent again, where that is all it needs: the tokens that the
    /// prompt leaves of the limit, or the most of a reply. `None` for every other diagnosis.
    ///
    /// ```
    /// use midfold_formats::overflow::Diagnosis;
    /// let cap = Diagnosis::SharedCap { input: 190_000, output: 32_000, limit: 200_000 };
    /// assert_eq!(cap.room_for_reply(), Some(10_000));
    /// ```
    #[must_use]
    pub fn room_for_reply(&self) -> Option<u64> {
        let room = match *self {
            Self::SharedCap { input, limit, .. } => limit.checked_sub(input),
            Self::ReplyCap { limit, .. } => limit,
            _ => None,
        };
        room.filter(|room| *room > 0)
    }

    /// The same diagnosis with a better count of the prompt. Where the server stopped counting at the limit, the prompt
    /// is at least `prompt` tokens.
    pub(super) fn with_prompt(self, prompt: u64) -> Self {
        match self {
            Self::SharedCap { input, output, limit }
                if input.saturating_add(output) == limit.saturating_add(1) =>
            {
                Self::SharedCap { input: input.max(prompt), output, limit }
            }
            other => other,
        }
    }
}

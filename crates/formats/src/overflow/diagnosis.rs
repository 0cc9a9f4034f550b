//! Why a provider refused a request, and so what has to change before it is sent again.

use midfold_core::engine::ReportedOverflow;

/// Why a provider refused a request. Each variant says what has to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Diagnosis {
    /// The prompt is longer than the window: compact, then retry once.
    Overflow {
        /// The tokens of the prompt, as the provider counts them. `None` where it gives no number.
        have: Option<u64>,
        /// The tokens that the provider takes. `None` where it gives no number.
        limit: Option<u64>,
    },
    /// The tokens reserved for the reply are too many: lower `max_tokens` first. With an `input`, prompt and reply
    /// together exceed the window. Without one, the reply alone exceeds what the model can write, and compacting cannot
    /// help.
    OutputCap {
        /// The tokens of the prompt. vLLM stops counting as soon as the two together exceed the limit by one token; the
        /// prompt may then be longer.
        input: Option<u64>,
        /// The tokens reserved for the reply.
        output: Option<u64>,
        /// The most tokens of the two together, or of the reply alone.
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
        match self {
            Self::Overflow { .. } | Self::PayloadTooLarge | Self::Pictures(_) | Self::Probable => {
                true
            }
            Self::OutputCap { input, .. } => input.is_some(),
            _ => false,
        }
    }

    /// The overflow to report to [`Session::recover`](midfold_core::engine::Session::recover), where compacting is what
    /// the request needs: its prompt is too long, or leaves less than `reply` tokens of the limit for both. `None` for
    /// every other diagnosis.
    ///
    /// ```
    /// use midfold_core::engine::ReportedOverflow;
    /// use midfold_formats::overflow::Diagnosis;
    /// let cap = Diagnosis::OutputCap { input: Some(199_000), output: Some(32_000), limit: Some(200_000) };
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
            Self::OutputCap { input: Some(input), limit: Some(limit), .. }
                if limit.saturating_sub(input) < reply =>
            {
                // The session knows nothing of the reply, so its room is taken off the limit here.
                let limit = limit.checked_sub(reply);
                Some(ReportedOverflow { have: Some(input), limit })
            }
            _ => None,
        }
    }

    /// The `max_tokens` with which the request may be sent again, where that is all it needs: the tokens that the
    /// prompt leaves of the limit. `None` for every other diagnosis.
    ///
    /// ```
    /// use midfold_formats::overflow::Diagnosis;
    /// let cap = Diagnosis::OutputCap { input: Some(190_000), output: Some(32_000), limit: Some(200_000) };
    /// assert_eq!(cap.room_for_reply(), Some(10_000));
    /// ```
    #[must_use]
    pub fn room_for_reply(&self) -> Option<u64> {
        match *self {
            Self::OutputCap { input, limit: Some(limit), .. } => {
                limit.checked_sub(input.unwrap_or(0)).filter(|room| *room > 0)
            }
            _ => None,
        }
    }

    /// The same diagnosis with a better count of the prompt. Where the server stopped counting at the limit, the prompt
    /// is at least `prompt` tokens.
    pub(super) fn with_prompt(self, prompt: u64) -> Self {
        let Self::OutputCap { input: Some(input), output: Some(output), limit: Some(limit) } = self
        else {
            return self;
        };
        let stopped = input.saturating_add(output) == limit.saturating_add(1);
        let input = if stopped { input.max(prompt) } else { input };
        Self::OutputCap { input: Some(input), output: Some(output), limit: Some(limit) }
    }
}

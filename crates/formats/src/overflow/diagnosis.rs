//! What a refused request needs.

use midfold_core::engine::ReportedOverflow;

/// What a refused request needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Diagnosis {
    /// The prompt is longer than the window: compact, then retry once.
    Overflow {
        /// Tokens of the prompt, as the provider counts them.
        have: Option<u64>,
        /// Tokens that it takes.
        limit: Option<u64>,
    },
    /// The room asked for the reply is too large: lower `max_tokens` first. With an `input`, the
    /// two together pass the window; without one, the reply alone passes what the model can write,
    /// and compacting cannot help.
    OutputCap {
        /// Tokens of the prompt. Where it is one more than the reply leaves of the limit, the server
        /// (vLLM) counted no further: the prompt may be longer.
        input: Option<u64>,
        /// Tokens asked for the reply.
        output: Option<u64>,
        /// What the two together (or the reply alone) may have.
        limit: Option<u64>,
    },
    /// The body has too many bytes, whatever its tokens are (413).
    PayloadTooLarge,
    /// Its pictures are too many or too large, and every later request that has them is refused the
    /// same way: leave older ones out.
    Pictures(PictureLimit),
    /// Nothing was said, but the prompt was most of the window (see [`diagnose`](super::diagnose)).
    Probable,
    /// Too many requests or tokens per minute, a quota, an overloaded server: wait.
    RateLimit,
    /// Long context is not part of the plan that pays for it: another model or a smaller window.
    TierGate,
    /// A parameter that the model does not know: leave it out.
    Unsupported,
    /// Reasoning of another model or an edited one: strip it, never compact.
    BoundReasoning,
    /// Refused for what it says.
    ContentPolicy,
    /// The request breaks a rule of the wire format.
    Malformed,
    /// Anything else.
    Other,
}

/// What of a request's pictures is more than the provider takes, whatever its tokens are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PictureLimit {
    /// There are too many of them.
    Count {
        /// Pictures that a request may have. Some providers count pages of documents with them.
        most: Option<u64>,
    },
    /// A side of one is too long.
    Side {
        /// Pixels that the longer side may have.
        most: Option<u64>,
        /// It is too long beside so many others: with fewer of them the limit is higher.
        among_many: bool,
    },
    /// One has too many bytes.
    Bytes {
        /// Bytes that one may have.
        most: Option<u64>,
    },
}

impl Diagnosis {
    /// Whether prompt (and reply) were too much for the window or the wire: what is left of the prompt after a fold
    /// may pass.
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

    /// What [`Session::recover`](midfold_core::engine::Session::recover) is told, when compacting
    /// is what the request needs: its prompt is too long, or leaves less than `reply` tokens of
    /// what prompt and reply may have together. None for everything else.
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
                let limit = limit.checked_sub(reply);
                Some(ReportedOverflow { have: Some(input), limit })
            }
            _ => None,
        }
    }

    /// The `max_tokens` that the request may be sent with again, when that is all it needs: what
    /// the prompt leaves of the limit.
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

    /// The same, where the prompt is known to have about so many tokens and the server counted no further than its
    /// refusal needs.
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

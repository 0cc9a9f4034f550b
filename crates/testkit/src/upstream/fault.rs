//! Faults that the server plays, and when.

/// A fault that the server plays.
#[derive(Clone, Debug)]
pub enum PlannedFault {
    /// This answer is sent instead of a reply.
    Status {
        /// The status code.
        code: u16,
        /// More headers.
        headers: Vec<(String, String)>,
        /// The body.
        body: String,
    },
    /// Status 429 with a `retry-after` header.
    RateLimited {
        /// Seconds, or a date.
        retry_after: String,
    },
    /// Status 500, in the provider's form.
    ServerError,
    /// The connection is reset instead of an answer.
    Reset,
    /// The connection is closed after `after` events. An answer that is not streamed is cut in its middle.
    Cut {
        /// The number of events before it.
        after: usize,
    },
    /// After the headers and `after` events nothing is sent until the test releases the answer.
    Hang {
        /// The number of events before it.
        after: usize,
    },
    /// After `after` events the stream has an error event and ends. A request without a stream gets status 500.
    StreamError {
        /// The number of events before it.
        after: usize,
    },
    /// Each event waits until the test releases it. Without a stream, each half of the body waits.
    Held,
}

/// The requests to a model that a fault is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultTime {
    /// The request with this number, from 1.
    Number(u64),
    /// Of every `of` requests the `nth` one, from 1.
    Every {
        /// The place in the round.
        nth: u64,
        /// The number of requests in a round.
        of: u64,
    },
}

impl FaultTime {
    /// Whether the fault is for the request with this number.
    #[must_use]
    pub fn is(self, number: u64) -> bool {
        match self {
            Self::Number(one) => one == number,
            Self::Every { nth, of } => of > 0 && (number - 1) % of == nth.saturating_sub(1) % of,
        }
    }
}

impl PlannedFault {
    /// Whether the reply is complete in the end, in spite of the fault.
    pub(crate) fn passes(&self) -> bool {
        matches!(self, Self::Hang { .. } | Self::Held)
    }
}

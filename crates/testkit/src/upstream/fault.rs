//! What goes wrong on the way, and when.

/// One thing that goes wrong.
#[derive(Clone, Debug)]
pub enum PlannedFault {
    /// This answer instead of any other.
    Status {
        /// The status code.
        code: u16,
        /// More headers.
        headers: Vec<(String, String)>,
        /// The body.
        body: String,
    },
    /// 429 with this `retry-after`.
    RateLimited {
        /// Seconds, or a date.
        retry_after: String,
    },
    /// 500, in the provider's shape.
    ServerError,
    /// The connection is reset instead of an answer.
    Reset,
    /// The connection is closed after so many events; a whole answer is closed in its middle.
    Cut {
        /// Events before it.
        after: usize,
    },
    /// Nothing comes after the headers and so many events, until it is released.
    Hang {
        /// Events before it.
        after: usize,
    },
    /// The stream has an error event after so many others, and ends; a whole answer is a 500.
    StreamError {
        /// Events before it.
        after: usize,
    },
    /// Each event waits for a release; of a whole answer, the body.
    Held,
}

/// Which requests to a model a fault is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultTime {
    /// The one with this number, from 1 on.
    Number(u64),
    /// Of every `of` requests the one in place `nth`, from 1 on.
    Every {
        /// The place.
        nth: u64,
        /// The length of a round.
        of: u64,
    },
}

impl FaultTime {
    /// Whether it is for this number.
    #[must_use]
    pub fn is(self, number: u64) -> bool {
        match self {
            Self::Number(one) => one == number,
            Self::Every { nth, of } => of > 0 && (number - 1) % of == nth.saturating_sub(1) % of,
        }
    }
}

impl PlannedFault {
    /// Whether the reply is complete in spite of it.
    pub(crate) fn passes(&self) -> bool {
        matches!(self, Self::Hang { .. } | Self::Held)
    }
}

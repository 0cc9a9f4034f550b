//! Limits on how much of a request is read. The memory that its messages take is known before anything is made of them.
//! Two bytes can be a message, and four compressed kilobytes can hold millions of them.

use std::ops::Range;

use crate::scan;

/// The bytes of memory that a message takes beside its own bytes, once it is kept: an event, its view, its places in
/// chains and indices. Measured with messages of two bytes (`tools/memory-check`): 1.2 KB, and as much again while
/// lists grow.
pub const MESSAGE: usize = 2 << 10;
/// The bytes of memory for a message that is known already: only its place is kept.
const KNOWN: usize = 256;
/// The parts of a message that this amount includes: lists, objects, texts, numbers and names.
const FREE: usize = 8;
/// The bytes of memory for each further part. A block of a view takes 160 bytes, and lists grow by doubling.
const PART: usize = 256;
/// The bytes of memory for a part beside the messages: a member of an object takes 32 bytes.
const BESIDE: usize = 64;

/// An upper estimate of the bytes of memory that the reader of a document takes beside the document's own bytes.
#[must_use]
pub fn memory_of(json: &[u8]) -> usize {
    PART * scan::parts(json)
}

/// The most of a request that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The most messages.
    pub messages: usize,
    /// The most bytes of memory for the messages, beside those of the body, as an upper estimate.
    pub memory: usize,
}

impl Bounds {
    /// No limits.
    pub const NONE: Self = Self { messages: usize::MAX, memory: usize::MAX };
}

/// The limit that a request exceeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BoundsError {
    /// The body has more than this number of messages.
    #[error("the body has more than {0} messages")]
    Messages(usize),
    /// The messages would take more than this number of bytes of memory.
    #[error("the messages of the body would take more than {0} bytes of memory")]
    Memory(usize),
}

/// Returns the length in bytes of the known message with which the given bytes start. `None` where that message is not
/// known.
pub(super) type KnownLength<'a> = &'a dyn Fn(&[u8]) -> Option<usize>;

/// Counts messages and memory while a body is read, and stops the reading at a limit.
pub(super) struct Tally<'a> {
    known: KnownLength<'a>,
    bounds: Bounds,
    /// The number of messages so far.
    messages: usize,
    /// The bytes of memory so far.
    pub memory: usize,
    over: Option<BoundsError>,
}

impl<'a> Tally<'a> {
    pub fn new(known: KnownLength<'a>, bounds: Bounds) -> Self {
        Self { known, bounds, messages: 0, memory: 0, over: None }
    }

    /// Counts the message at `at` and returns its range. `None` at a limit, or where the bytes are no JSON.
    pub fn message(&mut self, body: &[u8], at: usize) -> Option<Range<usize>> {
        self.messages += 1;
        if self.messages > self.bounds.messages {
            self.over = Some(BoundsError::Messages(self.bounds.messages));
            return None;
        }
        // A known message is not scanned: a client sends its whole history with each request.
        if let Some(length) = (self.known)(body.get(at..)?) {
            self.takes(KNOWN)?;
            return Some(at..at + length);
        }
        let range = scan::value(body, at)?;
        let further = scan::parts(&body[range.clone()]).saturating_sub(FREE);
        self.takes(MESSAGE + PART * further)?;
        Some(range)
    }

    /// Counts a member beside the messages. `None` at a limit.
    pub fn beside(&mut self, value: &[u8]) -> Option<()> {
        self.takes(BESIDE * (1 + scan::parts(value)))
    }

    fn takes(&mut self, memory: usize) -> Option<()> {
        self.memory = self.memory.saturating_add(memory);
        if self.memory > self.bounds.memory {
            self.over = Some(BoundsError::Memory(self.bounds.memory));
            return None;
        }
        Some(())
    }

    /// The limit at which the reading stopped. `None` where it stopped for another reason.
    pub fn over(&self) -> Option<BoundsError> {
        self.over
    }
}

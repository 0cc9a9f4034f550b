//! How much of a request is read: what its messages cost in memory is known before anything is made of them. Two
//! bytes can be a message, and four kilobytes can be packed millions of them.

use std::ops::Range;

use crate::scan;

/// Memory that a message takes beside its bytes, in whoever keeps it: an event, its view, its places in chains and
/// indices. Measured with messages of two bytes (`tools/memory-check`): 1.2 KB, and as much again while lists grow.
pub const MESSAGE: usize = 2 << 10;
/// The same of one that is known already: its place alone.
const KNOWN: usize = 256;
/// Parts of a message that are in that: lists, objects, texts, numbers and names.
const FREE: usize = 8;
/// Memory that each further part takes. A block of a view is 160 bytes, and lists grow by doubling.
const PART: usize = 256;
/// Memory that a part takes which stands beside the messages: a member of an object is 32 bytes.
const BESIDE: usize = 64;

/// Memory that whoever reads a document may take beside its bytes, as an upper estimate.
#[must_use]
pub fn memory_of(json: &[u8]) -> usize {
    PART * scan::parts(json)
}

/// How much of a request is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Messages.
    pub messages: usize,
    /// Bytes of memory that they take beside those of the body, as an upper estimate.
    pub memory: usize,
}

impl Bounds {
    /// Any number, in any memory.
    pub const NONE: Self = Self { messages: usize::MAX, memory: usize::MAX };
}

/// What there is too much of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BoundsError {
    /// More messages than these.
    #[error("the body has more than {0} messages")]
    Messages(usize),
    /// What it has would take more memory.
    #[error("the messages of the body would take more than {0} bytes of memory")]
    Memory(usize),
}

/// How long the message is that a text starts with, where it is known.
pub(super) type KnownLength<'a> = &'a dyn Fn(&[u8]) -> Option<usize>;

/// Counts while a body is walked, and stops where there is too much.
pub(super) struct Tally<'a> {
    known: KnownLength<'a>,
    bounds: Bounds,
    messages: usize,
    pub memory: usize,
    over: Option<BoundsError>,
}

impl<'a> Tally<'a> {
    pub fn new(known: KnownLength<'a>, bounds: Bounds) -> Self {
        Self { known, bounds, messages: 0, memory: 0, over: None }
    }

    /// The message that starts here.
    pub fn message(&mut self, body: &[u8], at: usize) -> Option<Range<usize>> {
        self.messages += 1;
        if self.messages > self.bounds.messages {
            self.over = Some(BoundsError::Messages(self.bounds.messages));
            return None;
        }
        if let Some(length) = (self.known)(body.get(at..)?) {
            self.takes(KNOWN)?;
            return Some(at..at + length);
        }
        let found = scan::value(body, at)?;
        let further = scan::parts(&body[found.clone()]).saturating_sub(FREE);
        self.takes(MESSAGE + PART * further)?;
        Some(found)
    }

    /// A member that stands beside the messages.
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

    /// Why a walk stopped, where it was not for what it found.
    pub fn over(&self) -> Option<BoundsError> {
        self.over
    }
}

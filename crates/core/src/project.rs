//! Projection: the log and its active fold, read as a context. Reads nothing else.

use bytes::Bytes;
use rpds::VectorSync;

use crate::fold::{Entry, Fold};
use crate::log::{Log, measure};
use crate::repair::Repairer;

pub use crate::piece::{Fate, Piece, Repair};

/// What is sent: an immutable handle, O(1) to clone.
#[derive(Clone)]
pub struct Context {
    pieces: VectorSync<Piece>,
    tokens: u64,
    bytes: usize,
}

impl std::fmt::Debug for Context {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Not the pieces: they are a conversation.
        f.debug_struct("Context")
            .field("messages", &self.len())
            .field("tokens", &self.tokens)
            .field("bytes", &self.bytes)
            .finish()
    }
}

impl Context {
    /// The pieces, in order.
    pub fn pieces(&self) -> impl Iterator<Item = &Piece> {
        self.pieces.iter()
    }

    /// Number of messages.
    #[must_use]
    pub fn len(&self) -> usize {
        self.pieces.len()
    }

    /// Whether there is no message.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Counted tokens, the envelope's included.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        self.tokens
    }

    /// The messages as one JSON array, in O(context).
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.bytes + self.pieces.len() + 2);
        out.push(b'[');
        for (at, piece) in self.pieces.iter().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            out.extend_from_slice(&piece.bytes);
        }
        out.push(b']');
        out
    }
}

/// A projection that grows with its log: after a fold, pieces are only ever appended.
#[derive(Clone)]
pub(crate) struct Projection {
    pieces: VectorSync<Piece>,
    repairer: Repairer,
    tokens: u64,
    bytes: usize,
    /// Events of the log that are in it.
    upto: usize,
    buffer: Vec<Piece>,
}

impl Projection {
    /// The projection of `log` as it is now. A fold whose span is not in the log, byte for byte,
    /// is ignored: full events, never a wrong recap.
    pub fn new(log: &Log, fold: Option<&Fold>) -> Self {
        let fold = fold.filter(|fold| fold.applies_to(log));
        let repairer = Repairer::new(
            *log.profile(),
            log.dialect().clone(),
            log.counter().clone(),
            fold.is_some(),
        );
        let mut new = Self {
            pieces: VectorSync::new_sync(),
            repairer,
            tokens: log.envelope_tokens(),
            bytes: 0,
            upto: 0,
            buffer: Vec::new(),
        };
        if let Some(fold) = fold {
            new.extend_to(log, fold.span.start as usize);
            for entry in &fold.entries {
                new.push_entry(log, entry);
            }
            new.upto = fold.span.end as usize;
        }
        new.extend_to(log, log.len());
        new
    }

    /// Takes in the events that the log has gained.
    pub fn extend(&mut self, log: &Log) {
        self.extend_to(log, log.len());
    }

    /// The context, in O(1).
    pub fn context(&self) -> Context {
        Context { pieces: self.pieces.clone(), tokens: self.tokens, bytes: self.bytes }
    }

    fn extend_to(&mut self, log: &Log, end: usize) {
        let (mut at, end) = (self.upto, end.min(log.len()));
        while at < end {
            self.push_event(log, at);
            at += 1;
        }
        self.upto = end;
    }

    fn push_event(&mut self, log: &Log, at: usize) {
        let Some(event) = log.events().get(at) else { return };
        let fate = Fate::Verbatim(event.seq);
        let piece = Piece { bytes: event.bytes.clone(), tokens: event.tokens.total, fate };
        self.repairer.push(piece, &event.view, &mut self.buffer);
        self.flush();
    }

    fn push_entry(&mut self, log: &Log, entry: &Entry) {
        let (text, fate) = match entry {
            Entry::Verbatim { from, to } => {
                (*from..*to).for_each(|at| self.push_event(log, at as usize));
                return;
            }
            Entry::Edited { seq, bytes } => (bytes, Fate::Edited(*seq)),
            Entry::Recap { bytes } => (bytes, Fate::Recap),
            Entry::Marker { bytes } => (bytes, Fate::Marker),
        };
        let bytes = Bytes::copy_from_slice(text.as_bytes());
        let view = log.dialect().view(&bytes);
        let tokens = measure(&**log.counter(), &bytes, &view).total;
        self.repairer.push(Piece { bytes, tokens, fate }, &view, &mut self.buffer);
        self.flush();
    }

    fn flush(&mut self) {
        for piece in self.buffer.drain(..) {
            self.tokens += u64::from(piece.tokens);
            self.bytes += piece.bytes.len();
            self.pieces.push_back_mut(piece);
        }
    }
}

/// The context of a log under a fold. A pure function: same bytes on every machine.
#[must_use]
pub fn project(log: &Log, fold: Option<&Fold>) -> Context {
    Projection::new(log, fold).context()
}

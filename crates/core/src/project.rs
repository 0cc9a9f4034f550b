//! Projection: makes the context from the log and its active fold, and from nothing else.

use bytes::Bytes;
use rpds::VectorSync;

use crate::fold::{Fold, FoldEntry};
use crate::log::{EventLog, measure};
use crate::profile::VoidReasoning;
use crate::repair::ContextRepairer;

pub use crate::piece::{ContextPiece, PieceFate, RepairReason};

/// A context: the messages that are sent. An immutable handle, O(1) to clone.
#[derive(Clone)]
pub struct Context {
    pieces: VectorSync<ContextPiece>,
    tokens: u64,
    bytes: usize,
}

impl std::fmt::Debug for Context {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The pieces are a conversation, which should not get into logs of a program.
        f.debug_struct("Context")
            .field("messages", &self.len())
            .field("tokens", &self.tokens)
            .field("bytes", &self.bytes)
            .finish()
    }
}

impl Context {
    /// The pieces, in order.
    pub fn pieces(&self) -> impl Iterator<Item = &ContextPiece> {
        self.pieces.iter()
    }

    /// The pieces from the one at `from` on, without walking to it.
    pub fn pieces_from(&self, from: usize) -> impl Iterator<Item = &ContextPiece> {
        (from..self.len()).filter_map(|at| self.pieces.get(at))
    }

    /// The first `n` messages, as a context. O(n).
    #[must_use]
    pub fn first(&self, n: usize) -> Self {
        let mut first = Self { pieces: VectorSync::new_sync(), tokens: 0, bytes: 0 };
        for piece in self.pieces.iter().take(n) {
            first.tokens += u64::from(piece.tokens);
            first.bytes += piece.bytes.len();
            first.pieces.push_back_mut(piece.clone());
        }
        first
    }

    /// The messages from index `from` on, as a context. O(messages).
    pub(crate) fn behind(&self, from: usize) -> Self {
        let mut rest = Self { pieces: VectorSync::new_sync(), tokens: 0, bytes: 0 };
        for piece in self.pieces_from(from) {
            rest.tokens += u64::from(piece.tokens);
            rest.bytes += piece.bytes.len();
            rest.pieces.push_back_mut(piece.clone());
        }
        rest
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

/// A projection that grows with its log: behind a fold pieces are only appended.
#[derive(Clone)]
pub struct ContextProjection {
    state: ProjectionState,
    /// Earlier states, oldest first, while no fold is applied: those that it can go back to.
    marks: Vec<ProjectionState>,
    /// Whether a fold is applied.
    folded: bool,
    /// The first event behind the fold, where the fold has to keep user and assistant taking turns; else `None`.
    joins_at: Option<usize>,
    /// Pieces that the repairer has just returned.
    buffer: Vec<ContextPiece>,
}

/// The state of a projection after some events. Cheap to clone.
#[derive(Clone)]
struct ProjectionState {
    pieces: VectorSync<ContextPiece>,
    repairer: ContextRepairer,
    tokens: u64,
    bytes: usize,
    /// The number of events of the log that are in it.
    upto: usize,
}

/// Events between two saved states.
const MARK: usize = 64;

impl ContextProjection {
    /// The projection of the present log. A fold whose span is not in the log, byte for byte, is ignored: the result is
    /// the full events, never a wrong recap.
    #[must_use]
    pub fn new(log: &EventLog, fold: Option<&Fold>) -> Self {
        Self::with_void(log, fold, None)
    }

    /// As [`ContextProjection::new`], with reasoning that is void beyond what the fold says.
    pub(crate) fn with_void(
        log: &EventLog,
        fold: Option<&Fold>,
        void: Option<VoidReasoning>,
    ) -> Self {
        let fold = fold.filter(|fold| fold.applies_to(log));
        let new = Self::begin(log, fold.map(Fold::void).unwrap_or_default().or(void));
        match fold {
            Some(fold) => new.through(log, fold),
            None => new.extended(log),
        }
    }

    /// Makes the projection through `fold` out of this one, which has no fold, and reuses the pieces before the first
    /// change.
    pub(crate) fn refolded(&self, log: &EventLog, fold: &Fold) -> Self {
        // Void reasoning changes pieces in front of the fold, so no piece could be reused.
        if self.folded || fold.void_reasoning > 0 || !fold.applies_to(log) {
            return Self::new(log, Some(fold));
        }
        self.back_to(fold.unchanged()).through(log, fold)
    }

    /// The projection of a log that begins with the first `n` events of this projection's log. Pieces of these are
    /// reused.
    #[must_use]
    pub fn regrown(&self, n: usize, log: &EventLog) -> Self {
        let n = if self.folded { 0 } else { n };
        self.back_to(n).extended(log)
    }

    /// A projection of no events.
    fn begin(log: &EventLog, void: VoidReasoning) -> Self {
        let (profile, dialect) = (*log.profile(), log.dialect().clone());
        let state = ProjectionState {
            pieces: VectorSync::new_sync(),
            repairer: ContextRepairer::new(profile, dialect, log.counter().clone(), void),
            tokens: log.envelope_tokens(),
            bytes: 0,
            upto: 0,
        };
        Self {
            marks: vec![state.clone()],
            state,
            folded: false,
            joins_at: None,
            buffer: Vec::new(),
        }
    }

    /// This projection taken back to the newest saved state with at most `n` events.
    fn back_to(&self, n: usize) -> Self {
        // The first mark is the state of no events, which serves for each `n`.
        let count = self.marks.partition_point(|mark| mark.upto <= n).max(1);
        let marks = self.marks[..count].to_vec();
        let state = marks[count - 1].clone();
        Self { state, marks, folded: false, joins_at: None, buffer: Vec::new() }
    }

    /// Adds the rest of a log, read through a fold that does not change the events that are here already.
    fn through(mut self, log: &EventLog, fold: &Fold) -> Self {
        self.extend_to(log, fold.span.start as usize);
        // From here on no state is saved: it would hold for this fold alone.
        self.folded = true;
        let read_upto = self.state.upto;
        self.state.repairer.note_reasoning(fold.follows_reasoning);
        // Turns are kept only for messages that the fold puts together, up to the first event behind it.
        self.state.repairer.keep_turns(fold.keeps_turns);
        for entry in &fold.entries {
            self.push_entry(log, entry, read_upto);
        }
        // The entries are in the place of the whole span, also of events that have left.
        self.state.upto = fold.span.end as usize;
        self.joins_at = Some(fold.span.end as usize).filter(|_| fold.keeps_turns);
        self.extend_to(log, log.len());
        self
    }

    fn extended(mut self, log: &EventLog) -> Self {
        self.extend(log);
        self
    }

    /// Adds the events that the log has gained.
    pub fn extend(&mut self, log: &EventLog) {
        self.extend_to(log, log.len());
    }

    /// The context, in O(1).
    #[must_use]
    pub fn context(&self) -> Context {
        let ProjectionState { pieces, tokens, bytes, .. } = &self.state;
        Context { pieces: pieces.clone(), tokens: *tokens, bytes: *bytes }
    }

    /// Adds the events up to `end`, and saves states on the way.
    fn extend_to(&mut self, log: &EventLog, end: usize) {
        let end = end.min(log.len());
        while self.state.upto < end {
            self.push_event(log, self.state.upto);
            // The first event behind the fold still takes its turn after the recap; the rest follows as the log has it.
            if self.joins_at == Some(self.state.upto) {
                self.state.repairer.keep_turns(false);
            }
            self.state.upto += 1;
            // No state is saved inside an open step: nothing ever goes back there, and its open calls would be copied
            // each time.
            let marked = self.marks.last().map_or(0, |mark| mark.upto);
            let due = self.state.upto - marked >= MARK && !self.state.repairer.is_open();
            if !self.folded && due {
                self.marks.push(self.state.clone());
            }
        }
    }

    /// Adds the event at this index, verbatim or as its repair makes it.
    fn push_event(&mut self, log: &EventLog, at: usize) {
        let Some(event) = log.events().get(at) else { return };
        let fate = PieceFate::Verbatim(event.seq);
        let piece = ContextPiece { bytes: event.bytes.clone(), tokens: event.tokens.total, fate };
        self.state.repairer.push(piece, &event.view, &mut self.buffer);
        self.flush();
    }

    /// Adds one entry of a fold. The first `read_upto` events of the log are in the projection already.
    fn push_entry(&mut self, log: &EventLog, entry: &FoldEntry, read_upto: usize) {
        let (text, fate) = match entry {
            FoldEntry::Verbatim { from, to } => {
                (read_upto.max(*from as usize)..*to as usize)
                    .for_each(|at| self.push_event(log, at));
                return;
            }
            FoldEntry::Edited { seq, bytes } => (bytes, PieceFate::Edited(*seq)),
            FoldEntry::Recap { bytes } => (bytes, PieceFate::Recap),
            FoldEntry::Marker { bytes } => (bytes, PieceFate::Marker),
        };
        let bytes = Bytes::copy_from_slice(text.as_bytes());
        let view = log.dialect().view(&bytes);
        let tokens = measure(&**log.counter(), &bytes, &view).total;
        self.state.repairer.push(ContextPiece { bytes, tokens, fate }, &view, &mut self.buffer);
        self.flush();
    }

    /// Moves the repairer's pieces into the state.
    fn flush(&mut self) {
        for piece in self.buffer.drain(..) {
            self.state.tokens += u64::from(piece.tokens);
            self.state.bytes += piece.bytes.len();
            self.state.pieces.push_back_mut(piece);
        }
    }
}

/// The context of a log under a fold. A pure function: the same bytes on every machine.
#[must_use]
pub fn project(log: &EventLog, fold: Option<&Fold>) -> Context {
    ContextProjection::new(log, fold).context()
}

/// As [`project`], with reasoning that is void beyond what the fold says, as call records have it
/// ([`CallRecord::void`](crate::ledger::CallRecord::void)).
#[must_use]
pub fn project_with_void(
    log: &EventLog,
    fold: Option<&Fold>,
    void: Option<VoidReasoning>,
) -> Context {
    ContextProjection::with_void(log, fold, void).context()
}

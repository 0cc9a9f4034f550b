//! Projection: the log and its active fold, read as a context. Reads nothing else.

use bytes::Bytes;
use rpds::VectorSync;

use crate::fold::{Fold, FoldEntry};
use crate::log::{EventLog, measure};
use crate::profile::VoidReasoning;
use crate::repair::ContextRepairer;

pub use crate::piece::{ContextPiece, PieceFate, RepairReason};

/// What is sent: an immutable handle, O(1) to clone.
#[derive(Clone)]
pub struct Context {
    pieces: VectorSync<ContextPiece>,
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

    /// The messages from the one at `from` on, as a context. O(messages).
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

/// A projection that grows with its log: after a fold, pieces are only ever appended.
#[derive(Clone)]
pub struct ContextProjection {
    state: ProjectionState,
    /// States on the way, oldest first, while it has no fold: where it can be taken back to.
    marks: Vec<ProjectionState>,
    folded: bool,
    /// The first event behind what a fold put together, where it keeps user and assistant taking turns.
    joins_at: Option<usize>,
    buffer: Vec<ContextPiece>,
}

/// Where a projection stands. Cheap to clone.
#[derive(Clone)]
struct ProjectionState {
    pieces: VectorSync<ContextPiece>,
    repairer: ContextRepairer,
    tokens: u64,
    bytes: usize,
    /// Events of the log that are in it.
    upto: usize,
}

/// Events between two marks.
const MARK: usize = 64;

impl ContextProjection {
    /// The projection of `log` as it is now. A fold whose span is not in the log, byte for byte,
    /// is ignored: full events, never a wrong recap.
    #[must_use]
    pub fn new(log: &EventLog, fold: Option<&Fold>) -> Self {
        Self::with_void(log, fold, None)
    }

    /// The same, where more reasoning is void than the fold says.
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

    /// The same, from the projection of the same log without a fold: what is before the first
    /// change is taken over.
    pub(crate) fn refolded(&self, log: &EventLog, fold: &Fold) -> Self {
        if self.folded || fold.void_reasoning > 0 || !fold.applies_to(log) {
            return Self::new(log, Some(fold));
        }
        self.back_to(fold.unchanged()).through(log, fold)
    }

    /// The projection of a log that begins with the first `n` events of this one's.
    #[must_use]
    pub fn regrown(&self, n: usize, log: &EventLog) -> Self {
        let n = if self.folded { 0 } else { n };
        self.back_to(n).extended(log)
    }

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

    /// The newest mark at or before `n` events.
    fn back_to(&self, n: usize) -> Self {
        let held = self.marks.partition_point(|mark| mark.upto <= n).max(1);
        let marks = self.marks[..held].to_vec();
        let state = marks[held - 1].clone();
        Self { state, marks, folded: false, joins_at: None, buffer: Vec::new() }
    }

    /// Takes in a log through a fold. What it holds already is not changed by the fold.
    fn through(mut self, log: &EventLog, fold: &Fold) -> Self {
        self.extend_to(log, fold.span.start as usize);
        self.folded = true;
        let held = self.state.upto;
        // What the fold puts together, up to the first event behind it.
        self.state.repairer.keep_turns(fold.keeps_turns);
        for entry in &fold.entries {
            self.push_entry(log, entry, held);
        }
        self.state.upto = fold.span.end as usize;
        self.joins_at = Some(fold.span.end as usize).filter(|_| fold.keeps_turns);
        self.extend_to(log, log.len());
        self
    }

    fn extended(mut self, log: &EventLog) -> Self {
        self.extend(log);
        self
    }

    /// Takes in the events that the log has gained.
    pub fn extend(&mut self, log: &EventLog) {
        self.extend_to(log, log.len());
    }

    /// The context, in O(1).
    #[must_use]
    pub fn context(&self) -> Context {
        let ProjectionState { pieces, tokens, bytes, .. } = &self.state;
        Context { pieces: pieces.clone(), tokens: *tokens, bytes: *bytes }
    }

    fn extend_to(&mut self, log: &EventLog, end: usize) {
        let end = end.min(log.len());
        while self.state.upto < end {
            self.push_event(log, self.state.upto);
            if self.joins_at == Some(self.state.upto) {
                self.state.repairer.keep_turns(false);
            }
            self.state.upto += 1;
            // Nobody goes back into a step that is open, and its open calls would be copied each time.
            let marked = self.marks.last().map_or(0, |mark| mark.upto);
            let due = self.state.upto - marked >= MARK && !self.state.repairer.is_open();
            if !self.folded && due {
                self.marks.push(self.state.clone());
            }
        }
    }

    fn push_event(&mut self, log: &EventLog, at: usize) {
        let Some(event) = log.events().get(at) else { return };
        let fate = PieceFate::Verbatim(event.seq);
        let piece = ContextPiece { bytes: event.bytes.clone(), tokens: event.tokens.total, fate };
        self.state.repairer.push(piece, &event.view, &mut self.buffer);
        self.flush();
    }

    /// `held`: the first events of the log that it holds already.
    fn push_entry(&mut self, log: &EventLog, entry: &FoldEntry, held: usize) {
        let (text, fate) = match entry {
            FoldEntry::Verbatim { from, to } => {
                (held.max(*from as usize)..*to as usize).for_each(|at| self.push_event(log, at));
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

    fn flush(&mut self) {
        for piece in self.buffer.drain(..) {
            self.state.tokens += u64::from(piece.tokens);
            self.state.bytes += piece.bytes.len();
            self.state.pieces.push_back_mut(piece);
        }
    }
}

/// The context of a log under a fold. A pure function: same bytes on every machine.
#[must_use]
pub fn project(log: &EventLog, fold: Option<&Fold>) -> Context {
    ContextProjection::new(log, fold).context()
}

/// The same, where more reasoning is void than the fold says: as a call record has it
/// ([`CallRecord::void`](crate::ledger::CallRecord::void)).
#[must_use]
pub fn project_with_void(
    log: &EventLog,
    fold: Option<&Fold>,
    void: Option<VoidReasoning>,
) -> Context {
    ContextProjection::with_void(log, fold, void).context()
}

//! Matches the list of messages that a host passes each time with the events of a session: which are known, which are
//! new?
//!
//! Messages are matched by an identity that follows from their content. A host may also replace its list by a context
//! that it was given. Its list then begins with a recap, which covers the events that left.

use std::collections::HashMap;

use midfold_core::Hash;
use midfold_core::log::EventLog;
use midfold_core::project::{Context, ContextPiece, PieceFate};
use midfold_formats::DialectKind;
use midfold_formats::request::identity;

/// The lists that a host's list is compared with: the log, the contexts that were handed out since the list before, and
/// that list.
#[derive(Clone, Default)]
pub(super) struct ListMatcher {
    /// The identity of each event of the log.
    events: Vec<Hash>,
    /// The messages of the newest contexts that were handed out, oldest first. A context without a fold is the log
    /// itself, and not among them.
    handed: Vec<Vec<EventMessage>>,
    last: Option<LastList>,
}

/// The most contexts that are kept: for one list a host gets one, and more after refusals and on demand.
const MOST_HANDED: usize = 3;

/// A message of a list, and the events of the session that it covers.
#[derive(Clone, Copy, PartialEq, Eq)]
struct EventMessage {
    identity: Hash,
    /// The event that the message is or was made of; `None` for a recap, a marker or an inserted message.
    seq: Option<usize>,
    /// How many of the session's events the list covers up to this item, itself included.
    end: usize,
}

/// The list of the last call.
#[derive(Clone, Default)]
struct LastList {
    list: Vec<EventMessage>,
    /// For each event, its index in the list.
    places: HashMap<usize, usize>,
}

impl From<Vec<EventMessage>> for LastList {
    fn from(list: Vec<EventMessage>) -> Self {
        let place = |(place, message): (usize, &EventMessage)| Some((message.seq?, place));
        let places = list.iter().enumerate().filter_map(place).collect();
        Self { list, places }
    }
}

impl LastList {
    /// The indices from `from` up to the next event: messages that midfold wrote and the host took over.
    fn taken_over(&self, from: usize) -> impl Iterator<Item = usize> {
        (from..self.list.len()).take_while(|place| self.list[*place].seq.is_none())
    }
}

/// How far a list agrees with a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CommonPart {
    /// The number of events, counted from the start of the log, that both have.
    pub at: usize,
    /// The number of messages at the start of the list that cover those events.
    pub from: usize,
    with: CommonKind,
}

/// Which known list the messages agree with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CommonKind {
    /// Events of the log.
    Log,
    /// The context of this index among those that were handed out.
    Handed(usize),
    /// The list of the last call.
    Last,
}

/// Where a message of a context comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContextOrigin {
    /// The index in the host's list of the message that it is or was made of; `None` for a message that midfold wrote.
    pub place: Option<usize>,
    /// The message is that of the host's list, unchanged.
    pub is_same: bool,
}

impl ListMatcher {
    /// Whether it knows exactly this number of events.
    pub fn knows(&self, events: usize) -> bool {
        self.events.len() == events
    }

    /// The identity of the event at this number.
    pub fn event(&self, at: usize) -> Option<Hash> {
        self.events.get(at).copied()
    }

    /// Whether it has matched a list of the host.
    pub fn is_in_use(&self) -> bool {
        self.last.is_some()
    }

    /// Adds the events of the log that it does not know yet: those that were appended in another way, or were loaded.
    pub fn read(&mut self, kind: DialectKind, log: &EventLog, context: &Context) {
        let new = log.events().iter().skip(self.events.len());
        self.events.extend(new.map(|event| identity(kind, &event.bytes)));
        self.events.truncate(log.len());
        self.hand_out(kind, context);
    }

    /// Compares a list with the log, with the last context and with the last list, and returns the match that covers
    /// the most events.
    pub fn common(&self, list: &[Hash]) -> CommonPart {
        let logged = same(list, self.events.iter());
        let mut most = CommonPart { at: logged, from: logged, with: CommonKind::Log };
        let handed = self.handed.iter().enumerate().rev();
        let handed = handed.map(|(at, messages)| (CommonKind::Handed(at), &messages[..]));
        for (with, known) in handed.chain([(CommonKind::Last, self.last())]) {
            let from = same(list, known.iter().map(|message| &message.identity));
            // A recap covers many events, so the last message in common says how many there are.
            let at = from.checked_sub(1).map_or(0, |last| known[last].end);
            // On a tie the match with the log stays, in which each message is an event of its own.
            if at > most.at {
                most = CommonPart { at, from, with };
            }
        }
        most
    }

    /// Records that the host's list agrees with the log up to `common`. All later messages of the list are in the log
    /// by now. The contexts that were handed out for the list before are forgotten.
    pub fn follow(&mut self, list: &[Hash], common: CommonPart) {
        let CommonPart { at, from, with } = common;
        let event = |(seq, identity): (usize, &Hash)| EventMessage {
            identity: *identity,
            seq: Some(seq),
            end: seq + 1,
        };
        let mut messages = match with {
            CommonKind::Log => list[..from].iter().enumerate().map(event).collect(),
            CommonKind::Handed(at) => self.handed[at][..from].to_vec(),
            CommonKind::Last => self.last()[..from].to_vec(),
        };
        // A recap covers many events, so an event's number is not its place in the list.
        messages.extend((at..).zip(&list[from..]).map(event));
        self.events.truncate(at);
        self.events.extend(&list[from..]);
        self.last = Some(messages.into());
        self.handed.clear();
    }

    fn last(&self) -> &[EventMessage] {
        self.last.as_ref().map_or(&[], |last| &last.list)
    }

    /// Returns the matcher of a fork that has the first `at` events of this session.
    pub fn fork(&self, at: usize) -> Self {
        let before_fork = |list: &[EventMessage]| -> Vec<_> {
            // A recap that covers events behind the fork does not belong to the fork.
            list.iter().copied().take_while(|message| message.end <= at).collect()
        };
        let events = self.events[..at.min(self.events.len())].to_vec();
        let handed = self.handed.iter().map(|list| before_fork(list)).collect();
        Self { events, handed, last: Some(before_fork(self.last()).into()) }
    }

    /// Returns where each message of a context comes from; `None` if no list was followed yet.
    pub fn origins(&self, kind: DialectKind, context: &Context) -> Option<Vec<ContextOrigin>> {
        let last = self.last.as_ref()?;
        // Messages that midfold wrote are not events. If the host took one over, it comes in the list directly behind
        // the message before it, so the search begins there.
        let mut next = 0;
        let origin = |piece: &ContextPiece| {
            let known = self.known(kind, piece);
            let place = match event(piece.fate) {
                Some(seq) => last.places.get(&seq).copied(),
                None => last.taken_over(next).find(|place| last.list[*place].identity == known),
            };
            next = place.map_or(next, |place| place + 1);
            ContextOrigin {
                place,
                is_same: place.is_some_and(|place| last.list[place].identity == known),
            }
        };
        Some(context.pieces().map(origin).collect())
    }

    /// Records a context that the host gets. Without a fold it is the log itself, so nothing has to be kept.
    pub fn hand_out(&mut self, kind: DialectKind, context: &Context) {
        let is_folded = context.pieces().any(|piece| !matches!(piece.fate, PieceFate::Verbatim(_)));
        if !is_folded {
            return;
        }
        let handed = self.messages_of(kind, context);
        self.handed.retain(|other| *other != handed);
        if self.handed.len() == MOST_HANDED {
            self.handed.remove(0);
        }
        self.handed.push(handed);
    }

    fn messages_of(&self, kind: DialectKind, context: &Context) -> Vec<EventMessage> {
        let pieces: Vec<_> = context.pieces().collect();
        let (mut end, mut messages) = (0, Vec::with_capacity(pieces.len()));
        for (at, piece) in pieces.iter().enumerate() {
            let seq = event(piece.fate);
            end = match piece.fate {
                PieceFate::Recap | PieceFate::Marker => {
                    // A recap covers all events up to the next one that is still there.
                    let next = pieces[at..].iter().find_map(|piece| event(piece.fate));
                    next.unwrap_or(self.events.len())
                }
                _ => seq.map_or(end, |seq| seq + 1),
            };
            let identity = self.known(kind, piece);
            messages.push(EventMessage { identity, seq, end });
        }
        messages
    }

    /// The identity of a message of a context.
    fn known(&self, kind: DialectKind, piece: &ContextPiece) -> Hash {
        let known = match piece.fate {
            PieceFate::Verbatim(seq) => self.events.get(seq as usize).copied(),
            _ => None,
        };
        known.unwrap_or_else(|| identity(kind, &piece.bytes))
    }
}

/// The event that a message of a context is or was made of; `None` for a message that midfold wrote.
fn event(fate: PieceFate) -> Option<usize> {
    match fate {
        PieceFate::Verbatim(seq) | PieceFate::Edited(seq) | PieceFate::Repaired(seq, _) => {
            Some(seq as usize)
        }
        PieceFate::Recap | PieceFate::Marker | PieceFate::Added(_) => None,
    }
}

/// The number of identities that both have in common from the start.
fn same<'a>(list: &[Hash], other: impl Iterator<Item = &'a Hash>) -> usize {
    list.iter().zip(other).take_while(|(a, b)| a == b).count()
}

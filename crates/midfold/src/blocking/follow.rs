//! A host keeps a list of messages, and gives all of it each time. What of it is known, and what is new?
//!
//! Messages are recognised by their content. A host may also replace its list by the context that it
//! was given: then the list begins with a recap, and goes on from what that tells of.

use std::collections::HashMap;

use midfold_core::Hash;
use midfold_core::log::EventLog;
use midfold_core::project::{Context, ContextPiece, PieceFate};
use midfold_formats::DialectKind;
use midfold_formats::request::identity;

/// What a list is recognised by, and what the last one was recognised as.
#[derive(Clone, Default)]
pub(super) struct ListMatcher {
    /// The identity of each event of the log.
    events: Vec<Hash>,
    /// The context that was handed out last, through a fold.
    handed: Vec<EventMessage>,
    last: Option<LastList>,
}

/// A message that tells of events.
#[derive(Clone, Copy)]
struct EventMessage {
    identity: Hash,
    /// The event that it is, or was made of.
    seq: Option<usize>,
    /// How many of the session's events the list covers up to this item, itself included.
    end: usize,
}

/// The list as it was given last.
#[derive(Clone, Default)]
struct LastList {
    list: Vec<EventMessage>,
    /// Where each event is in it.
    places: HashMap<usize, usize>,
}

impl From<Vec<EventMessage>> for LastList {
    fn from(list: Vec<EventMessage>) -> Self {
        let place = |(place, told): (usize, &EventMessage)| Some((told.seq?, place));
        let places = list.iter().enumerate().filter_map(place).collect();
        Self { list, places }
    }
}

impl LastList {
    /// The places from there on, up to the next event, of what midfold had written.
    fn taken_over(&self, from: usize) -> impl Iterator<Item = usize> {
        (from..self.list.len()).take_while(|place| self.list[*place].seq.is_none())
    }
}

/// What a list has in common with a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CommonPart {
    /// Events of the log that the list goes on from.
    pub at: usize,
    /// Messages of the list that tell of them.
    pub from: usize,
    with: CommonKind,
}

/// What those messages are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CommonKind {
    /// Events of the log.
    Log,
    /// The context that was handed out.
    Handed,
    /// The list that was given before.
    Last,
}

/// Where a message of a context is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContextOrigin {
    /// The message of the host's list that it is, or was made of. None for what midfold wrote.
    pub place: Option<usize>,
    /// It is that message, unchanged.
    pub is_same: bool,
}

impl ListMatcher {
    /// Whether it knows so many events and no more.
    pub fn knows(&self, events: usize) -> bool {
        self.events.len() == events
    }

    /// The identity of an event.
    pub fn event(&self, at: usize) -> Option<Hash> {
        self.events.get(at).copied()
    }

    /// Takes over what a session has that was appended otherwise, or was stored.
    pub fn read(&mut self, kind: DialectKind, log: &EventLog, context: &Context) {
        let new = log.events().iter().skip(self.events.len());
        self.events.extend(new.map(|event| identity(kind, &event.bytes)));
        self.events.truncate(log.len());
        self.hand_out(kind, context);
    }

    /// What a list has in common with this: as many events as can be.
    pub fn common(&self, list: &[Hash]) -> CommonPart {
        let logged = same(list, self.events.iter());
        let mut most = CommonPart { at: logged, from: logged, with: CommonKind::Log };
        for (with, known) in
            [(CommonKind::Handed, &self.handed[..]), (CommonKind::Last, self.last())]
        {
            let from = same(list, known.iter().map(|told| &told.identity));
            let at = from.checked_sub(1).map_or(0, |last| known[last].end);
            if at > most.at {
                most = CommonPart { at, from, with };
            }
        }
        most
    }

    /// The list goes on from there, and the log has all of it by now.
    pub fn follow(&mut self, list: &[Hash], common: CommonPart) {
        let CommonPart { at, from, with } = common;
        let event = |(seq, identity): (usize, &Hash)| EventMessage {
            identity: *identity,
            seq: Some(seq),
            end: seq + 1,
        };
        let mut told = match with {
            CommonKind::Log => list[..from].iter().enumerate().map(event).collect(),
            CommonKind::Handed => self.handed[..from].to_vec(),
            CommonKind::Last => self.last()[..from].to_vec(),
        };
        told.extend((at..).zip(&list[from..]).map(event));
        self.events.truncate(at);
        self.events.extend(&list[from..]);
        self.last = Some(told.into());
    }

    fn last(&self) -> &[EventMessage] {
        self.last.as_ref().map_or(&[], |last| &last.list)
    }

    /// Another session has the first events of this one, and goes on with a list from there.
    pub fn fork(&self, at: usize) -> Self {
        let told = |list: &[EventMessage]| -> Vec<_> {
            list.iter().copied().take_while(|told| told.end <= at).collect()
        };
        let events = self.events[..at.min(self.events.len())].to_vec();
        Self { events, handed: told(&self.handed), last: Some(told(self.last()).into()) }
    }

    /// Where the messages of a context are from, if a list was followed.
    pub fn origins(&self, kind: DialectKind, context: &Context) -> Option<Vec<ContextOrigin>> {
        let last = self.last.as_ref()?;
        // What a host took over of the context before follows what it followed there.
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

    /// This context is what a host has now.
    pub fn hand_out(&mut self, kind: DialectKind, context: &Context) {
        let is_folded = context.pieces().any(|piece| !matches!(piece.fate, PieceFate::Verbatim(_)));
        self.handed.clear();
        if !is_folded {
            return;
        }
        let pieces: Vec<_> = context.pieces().collect();
        let mut end = 0;
        for (at, piece) in pieces.iter().enumerate() {
            let seq = event(piece.fate);
            end = match piece.fate {
                PieceFate::Recap | PieceFate::Marker => {
                    // All up to the next event that is there.
                    let next = pieces[at..].iter().find_map(|piece| event(piece.fate));
                    next.unwrap_or(self.events.len())
                }
                _ => seq.map_or(end, |seq| seq + 1),
            };
            let identity = self.known(kind, piece);
            self.handed.push(EventMessage { identity, seq, end });
        }
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

/// The event that a message of a context is, or was made of.
fn event(fate: PieceFate) -> Option<usize> {
    match fate {
        PieceFate::Verbatim(seq) | PieceFate::Edited(seq) | PieceFate::Repaired(seq, _) => {
            Some(seq as usize)
        }
        PieceFate::Recap | PieceFate::Marker | PieceFate::Added(_) => None,
    }
}

/// How many the two have in common from the start.
fn same<'a>(list: &[Hash], other: impl Iterator<Item = &'a Hash>) -> usize {
    list.iter().zip(other).take_while(|(a, b)| a == b).count()
}

//! The context for a host: which of its messages are sent as they are, and the JSON of those that midfold made.

use midfold::blocking::HandedContext;
use midfold::formats::DialectKind;
use midfold::{Door, IncomingMessages, PieceFate, RawEvent};
use napi::bindgen_prelude::Buffer;
use napi_derive::napi;

use crate::errors::{Failure, NodeResult};

/// A message of a context.
#[napi(object)]
pub struct Piece {
    /// Its place in the list that was given, where it is one of it or was made of one.
    pub place: Option<u32>,
    /// Its event, where it is one.
    pub seq: Option<u32>,
    /// Its JSON; none where it is the message at `place`, unchanged.
    pub json: Option<String>,
}

/// A context.
#[napi]
pub struct Handed {
    handed: HandedContext,
}

impl From<HandedContext> for Handed {
    fn from(handed: HandedContext) -> Self {
        Self { handed }
    }
}

#[napi]
impl Handed {
    /// The messages.
    #[napi]
    pub fn pieces(&self) -> Vec<Piece> {
        let HandedContext { context, injected, origins, .. } = &self.handed;
        let own = context.pieces().enumerate().map(|(at, piece)| {
            let origin = origins.as_ref().and_then(|origins| origins.get(at));
            let place = origin.and_then(|origin| origin.place);
            let is_same = origin.is_some_and(|origin| origin.is_same);
            Piece {
                place: place.and_then(|place| u32::try_from(place).ok()),
                seq: if let PieceFate::Verbatim(seq) = piece.fate { Some(seq) } else { None },
                // The host has an unchanged message itself, so its text need not cross into JavaScript.
                json: (!is_same).then(|| text(&piece.bytes)),
            }
        });
        let added = injected.iter().flat_map(|with_texts| with_texts.added());
        let added =
            added.map(|added| Piece { place: None, seq: None, json: Some(text(&added.bytes)) });
        own.chain(added).collect()
    }

    /// The messages as one JSON list: the very bytes of the log.
    #[napi]
    pub fn bytes(&self) -> Buffer {
        let HandedContext { context, injected, .. } = &self.handed;
        injected.as_ref().map_or_else(|| context.bytes(), |with_texts| with_texts.bytes()).into()
    }

    /// Counted tokens, with what travels beside the messages.
    #[napi(getter)]
    pub fn tokens(&self) -> i64 {
        let HandedContext { context, injected, .. } = &self.handed;
        number(injected.as_ref().map_or_else(|| context.tokens(), |with_texts| with_texts.tokens()))
    }

    /// It was folded for this.
    #[napi(getter)]
    pub fn folded(&self) -> bool {
        self.handed.folded
    }

    /// The message from which on the session is another one: the list went back.
    #[napi(getter)]
    pub fn went_back(&self) -> Option<i64> {
        self.handed.went_back.map(number)
    }

    /// Its number in the ledger of a stored session.
    #[napi(getter)]
    pub fn call(&self) -> Option<i64> {
        self.handed.call.map(number)
    }

    /// The tools for it, as JSON.
    #[napi]
    pub fn tools(&self) -> String {
        self.handed.tools()
    }

    /// What hooks added, as JSON: names and tokens.
    #[napi]
    pub fn injections(&self) -> napi::Result<String> {
        let injected = self.handed.injected.as_ref();
        crate::errors::json(&injected.map_or(&[][..], |with_texts| with_texts.injections()))
    }
}

/// A number as Node has them.
pub fn number(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The messages of a host's list, in this dialect, for a session that is called so.
pub fn list(json: &str, kind: DialectKind, id: &str) -> NodeResult<Vec<RawEvent>> {
    // A reader takes an empty list for no conversation, but a host may have one at its start.
    let empty = json.trim_matches(|c: char| c.is_whitespace() || c == '[' || c == ']').is_empty();
    if empty {
        return Ok(Vec::new());
    }
    events(json, kind, id)
}

/// Messages that are to be appended.
pub fn events(json: &str, kind: DialectKind, id: &str) -> NodeResult<Vec<RawEvent>> {
    let bytes = bytes::Bytes::copy_from_slice(json.as_bytes());
    Ok(IncomingMessages::read(&bytes, "messages", Door::Node)
        .and_then(|read| read.events_for(kind, id))?)
}

/// A list has to be read as what it is: one event for each of its messages.
pub fn whole(events: Vec<RawEvent>, given: u32, kind: DialectKind) -> NodeResult<Vec<RawEvent>> {
    if events.len() == given as usize {
        return Ok(events);
    }
    let count = events.len();
    Err(Failure::input(format!("{given} messages were read as {count} of {kind}"))
        .hint("pass messages of the session's dialect: new Session({ dialect }) names it"))
}

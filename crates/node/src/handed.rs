//! What is handed out: which of a host's messages are sent, and what is sent in place of others.

use midfold::blocking::Sent;
use midfold::formats::DialectKind;
use midfold::{Door, Fate, Incoming, RawEvent};
use napi::bindgen_prelude::Buffer;
use napi_derive::napi;

use crate::errors::{Done, Failure};

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
#[napi(object)]
pub struct Handed {
    /// The messages.
    pub pieces: Vec<Piece>,
    /// Counted tokens, with what travels beside the messages.
    pub tokens: i64,
    /// It was folded for this.
    pub folded: bool,
    /// The message from which on the session is another one: the list went back.
    pub went_back: Option<i64>,
    /// Its number in the ledger of a stored session.
    pub call: Option<i64>,
    /// Of what hooks added: name and tokens, as JSON.
    pub injections: String,
    /// The messages as one JSON list: the very bytes of the log.
    pub bytes: Buffer,
}

impl TryFrom<Sent> for Handed {
    type Error = napi::Error;

    fn try_from(sent: Sent) -> napi::Result<Self> {
        let Sent { context, injected, folded, call, origins, went_back } = sent;
        let mut pieces: Vec<_> = context
            .pieces()
            .enumerate()
            .map(|(at, piece)| {
                let origin = origins.as_ref().and_then(|origins| origins.get(at));
                let place = origin.and_then(|origin| origin.place);
                let is_same = origin.is_some_and(|origin| origin.is_same);
                let seq = if let Fate::Verbatim(seq) = piece.fate { Some(seq) } else { None };
                Piece {
                    place: place.and_then(|place| u32::try_from(place).ok()),
                    seq,
                    json: (!is_same).then(|| text(&piece.bytes)),
                }
            })
            .collect();
        let added = injected.iter().flat_map(|sent| sent.added());
        pieces.extend(added.map(|added| Piece {
            place: None,
            seq: None,
            json: Some(text(&added.bytes)),
        }));
        let tokens = injected.as_ref().map_or_else(|| context.tokens(), |sent| sent.tokens());
        let bytes = injected.as_ref().map_or_else(|| context.bytes(), |sent| sent.bytes());
        let told = injected.as_ref().map_or(&[][..], |sent| sent.injections());
        Ok(Self {
            pieces,
            tokens: number(tokens),
            folded,
            went_back: went_back.map(number),
            call: call.map(number),
            injections: crate::errors::json(&told)?,
            bytes: bytes.into(),
        })
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
pub fn list(json: &str, kind: DialectKind, id: &str) -> Done<Vec<RawEvent>> {
    let empty = json.trim_matches(|c: char| c.is_whitespace() || c == '[' || c == ']').is_empty();
    if empty {
        return Ok(Vec::new());
    }
    events(json, kind, id)
}

/// Messages that are to be appended.
pub fn events(json: &str, kind: DialectKind, id: &str) -> Done<Vec<RawEvent>> {
    let bytes = bytes::Bytes::copy_from_slice(json.as_bytes());
    Ok(Incoming::read(&bytes, "messages", Door::Node).and_then(|read| read.events_for(kind, id))?)
}

/// A list has to be read as what it is: one event for each of its messages.
pub fn whole(events: Vec<RawEvent>, given: u32, kind: DialectKind) -> Done<Vec<RawEvent>> {
    if events.len() == given as usize {
        return Ok(events);
    }
    let found = events.len();
    Err(Failure::input(format!("{given} messages were read as {found} of {kind}"))
        .hint("pass messages of the session's dialect: new Session({ dialect }) names it"))
}

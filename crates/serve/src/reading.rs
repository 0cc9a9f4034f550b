//! A request's body, read into a request within bounds: what its messages will take is known, and is there, before
//! anything is made of them.

use bytes::Bytes;
use hyper::http::request::Parts;
use midfold::formats::request::{Bounds, Over, Request, RequestError};
use midfold::proxy::Turn;
use midfold::proxy::vendor::Purpose;

use crate::app::App;
use crate::body::Room;
use crate::compute::caught;
use crate::guard::Ended;
use crate::keys::Holder;
use crate::metrics::Cause;
use crate::route::Asked;

/// The values that are read from a body may take so many times the memory of the longest body.
pub(crate) const MEMORY: usize = 2;

/// Why a request is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unread {
    /// It is more than midfold looks at: it passes as it came.
    Open(Cause),
    /// It is more than its sender may send.
    Ended(Ended),
}

/// Reads a body that came whole; with it comes the room that working on it takes.
pub(crate) fn read(
    app: &App,
    parts: &Parts,
    asked: &Asked,
    plain: &Bytes,
    purpose: Purpose,
) -> Result<(Request, Room), Unread> {
    let may = Holder::longest_history(parts);
    let bounds = Bounds {
        messages: may.min(app.limits.longest_history),
        memory: app.rooms.longest().saturating_mul(MEMORY),
    };
    let request = match caught(|| app.proxy.read(asked.kind, plain.clone(), purpose, bounds)) {
        Some(Ok(request)) => request,
        Some(Err(RequestError::Over(Over::Messages(most)))) if most == may => {
            return Err(Unread::Ended(Ended::Messages(most)));
        }
        Some(Err(RequestError::Over(_))) => return Err(Unread::Open(Cause::TooLarge)),
        Some(Err(_)) => return Err(Unread::Open(Cause::Unread)),
        None => return Err(Unread::Open(Cause::Panic)),
    };
    let mut working = app.rooms.room();
    match app.rooms.take(&mut working, request.memory()) {
        true => Ok((request, working)),
        false => Err(Unread::Open(Cause::TooLarge)),
    }
}

/// Bytes that are held for a request beside those that came: its history, where the provider was to have it, and what
/// is sent instead of it.
pub(crate) fn beside(turn: &Turn, plain: &Bytes) -> usize {
    let (whole, sent) = (turn.request().body(), &turn.sent().body);
    let other =
        |one: &Bytes, than: &Bytes| if one.as_ptr() == than.as_ptr() { 0 } else { one.len() };
    other(whole, plain) + other(sent, plain).min(other(sent, whole))
}

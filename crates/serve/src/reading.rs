//! Reads a request's body within bounds. The memory that its messages need is computed and reserved before they are
//! used.

use bytes::Bytes;
use hyper::http::request::Parts;
use midfold::formats::request::{Bounds, BoundsError, Request, RequestError};
use midfold_proxy::MatchedRequest;
use midfold_proxy::vendor::RequestPurpose;

use crate::app::SharedApp;
use crate::body::BodyRoom;
use crate::compute::caught;
use crate::guard::BodyEnd;
use crate::keys::KeyHolder;
use crate::pass_cause::PassCause;
use crate::route::HistoryRequest;

/// The values that are read from a body may take this many times the memory of the longest body.
pub(crate) const MEMORY: usize = 2;

/// Why a request is not read, and what becomes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnreadReason {
    /// It exceeds the server's limits or cannot be read: it is sent unchanged.
    Open(PassCause),
    /// It exceeds the limits of its sender: it is refused.
    Ended(BodyEnd),
}

/// Reads a whole body. Also returns the room in memory that its messages take.
pub(crate) fn read(
    app: &SharedApp,
    parts: &Parts,
    history: &HistoryRequest,
    plain: &Bytes,
    purpose: RequestPurpose,
) -> Result<(Request, BodyRoom), UnreadReason> {
    let may = KeyHolder::longest_history(parts);
    let bounds = Bounds {
        messages: may.min(app.limits.longest_history),
        memory: app.rooms.longest().saturating_mul(MEMORY),
    };
    let request = match caught(|| app.proxy.read(history.kind, plain.clone(), purpose, bounds)) {
        Some(Ok(request)) => request,
        // One bound carries two limits. Beyond that of the key the request is refused; beyond that of the server it
        // passes unread.
        Some(Err(RequestError::Over(BoundsError::Messages(most)))) if most == may => {
            return Err(UnreadReason::Ended(BodyEnd::Messages(most)));
        }
        Some(Err(RequestError::Over(_))) => return Err(UnreadReason::Open(PassCause::TooLarge)),
        Some(Err(_)) => return Err(UnreadReason::Open(PassCause::Unread)),
        None => return Err(UnreadReason::Open(PassCause::Panic)),
    };
    let mut working = app.rooms.room();
    match app.rooms.take(&mut working, request.memory()) {
        true => Ok((request, working)),
        false => Err(UnreadReason::Open(PassCause::TooLarge)),
    }
}

/// Bytes that are held for a request beside its body: the body completed with its history, and the body that is sent. A
/// buffer that is shared counts once.
pub(crate) fn beside(turn: &MatchedRequest, plain: &Bytes) -> usize {
    let (whole, outgoing) = (turn.request().body(), &turn.sent().body);
    let other =
        |one: &Bytes, than: &Bytes| if one.as_ptr() == than.as_ptr() { 0 } else { one.len() };
    other(whole, plain) + other(outgoing, plain).min(other(outgoing, whole))
}

//! Bounds on a request's body: it must not stall, and must not be longer than its sender may send.

use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use hyper::StatusCode;
use hyper::body::{Body as _, Frame, SizeHint};
use tokio::time::{Sleep, sleep};

use crate::answers::error;

/// Why a body was cut off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BodyEnd {
    /// No byte came for too long.
    #[error("midfold: the request's body brought nothing for too long; send it again")]
    Idle,
    /// The body is longer than this many bytes, which its sender may send.
    #[error(
        "midfold: the request's body is longer, unpacked, than the {0} bytes that this key may send (`longest_body` in \
         the file of keys); send a shorter one"
    )]
    Long(usize),
    /// The body has more messages than this, which its sender may send.
    #[error(
        "midfold: the request has more than the {0} messages that this key may send (`longest_history` in the file of \
         keys); start a new conversation"
    )]
    Messages(usize),
}

impl BodyEnd {
    pub(crate) fn response(self) -> Response {
        let (status, kind) = match self {
            Self::Idle => (StatusCode::REQUEST_TIMEOUT, "midfold_timeout"),
            Self::Long(_) | Self::Messages(_) => {
                (StatusCode::PAYLOAD_TOO_LARGE, "midfold_too_large")
            }
        };
        error(status, kind, &self.to_string())
    }
}

/// Tells afterwards why a body was cut off. Code that reads or forwards the body only sees an error.
#[derive(Clone, Default)]
pub(crate) struct BodyWatch(Arc<OnceLock<BodyEnd>>);

impl BodyWatch {
    /// Why the body was cut off; `None` if it was not.
    pub fn ended(&self) -> Option<BodyEnd> {
        self.0.get().copied()
    }
}

/// A body with bounds.
pub(crate) struct GuardedBody {
    body: Body,
    idle: Duration,
    /// `longest` is the limit in bytes, `left` the rest of it.
    longest: usize,
    room: usize,
    /// A timer that runs only while somebody waits for bytes. If nobody reads the body, the client is not late.
    waits: Option<Pin<Box<Sleep>>>,
    watch: BodyWatch,
}

impl GuardedBody {
    /// Makes a body that may be `longest` bytes long, and may stall for `idle`. If its `content-length` is already too
    /// large, it is refused at once.
    pub fn around(
        body: Body,
        idle: Duration,
        longest: usize,
    ) -> Result<(Body, BodyWatch), BodyEnd> {
        if usize::try_from(body.size_hint().lower()).is_ok_and(|length| length > longest) {
            return Err(BodyEnd::Long(longest));
        }
        let watch = BodyWatch::default();
        let (room, waits) = (longest, None);
        let guarded = Self { body, idle, longest, room, waits, watch: watch.clone() };
        Ok((Body::new(guarded), watch))
    }

    fn end(&self, why: BodyEnd) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        // The first reason stays, also if the body is polled again after its end.
        let _ = self.watch.0.set(why);
        Poll::Ready(Some(Err(axum::Error::new(why))))
    }
}

impl hyper::body::Body for GuardedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(context) else {
            let idle = self.idle;
            let waits = self.waits.get_or_insert_with(|| Box::pin(sleep(idle)));
            return match waits.as_mut().poll(context) {
                Poll::Ready(()) => self.end(BodyEnd::Idle),
                Poll::Pending => Poll::Pending,
            };
        };
        // Bytes came, so the next pause is measured anew.
        self.waits = None;
        let bytes = frame.as_ref().and_then(|frame| frame.as_ref().ok()?.data_ref());
        match self.room.checked_sub(bytes.map_or(0, Bytes::len)) {
            Some(room) => self.room = room,
            None => return self.end(BodyEnd::Long(self.longest)),
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

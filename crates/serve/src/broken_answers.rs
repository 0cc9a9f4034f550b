//! Bodies of answers that break off. The client gets all bytes before the break, and sees that the answer is
//! incomplete.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::BoxError;
use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use tokio::time::{Sleep, sleep};
use tracing::Span;

/// How long bytes before a break get to be sent. In HTTP/1 and HTTP/2, an error of the body discards bytes that are not
/// written yet.
const LEAVING: Duration = Duration::from_millis(100);

/// A forwarded body. If it breaks off, its error is reported only after a pause, in which the bytes before it are sent.
pub(crate) struct BreakingBody<B> {
    inner: B,
    broken: Option<(axum::Error, Pin<Box<Sleep>>)>,
    /// The request in the log. A body is read after its request was handled.
    request: Span,
}

impl<B> BreakingBody<B> {
    pub fn new(inner: B) -> Self {
        Self { inner, broken: None, request: Span::current() }
    }
}

impl<B> Body for BreakingBody<B>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Into<BoxError>,
{
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let Self { inner, broken, request } = &mut *self;
        let _in_request = request.enter();
        if broken.is_none() {
            match ready!(Pin::new(inner).poll_frame(context)) {
                Some(Err(error)) => {
                    let error = axum::Error::new(error);
                    tracing::warn!(%error, "an answer broke off");
                    *broken = Some((error, Box::pin(sleep(LEAVING))));
                }
                frame => return Poll::Ready(frame.map(|frame| frame.map_err(axum::Error::new))),
            }
        }
        if let Some((_, leaving)) = broken {
            ready!(leaving.as_mut().poll(context));
        }
        Poll::Ready(broken.take().map(|(error, _)| Err(error)))
    }

    fn is_end_stream(&self) -> bool {
        // While an error waits, this is not the end: a client would take the cut answer for a whole one.
        self.broken.is_none() && self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

/// The beginning of a body, followed by an error.
pub(crate) struct BodyStart {
    begun: Option<Bytes>,
    why: Option<BoxError>,
}

impl BodyStart {
    pub fn new(begun: Bytes, why: impl Into<BoxError>) -> Self {
        Self { begun: Some(begun).filter(|begun| !begun.is_empty()), why: Some(why.into()) }
    }
}

impl Body for BodyStart {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let begun = self.begun.take().map(|begun| Ok(Frame::data(begun)));
        Poll::Ready(begun.or_else(|| self.why.take().map(Err)))
    }
}

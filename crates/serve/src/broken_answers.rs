//! Answers that break off. The client sees that they do, and all that came before.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::BoxError;
use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use tokio::time::{Sleep, sleep};

/// How long what came before a break has to leave: in either version of HTTP, a body that fails takes with it what
/// was not written yet.
const LEAVING: Duration = Duration::from_millis(100);

/// A body that is passed on. Where it breaks off, what came before leaves first.
pub(crate) struct BreakingBody<B> {
    inner: B,
    broken: Option<(axum::Error, Pin<Box<Sleep>>)>,
}

impl<B> BreakingBody<B> {
    pub fn new(inner: B) -> Self {
        Self { inner, broken: None }
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
        if self.broken.is_none() {
            match ready!(Pin::new(&mut self.inner).poll_frame(context)) {
                Some(Err(error)) => {
                    let error = axum::Error::new(error);
                    tracing::warn!(%error, "an answer broke off");
                    self.broken = Some((error, Box::pin(sleep(LEAVING))));
                }
                frame => return Poll::Ready(frame.map(|frame| frame.map_err(axum::Error::new))),
            }
        }
        if let Some((_, leaving)) = &mut self.broken {
            ready!(leaving.as_mut().poll(context));
        }
        Poll::Ready(self.broken.take().map(|(error, _)| Err(error)))
    }

    fn is_end_stream(&self) -> bool {
        self.broken.is_none() && self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

/// The beginning of a body, and why there is no more of it.
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

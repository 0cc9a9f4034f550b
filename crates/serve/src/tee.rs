//! An answer on its way: every frame passes as it comes, and a reader looks on.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use midfold::formats::answer::{Seen, Tee};

/// What is done once the answer has passed, or was left.
type Done = Box<dyn FnOnce(Seen) + Send>;

/// A body that passes, with a reader beside it. Back-pressure is the client's: nothing is asked of the
/// provider that the client did not ask for. Where the client goes, the provider is told.
pub(crate) struct Teed {
    /// Frames that were held until it was clear what the answer is.
    first: std::collections::VecDeque<Bytes>,
    inner: Incoming,
    reader: Option<(Tee, Done)>,
}

impl Teed {
    pub fn new(first: Vec<Bytes>, inner: Incoming, reader: Tee, done: Done) -> Self {
        Self { first: first.into(), inner, reader: Some((reader, done)) }
    }

    fn end(&mut self) {
        if let Some((reader, done)) = self.reader.take() {
            done(reader.finish());
        }
    }
}

impl Drop for Teed {
    fn drop(&mut self) {
        self.end();
    }
}

impl Body for Teed {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        // What was held has been read already.
        if let Some(held) = self.first.pop_front() {
            return Poll::Ready(Some(Ok(Frame::data(held))));
        }
        let frame = ready!(Pin::new(&mut self.inner).poll_frame(context));
        match &frame {
            Some(Ok(frame)) => {
                if let (Some(data), Some((reader, _))) = (frame.data_ref(), &mut self.reader) {
                    reader.push(data);
                }
                // The last frame may be followed by nothing that anybody asks for.
                if self.inner.is_end_stream() {
                    self.end();
                }
            }
            Some(Err(_)) | None => self.end(),
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.first.is_empty() && self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        if self.first.is_empty() { self.inner.size_hint() } else { SizeHint::default() }
    }
}

//! An answer on its way: every frame passes as it comes, and a reader looks on.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use midfold::formats::answer::{AnswerFacts, AnswerTee};

/// The work that is done once the answer has passed, broke off (`true`), or was left.
type AfterBody = Box<dyn FnOnce(AnswerFacts, bool) + Send>;

/// A body that passes, with a reader beside it. Back-pressure is the client's: nothing is asked of the
/// provider that the client did not ask for. Where the client goes, the provider learns of it.
pub(crate) struct TeedBody {
    /// Frames that were held until it was clear what the answer is.
    first: std::collections::VecDeque<Bytes>,
    inner: Incoming,
    reader: Option<(AnswerTee, AfterBody)>,
}

impl TeedBody {
    pub fn new(first: Vec<Bytes>, inner: Incoming, reader: AnswerTee, done: AfterBody) -> Self {
        Self { first: first.into(), inner, reader: Some((reader, done)) }
    }

    /// What broke off is not complete, whatever stood in it.
    fn end(&mut self, is_broken: bool) {
        if let Some((reader, done)) = self.reader.take() {
            let mut seen = reader.finish();
            seen.is_complete &= !is_broken;
            done(seen, is_broken);
        }
    }
}

impl Drop for TeedBody {
    fn drop(&mut self) {
        self.end(false);
    }
}

impl Body for TeedBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        // The held frames have been read already.
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
                    self.end(false);
                }
            }
            Some(Err(_)) => self.end(true),
            None => self.end(false),
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

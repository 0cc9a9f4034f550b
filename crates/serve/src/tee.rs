//! Passes an answer on while a reader looks at every frame.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use midfold::formats::answer::{AnswerFacts, AnswerTee};

/// Called once at the end of the answer, with whether it broke off. If the client left early, it is called with the
/// facts until then.
type AfterBody = Box<dyn FnOnce(AnswerFacts, bool) + Send>;

/// A body that is passed on, with a reader beside it. It only reads from the provider when the client asks for more, so
/// a slow client slows the provider down. If the client leaves, the connection to the provider is closed.
pub(crate) struct TeedBody {
    /// Frames that were held back until it was clear that the answer is no refusal.
    first: std::collections::VecDeque<Bytes>,
    inner: Incoming,
    reader: Option<(AnswerTee, AfterBody)>,
}

impl TeedBody {
    pub fn new(first: Vec<Bytes>, inner: Incoming, reader: AnswerTee, after: AfterBody) -> Self {
        Self { first: first.into(), inner, reader: Some((reader, after)) }
    }

    /// Ends the reading. An answer that broke off counts as incomplete, whatever it contained.
    fn end(&mut self, is_broken: bool) {
        if let Some((reader, after)) = self.reader.take() {
            let mut seen = reader.finish();
            seen.is_complete &= !is_broken;
            after(seen, is_broken);
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
        // The reader has seen the held frames already.
        if let Some(piece) = self.first.pop_front() {
            return Poll::Ready(Some(Ok(Frame::data(piece))));
        }
        let frame = ready!(Pin::new(&mut self.inner).poll_frame(context));
        match &frame {
            Some(Ok(frame)) => {
                if let (Some(data), Some((reader, _))) = (frame.data_ref(), &mut self.reader) {
                    reader.push(data);
                }
                // After the last frame nobody may ask for more, so the end is handled now.
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
        // The hint of `inner` counts only the bytes behind the held frames. Taken for the length of the body, it would
        // cut the end off.
        if self.first.is_empty() { self.inner.size_hint() } else { SizeHint::default() }
    }
}

//! Reads request bodies into memory, within bounds. A larger body is forwarded without being read, so that midfold
//! never makes a request fail.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use axum::body::Body;
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::body::Frame;
use hyper::header::CONTENT_LENGTH;
use hyper::http::request::Parts;

/// At most so many bytes are reserved because of a request's `content-length`. More memory is only taken for bytes that
/// arrive.
const BELIEVED: usize = 4 << 20;

/// The result of reading a body.
pub(crate) enum BodyRead {
    /// The whole body, and its room in memory.
    Whole(Bytes, BodyRoom),
    /// The body is larger than the room. This body has the bytes that were read, and the rest behind them.
    Large(Body),
    /// The connection ended in the middle of the body.
    Broken,
}

/// A limit of bytes that all request bodies together may take in memory.
#[derive(Clone)]
pub struct BodyMemory {
    used: Arc<AtomicUsize>,
    /// The most bytes that were in use at one time.
    peak: Arc<AtomicUsize>,
    /// The most bytes of one request.
    one: usize,
    /// The most bytes of all requests together.
    all: usize,
}

/// The room of one request, in bytes. It is given back when this value is dropped.
pub struct BodyRoom {
    used: Arc<AtomicUsize>,
    size: usize,
}

impl BodyRoom {
    pub fn size(&self) -> usize {
        self.size
    }

    /// Gives back all room beyond `taken` bytes.
    pub fn shrink_to(&mut self, size: usize) {
        self.used.fetch_sub(self.size.saturating_sub(size), Ordering::Relaxed);
        self.size = self.size.min(size);
    }
}

impl Drop for BodyRoom {
    fn drop(&mut self) {
        self.used.fetch_sub(self.size, Ordering::Relaxed);
    }
}

impl BodyMemory {
    /// A limit of `one` bytes for each request and `all` bytes together.
    pub fn new(one: usize, all: usize) -> Self {
        Self { used: Arc::default(), peak: Arc::default(), one, all }
    }

    /// An empty room for a request.
    pub fn room(&self) -> BodyRoom {
        BodyRoom { used: Arc::clone(&self.used), size: 0 }
    }

    /// The most bytes of one request.
    pub fn longest(&self) -> usize {
        self.one
    }

    /// Bytes that all requests take now.
    pub fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }

    /// The most bytes that were in use at one time.
    pub fn peak(&self) -> usize {
        self.peak.load(Ordering::Relaxed)
    }

    /// Reads a body. `length` is its `content-length`, if it has one.
    pub(crate) async fn read(&self, mut body: Body, length: Option<usize>) -> BodyRead {
        let mut room = self.room();
        if length.is_some_and(|length| length > self.one) {
            return BodyRead::Large(body);
        }
        // A client can claim any length without sending a byte.
        let mut read = BytesMut::with_capacity(length.unwrap_or(0).min(BELIEVED));
        while let Some(frame) = body.frame().await {
            let Ok(frame) = frame else { return BodyRead::Broken };
            let Ok(data) = frame.into_data() else { continue };
            // A chunked body names no length, so the limit of one request is checked here as well.
            let fits = self.take(&mut room, data.len()) && room.size <= self.one;
            // Kept even if they do not fit, because the upstream has to get every byte that was taken from the client.
            read.extend_from_slice(&data);
            if !fits {
                return BodyRead::Large(Body::new(BufferedBody {
                    first: Some((read.freeze(), room)),
                    body,
                }));
            }
        }
        BodyRead::Whole(read.freeze(), room)
    }

    /// Adds `bytes` to a room. Returns whether the limit still holds; the bytes are counted in any case, because they
    /// are in memory already.
    pub fn take(&self, room: &mut BodyRoom, bytes: usize) -> bool {
        room.size += bytes;
        // `Relaxed` is enough: each caller decides by the sum that its own addition returned, and the count guards no
        // other memory.
        let used = self.used.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.peak.fetch_max(used, Ordering::Relaxed);
        used <= self.all
    }
}

/// A body of the bytes that were read, followed by the rest.
struct BufferedBody {
    first: Option<(Bytes, BodyRoom)>,
    body: Body,
}

impl hyper::body::Body for BufferedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        match self.first.take() {
            // The room ends here: the buffered bytes now belong to the connection that sends them.
            Some((read, _room)) => Poll::Ready(Some(Ok(Frame::data(read)))),
            None => Pin::new(&mut self.body).poll_frame(context),
        }
    }
}

/// The `content-length` of a request; `None` if it has none.
pub(crate) fn content_length(parts: &Parts) -> Option<usize> {
    parts.headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

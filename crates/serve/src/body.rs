//! Reading a request's body, within bounds. A larger body passes unread: midfold is no reason for a
//! request to fail.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use axum::body::Body;
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::body::Frame;

/// How far a request is believed that says how long it is: memory is taken for what came, beyond that.
const BELIEVED: usize = 4 << 20;

/// The result of reading a body.
pub(crate) enum BodyRead {
    /// All of it.
    Whole(Bytes, BodyRoom),
    /// It is larger than what may be in memory: what was read, and the rest behind it.
    Large(Body),
    /// The client stopped in the middle.
    Broken,
}

/// Bytes that requests may have in memory, all together.
#[derive(Clone)]
pub struct BodyMemory {
    used: Arc<AtomicUsize>,
    /// The most that was used at a time.
    peak: Arc<AtomicUsize>,
    one: usize,
    all: usize,
}

/// Room that a request has taken, until it is answered.
pub struct BodyRoom {
    used: Arc<AtomicUsize>,
    taken: usize,
}

impl BodyRoom {
    pub fn taken(&self) -> usize {
        self.taken
    }

    /// Gives back what was taken beyond this.
    pub fn shrink_to(&mut self, taken: usize) {
        self.used.fetch_sub(self.taken.saturating_sub(taken), Ordering::Relaxed);
        self.taken = self.taken.min(taken);
    }
}

impl Drop for BodyRoom {
    fn drop(&mut self) {
        self.used.fetch_sub(self.taken, Ordering::Relaxed);
    }
}

impl BodyMemory {
    /// For so many bytes of one request, and of all.
    pub fn new(one: usize, all: usize) -> Self {
        Self { used: Arc::default(), peak: Arc::default(), one, all }
    }

    /// Room for a request, of which nothing is taken yet.
    pub fn room(&self) -> BodyRoom {
        BodyRoom { used: Arc::clone(&self.used), taken: 0 }
    }

    /// Bytes of one request at most.
    pub fn longest(&self) -> usize {
        self.one
    }

    /// Bytes of all requests that are in memory.
    pub fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }

    /// The most that it ever was.
    pub fn peak(&self) -> usize {
        self.peak.load(Ordering::Relaxed)
    }

    /// Reads a body that says to be `length` long.
    pub(crate) async fn read(&self, mut body: Body, length: Option<usize>) -> BodyRead {
        let mut room = self.room();
        if length.is_some_and(|length| length > self.one) {
            return BodyRead::Large(body);
        }
        let mut read = BytesMut::with_capacity(length.unwrap_or(0).min(BELIEVED));
        while let Some(frame) = body.frame().await {
            let Ok(frame) = frame else { return BodyRead::Broken };
            let Ok(data) = frame.into_data() else { continue };
            let fits = self.take(&mut room, data.len()) && room.taken <= self.one;
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

    /// Takes room for so many bytes more; says whether there was so much.
    pub fn take(&self, room: &mut BodyRoom, bytes: usize) -> bool {
        room.taken += bytes;
        let used = self.used.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.peak.fetch_max(used, Ordering::Relaxed);
        used <= self.all
    }
}

/// The bytes that were read, and the rest behind them.
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
            // From here on it is in the hands of whoever sends it.
            Some((read, _room)) => Poll::Ready(Some(Ok(Frame::data(read)))),
            None => Pin::new(&mut self.body).poll_frame(context),
        }
    }
}

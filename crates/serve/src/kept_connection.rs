//! Tells whether a request was lost because its kept connection was closed, so that it may be sent once more.
//!
//! A server may close an idle connection in the moment in which the next request is sent on it. Then it has not read the
//! request. Nobody can be sure of that, so all of these have to hold: the connection had answered a request before, no
//! byte of an answer came, and it closed within a second. A model that began to work is silent for longer, or answers.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::http::Extensions;
use hyper::{Response, Uri};
use hyper_util::client::legacy::Error;
use hyper_util::client::legacy::connect::{Connected, Connection};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tower::Service;

/// How soon after a request a connection closes that was closed before the request came. It takes the way there and
/// back.
const SOON: Duration = Duration::from_secs(1);

/// What a connection was used for.
#[derive(Clone, Default)]
struct ConnectionUse {
    /// It has answered a request.
    has_answered: Arc<AtomicBool>,
    /// Nothing was read since the last byte was written.
    is_silent: Arc<AtomicBool>,
}

/// Notes that the connection of this response has answered.
pub(crate) fn note_answer<B>(response: &mut Response<B>) {
    if let Some(used) = response.extensions_mut().remove::<ConnectionUse>() {
        used.has_answered.store(true, Ordering::Relaxed);
    }
}

/// Whether a request may be sent once more that failed with this error after this time.
pub(crate) fn is_lost(error: &Error, after: Duration) -> bool {
    // Several requests share a connection of HTTP/2, so bytes that were read say nothing about one of them.
    let Some(connected) = error.connect_info().filter(|info| !info.is_negotiated_h2()) else {
        return false;
    };
    let mut extras = Extensions::new();
    connected.get_extras(&mut extras);
    let is_unheard = extras.get::<ConnectionUse>().is_some_and(|used| {
        used.has_answered.load(Ordering::Relaxed) && used.is_silent.load(Ordering::Relaxed)
    });
    is_unheard && after <= SOON && is_closed(error)
}

/// Whether the other side closed the connection.
fn is_closed(error: &Error) -> bool {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if error.downcast_ref::<hyper::Error>().is_some_and(hyper::Error::is_incomplete_message) {
            return true;
        }
        if let Some(error) = error.downcast_ref::<io::Error>() {
            return matches!(
                error.kind(),
                io::ErrorKind::ConnectionReset
                    | io::ErrorKind::ConnectionAborted
                    | io::ErrorKind::BrokenPipe
                    | io::ErrorKind::NotConnected
                    | io::ErrorKind::UnexpectedEof
            );
        }
        cause = error.source();
    }
    false
}

/// Makes connections that note what they are used for.
#[derive(Clone)]
pub(crate) struct NotingConnector<C>(pub C);

impl<C: Service<Uri>> Service<Uri> for NotingConnector<C>
where
    C::Future: Send + 'static,
{
    type Response = TokioIo<NotingConnection<TokioIo<C::Response>>>;
    type Error = C::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, C::Error>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), C::Error>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, to: Uri) -> Self::Future {
        let connecting = self.0.call(to);
        Box::pin(async move {
            let io = TokioIo::new(connecting.await?);
            Ok(TokioIo::new(NotingConnection { io, used: ConnectionUse::default() }))
        })
    }
}

/// A connection that notes what it is used for.
pub(crate) struct NotingConnection<T> {
    io: T,
    used: ConnectionUse,
}

impl<T: Connection> Connection for NotingConnection<T> {
    fn connected(&self) -> Connected {
        self.io.connected().extra(self.used.clone())
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for NotingConnection<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.io).poll_read(cx, buffer);
        if buffer.filled().len() > before {
            self.used.is_silent.store(false, Ordering::Relaxed);
        }
        read
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for NotingConnection<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.used.is_silent.store(true, Ordering::Relaxed);
        Pin::new(&mut self.io).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.used.is_silent.store(true, Ordering::Relaxed);
        Pin::new(&mut self.io).poll_write_vectored(cx, parts)
    }
}

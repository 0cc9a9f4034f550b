//! Accepts connections up to a limit, runs each in a task of its own, and ends them without cutting off running
//! requests.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use hyper::Request;
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tower::ServiceExt;

use crate::limits::ServeLimits;
use crate::tls::TlsIdentity;

/// How long nothing is accepted after the system refused: other programs may free what it lacks, for example file
/// descriptors.
const PAUSE: Duration = Duration::from_millis(100);
/// The most bytes of a request's head, and so the size of a connection's read buffer. Hyper's default is four times as
/// large, which is too much memory for hundreds of clients.
const LONGEST_HEAD: usize = 128 << 10;
/// How often a silent HTTP/2 peer is pinged, and how long its answer may take.
const PING: Duration = Duration::from_secs(30);

/// A socket that accepts connections, and the settings for them.
pub(crate) struct Listener {
    pub tcp: TcpListener,
    pub tls: Option<TlsIdentity>,
    pub limits: ServeLimits,
    pub router: Router,
}

impl Listener {
    /// Accepts connections until it is asked to stop, then waits for open requests. If this future is dropped, they are
    /// cut off.
    pub async fn serve(self, mut stopped: watch::Receiver<bool>) {
        let Self { tcp, tls, limits, router } = self;
        let open = Arc::new(Semaphore::new(limits.connections));
        let shared = Arc::new(ConnectionShared { tls, limits, router });
        let graceful = GracefulShutdown::new();
        // Owned by this future: dropping the set ends every connection.
        let mut connections = JoinSet::new();
        loop {
            let (stream, permit) = tokio::select! {
                _ = stopped.wait_for(|stop| *stop) => break,
                next = next(&tcp, &open) => next,
            };
            // Without this, the set would keep every connection that has ended.
            while connections.try_join_next().is_some() {}
            let (shared, watcher) = (Arc::clone(&shared), graceful.watcher());
            connections.spawn(async move { shared.connection(stream, watcher, permit).await });
        }
        // New clients are refused at once, and do not wait in the queue of a server that stops.
        drop(tcp);
        graceful.shutdown().await;
    }
}

/// Accepts the next connection when there is a place for it. Until then it waits in the system's queue.
async fn next(
    tcp: &TcpListener,
    open: &Arc<Semaphore>,
) -> (TcpStream, Option<OwnedSemaphorePermit>) {
    // `ok` only hides the error of a closed semaphore, and nobody closes it.
    let permit = Arc::clone(open).acquire_owned().await.ok();
    loop {
        match tcp.accept().await {
            Ok((stream, _)) => return (stream, permit),
            Err(error) => {
                tracing::warn!(%error, "a connection cannot be accepted");
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

/// The settings that all connections share.
struct ConnectionShared {
    tls: Option<TlsIdentity>,
    limits: ServeLimits,
    router: Router,
}

impl ConnectionShared {
    /// Serves one connection, from its first byte to its end. It holds its permit as long as it is open.
    async fn connection(
        &self,
        stream: TcpStream,
        watcher: Watcher,
        _permit: Option<OwnedSemaphorePermit>,
    ) {
        // The small frames of a stream would be held back otherwise. Without it they only come later, so an error is
        // ignored.
        let _ = stream.set_nodelay(true);
        let Some(tls) = &self.tls else { return self.talk(stream, watcher).await };
        match timeout(self.limits.head, tls.accept(stream)).await {
            Ok(Ok(stream)) => self.talk(stream, watcher).await,
            Ok(Err(error)) => tracing::debug!(%error, "no TLS handshake"),
            Err(_) => tracing::debug!("a TLS handshake took too long"),
        }
    }

    /// Speaks HTTP/1 or HTTP/2 on a connection.
    async fn talk(
        &self,
        io: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
        watcher: Watcher,
    ) {
        let first = Arc::new(Notify::new());
        let seen = Arc::clone(&first);
        let router = self.router.clone().map_request(move |request: Request<Incoming>| {
            seen.notify_one();
            request.map(Body::new)
        });
        let builder = self.builder();
        let talk = builder.serve_connection(TokioIo::new(io), TowerToHyperService::new(router));
        let mut talk = pin!(watcher.watch(talk.into_owned()));
        // Hyper's own timeout for heads only covers HTTP/1, and only starts when it knows the protocol.
        let begun = tokio::select! {
            end = &mut talk => return ended(end),
            begun = timeout(self.limits.head, first.notified()) => begun,
        };
        match begun {
            Ok(()) => ended(talk.await),
            // Dropping `talk` closes the connection.
            Err(_) => tracing::debug!("no request came in time"),
        }
    }

    fn builder(&self) -> Builder<TokioExecutor> {
        let mut builder = Builder::new(TokioExecutor::new());
        builder
            .http1()
            .timer(TokioTimer::new())
            .header_read_timeout(self.limits.head)
            .max_buf_size(LONGEST_HEAD);
        builder.http2().timer(TokioTimer::new()).keep_alive_interval(PING).keep_alive_timeout(PING);
        builder
    }
}

/// Logs the end of a connection. Clients may leave at any time, so an error is no fault.
fn ended(end: Result<(), Box<dyn std::error::Error + Send + Sync>>) {
    if let Err(error) = end {
        tracing::debug!(%error, "a connection ended");
    }
}

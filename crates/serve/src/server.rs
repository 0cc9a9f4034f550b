//! Listening, and stopping without cutting anybody off.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use midfold::proxy::Proxy;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::app::App;
use crate::body::Rooms;
use crate::config::Config;
use crate::handlers::router;
use crate::keeper::Keeper;
use crate::metrics::Metrics;
use crate::narrator::Narrator;
use crate::totals::Totals;
use crate::upstream::Upstream;

/// Why there is no server.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {error}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why.
        error: std::io::Error,
    },
    /// TLS to providers could not be set up.
    #[error("TLS to the providers could not be set up: {0}")]
    Tls(#[from] rustls::Error),
}

/// A server that runs.
pub struct Running {
    address: SocketAddr,
    app: Arc<App>,
    stop: watch::Sender<bool>,
    end: watch::Sender<bool>,
    task: JoinHandle<()>,
    writer: Option<JoinHandle<()>>,
    drain: Duration,
}

/// Starts a server. What it returns is listening.
///
/// # Errors
/// When the address is taken, or TLS cannot be set up.
pub async fn start(config: Config) -> Result<Running, ServeError> {
    let Config { listen, upstreams, rules, clock, drain, store, .. } = config;
    let failed = |error| ServeError::Listen { address: listen, error };
    let listener = TcpListener::bind(listen).await.map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    let rules = if store.is_some() { rules.stored() } else { rules };
    let rules = if config.narration.is_some() { rules.narrated() } else { rules };
    let proxy = Arc::new(Proxy::new(rules));
    let keeper = store.map(|store| Keeper::new(store, Arc::clone(&proxy), Arc::clone(&clock)));
    let app = Arc::new(App {
        proxy,
        keeper: keeper.clone(),
        upstream: Upstream::new(upstreams)?,
        rooms: Rooms::new(config.longest_request, config.all_requests),
        metrics: Metrics::default(),
        clock,
        is_strict: config.is_strict,
        narrator: config.narration.map(Narrator::new),
    });
    let (stop, mut stopped) = watch::channel(false);
    // It writes until nobody asks for anything any more.
    let (end, ended) = watch::channel(false);
    let writer = keeper.map(|keeper| keeper.run(ended));
    let router = router(Arc::clone(&app));
    let task = tokio::spawn(async move {
        let told = async move {
            let _ = stopped.wait_for(|stop| *stop).await;
        };
        let listener = axum::serve::ListenerExt::tap_io(listener, |stream| {
            let _ = stream.set_nodelay(true);
        });
        if let Err(error) = axum::serve(listener, router).with_graceful_shutdown(told).await {
            tracing::error!(%error, "the server ended");
        }
    });
    Ok(Running { address, app, stop, end, task, writer, drain })
}

impl Running {
    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What happened so far, as Prometheus reads it.
    #[must_use]
    pub fn metrics(&self) -> String {
        self.app.metrics.text(self.app.proxy.held(), self.app.proxy.unsaved())
    }

    /// What happened so far, in figures.
    #[must_use]
    pub fn totals(&self) -> Totals {
        self.app.metrics.totals()
    }

    /// Takes no more requests, and waits for those that are under way, for as long as it was told. Answers
    /// what happened in all.
    pub async fn stop(self) -> Totals {
        let _ = self.stop.send(true);
        let abort = self.task.abort_handle();
        if tokio::time::timeout(self.drain, self.task).await.is_err() {
            tracing::warn!("requests were still under way, and are cut off");
            abort.abort();
        }
        let _ = self.end.send(true);
        if let Some(writer) = self.writer {
            let _ = writer.await;
        }
        self.app.metrics.totals()
    }
}

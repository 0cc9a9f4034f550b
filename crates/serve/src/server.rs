//! Starts the server, and stops it without cutting off requests.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use midfold::WindowSource;
use midfold_proxy::{Proxy, RandomSource, Seal, SealKey};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::app::SharedApp;
use crate::body::BodyMemory;
use crate::busy_sessions::BusySessions;
use crate::config::ServeConfig;
use crate::desk::Desk;
use crate::handlers::router;
use crate::keeper::Keeper;
use crate::keys::ApiKeys;
use crate::listen::Listener;
use crate::metric_labels::ModelNames;
use crate::metrics::ServerMetrics;
use crate::narrator::BackgroundNarrator;
use crate::totals::ServerTotals;
use crate::traces::RequestTraces;
use crate::upstream::UpstreamClient;
use crate::used_windows::KnownWindows;
use crate::windows::ReportedWindows;

/// Why the server could not start.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// It cannot listen on the address.
    #[error("cannot listen on {address}: {error}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The system's error.
        error: std::io::Error,
    },
    /// TLS to providers could not be set up.
    #[error("TLS to the providers could not be set up: {0}")]
    Tls(#[from] rustls::Error),
    /// Traces cannot be sent with these settings.
    #[error("traces cannot be sent: {0}")]
    Traces(String),
}

/// A running server.
pub struct RunningServer {
    address: SocketAddr,
    app: Arc<SharedApp>,
    stop: watch::Sender<bool>,
    end: watch::Sender<bool>,
    task: JoinHandle<()>,
    writer: Option<JoinHandle<()>>,
    drain: Duration,
}

/// Starts a server. When this returns, it is listening.
///
/// # Errors
/// If the address is taken, or if TLS to the providers or the collector of traces cannot be set up.
pub async fn start(config: ServeConfig) -> Result<RunningServer, ServeError> {
    let ServeConfig { listen, upstreams, rules, clock, drain, store, limits, tls, .. } = config;
    let failed = |error| ServeError::Listen { address: listen, error };
    let tcp = TcpListener::bind(listen).await.map_err(failed)?;
    let address = tcp.local_addr().map_err(failed)?;
    let rules = if store.is_some() { rules.stored() } else { rules };
    let rules = if config.narration.is_some() { rules.narrated() } else { rules };
    let random = config.random;
    let keys = seal_keys(config.seal, &random);
    let rules = rules.prefer(config.prefer).sealed(Seal::new(keys, Arc::clone(&random)));
    let scheme = if tls.is_some() { "https" } else { "http" };
    let (policy, said_windows) = (rules.policy().name.clone(), rules.said_windows());
    let (stop, stopped) = watch::channel(false);
    let hooks = rules.hooks();
    let desk = |store: &Arc<_>| Desk::new(Arc::clone(store), hooks, stopped.clone());
    let desk = store.as_ref().map(desk);
    let proxy = Arc::new(Proxy::new(rules));
    let keeper = store.map(|store| Keeper::new(store, Arc::clone(&proxy), Arc::clone(&clock)));
    let upstream = UpstreamClient::new(&config.outgoing)?;
    let traces = config.collector.map(|collector| RequestTraces::start(&collector, &upstream));
    let traces = traces.transpose().map_err(ServeError::Traces)?;
    let app = Arc::new(SharedApp {
        proxy,
        keeper: keeper.clone(),
        upstream,
        upstreams,
        windows: ReportedWindows::default(),
        known: KnownWindows::default(),
        rooms: BodyMemory::new(config.longest_request, config.all_requests),
        metrics: ServerMetrics::default(),
        sessions: BusySessions::default(),
        model_names: ModelNames::default(),
        traces,
        narrator: config
            .narration
            .map(|narration| BackgroundNarrator::new(narration, Arc::clone(&clock))),
        started: clock(),
        clock,
        listens_on: format!("{scheme}://{address}"),
        policy,
        said_windows,
        is_strict: config.is_strict,
        limits: limits.clone(),
        keys: config.keys.map(|keys| watch::Sender::new(Arc::new(keys))),
        provider_keys: config.provider_keys,
        desk: desk.map(Arc::new),
        is_local: address.ip().is_loopback(),
        origins: config.origins,
        random,
    });
    // The writer has a stop signal of its own: it goes on until the last request has ended.
    let (end, ended) = watch::channel(false);
    let writer = keeper.map(|keeper| keeper.run(ended));
    let router = router(Arc::clone(&app));
    let task = tokio::spawn(Listener { tcp, tls, limits, router }.serve(stopped));
    Ok(RunningServer { address, app, stop, end, task, writer, drain })
}

/// The keys that seal compactions: those of the settings, or else one that this process alone has. Without randomness
/// there is no key, and requests for a vendor's compaction pass unchanged.
fn seal_keys(set: Option<Vec<SealKey>>, random: &RandomSource) -> Vec<SealKey> {
    set.unwrap_or_else(|| {
        let own = SealKey::random(random);
        if own.is_none() {
            tracing::warn!(
                "the system gives no random bytes: compactions of vendors pass unchanged"
            );
        }
        own.into_iter().collect()
    })
}

impl RunningServer {
    /// The address on which it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The metrics since the start, in the text format of Prometheus.
    #[must_use]
    pub fn metrics(&self) -> String {
        self.app.figures()
    }

    /// The session that most requests belonged to; `None` if no request was of a stored one.
    #[must_use]
    pub fn busiest_session(&self) -> Option<String> {
        self.app.sessions.busiest()
    }

    /// The models whose window was learned from what their servers refused or took, with these windows in tokens.
    #[must_use]
    pub fn learned_windows(&self) -> Vec<(String, u64)> {
        let learned = self.app.known.all().into_iter();
        let learned = learned.filter(|known| known.from == WindowSource::Learned);
        learned.map(|known| (known.model, known.window)).collect()
    }

    /// Replaces the keys that it was started with, and ends the feeds of keys that are gone or changed. A server that was started without keys goes on to admit everybody.
    pub fn set_keys(&self, keys: ApiKeys) {
        if let Some(sender) = &self.app.keys {
            sender.send_modify(|known| *known = Arc::new(keys.after(known)));
        }
    }

    /// The totals since the start.
    #[must_use]
    pub fn totals(&self) -> ServerTotals {
        self.app.totals()
    }

    /// Accepts no more requests, and waits for the running ones, up to
    /// [`ServeConfig::drain`](crate::ServeConfig::drain). Returns the totals.
    pub async fn stop(self) -> ServerTotals {
        let _ = self.stop.send(true);
        let mut task = self.task;
        if tokio::time::timeout(self.drain, &mut task).await.is_err() {
            tracing::warn!("requests were still under way, and are cut off");
            task.abort();
            // Only then does no request note anything any more.
            let _ = task.await;
        }
        self.app.proxy.append_last_steps();
        let _ = self.end.send(true);
        if let Some(writer) = self.writer {
            let _ = writer.await;
        }
        if let Some(traces) = &self.app.traces {
            traces.end().await;
        }
        self.app.totals()
    }
}

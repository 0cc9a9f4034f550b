//! A scripted provider on loopback, for tests of software between a client and a model.
//!
//! It speaks Chat Completions, Responses, Anthropic Messages and Gemini, whole and streamed. It counts a prompt by one
//! simple rule ([`BYTES_PER_TOKEN`]). It refuses prompts that do not fit in a provider's own words ([`Flavour`]), and
//! requests that break a provider's rules ([`Strictness`]). It reports which part of a prompt a prefix cache would
//! hold. It plays an agent that needs facts which it read many steps ago ([`UpstreamScript`]), and faults
//! ([`PlannedFault`]). [`agent`] is a client for it.
//!
//! ```no_run
//! # async fn example() -> std::io::Result<()> {
//! use midfold_testkit::upstream::{WireDialect, UpstreamScript, UpstreamSettings, ScriptedUpstream, agent::ClientAgent};
//!
//! let upstream = ScriptedUpstream::start(UpstreamSettings {
//!     limit: Some(16_000),
//!     script: UpstreamScript::shell_loop(60),
//!     ..UpstreamSettings::default()
//! })
//! .await?;
//! let run = ClientAgent::new(WireDialect::Messages, upstream.url()).run().await;
//! assert!(run.failed() && upstream.stats().overflows == 1);
//! # Ok(())
//! # }
//! ```

pub mod agent;
mod answer;
mod cache;
mod copies;
mod count;
mod endpoint;
mod errors;
mod fault;
mod lookups;
mod once;
mod provider;
mod reply;
mod request_parts;
mod script;
mod server;
mod settings;
mod shared;
pub mod shell;
mod state;
mod stats;
mod stream;
mod strict;
mod wishes;

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, PoisonError};

use tokio::net::TcpListener;
use tokio::task::JoinHandle;

pub use self::cache::REMEMBERED;
pub use self::copies::CopiedLines;
pub use self::count::{BYTES_PER_TOKEN, PICTURE_TOKENS};
pub use self::errors::Flavour;
pub use self::fault::{FaultTime, PlannedFault};
pub use self::lookups::LookUps;
pub use self::once::OneCall;
pub use self::provider::ScriptedProvider;
pub use self::reply::ReplyKind;
pub use self::request_parts::WireDialect;
pub use self::script::{DECIDED, StepLoop, UpstreamScript, task};
pub use self::settings::UpstreamSettings;
pub use self::shared::RecordedCall;
pub use self::stats::{RequestOutcome, Stats, StatsEntry};
pub use self::strict::Strictness;
pub use self::wishes::AgentWish;

use self::shared::{SharedInner, SharedState};

/// The running server. Dropping it closes every connection, also those that hang.
#[derive(Debug)]
pub struct ScriptedUpstream {
    url: String,
    shared: Arc<SharedState>,
    task: JoinHandle<()>,
}

impl ScriptedUpstream {
    /// Starts a server on a free port of loopback.
    ///
    /// # Errors
    /// When no port is free.
    pub async fn start(settings: UpstreamSettings) -> io::Result<Self> {
        Self::listen(SocketAddr::from(([127, 0, 0, 1], 0)), settings).await
    }

    /// Starts a server on this address.
    ///
    /// # Errors
    /// When the address is in use or not allowed.
    pub async fn listen(address: SocketAddr, settings: UpstreamSettings) -> io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let url = format!("http://{}", listener.local_addr()?);
        let shared = Arc::new(SharedState::new(settings));
        let task = tokio::spawn(server::accept(listener, Arc::clone(&shared)));
        Ok(Self { url, shared, task })
    }

    /// `http://127.0.0.1:PORT`, without a path.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The statistics of the requests so far.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.inner(|inner| inner.stats.clone())
    }

    /// All requests so far, also those that are not to a model.
    #[must_use]
    pub fn requests(&self) -> Vec<RecordedCall> {
        self.inner(|inner| inner.recorded.clone())
    }

    /// Forgets all requests, kept conversations and the cache.
    pub fn reset(&self) {
        self.inner(|inner| *inner = SharedInner::default());
    }

    /// Changes the settings from the next request on.
    pub fn change(&self, change: impl FnOnce(&mut UpstreamSettings)) {
        let mut settings = self.shared.settings.write().unwrap_or_else(PoisonError::into_inner);
        change(Arc::make_mut(&mut settings));
    }

    /// Waits for the next request that no earlier call waited for.
    pub async fn arrival(&self) {
        if let Ok(permit) = self.shared.arrived.acquire().await {
            permit.forget();
        }
    }

    /// Releases one hanging answer or one held event.
    pub fn release(&self) {
        self.shared.releases.add_permits(1);
    }

    fn inner<T>(&self, read: impl FnOnce(&mut SharedInner) -> T) -> T {
        read(&mut self.shared.inner.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for ScriptedUpstream {
    fn drop(&mut self) {
        self.task.abort();
        self.shared.releases.close();
    }
}

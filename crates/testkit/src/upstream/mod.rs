//! A scripted provider on loopback, for tests of what stands between a client and a model.
//!
//! It speaks Chat Completions, Responses, Anthropic Messages and Gemini, whole and streamed; counts
//! the prompt by one simple rule ([`BYTES_PER_TOKEN`]); refuses what does not fit in a provider's own
//! words ([`Flavour`]) and what breaks a provider's rules ([`Strictness`]); says which part of a prompt
//! a prefix cache would have had; plays an agent that needs what it read many steps ago
//! ([`Script`]); and fails when told to ([`Fault`]). [`agent`] is a client for it.
//!
//! ```no_run
//! # async fn example() -> std::io::Result<()> {
//! use midfold_testkit::upstream::{Dialect, Script, Settings, Upstream, agent::Agent};
//!
//! let upstream = Upstream::start(Settings {
//!     limit: Some(16_000),
//!     script: Script::shell_loop(60),
//!     ..Settings::default()
//! })
//! .await?;
//! let run = Agent::new(Dialect::Messages, upstream.url()).run().await;
//! assert!(run.failed() && upstream.stats().overflows == 1);
//! # Ok(())
//! # }
//! ```

pub mod agent;
mod answer;
mod asked;
mod cache;
mod count;
mod endpoint;
mod errors;
mod fault;
mod lookups;
mod once;
mod provider;
mod reply;
mod script;
mod server;
mod settings;
mod shared;
pub mod shell;
mod state;
mod stats;
mod stream;
mod strict;

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, PoisonError};

use tokio::net::TcpListener;
use tokio::task::JoinHandle;

pub use self::asked::Dialect;
pub use self::cache::REMEMBERED;
pub use self::count::{BYTES_PER_TOKEN, PICTURE_TOKENS};
pub use self::errors::Flavour;
pub use self::fault::{Fault, When};
pub use self::lookups::LookUps;
pub use self::once::Once;
pub use self::provider::Provider;
pub use self::reply::Kind;
pub use self::script::{DECIDED, Loop, Script, task};
pub use self::settings::Settings;
pub use self::shared::Recorded;
pub use self::stats::{Entry, Outcome, Stats};
pub use self::strict::Strictness;

use self::shared::{Inner, Shared};

/// The server. Dropping it closes every connection, the hanging ones too.
#[derive(Debug)]
pub struct Upstream {
    url: String,
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

impl Upstream {
    /// Starts one on a free port of the loopback.
    ///
    /// # Errors
    /// When no port can be had.
    pub async fn start(settings: Settings) -> io::Result<Self> {
        Self::listen(SocketAddr::from(([127, 0, 0, 1], 0)), settings).await
    }

    /// Starts one on this address.
    ///
    /// # Errors
    /// When the address cannot be had.
    pub async fn listen(address: SocketAddr, settings: Settings) -> io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let url = format!("http://{}", listener.local_addr()?);
        let shared = Arc::new(Shared::new(settings));
        let task = tokio::spawn(server::accept(listener, Arc::clone(&shared)));
        Ok(Self { url, shared, task })
    }

    /// `http://127.0.0.1:PORT`, without a path.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// What it saw so far.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.inner(|inner| inner.stats.clone())
    }

    /// All requests so far, those that are none to a model too.
    #[must_use]
    pub fn requests(&self) -> Vec<Recorded> {
        self.inner(|inner| inner.recorded.clone())
    }

    /// Forgets all requests, what it kept and what it cached.
    pub fn reset(&self) {
        self.inner(|inner| *inner = Inner::default());
    }

    /// Changes how it behaves from the next request on.
    pub fn change(&self, change: impl FnOnce(&mut Settings)) {
        let mut settings = self.shared.settings.write().unwrap_or_else(PoisonError::into_inner);
        change(Arc::make_mut(&mut settings));
    }

    /// Waits for the next request that nobody waited for yet.
    pub async fn arrival(&self) {
        if let Ok(permit) = self.shared.arrived.acquire().await {
            permit.forget();
        }
    }

    /// Lets one hanging answer, or one held event, go.
    pub fn release(&self) {
        self.shared.held.add_permits(1);
    }

    fn inner<T>(&self, read: impl FnOnce(&mut Inner) -> T) -> T {
        read(&mut self.shared.inner.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for Upstream {
    fn drop(&mut self) {
        self.task.abort();
        self.shared.held.close();
    }
}

//! The state that all requests share.

use std::sync::Arc;

use midfold_proxy::{MatchedRequest, Proxy, RandomSource};
use tokio::sync::watch;

use crate::body::BodyMemory;
use crate::busy_sessions::BusySessions;
use crate::config::Clock;
use crate::desk::Desk;
use crate::keeper::Keeper;
use crate::keys::ApiKeys;
use crate::limits::ServeLimits;
use crate::metric_labels::ModelNames;
use crate::metrics::{MeasuredNow, ServerMetrics};
use crate::narrator::BackgroundNarrator;
use crate::origin::AllowedOrigins;
use crate::provider::ProviderKeys;
use crate::totals::ServerTotals;
use crate::traces::RequestTraces;
use crate::upstream::UpstreamClient;
use crate::upstreams::UpstreamTable;
use crate::used_windows::KnownWindows;
use crate::windows::ReportedWindows;

/// The state that all requests share.
pub(crate) struct SharedApp {
    pub proxy: Arc<Proxy>,
    pub upstream: UpstreamClient,
    pub upstreams: UpstreamTable,
    /// The windows that servers reported for their models.
    pub windows: ReportedWindows,
    /// The windows that requests had to fit.
    pub known: KnownWindows,
    pub rooms: BodyMemory,
    pub metrics: ServerMetrics,
    pub sessions: BusySessions,
    /// The models that metrics name.
    pub model_names: ModelNames,
    /// `None` if nobody collects traces.
    pub traces: Option<RequestTraces>,
    pub clock: Clock,
    /// When the server began to listen, in milliseconds since 1970.
    pub started: u64,
    pub listens_on: String,
    /// The name of the policy for requests that ask for no preset.
    pub policy: String,
    /// The windows in tokens that were set at the start, by patterns of models' names.
    pub said_windows: Vec<(String, u64)>,
    pub is_strict: bool,
    pub limits: ServeLimits,
    /// The keys of clients; `None` means that requests need no key.
    pub keys: Option<watch::Sender<Arc<ApiKeys>>>,
    pub provider_keys: ProviderKeys,
    pub keeper: Option<Arc<Keeper>>,
    pub narrator: Option<Arc<BackgroundNarrator>>,
    /// The state of the API of sessions; `None` without a store.
    pub desk: Option<Arc<Desk>>,
    /// The server listens only on an address of this machine.
    pub is_local: bool,
    /// The origins whose pages may send requests, beside the server's own.
    pub origins: AllowedOrigins,
    pub random: RandomSource,
}

impl SharedApp {
    pub fn now(&self) -> u64 {
        (self.clock)()
    }

    /// All metrics, as Prometheus reads them.
    pub fn figures(&self) -> String {
        let (conversations, conversation_bytes) = self.proxy.extent();
        self.metrics.text(&MeasuredNow {
            conversations,
            conversation_bytes,
            unsaved: self.proxy.unsaved(),
            request_bytes: self.rooms.used(),
            request_bytes_peak: self.rooms.peak(),
            cost: self.proxy.cost(),
        })
    }

    /// The totals so far, for people.
    pub fn totals(&self) -> ServerTotals {
        self.metrics.totals(self.proxy.cost())
    }

    /// Remembers the window that a request had to fit.
    pub fn note_window(&self, turn: &MatchedRequest, upstream: &str) {
        if let Some(window) = turn.sent().window.clone() {
            self.known.note(upstream, turn.model(), window);
        }
    }

    /// Wakes the writer of the store, if there is a store.
    pub fn keep(&self) {
        if let Some(keeper) = &self.keeper {
            keeper.due();
        }
    }
}

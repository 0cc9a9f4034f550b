//! What every request shares.

use std::sync::{Arc, RwLock};

use midfold_proxy::{MatchedRequest, Proxy, RandomSource};

use crate::body::BodyMemory;
use crate::config::Clock;
use crate::desk::Desk;
use crate::keeper::Keeper;
use crate::keys::ApiKeys;
use crate::limits::ServeLimits;
use crate::metrics::{ServerMetrics, cost_text};
use crate::narrator::BackgroundNarrator;
use crate::origin::AllowedOrigins;
use crate::provider::ProviderKeys;
use crate::totals::ServerTotals;
use crate::traces::RequestTraces;
use crate::upstream::UpstreamClient;
use crate::upstreams::UpstreamTable;
use crate::used_windows::KnownWindows;
use crate::windows::ReportedWindows;

/// What every request shares.
pub(crate) struct SharedApp {
    pub proxy: Arc<Proxy>,
    pub upstream: UpstreamClient,
    pub upstreams: UpstreamTable,
    /// What servers said of their models.
    pub windows: ReportedWindows,
    /// What requests had to fit.
    pub known: KnownWindows,
    pub rooms: BodyMemory,
    pub metrics: ServerMetrics,
    /// None where nobody collects them.
    pub traces: Option<RequestTraces>,
    pub clock: Clock,
    /// When it began to listen, and where.
    pub started: u64,
    pub listens_on: String,
    /// The name of the policy that folds where a request asks for no other one.
    pub policy: String,
    /// The windows that were said at the start, by patterns of models' names.
    pub said_windows: Vec<(String, u64)>,
    pub is_strict: bool,
    pub limits: ServeLimits,
    /// Whoever has one of these may ask; everybody where there are none.
    pub keys: Option<RwLock<Arc<ApiKeys>>>,
    pub provider_keys: ProviderKeys,
    pub keeper: Option<Arc<Keeper>>,
    pub narrator: Option<Arc<BackgroundNarrator>>,
    /// What requests for sessions share; none where nothing is stored.
    pub desk: Option<Arc<Desk>>,
    /// It listens on an address of this machine alone.
    pub is_local: bool,
    /// Whose pages may ask beside its own.
    pub origins: AllowedOrigins,
    pub random: RandomSource,
}

impl SharedApp {
    pub fn now(&self) -> u64 {
        (self.clock)()
    }

    /// All figures, as Prometheus reads them.
    pub fn figures(&self) -> String {
        let held = (self.rooms.used(), self.rooms.peak());
        let mut text = self.metrics.text(self.proxy.held(), self.proxy.unsaved(), held);
        cost_text(self.proxy.cost(), &mut text);
        text
    }

    /// What happened so far, for people.
    pub fn totals(&self) -> ServerTotals {
        self.metrics.totals(self.proxy.cost())
    }

    /// Remembers which window a request had to fit.
    pub fn note_window(&self, turn: &MatchedRequest, upstream: &str) {
        if let Some(window) = turn.sent().window.clone() {
            self.known.note(upstream, turn.model(), window);
        }
    }

    /// There is something to write to the store, where there is one.
    pub fn keep(&self) {
        if let Some(keeper) = &self.keeper {
            keeper.due();
        }
    }
}

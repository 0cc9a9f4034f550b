//! What every request shares.

use std::sync::{Arc, RwLock};

use midfold::proxy::{Proxy, Random, Turn};

use crate::body::Rooms;
use crate::config::Clock;
use crate::desk::Desk;
use crate::keeper::Keeper;
use crate::keys::Keys;
use crate::known::KnownWindows;
use crate::limits::Limits;
use crate::metrics::{Metrics, cost_text};
use crate::narrator::Narrator;
use crate::origin::Origins;
use crate::provider::ProviderKeys;
use crate::totals::Totals;
use crate::upstream::Upstream;
use crate::upstreams::Upstreams;
use crate::windows::Windows;

/// What every request shares.
pub(crate) struct App {
    pub proxy: Arc<Proxy>,
    pub upstream: Upstream,
    pub upstreams: Upstreams,
    /// What servers said of their models.
    pub windows: Windows,
    /// What requests had to fit.
    pub known: KnownWindows,
    pub rooms: Rooms,
    pub metrics: Metrics,
    pub clock: Clock,
    /// When it began to listen, and where.
    pub started: u64,
    pub listens_on: String,
    /// The name of the policy that folds where a request asks for no other one.
    pub policy: String,
    /// The windows that were said at the start, by patterns of models' names.
    pub said_windows: Vec<(String, u64)>,
    pub is_strict: bool,
    pub limits: Limits,
    /// Whoever has one of these may ask; everybody where there are none.
    pub keys: Option<RwLock<Arc<Keys>>>,
    pub provider_keys: ProviderKeys,
    pub keeper: Option<Arc<Keeper>>,
    pub narrator: Option<Arc<Narrator>>,
    /// What requests for sessions share; none where nothing is stored.
    pub desk: Option<Arc<Desk>>,
    /// It listens on an address of this machine alone.
    pub is_local: bool,
    /// Whose pages may ask beside its own.
    pub origins: Origins,
    pub random: Random,
}

impl App {
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
    pub fn totals(&self) -> Totals {
        self.metrics.totals(self.proxy.cost())
    }

    /// Remembers which window a request had to fit.
    pub fn note_window(&self, turn: &Turn, upstream: &str) {
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

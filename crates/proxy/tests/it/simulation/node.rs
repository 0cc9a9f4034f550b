//! One process: a proxy in memory, and its way to the store that both nodes share.

use std::sync::Arc;

use midfold::store::faulty::{FaultyStore, WriteFailure};
use midfold::store::run_in_memory as now;
use midfold::store::{Store, StoreError};
use midfold::{Policy, Setup, tokens};
use midfold_proxy::{MatchedRequest, Proxy, ProxyRules, ReadRequest};
use midfold_testkit::Rng;

/// What nodes of a world have in common.
#[derive(Clone)]
pub struct Setting {
    pub preset: &'static str,
    pub window: u64,
    pub memory: usize,
}

/// One process.
pub struct Node {
    setting: Setting,
    pub proxy: Arc<Proxy>,
    store: Arc<dyn Store>,
    /// How often it was started.
    pub life: u64,
    /// Until when it leaves the store alone.
    pub away: u64,
}

impl Node {
    pub fn new(setting: Setting, store: Arc<dyn Store>) -> Self {
        let proxy = proxy(&setting);
        Self { setting, proxy, store, life: 0, away: 0 }
    }

    /// The process dies, and another one is started.
    pub fn crash(&mut self) {
        self.proxy = proxy(&self.setting);
        self.life += 1;
        self.away = 0;
    }

    pub fn bring_back(&self, begun: &ReadRequest, time: u64) {
        if time < self.away {
            return;
        }
        let found = now(self.proxy.bring_back(begun, &self.store, time));
        assert!(found.is_ok(), "{found:?}");
    }

    /// Writes until a turn is known to the store, or all. Some write fails, perhaps: whether all was written.
    pub fn write(
        &mut self,
        turn: Option<&MatchedRequest>,
        failing: Option<u64>,
        rng: &mut Rng,
        time: u64,
    ) -> bool {
        if time < self.away {
            return false;
        }
        let failure = if rng.chance(50) { WriteFailure::Before } else { WriteFailure::After };
        let fails = failing.map_or(0..0, |first| first..first + 1);
        let store = FaultyStore::new(Arc::clone(&self.store), failure, fails);
        turn.inspect(|turn| turn.hurry());
        while turn.is_none_or(|turn| !turn.is_written()) {
            match now(self.proxy.save(&store, time)) {
                Ok(true) => {}
                Ok(false) => return true,
                Err(StoreError::Backend { .. }) => {
                    self.away = time + 1_000;
                    return false;
                }
                Err(error) => unreachable!("{error}"),
            }
        }
        true
    }
}

fn proxy(setting: &Setting) -> Arc<Proxy> {
    let counter = tokens::by_name("chars:4").unwrap_or_else(|error| unreachable!("{error}"));
    let setup = Setup::new().counter(counter).window(setting.window);
    let policy = Policy::preset(setting.preset).unwrap_or_else(|error| unreachable!("{error}"));
    let rules = ProxyRules::new(policy).setup(setup).memory(setting.memory).stored();
    Arc::new(Proxy::new(rules))
}

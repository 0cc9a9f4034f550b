//! A scripted provider, and midfold in front of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use midfold::Policy;
use midfold_proxy::ProxyRules;
use midfold_serve::{RunningServer, ServeConfig, UpstreamTable};
use midfold_testkit::upstream::{ScriptedUpstream, UpstreamSettings};

/// A provider and a proxy in front of it.
pub struct Setting {
    pub upstream: ScriptedUpstream,
    pub proxy: RunningServer,
}

impl Setting {
    /// A proxy that knows the window of its provider.
    pub async fn new(settings: UpstreamSettings) -> Self {
        let window = settings.limit.unwrap_or(200_000);
        Self::with(settings, |config| config.rules = rules().window(window)).await
    }

    pub async fn with(settings: UpstreamSettings, change: impl FnOnce(&mut ServeConfig)) -> Self {
        let upstream = ScriptedUpstream::start(settings).await.unwrap();
        let mut config = ServeConfig::new(rules(), clock());
        let mut upstreams = UpstreamTable::default();
        upstreams.set(upstream.url()).unwrap();
        config.upstreams = upstreams;
        change(&mut config);
        let proxy = midfold_serve::start(config).await.unwrap();
        Self { upstream, proxy }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.proxy.address())
    }

    /// A figure of the metrics.
    pub fn figure(&self, name: &str) -> u64 {
        let text = self.proxy.metrics();
        let line = text.lines().find(|line| line.split(' ').next() == Some(name));
        line.and_then(|line| line.rsplit(' ').next()?.parse().ok())
            .unwrap_or_else(|| panic!("{name}"))
    }
}

pub fn rules() -> ProxyRules {
    ProxyRules::new(Policy::preset("default").unwrap())
}

/// A clock that goes on by a second whenever it is looked at.
pub fn clock() -> midfold_serve::config::Clock {
    let time = AtomicU64::new(1_700_000_000_000);
    Arc::new(move || time.fetch_add(1_000, Ordering::Relaxed))
}

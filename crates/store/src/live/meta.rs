//! What a session is made of beside its log.

use midfold_core::budget::Budget;
use midfold_core::trigger::Millis;
use serde::{Deserialize, Serialize};

/// What a session is made of beside its log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionMeta {
    /// Its budget.
    pub budget: Budget,
    /// What travels beside the messages (system prompt, tools), as it came: counted in the head.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub envelope: Vec<String>,
    /// The session that it was forked from, and at which event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<(String, u64)>,
    /// Where it was imported from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The model of its first request, where a proxy made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The program that it is of, as it names itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// Whose it is, where several share a store: nobody else's request goes on with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// How long the provider's cache keeps a prompt, in milliseconds, where whoever made it says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_lifetime: Option<Millis>,
}

impl SessionMeta {
    /// The [`source`](Self::source) of sessions whose client speaks through a proxy.
    pub const PROXY: &str = "proxy";

    /// Whether its client speaks through a proxy: what it says next is behind the log, and the provider may
    /// want turns.
    #[must_use]
    pub fn is_proxied(&self) -> bool {
        self.source.as_deref() == Some(Self::PROXY)
    }
}

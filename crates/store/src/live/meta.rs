//! The description of a session beside its log.

use midfold_core::budget::Budget;
use midfold_core::trigger::Millis;
use serde::{Deserialize, Serialize};

/// The description of a session beside its log and its folds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionMeta {
    /// The session's budget.
    pub budget: Budget,
    /// System prompt and tools as they came, which each request sends beside the messages. Their tokens count in the
    /// head.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub envelope: Vec<String>,
    /// The session that it was forked from, and the number of events that it took over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<(String, u64)>,
    /// Where the session came from: [`PROXY`](Self::PROXY), [`API`](Self::API), or the place it was imported from. `None`
    /// where a program or a command made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The model of the first request, where a proxy made the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The client's name for itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// The owner, where several share a store. Requests of others never continue this session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// How long the provider's cache keeps a prompt, in milliseconds; `None` where nobody has said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_lifetime: Option<Millis>,
}

impl SessionMeta {
    /// The [`source`](Self::source) of sessions that a proxy made for its clients.
    pub const PROXY: &str = "proxy";

    /// The [`source`](Self::source) of sessions that a client made through the HTTP API.
    pub const API: &str = "api";

    /// Whether the session is a copy of a transcript that another program keeps.
    #[must_use]
    pub fn is_imported(&self) -> bool {
        self.source.as_deref().is_some_and(|source| ![Self::PROXY, Self::API].contains(&source))
    }

    /// Whether the client speaks through a proxy. Then its newest messages are not in the log yet, and the provider
    /// may require roles to alternate.
    #[must_use]
    pub fn is_proxied(&self) -> bool {
        self.source.as_deref() == Some(Self::PROXY)
    }
}

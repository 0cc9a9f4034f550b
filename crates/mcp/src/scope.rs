//! The rights of a client: which sessions it may see, which one it means, and whether it may change it.

use midfold::store::SessionRow;
use serde::Deserialize;

/// The rights of a client: which sessions it may see, which one it means, and whether it may change it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionScope {
    /// The owner whose sessions may be seen; `None` means all sessions. Sessions of other owners do not exist for the
    /// client.
    pub owner: Option<String>,
    /// The session of calls that name none.
    pub session: Option<String>,
    /// Whether it has the tools that change a session: `compact`, `pin` and `note`.
    pub agent_tools: bool,
}

/// The part of a session's metadata that is read here.
#[derive(Default, Deserialize)]
struct SessionOwner {
    #[serde(default)]
    owner: Option<String>,
}

impl SessionScope {
    /// Whether this session may be seen. A session whose metadata cannot be read has no owner.
    #[must_use]
    pub fn sees(&self, row: &SessionRow) -> bool {
        let Some(owner) = &self.owner else { return true };
        let meta: SessionOwner = serde_json::from_str(&row.new.meta).unwrap_or_default();
        meta.owner.as_ref() == Some(owner)
    }
}

//! Which sessions a client may see, which one it means, and whether it may change something.

use midfold::store::SessionRow;
use serde::Deserialize;

/// Which sessions a client may see, which one it means, and whether it may change something.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionScope {
    /// Whose sessions may be seen; all without one. The session of another owner is not there.
    pub owner: Option<String>,
    /// The session that is meant where a call names none.
    pub session: Option<String>,
    /// It has the tools by which an agent says what should become of its session.
    pub agent_tools: bool,
}

/// As much of a session's meta as is read here.
#[derive(Default, Deserialize)]
struct SessionOwner {
    #[serde(default)]
    owner: Option<String>,
}

impl SessionScope {
    /// Whether this session may be seen. One whose owner cannot be read belongs to nobody.
    #[must_use]
    pub fn sees(&self, row: &SessionRow) -> bool {
        let Some(owner) = &self.owner else { return true };
        let meta: SessionOwner = serde_json::from_str(&row.new.meta).unwrap_or_default();
        meta.owner.as_ref() == Some(owner)
    }
}

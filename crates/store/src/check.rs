//! Small rules that all stores share.

use midfold_core::Hash;
use serde::Deserialize;

use crate::error::StoreError;
use crate::types::{AppendRequest, NewEvent, NewSession};

/// Longest id of a session, in characters.
pub(crate) const MAX_ID: usize = 200;

/// A session's id is 1 to 200 characters without control characters.
pub(crate) fn session(new: &NewSession) -> Result<(), StoreError> {
    let length = new.id.chars().count();
    if (1..=MAX_ID).contains(&length) && !new.id.chars().any(char::is_control) {
        return Ok(());
    }
    let shown: String = new.id.chars().take(40).flat_map(char::escape_default).collect();
    Err(StoreError::BadId(shown))
}

/// Whose a session is, as what it is made of says.
pub(crate) fn owner(new: &NewSession) -> Option<String> {
    #[derive(Deserialize)]
    struct OwnedSession {
        owner: Option<String>,
    }
    // What is not read here is another reader's to refuse.
    let owner = serde_json::from_str::<OwnedSession>(&new.meta).ok()?.owner?;
    Some(plain(&owner).into_owned())
}

/// What a key stands for: the events' bytes, whatever head they were meant for. A client that
/// crashed before it saw the answer reads the session again and retries from the new head.
pub(crate) fn fingerprint(events: &[NewEvent]) -> Hash {
    events.iter().fold(Hash::ROOT, |hash, event| hash.chain(&event.bytes))
}

/// A job inside an append belongs to the session that is appended to.
pub(crate) fn append(id: &str, append: &AppendRequest) -> Result<(), StoreError> {
    match &append.job {
        Some(job) if job.session != id => Err(StoreError::Query(format!(
            "the job belongs to session `{}`, the append to `{id}`",
            job.session
        ))),
        _ => Ok(()),
    }
}

/// Text without the one character that PostgreSQL cannot hold.
pub(crate) fn plain(text: &str) -> std::borrow::Cow<'_, str> {
    if text.contains('\0') { text.replace('\0', "\u{fffd}").into() } else { text.into() }
}

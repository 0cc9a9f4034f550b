//! Small rules that all stores share.

use midfold_core::Hash;
use serde::Deserialize;

use crate::error::StoreError;
use crate::types::{AppendRequest, NewEvent, NewSession};

/// Longest id of a session, in characters.
pub(crate) const MAX_ID: usize = 200;

/// Checks the id of a session: 1 to 200 characters, without control characters.
pub(crate) fn session(new: &NewSession) -> Result<(), StoreError> {
    let length = new.id.chars().count();
    if (1..=MAX_ID).contains(&length) && !new.id.chars().any(char::is_control) {
        return Ok(());
    }
    let shown: String = new.id.chars().take(40).flat_map(char::escape_default).collect();
    Err(StoreError::BadId(shown))
}

/// The owner that the metadata of a session names; `None` where it names none.
pub(crate) fn owner(new: &NewSession) -> Option<String> {
    #[derive(Deserialize)]
    struct OwnedSession {
        owner: Option<String>,
    }
    // Damaged metadata is reported when a session is opened, so it is no error here.
    let owner = serde_json::from_str::<OwnedSession>(&new.meta).ok()?.owner?;
    Some(plain(&owner).into_owned())
}

/// The hash by which a retry of an append is recognised: a hash of the events' bytes, without the expected head. A
/// client that crashed before it got the answer reads the session again and retries with the new head.
pub(crate) fn fingerprint(events: &[NewEvent]) -> Hash {
    events.iter().fold(Hash::ROOT, |hash, event| hash.chain(&event.bytes))
}

/// Refuses an append whose job belongs to another session.
pub(crate) fn append(id: &str, append: &AppendRequest) -> Result<(), StoreError> {
    match &append.job {
        Some(job) if job.session != id => Err(StoreError::Query(format!(
            "the job belongs to session `{}`, the append to `{id}`",
            job.session
        ))),
        _ => Ok(()),
    }
}

/// The text without NUL characters, which PostgreSQL cannot store.
pub(crate) fn plain(text: &str) -> std::borrow::Cow<'_, str> {
    if text.contains('\0') { text.replace('\0', "\u{fffd}").into() } else { text.into() }
}

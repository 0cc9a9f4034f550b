//! Small rules that all stores share.

use midfold_core::Hash;
use serde::Deserialize;

use crate::changes::SessionChanges;
use crate::error::StoreError;
use crate::types::{NewEvent, NewSession};

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

/// Refuses changes that name another session, or whose new id is not valid.
pub(crate) fn changes(id: &str, changes: &SessionChanges) -> Result<(), StoreError> {
    if let Some(new) = &changes.created {
        session(new)?;
    }
    let named =
        [changes.created.as_ref().map(|new| &new.id), changes.job.as_ref().map(|job| &job.session)];
    match named.into_iter().flatten().find(|named| *named != id) {
        Some(other) => Err(StoreError::Query(format!(
            "the changes of session `{id}` name the session `{other}`"
        ))),
        None => Ok(()),
    }
}

/// The text without NUL characters, which PostgreSQL cannot store.
pub(crate) fn plain(text: &str) -> std::borrow::Cow<'_, str> {
    if text.contains('\0') { text.replace('\0', "\u{fffd}").into() } else { text.into() }
}

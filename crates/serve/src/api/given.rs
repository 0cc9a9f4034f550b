//! Messages that a body has.

use bytes::Bytes;
use midfold::{DialectKind, Door, Incoming, RawEvent};

use super::problem::Problem;

/// The messages of a list, as a session keeps them.
pub(super) fn events(
    json: &str,
    kind: DialectKind,
    session: &str,
) -> Result<Vec<RawEvent>, Problem> {
    if !json.starts_with('[') {
        return Err(Problem::bad("`messages` is no list")
            .hint("{\"messages\": [{\"role\": \"user\", \"content\": \"…\"}]}"));
    }
    let incoming = Incoming::read(&Bytes::from(json.to_owned()), "`messages`", Door::Http)?;
    if incoming.is_empty() {
        return Err(Problem::bad("`messages` is empty: there is nothing to append"));
    }
    Ok(incoming.events_for(kind, session)?)
}

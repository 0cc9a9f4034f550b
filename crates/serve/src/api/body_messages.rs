//! Reads the messages of a request's body.

use bytes::Bytes;
use midfold::formats::scan;
use midfold::{DialectKind, Door, IncomingMessages, RawEvent};

use super::ask::too_large;
use super::problem::ApiProblem;

/// Reads a JSON list of at most `most` messages, in the form in which a session keeps them.
pub(super) fn events(
    json: &str,
    kind: DialectKind,
    session: &str,
    most: usize,
) -> Result<Vec<RawEvent>, ApiProblem> {
    if !json.starts_with('[') {
        return Err(ApiProblem::bad("`messages` is no list")
            .hint("{\"messages\": [{\"role\": \"user\", \"content\": \"…\"}]}"));
    }
    if scan::elements(json.as_bytes(), 0..json.len()).nth(most).is_some() {
        return Err(too_large(&format!(
            "`messages` has more than {most} (`longest_history`); append them in several requests"
        )));
    }
    let incoming = IncomingMessages::read(&Bytes::from(json.to_owned()), "`messages`", Door::Http)?;
    if incoming.is_empty() {
        return Err(ApiProblem::bad("`messages` is empty: there is nothing to append"));
    }
    Ok(incoming.events_for(kind, session)?)
}

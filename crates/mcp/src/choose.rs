//! Finds the session that a call is about.

use midfold::store::{SessionRow, Store};
use midfold::view;
use serde_json::{Map, Value};

use crate::answer::CallRefusal;
use crate::scope::SessionScope;
use crate::sessions::{LOOKED_INTO, NewestSessions, named, newest};

/// The argument that names a session.
pub(crate) const SESSION: &str = "session";
/// The argument that identifies a session by a text in it.
pub(crate) const SAID: &str = "said";

/// The session that a call is about.
#[derive(Debug)]
pub(crate) enum ChosenSession {
    /// One session, and whether the call itself named it.
    One(Box<SessionRow>, bool),
    /// The newest sessions, because nothing says which one is meant.
    Several(NewestSessions),
}

/// Finds the session of a call: the one that it names, the one of the connection, the newest one that has the text of
/// `said`, or the only one. Removes the two arguments from the others.
pub(crate) async fn choose(
    store: &dyn Store,
    scope: &SessionScope,
    place: &str,
    arguments: &mut Map<String, Value>,
) -> Result<ChosenSession, CallRefusal> {
    let id = text(arguments, SESSION)?;
    let quote = text(arguments, SAID)?;
    if let Some(id) = id {
        return Ok(ChosenSession::One(Box::new(named(store, scope, &id).await?), true));
    }
    if let Some(id) = &scope.session {
        return Ok(ChosenSession::One(Box::new(named(store, scope, id).await?), false));
    }
    let mut page = newest(store, scope, 0, LOOKED_INTO).await?;
    if let Some(quote) = quote {
        return Ok(ChosenSession::One(Box::new(holding(store, page, &quote).await?), true));
    }
    match (page.total, page.rows.pop()) {
        (1, Some(row)) => Ok(ChosenSession::One(Box::new(row), false)),
        (_, None) => Err(nothing_stored(place)),
        (_, Some(row)) => {
            page.rows.push(row);
            Ok(ChosenSession::Several(page))
        }
    }
}

/// The error if no visible session is stored. `place` ends its sentence, for example ` in sqlite:PATH`, or is empty.
pub(crate) fn nothing_stored(place: &str) -> CallRefusal {
    CallRefusal::new(
        format!("no session is stored yet{place}"),
        "Go on without it: nothing of this conversation was folded by midfold so far.",
    )
}

/// The newest session that has the text.
async fn holding(
    store: &dyn Store,
    page: NewestSessions,
    quote: &str,
) -> Result<SessionRow, CallRefusal> {
    let looked = page.rows.len();
    for row in page.rows {
        if view::has_text(store, &row.new.id, quote).await? {
            return Ok(row);
        }
    }
    let of = page.total;
    Err(CallRefusal::new(
        format!("none of the {looked} newest sessions (of {of}) has this text"),
        "Give a text as it was said, letter by letter and not longer than a line; or call `sessions`.",
    ))
}

/// Takes a text out of the arguments; `None` if it is missing or empty.
fn text(arguments: &mut Map<String, Value>, key: &str) -> Result<Option<String>, CallRefusal> {
    match arguments.remove(key) {
        None => Ok(None),
        Some(Value::String(text)) => {
            Ok(Some(text.trim().to_owned()).filter(|text| !text.is_empty()))
        }
        Some(_) => {
            Err(CallRefusal::new(format!("`{key}` is no text"), format!("Send `{key}` as a text.")))
        }
    }
}

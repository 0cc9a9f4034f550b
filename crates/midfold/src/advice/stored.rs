//! Hints for errors of stored sessions and of recall.

use std::path::Path;

use midfold_store::recall::RecallError;
use midfold_store::{FailureKind, Store, StoreError, StoredError, mask};

use super::AdvisedError;
use crate::failure::{Door, Failure, FailureArea, number};

/// How many session ids are searched for one that is close to an unknown id.
const LOOKED_AT: u32 = 1_000;

impl AdvisedError for StoreError {
    fn advise(self, door: Door) -> Failure {
        let failure = Failure::new(FailureArea::Store, self.to_string());
        match self {
            Self::Exists(id) => failure.hint(match door {
                Door::Command => {
                    format!("choose another --id, or go on with it: midfold session status {id}")
                }
                Door::Python => format!(
                    "Session.open(store, \"{id}\") goes on with it; \
                     Sessions(store=…).project(messages, id=\"{id}\") goes on with it or makes it"
                ),
                Door::Node => format!(
                    "Session.open(store, '{id}') goes on with it; \
                     new Sessions({{ store }}).project(messages, {{ id: '{id}' }}) goes on with it or makes it"
                ),
                Door::Http => format!("choose another `id`, or go on with `{id}`"),
            }),
            Self::NoSession(_) => failure.hint(match door {
                Door::Command => "`midfold session new` makes one",
                Door::Python => "Session(store=…, id=…) makes one",
                Door::Node => "new Session({ store, id }) makes one",
                Door::Http => {
                    "GET /v1/sessions lists those that are there; POST /v1/sessions makes one"
                }
            }),
            Self::Conflict { .. } => failure.hint(format!(
                "nothing was appended; leave {} out to append all the same",
                door.option("expect")
            )),
            Self::KeyReused(_) => {
                failure.hint("nothing was appended; a key names one append for ever: use a new one")
            }
            Self::Damaged(_) => {
                failure.hint("`midfold check store` checks everything and says what to do")
            }
            Self::Backend { kind: FailureKind::ReadOnly, .. } => failure.hint(
                "the file or its folder may not be written: SQLite keeps a log beside the file",
            ),
            Self::Backend { kind: FailureKind::Unreadable, .. } => failure.hint(format!(
                "the file or its folder may not be read or written: choose another {}",
                door.option("store")
            )),
            Self::Backend { kind: FailureKind::NotAStore, .. } => {
                failure.hint(format!("name another file with {}", door.set("store", "sqlite:PATH")))
            }
            Self::Url(_) => Failure { is_usage: true, ..failure },
            Self::Changed(_) => {
                failure.hint("somebody works with it: delete it again if it may go")
            }
            Self::Settled(_) => failure.hint(format!(
                "the cost of a call is recorded once; name another call with {}",
                door.option("call")
            )),
            Self::Query(_) => Failure { area: FailureArea::Input, is_usage: true, ..failure }.hint(
                format!(
                    "for exactly this text: {}",
                    match door {
                        Door::Command => "--literal",
                        Door::Node => "mode: 'literal'",
                        Door::Python | Door::Http => "mode=\"literal\"",
                    }
                ),
            ),
            _ => failure,
        }
    }
}

impl AdvisedError for StoredError {
    fn advise(self, door: Door) -> Failure {
        let text = self.to_string();
        match self {
            Self::Store(error) => error.advise(door),
            Self::Plan(error) => error.advise(door),
            Self::Recover(error) => error.advise(door),
            Self::Undo(error) => error.advise(door),
            Self::Inject(error) => error.advise(door),
            Self::NoEvent { session, seq, events } => no_event(&session, seq, events, door),
            Self::Unknown { .. } => Failure::new(FailureArea::Store, text).hint(
                "it was made by another build; update midfold, or build it with that feature",
            ),
            Self::NoNumber { what: "call", .. } => Failure::new(FailureArea::Input, text)
                .hint(format!("without {} the present context is asked", door.option("call"))),
            Self::NoNumber { .. } => Failure::new(FailureArea::Input, text),
            Self::Busy(_) => Failure::new(FailureArea::Store, text),
        }
    }
}

/// The failure for a message number that the session does not have.
fn no_event(session: &str, seq: u64, events: u64, door: Door) -> Failure {
    let have = match events {
        0 => "it has none yet".to_owned(),
        1 => "it has one, number 0".to_owned(),
        many => format!("it has {} (0 to {})", number(many), number(many - 1)),
    };
    Failure::new(FailureArea::Input, format!("session `{session}` has no message {seq}: {have}"))
        .hint(match door {
            Door::Command => format!("`midfold session log {session}` lists them"),
            Door::Python => "`recall_outline()` lists them".to_owned(),
            Door::Node => "`recall('recall_find', {})` lists them".to_owned(),
            Door::Http => format!("GET /v1/sessions/{session}/messages lists them"),
        })
}

/// Adds hints to an error of a session in this store. If the session does not exist, a hint names the id that was
/// perhaps meant.
pub async fn advise_in(store: &dyn Store, error: StoredError, door: Door) -> Failure {
    let StoredError::Store(StoreError::NoSession(id)) = error else { return error.advise(door) };
    let place = store.place();
    let failure =
        Failure::new(FailureArea::Store, format!("there is no session `{id}` in {place}"));
    if place == "memory" {
        return failure.hint(door.says(
            "a store in memory is empty at every command: use sqlite:PATH",
            "a store in memory is empty when it is opened: use sqlite:PATH",
        ));
    }
    // The error above is the one to explain, even where this search fails.
    let rows = store.sessions(None, LOOKED_AT).await.unwrap_or_default();
    if rows.is_empty() {
        let make = match door {
            Door::Command => "`midfold session new` makes one",
            Door::Python => "Session(store=…, id=…) makes one",
            Door::Node => "`new Session({ store, id })` makes one",
            Door::Http => "POST /v1/sessions makes one",
        };
        return failure.hint(format!("it holds none: {make}"));
    }
    failure.near(&id, rows.iter().map(|row| row.new.id.as_str())).hint(match door {
        Door::Command => "`midfold session list` shows those that are there",
        Door::Python | Door::Node => {
            "`midfold session list --store URL` shows those that are there"
        }
        Door::Http => "GET /v1/sessions lists those that are there",
    })
}

/// Explains why the store at `url` could not be opened.
#[must_use]
pub fn advise_open(url: &str, error: StoreError, door: Door) -> Failure {
    let advised = error.advise(door);
    if url.starts_with("postgres") && advised.hints.is_empty() && !advised.is_usage {
        return advised.hint(format!(
            "asked for {}: is the server up, and are name and password right?",
            mask(url)
        ));
    }
    let looks_like_path = !url.contains("://") && !url.starts_with("sqlite:");
    let bare = looks_like_path && (url.contains('/') || Path::new(url).extension().is_some());
    let file = format!("for a file: {}", door.set("store", format!("sqlite:{url}")));
    advised.maybe_hint(bare.then_some(file))
}

/// Explains why recall found nothing in this session.
pub async fn advise_recall(
    store: &dyn Store,
    error: RecallError,
    session: &str,
    door: Door,
) -> Failure {
    match error {
        RecallError::Store(error) => advise_in(store, error.into(), door).await,
        error => recalled(error, session, door),
    }
}

/// Explains an error of recall that is not the store's.
fn recalled(error: RecallError, session: &str, door: Door) -> Failure {
    let text = error.to_string();
    let usage = |text: String| Failure::usage(FailureArea::Input, text);
    let failed = |text: String| Failure::new(FailureArea::Input, text);
    let says = |command: String, python: &str| match door {
        Door::Command => command,
        Door::Python | Door::Node | Door::Http => python.to_owned(),
    };
    match error {
        RecallError::Store(error) => error.advise(door),
        RecallError::Nothing => usage(text).hint(format!(
            "give a word, a part of a name, or a filter such as {}",
            door.says("--errors", "errors=True")
        )),
        RecallError::What(_) => usage(text).hint(door.says(
            "`midfold recall outline` and `midfold recall find` print the numbers of messages",
            "recall_find gives the numbers",
        )),
        RecallError::NoFold(_) | RecallError::Ambiguous(_) => failed(text).hint(says(
            format!("`midfold check session {session}` lists the folds with their ids"),
            "`folds()` lists what was folded, with ids",
        )),
        RecallError::Unfolded => failed(text).hint(says(
            format!("the context has all messages: midfold recall outline {session}"),
            "the context has all messages: recall_outline()",
        )),
        RecallError::Cursor(_) => usage(text).hint(format!(
            "leave {} out to start at the beginning",
            door.says("--from", "cursor=")
        )),
        RecallError::NoEvent(..) | RecallError::Empty => failed(text).hint(says(
            format!("`midfold recall outline {session}` lists them"),
            "`recall_outline()` lists them",
        )),
        RecallError::Role(_) | RecallError::Tool(..) => usage(text),
    }
}

impl AdvisedError for RecallError {
    fn advise(self, door: Door) -> Failure {
        recalled(self, "ID", door)
    }
}

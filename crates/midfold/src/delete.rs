//! Sessions that are deleted: by name, or because nothing happened in them for long. What is deleted
//! does not come back, so every door can first be told what that would be.

use midfold_store::{Millis, SessionExtent, Store, StoreError};

use crate::advice::{AdvisedError, advise_in};
use crate::failure::{Door, Failure, FailureArea, plural};

/// Sessions that are looked for at once.
const AT_ONCE: u32 = 1_000;
/// An hour.
const HOUR: Millis = 3_600_000;

/// How long nothing happened: hours, days or weeks.
///
/// ```
/// assert_eq!(midfold::age("36h"), Ok(36 * 3_600_000));
/// assert_eq!(midfold::age("4w"), midfold::age("28d"));
/// assert!(midfold::age("30m").is_err() && midfold::age("0d").is_err());
/// ```
///
/// # Errors
/// What to write, where it is none, and for no time at all: that would be every session.
pub fn age(text: &str) -> Result<Millis, String> {
    let units = [('h', HOUR), ('d', 24 * HOUR), ('w', 7 * 24 * HOUR)];
    let read = units.iter().find_map(|(unit, long)| {
        let digits = text.strip_suffix(*unit)?;
        // A sign is no digit.
        let count = digits.bytes().all(|b| b.is_ascii_digit()).then_some(digits)?.parse().ok()?;
        long.checked_mul(count)
    });
    match read {
        Some(0) => Err("that is every session; the least is 1h".to_owned()),
        Some(age) => Ok(age),
        None => Err("write a number of hours, days or weeks: 12h, 30d, 8w".to_owned()),
    }
}

/// What these sessions hold, each of them once.
///
/// # Errors
/// When one of them is not there, with the one that was perhaps meant; and when the store fails.
pub async fn extents(
    store: &dyn Store,
    ids: &[String],
    door: Door,
) -> Result<Vec<SessionExtent>, Failure> {
    let mut found: Vec<SessionExtent> = Vec::new();
    for id in ids {
        if found.iter().any(|extent| extent.session == *id) {
            continue;
        }
        match store.extent(id).await {
            Ok(extent) => found.push(extent),
            Err(error) => return Err(advise_in(store, error.into(), door).await),
        }
    }
    Ok(found)
}

/// Deletes these sessions for good, and takes their bytes off the disk; returns what they held. Where
/// one of the names is unknown, none of them is deleted.
///
/// # Errors
/// As [`extents`]; and when the store fails, with what was deleted until then.
pub async fn delete(
    store: &dyn Store,
    ids: &[String],
    door: Door,
) -> Result<Vec<SessionExtent>, Failure> {
    let mut deleted = Vec::new();
    for extent in extents(store, ids, door).await? {
        match store.delete(&extent.session, None).await {
            Ok(extent) => deleted.push(extent),
            // Somebody else was faster.
            Err(StoreError::NoSession(_)) => {}
            Err(error) => return Err(stopped(error, &deleted, door)),
        }
    }
    scrubbed(store, deleted).await
}

/// What the sessions hold that last changed longer ago than this: those that [`prune`] deletes.
///
/// # Errors
/// When the store fails.
pub async fn idle(
    store: &dyn Store,
    age: Millis,
    now: Millis,
    door: Door,
) -> Result<Vec<SessionExtent>, Failure> {
    let mut found: Vec<SessionExtent> = Vec::new();
    for id in idle_ids(store, now.saturating_sub(age), door).await? {
        match store.extent(&id).await {
            Ok(extent) => found.push(extent),
            Err(StoreError::NoSession(_)) => {}
            Err(error) => return Err(error.advise(door)),
        }
    }
    Ok(found)
}

/// How many answers of no session came longer ago than this: those that [`prune`] deletes with the sessions.
///
/// # Errors
/// When the store fails.
pub async fn old_answers(
    store: &dyn Store,
    age: Millis,
    now: Millis,
    door: Door,
) -> Result<u64, Failure> {
    store.old_answers(now.saturating_sub(age)).await.map_err(|error| error.advise(door))
}

/// Deletes the sessions that last changed longer ago than this, as [`delete`] does, and the answers that are of none. One that changes
/// meanwhile is left.
///
/// # Errors
/// When the store fails, with what was deleted until then.
pub async fn prune(
    store: &dyn Store,
    age: Millis,
    now: Millis,
    door: Door,
) -> Result<Vec<SessionExtent>, Failure> {
    let since = now.saturating_sub(age);
    let mut deleted = Vec::new();
    for id in idle_ids(store, since, door).await? {
        match store.delete(&id, Some(since)).await {
            Ok(extent) => deleted.push(extent),
            Err(StoreError::NoSession(_) | StoreError::Changed(_)) => {}
            Err(error) => return Err(stopped(error, &deleted, door)),
        }
    }
    if let Err(error) = store.forget_answers(since).await {
        return Err(stopped(error, &deleted, door));
    }
    scrubbed(store, deleted).await
}

/// The sessions that last changed before `since`.
async fn idle_ids(store: &dyn Store, since: Millis, door: Door) -> Result<Vec<String>, Failure> {
    let mut all: Vec<String> = Vec::new();
    loop {
        let after = all.last().map(String::as_str);
        let page = store.idle(since, after, AT_ONCE).await.map_err(|error| error.advise(door))?;
        if page.is_empty() {
            return Ok(all);
        }
        all.extend(page);
    }
}

/// The same sessions, their bytes taken off the disk. What an interrupted deletion left is, too.
async fn scrubbed(
    store: &dyn Store,
    deleted: Vec<SessionExtent>,
) -> Result<Vec<SessionExtent>, Failure> {
    let Err(error) = store.scrub().await else { return Ok(deleted) };
    let count = plural(deleted.len() as u64, "session");
    let text = format!(
        "{count} deleted, but bytes of what is deleted are still in {}: {error}",
        store.place()
    );
    Err(Failure::new(FailureArea::Store, text)
        .hint("the sessions are gone; the next deletion or pruning tries again"))
}

/// Why a deletion of several ended early.
fn stopped(error: StoreError, deleted: &[SessionExtent], door: Door) -> Failure {
    let names: Vec<&str> = deleted.iter().map(|extent| &*extent.session).collect();
    let done = format!("deleted until then: {}; ask again for the others", names.join(", "));
    error.advise(door).maybe_hint((!names.is_empty()).then_some(done))
}

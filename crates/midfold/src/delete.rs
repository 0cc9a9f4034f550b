//! Deletes sessions by name or by age. Deleted sessions do not come back, so each deletion has a function that first
//! returns what it would delete: [`extents`], [`idle`], [`old_answers`].

use midfold_store::{Millis, SessionExtent, Store, StoreError};

use crate::advice::{AdvisedError, advise_in};
use crate::failure::{Door, Failure, FailureArea, plural};

/// How many ids of idle sessions one query returns.
const AT_ONCE: u32 = 1_000;
/// An hour in milliseconds.
const HOUR: Millis = 3_600_000;

/// Reads an age in hours, days or weeks, and returns milliseconds.
///
/// ```
/// assert_eq!(midfold::age("36h"), Ok(36 * 3_600_000));
/// assert_eq!(midfold::age("4w"), midfold::age("28d"));
/// assert!(midfold::age("30m").is_err() && midfold::age("0d").is_err());
/// ```
///
/// # Errors
/// If the text is no age, with a hint how one is written; and if the age is 0, which would mean every session.
pub fn age(text: &str) -> Result<Millis, String> {
    let units = [('h', HOUR), ('d', 24 * HOUR), ('w', 7 * 24 * HOUR)];
    let read = units.iter().find_map(|(unit, long)| {
        let digits = text.strip_suffix(*unit)?;
        // `parse` would also take a sign: `+5h` is refused here.
        let count = digits.bytes().all(|b| b.is_ascii_digit()).then_some(digits)?.parse().ok()?;
        long.checked_mul(count)
    });
    match read {
        Some(0) => Err("that is every session; the least is 1h".to_owned()),
        Some(age) => Ok(age),
        None => Err("write a number of hours, days or weeks: 12h, 30d, 8w".to_owned()),
    }
}

/// Returns what each of these sessions holds; a repeated id counts once.
///
/// # Errors
/// If one of them does not exist, with the id that was perhaps meant; and if the store fails.
pub async fn extents(
    store: &dyn Store,
    ids: &[String],
    door: Door,
) -> Result<Vec<SessionExtent>, Failure> {
    let mut collected: Vec<SessionExtent> = Vec::new();
    for id in ids {
        if collected.iter().any(|extent| extent.session == *id) {
            continue;
        }
        match store.extent(id).await {
            Ok(extent) => collected.push(extent),
            Err(error) => return Err(advise_in(store, error.into(), door).await),
        }
    }
    Ok(collected)
}

/// Deletes these sessions for good, removes their bytes from the disk, and returns what they held. If one of the ids is
/// unknown, no session is deleted.
///
/// # Errors
/// As [`extents`]; and if the store fails later, with the ids that were deleted until then.
pub async fn delete(
    store: &dyn Store,
    ids: &[String],
    door: Door,
) -> Result<Vec<SessionExtent>, Failure> {
    let mut deleted = Vec::new();
    for extent in extents(store, ids, door).await? {
        match store.delete(&extent.session, None).await {
            Ok(extent) => deleted.push(extent),
            // Another process has deleted it meanwhile.
            Err(StoreError::NoSession(_)) => {}
            Err(error) => return Err(stopped(error, &deleted, door)),
        }
    }
    scrubbed(store, deleted).await
}

/// Returns what the sessions hold that were last changed more than `age` milliseconds before `now`. [`prune`] deletes
/// them.
///
/// # Errors
/// If the store fails.
pub async fn idle(
    store: &dyn Store,
    age: Millis,
    now: Millis,
    door: Door,
) -> Result<Vec<SessionExtent>, Failure> {
    let mut collected: Vec<SessionExtent> = Vec::new();
    for id in idle_ids(store, now.saturating_sub(age), door).await? {
        match store.extent(&id).await {
            Ok(extent) => collected.push(extent),
            // The session was deleted after the list was read.
            Err(StoreError::NoSession(_)) => {}
            Err(error) => return Err(error.advise(door)),
        }
    }
    Ok(collected)
}

/// Counts the answers without a session that are older than `age` milliseconds. [`prune`] deletes them with the
/// sessions.
///
/// # Errors
/// If the store fails.
pub async fn old_answers(
    store: &dyn Store,
    age: Millis,
    now: Millis,
    door: Door,
) -> Result<u64, Failure> {
    store.old_answers(now.saturating_sub(age)).await.map_err(|error| error.advise(door))
}

/// Deletes the sessions that were last changed more than `age` milliseconds before `now`, as [`delete`] does, and the
/// old answers without a session. A session that changes meanwhile is left.
///
/// # Errors
/// If the store fails, with the ids that were deleted until then.
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

/// The ids of all sessions that were last changed before `since`, read page by page.
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

/// Removes the bytes of deleted sessions from the disk, also those of an earlier, interrupted deletion; returns
/// `deleted`.
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

/// The error of a deletion that stopped in between, with the ids that are already deleted.
fn stopped(error: StoreError, deleted: &[SessionExtent], door: Door) -> Failure {
    let names: Vec<&str> = deleted.iter().map(|extent| &*extent.session).collect();
    let hint = format!("deleted until then: {}; ask again for the others", names.join(", "));
    error.advise(door).maybe_hint((!names.is_empty()).then_some(hint))
}

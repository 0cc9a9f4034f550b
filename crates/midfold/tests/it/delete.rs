//! Which sessions are deleted, and what is said where that goes wrong half-way.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::sync::Arc;

use midfold::store::faulty::{FaultyStore, WriteFailure};
use midfold::store::single::SingleChange as _;
use midfold::store::{MemoryStore, NewSession, SessionExtent, Store};
use midfold::{Door, age, delete, extents, idle, prune};

const HOUR: u64 = 3_600_000;

/// A session that was made at this hour.
async fn made(store: &dyn Store, id: &str, hour: u64) {
    let created = hour * HOUR;
    store.create(NewSession { id: id.into(), created, ..NewSession::default() }).await.unwrap();
}

async fn store(sessions: &[(&str, u64)]) -> Arc<dyn Store> {
    let store = Arc::new(MemoryStore::new());
    for (id, hour) in sessions {
        made(&*store, id, *hour).await;
    }
    store
}

fn names(extents: &[SessionExtent]) -> Vec<&str> {
    extents.iter().map(|extent| &*extent.session).collect()
}

async fn left(store: &dyn Store) -> Vec<String> {
    store.sessions(None, 9_999).await.unwrap().into_iter().map(|row| row.new.id).collect()
}

fn ids(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn an_age_is_a_number_of_hours_days_or_weeks() {
    assert_eq!((age("1h"), age("30d"), age("8w")), (Ok(HOUR), Ok(720 * HOUR), Ok(1_344 * HOUR)));
    for (text, says) in [("0h", "every session"), ("00w", "every session")] {
        assert!(age(text).unwrap_err().contains(says), "{text}");
    }
    let none = ["", "h", "30", "30m", "30D", "3 d", "+3d", "-3d", "3.5d", "1h30m", "three days"];
    let large = ["99999999999999999999h", "18446744073709551615w"];
    for text in none.into_iter().chain(large) {
        assert!(age(text).unwrap_err().contains("12h, 30d, 8w"), "{text}");
    }
}

#[tokio::test]
async fn one_unknown_name_and_nothing_is_deleted() {
    let store = store(&[("monday", 1), ("tuesday", 1)]).await;
    let failure = delete(&*store, &ids(&["monday", "tusday"]), Door::Command).await.unwrap_err();
    assert!(failure.message.contains("no session `tusday`"), "{failure:?}");
    assert_eq!(left(&*store).await.len(), 2);
    let twice = ids(&["tuesday", "monday", "tuesday"]);
    let told = extents(&*store, &twice, Door::Command).await.unwrap();
    assert_eq!(names(&told), ["tuesday", "monday"]);
    assert_eq!(delete(&*store, &twice, Door::Command).await.unwrap(), told);
    assert!(left(&*store).await.is_empty());
}

#[tokio::test]
async fn what_would_be_pruned_is_what_is_pruned() {
    let store = store(&[("a", 1), ("b", 5), ("c", 4), ("d", 10)]).await;
    // At ten o'clock, what is older than five hours: five hours sharp is not older.
    let told = idle(&*store, 5 * HOUR, 10 * HOUR, Door::Command).await.unwrap();
    assert_eq!(names(&told), ["a", "c"]);
    assert_eq!(prune(&*store, 5 * HOUR, 10 * HOUR, Door::Command).await.unwrap(), told);
    assert_eq!(left(&*store).await, ["b", "d"]);
    // Longer than there is time, and a clock that is behind.
    for (age, now) in [(99 * HOUR, 10 * HOUR), (HOUR, 0)] {
        assert_eq!(prune(&*store, age, now, Door::Command).await.unwrap(), []);
    }
    assert_eq!(left(&*store).await, ["b", "d"]);
}

#[tokio::test]
async fn answers_that_are_of_no_session_are_pruned_by_their_age() {
    let store = store(&[]).await;
    let of = |at: u64| midfold::core::Hash::ROOT.chain(&at.to_be_bytes());
    for at in [4, 5] {
        store
            .put_answer(of(at), &midfold::store::AnswerHistory::default(), at * HOUR)
            .await
            .unwrap();
    }
    assert_eq!(prune(&*store, 5 * HOUR, 10 * HOUR, Door::Command).await.unwrap(), []);
    assert_eq!(store.answer(of(4)).await.unwrap(), None);
    assert!(store.answer(of(5)).await.unwrap().is_some(), "five hours sharp is not older");
}

#[tokio::test]
async fn more_than_a_page_of_sessions_is_pruned() {
    let store = store(&[]).await;
    for at in 0..2_500 {
        made(&*store, &format!("{at:04}"), u64::from(at % 2 == 0)).await;
    }
    let gone = prune(&*store, HOUR, 2 * HOUR, Door::Command).await.unwrap();
    assert_eq!((gone.len(), left(&*store).await.len()), (1_250, 1_250));
}

#[tokio::test]
async fn what_went_wrong_half_way_says_what_is_done() {
    let three = [("a", 1), ("b", 1), ("c", 1)];
    // The writes: a, b, c, and the scrub; where it is pruned, the answers before that.
    let inner = store(&three).await;
    let faulty = FaultyStore::new(inner.clone(), WriteFailure::Before, 1..2);
    let failure = delete(&faulty, &ids(&["a", "b", "c"]), Door::Command).await.unwrap_err();
    assert!(failure.message.contains("disk is full"), "{failure:?}");
    assert_eq!(failure.hints, ["deleted until then: a; ask again for the others"]);
    assert_eq!(left(&*inner).await, ["b", "c"]);

    let inner = store(&three).await;
    let faulty = FaultyStore::new(inner.clone(), WriteFailure::Before, 4..5);
    let failure = prune(&faulty, HOUR, 9 * HOUR, Door::Python).await.unwrap_err();
    let says = "3 sessions deleted, but bytes of what is deleted are still in faulty memory: ";
    assert!(failure.message.starts_with(says), "{failure:?}");
    assert!(failure.hints[0].contains("tries again"), "{failure:?}");
    assert!(left(&*inner).await.is_empty());
    // Trying again is a pruning that finds nothing to delete.
    assert_eq!(prune(&faulty, HOUR, 9 * HOUR, Door::Python).await.unwrap(), []);
    assert_eq!(faulty.writes(), 7);
}

//! Cases for answers that later requests name.

use std::sync::Arc;

use bytes::Bytes;
use midfold_core::Hash;

use super::kit::{CaseOutcome, equal, error_text, new_session, refused};
use crate::error::StoreError;
use crate::single::SingleChange;
use crate::store::{MOST_ANSWERS, Store};
use crate::types::AnswerHistory;

/// A history of the first `events` events of a session and the messages `rest`.
fn of(session: Option<&str>, events: u64, rest: &'static str) -> AnswerHistory {
    AnswerHistory {
        session: session.map(str::to_owned),
        events,
        rest: Bytes::from_static(rest.as_bytes()),
    }
}

/// The key of an answer.
fn key(number: u64) -> Hash {
    Hash::ROOT.chain(&number.to_be_bytes())
}

/// An answer is found by its key. Old answers without a session can be forgotten, and a deleted session's answers are
/// gone.
pub(super) async fn a_history_is_found_by_its_answer(store: Arc<dyn Store>) -> CaseOutcome {
    for id in ["one", "two"] {
        store.create(new_session(id)).await.map_err(error_text)?;
    }
    let (lone, hers) = (of(None, 0, "[1]"), of(Some("one"), 3, "[2,3]"));
    equal!(store.answer(key(1)).await.map_err(error_text)?, None, "what nobody noted");
    store.put_answer(key(1), &lone, 10).await.map_err(error_text)?;
    store.put_answer(key(2), &hers, 10).await.map_err(error_text)?;
    store.put_answer(key(3), &of(None, 0, "[9]"), 30).await.map_err(error_text)?;
    equal!(
        store.answer(key(1)).await.map_err(error_text)?,
        Some(lone.clone()),
        "without a session"
    );
    equal!(store.answer(key(2)).await.map_err(error_text)?, Some(hers.clone()), "of a session");
    let orphan = of(Some("three"), 1, "");
    refused!(store.put_answer(key(4), &orphan, 1).await, StoreError::NoSession(_), "of nobody");
    equal!(store.answer(key(4)).await.map_err(error_text)?, None, "what was refused");
    equal!(store.old_answers(20).await.map_err(error_text)?, 1, "how many would be forgotten");
    equal!(store.forget_answers(20).await.map_err(error_text)?, 1, "how many are forgotten");
    equal!(store.old_answers(20).await.map_err(error_text)?, 0, "those are gone");
    equal!(store.answer(key(1)).await.map_err(error_text)?, None, "what is forgotten");
    equal!(store.answer(key(2)).await.map_err(error_text)?, Some(hers), "that of a session stays");
    let now = of(Some("two"), 1, "");
    store.put_answer(key(3), &now, 40).await.map_err(error_text)?;
    equal!(
        store.answer(key(3)).await.map_err(error_text)?,
        Some(now.clone()),
        "the last note counts"
    );
    store.delete("one", None).await.map_err(error_text)?;
    equal!(store.answer(key(2)).await.map_err(error_text)?, None, "that of a deleted session");
    equal!(store.answer(key(3)).await.map_err(error_text)?, Some(now), "that of another");
    Ok(())
}

/// Above [`MOST_ANSWERS`], the oldest answer of a session is dropped.
pub(super) async fn the_answers_that_came_last_are_kept(store: Arc<dyn Store>) -> CaseOutcome {
    store.create(new_session("one")).await.map_err(error_text)?;
    let most = u64::from(MOST_ANSWERS);
    for number in 0..=most {
        let answer = of(Some("one"), number, "");
        store.put_answer(key(number), &answer, number).await.map_err(error_text)?;
    }
    equal!(store.answer(key(0)).await.map_err(error_text)?, None, "the first of too many");
    for number in [1, most] {
        let events =
            store.answer(key(number)).await.map_err(error_text)?.map(|history| history.events);
        equal!(events, Some(number), "one of the last");
    }
    Ok(())
}

//! Cases for the activity of sessions, which is listed with the newest change first.

use std::sync::Arc;

use super::kit::{CaseOutcome, SessionWriter, equal, error_text, fold, new_session, refused};
use crate::error::StoreError;
use crate::single::SingleChange;
use crate::store::Store;
use crate::types::{NewCall, NewSession, NewestQuery, SessionActivity};

/// The ids of the sessions that the query returns, in order.
async fn ids(store: &Arc<dyn Store>, query: &NewestQuery) -> Result<Vec<String>, String> {
    let rows = store.newest(query).await.map_err(error_text)?;
    Ok(rows.into_iter().map(|row| row.id).collect())
}

/// A query for all sessions.
fn all() -> NewestQuery {
    NewestQuery { limit: 100, ..NewestQuery::default() }
}

/// A call with this number.
fn call(number: u64) -> NewCall {
    let hash = midfold_core::Hash::ROOT.chain(&number.to_le_bytes());
    NewCall { number, head: 1, fold: None, hash, body: "{}".to_owned(), now: 2_000_000_000_000 }
}

/// A message, a fold, a saved state, a call, a usage or a new active fold puts a session first. Pages continue, and
/// deleted sessions are not listed.
pub(super) async fn the_newest_change_comes_first(store: Arc<dyn Store>) -> CaseOutcome {
    let mut a = SessionWriter::new(&store, "a").await?;
    let mut b = SessionWriter::new(&store, "b").await?;
    SessionWriter::new(&store, "c").await?;
    equal!(ids(&store, &all()).await?, ["c", "b", "a"], "as they were made");
    a.fill(1).await?;
    equal!(ids(&store, &all()).await?, ["a", "c", "b"], "after a message");
    store.put_fold("b", &fold(0, 1, "one")).await.map_err(error_text)?;
    equal!(ids(&store, &all()).await?, ["b", "a", "c"], "after a fold");
    store.save_state("c", 0, "{}").await.map_err(error_text)?;
    equal!(ids(&store, &all()).await?, ["c", "b", "a"], "after a saved state");
    store.record_call("a", &call(1)).await.map_err(error_text)?;
    equal!(ids(&store, &all()).await?, ["a", "c", "b"], "after a call");
    b.fill(1).await?;
    store.settle_call("a", 1, "{}").await.map_err(error_text)?;
    equal!(ids(&store, &all()).await?, ["a", "b", "c"], "after a call was settled");
    let id = fold(0, 1, "one").id;
    store.activate("b", None, Some(id)).await.map_err(error_text)?;
    let two = store.newest(&NewestQuery { limit: 2, ..all() }).await.map_err(error_text)?;
    let [first, second] = two.as_slice() else { return Err(format!("two of them: {two:?}")) };
    equal!((&*first.id, &*second.id), ("b", "a"), "after a fold became the active one");
    equal!((first.active, first.active_number), (Some(id), Some(1)), "the active fold");
    let rest = NewestQuery { before: Some(second.tick), ..all() };
    equal!(ids(&store, &rest).await?, ["c"], "the next page");
    store.delete("b", None).await.map_err(error_text)?;
    equal!(ids(&store, &all()).await?, ["a", "c"], "without the deleted one");
    refused!(store.activity("b").await, StoreError::NoSession(_), "a deleted session");
    let last = store.activity("a").await.map_err(error_text)?.tick;
    store.delete("a", None).await.map_err(error_text)?;
    store.save_state("c", 1, "{\"a\":1}").await.map_err(error_text)?;
    let next = store.activity("c").await.map_err(error_text)?.tick;
    equal!(next > last, true, "no tick comes again when the newest session is deleted");
    Ok(())
}

/// The activity counts events, tokens, folds and calls; a fold that is stored twice counts once.
pub(super) async fn what_a_session_does_is_counted(store: Arc<dyn Store>) -> CaseOutcome {
    let mut writer = SessionWriter::new(&store, "s").await?;
    writer.fill(501).await?;
    for name in ["one", "two"] {
        store.put_fold("s", &fold(0, 5, name)).await.map_err(error_text)?;
        store.put_fold("s", &fold(0, 5, name)).await.map_err(error_text)?;
    }
    store.record_call("s", &call(1)).await.map_err(error_text)?;
    let activity = store.activity("s").await.map_err(error_text)?;
    let wanted = SessionActivity {
        id: "s".to_owned(),
        owner: None,
        tick: activity.tick,
        changed: 2_000_000_000_000,
        head: 501,
        active: None,
        active_number: None,
        tokens: 501 * 7,
        folds: 2,
        calls: 1,
    };
    equal!(activity, wanted, "what it did");
    Ok(())
}

/// A query for one owner returns only the sessions of that owner.
pub(super) async fn owners_see_their_own(store: Arc<dyn Store>) -> CaseOutcome {
    for (id, owner) in [("1", "ann"), ("2", "bob"), ("3", "ann")] {
        let meta = format!("{{\"owner\":\"{owner}\"}}");
        store.create(NewSession { meta, ..new_session(id) }).await.map_err(error_text)?;
    }
    store.create(new_session("4")).await.map_err(error_text)?;
    let of = |owner: &str| NewestQuery { owner: Some(owner.to_owned()), ..all() };
    equal!(ids(&store, &of("ann")).await?, ["3", "1"], "of the first owner");
    equal!(ids(&store, &of("bob")).await?, ["2"], "of the second one");
    equal!(ids(&store, &of("nobody")).await?.len(), 0, "of nobody");
    equal!(ids(&store, &all()).await?, ["4", "3", "2", "1"], "of all");
    let activity = store.activity("2").await.map_err(error_text)?;
    equal!(activity.owner.as_deref(), Some("bob"), "whose it is");
    Ok(())
}

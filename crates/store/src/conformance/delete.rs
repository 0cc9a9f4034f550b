//! Cases for deleting sessions: everything of one session is gone, nothing of another is, and nothing comes back.

use std::sync::Arc;

use midfold_core::Hash;

use super::kit::{
    CaseOutcome, SessionWriter, chain, ensure, equal, error_text, fold, job, new_session, refused,
    user,
};
use crate::changes::SessionChanges;
use crate::error::StoreError;
use crate::single::SingleChange;
use crate::store::Store;
use crate::types::{
    AppendRequest, JobClaim, JobOutcome, LogSearch, NewCall, NewSession, SearchMode, SessionExtent,
    SessionRow, StoreJob,
};

/// A session that has something of every kind, and a leased job.
async fn full(store: &Arc<dyn Store>, id: &str) -> Result<(SessionWriter, StoreJob), String> {
    let mut writer = SessionWriter::new(store, id).await?;
    writer.append_with([user("the needle")], Some("key"), Some(job(id, "j", 0))).await?;
    writer.append((0..5).map(|at| user(&format!("more {at}")))).await?;
    let new_fold = fold(1, 3, "f");
    store.put_fold(id, &new_fold).await.map_err(error_text)?;
    store.activate(id, None, Some(new_fold.id)).await.map_err(error_text)?;
    store.record_call(id, &call()).await.map_err(error_text)?;
    store.settle_call(id, 1, "{\"prompt\":9}").await.map_err(error_text)?;
    store.save_state(id, 0, "{\"pins\":[2]}").await.map_err(error_text)?;
    let claim = JobClaim { worker: "w".to_owned(), now: 1, until: 900, limit: 9 };
    let mut claimed = store.claim(&claim).await.map_err(error_text)?;
    let job = claimed.pop().ok_or("the job was not claimed")?;
    equal!(job.job.session, id, "whose job was claimed");
    Ok((writer, job))
}

/// The first call of a session.
fn call() -> NewCall {
    let body = "{\"call\":1}".to_owned();
    let hash = Hash::ROOT.chain(body.as_bytes());
    NewCall { number: 1, head: 6, fold: None, hash, body, now: 8 }
}

/// A search for these words.
fn words(query: &str) -> LogSearch {
    LogSearch { query: query.to_owned(), mode: SearchMode::Text, range: None, limit: 10 }
}

/// The seqs of the events that a search finds.
async fn hit_seqs(store: &Arc<dyn Store>, id: &str, query: &str) -> Result<Vec<u64>, String> {
    let hits = store.search(id, &words(query)).await.map_err(error_text)?;
    Ok(hits.iter().map(|hit| hit.seq).collect())
}

/// Every read and every change is refused, because the session does not exist.
async fn is_gone(store: &Arc<dyn Store>, id: &str) -> CaseOutcome {
    macro_rules! no_session {
        ($($method:ident($($with:expr),*)),* $(,)?) => {
            $(refused!(
                store.$method($($with),*).await,
                StoreError::NoSession(name) if name == id,
                format!("{} of a deleted session", stringify!($method))
            );)*
        };
    }
    let append = |expected| AppendRequest {
        expected,
        events: chain(Hash::ROOT, [user("late")]),
        ..AppendRequest::default()
    };
    let several = AppendRequest {
        events: chain(Hash::ROOT, [user("late"), user("later")]),
        ..AppendRequest::default()
    };
    no_session!(
        session(id),
        load(id),
        extent(id),
        delete(id, None),
        events(id, 0..9),
        append(id, append(0)),
        append(id, append(6)),
        append(id, AppendRequest { key: Some("k".to_owned()), ..append(0) }),
        commit(id, &SessionChanges { job: Some(job(id, "j", 0)), ..SessionChanges::default() }),
        append(id, AppendRequest::default()),
        append(id, several),
        save_state(id, 1, "{}"),
        put_fold(id, &fold(1, 3, "f")),
        activate(id, None, None),
        activate(id, None, Some(fold(1, 3, "f").id)),
        folds(id),
        enqueue(job(id, "other", 0)),
        job(id, Some("j")),
        job(id, None),
        jobs(Some(id), 9),
        record_call(id, &call()),
        settle_call(id, 1, "{}"),
        call(id, None),
        calls(id),
        search(id, &words("needle")),
    );
    Ok(())
}

/// After a deletion, nothing of the session can be read or found, and another session is unchanged.
pub(super) async fn a_deleted_session_is_gone_with_all_that_is_its(
    store: Arc<dyn Store>,
) -> CaseOutcome {
    full(&store, "s").await?;
    let (mut other, _) = full(&store, "t").await?;
    // Both sessions are in the word index.
    for id in ["s", "t"] {
        equal!(hit_seqs(&store, id, "needle").await?, [0], format!("what {id} finds"));
    }
    let extent = store.extent("s").await.map_err(error_text)?;
    let SessionExtent { session, events, folds, calls, jobs, changed, bytes } = &extent;
    equal!(session, "s", "whose extent it is");
    equal!((*events, *folds, *calls, *jobs, *changed), (6, 1, 1, 1, 1_700_000_000_000), "extent");
    let rows = store.events("s", 0..9).await.map_err(error_text)?;
    let log: usize = rows.iter().map(|row| row.event.bytes.len()).sum();
    // A store may compress the record of a fold.
    let records = call().body.len() + job("s", "j", 0).body.len();
    ensure!(*bytes > (log + records) as u64, "{bytes} bytes of the session");

    equal!(store.delete("s", None).await.map_err(error_text)?, extent, "what was deleted");
    is_gone(&store, "s").await?;
    refused!(store.delete("none", None).await, StoreError::NoSession(_), "no session deleted");
    let all = store.sessions(None, 9).await.map_err(error_text)?;
    equal!(all.iter().map(|row| &*row.new.id).collect::<Vec<_>>(), ["t"], "sessions left");
    equal!(store.jobs(None, 9).await.map_err(error_text)?.len(), 1, "jobs left");
    // The other session is complete, can be searched, and goes on.
    equal!(hit_seqs(&store, "t", "needle").await?, [0], "what the other one finds");
    equal!(store.extent("t").await.map_err(error_text)?.events, 6, "events of the other one");
    other.append([user("one more needle")]).await?;
    equal!(hit_seqs(&store, "t", "needle").await?.len(), 2, "what it finds later");
    store.scrub().await.map_err(error_text)?;
    equal!(hit_seqs(&store, "t", "needle").await?.len(), 2, "what it finds in the end");
    equal!(store.folds("t").await.map_err(error_text)?.len(), 1, "folds of the other one");
    store.scrub().await.map_err(error_text)
}

/// The id of a deleted session can be used for a new one, which has nothing of the old one.
pub(super) async fn a_name_is_free_again(store: Arc<dyn Store>) -> CaseOutcome {
    let (_, before) = full(&store, "s").await?;
    store.delete("s", None).await.map_err(error_text)?;
    store.create(new_session("s")).await.map_err(error_text)?;
    let new = SessionRow { new: new_session("s"), ..SessionRow::default() };
    equal!(store.session("s").await.map_err(error_text)?, new, "the new session");
    equal!(store.events("s", 0..9).await.map_err(error_text)?.len(), 0, "its events");
    equal!(store.folds("s").await.map_err(error_text)?.len(), 0, "its folds");
    equal!(store.calls("s").await.map_err(error_text)?.len(), 0, "its calls");
    equal!(store.jobs(Some("s"), 9).await.map_err(error_text)?.len(), 0, "its jobs");
    store.delete("s", None).await.map_err(error_text)?;
    // The same keys, numbers and words can be used again; only the id of the deleted job cannot.
    let (_, job) = full(&store, "s").await?;
    ensure!(job.id > before.id, "job {} after job {}", job.id, before.id);
    equal!(hit_seqs(&store, "s", "needle").await?, [0], "what it finds");
    Ok(())
}

/// A worker whose session was deleted can store nothing, even where a new session has the same id.
pub(super) async fn a_lease_of_a_deleted_session_stores_nothing(
    store: Arc<dyn Store>,
) -> CaseOutcome {
    let (_, job) = full(&store, "s").await?;
    store.delete("s", None).await.map_err(error_text)?;
    let outcome = JobOutcome { verdict: "accepted".to_owned(), fold: Some(fold(1, 4, "late")) };
    let late = async || -> CaseOutcome {
        let lease = job.lease();
        ensure!(!store.heartbeat(&lease, 990).await.map_err(error_text)?, "a heartbeat");
        ensure!(!store.finish(&lease, &outcome).await.map_err(error_text)?, "the end");
        ensure!(!store.fail(&lease, "x", Some(5)).await.map_err(error_text)?, "a failure");
        ensure!(!store.fail(&lease, "x", None).await.map_err(error_text)?, "the last failure");
        Ok(())
    };
    late().await?;
    // Late changes have no effect either where a new session has the same name and a job at its first attempt.
    full(&store, "s").await?;
    late().await?;
    equal!(store.folds("s").await.map_err(error_text)?.len(), 1, "folds of the new session");
    let claim = JobClaim { worker: "x".to_owned(), now: 5_000, until: 5_900, limit: 9 };
    equal!(store.claim(&claim).await.map_err(error_text)?.len(), 1, "jobs that are due in the end");
    Ok(())
}

/// Idle sessions are listed by their last event, fold or call. A session that changed after it was listed is not
/// deleted.
pub(super) async fn a_session_is_idle_since_its_last_change(store: Arc<dyn Store>) -> CaseOutcome {
    let at = |id: &str, created| NewSession { created, ..new_session(id) };
    for (id, created) in [("a", 100), ("b", 100), ("c", 100), ("d", 100), ("e", 500)] {
        store.create(at(id, created)).await.map_err(error_text)?;
    }
    let events = chain(Hash::ROOT, [user("hi"), user("there")]);
    let append = |now| AppendRequest { events: events.clone(), now, ..AppendRequest::default() };
    for id in ["b", "c", "d"] {
        store.append(id, append(200)).await.map_err(error_text)?;
    }
    store
        .put_fold("c", &crate::types::NewFold { now: 300, ..fold(0, 1, "f") })
        .await
        .map_err(error_text)?;
    store.record_call("d", &NewCall { now: 400, ..call() }).await.map_err(error_text)?;
    let idle =
        async |since, after, limit| store.idle(since, after, limit).await.map_err(error_text);
    let all = ["a", "b", "c", "d", "e"];
    for (since, count) in [(100, 0), (101, 1), (200, 1), (201, 2), (301, 3), (401, 4), (501, 5)] {
        equal!(idle(since, None, 9).await?, all[..count], format!("idle before {since}"));
    }
    equal!(idle(900, Some("b"), 2).await?, ["c", "d"], "a page");
    for (id, changed) in [("a", 100), ("b", 200), ("c", 300), ("d", 400), ("e", 500)] {
        equal!(
            store.extent(id).await.map_err(error_text)?.changed,
            changed,
            format!("{id} changed")
        );
    }
    // An append that repeats an earlier one, or has no events, does not change the session.
    let empty = AppendRequest { expected: 2, events: Vec::new(), ..append(800) };
    store.append("b", empty).await.map_err(error_text)?;
    equal!(store.extent("b").await.map_err(error_text)?.changed, 200, "after an empty append");
    // A session that was chosen for deletion, and changed before it was deleted, stays.
    refused!(store.delete("b", Some(200)).await, StoreError::Changed(id) if id == "b", "changed");
    equal!(
        store.extent("b").await.map_err(error_text)?.events,
        2,
        "events of what was not deleted"
    );
    store.delete("b", Some(201)).await.map_err(error_text)?;
    equal!(idle(900, None, 9).await?, ["a", "c", "d", "e"], "what is left");
    Ok(())
}

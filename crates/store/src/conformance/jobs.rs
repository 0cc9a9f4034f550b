//! Cases for the ledger, and for jobs, which are queued with an append, leased, fenced, and finished with their fold.

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
use crate::types::{AppendRequest, JobClaim, JobOutcome, JobState, Lease, NewCall, StoreJob};

/// A claim of one job, with a lease of 100 ms.
fn claim(worker: &str, now: u64) -> JobClaim {
    JobClaim { worker: worker.to_owned(), now, until: now + 100, limit: 1 }
}

/// Claims the one job that is due.
async fn claim_one(store: &Arc<dyn Store>, worker: &str, now: u64) -> Result<StoreJob, String> {
    let mut jobs = store.claim(&claim(worker, now)).await.map_err(error_text)?;
    equal!(jobs.len(), 1, format!("jobs that {worker} got at {now}"));
    jobs.pop().ok_or_else(String::new)
}

/// The only job of a session.
async fn only_job(store: &Arc<dyn Store>, id: &str) -> Result<StoreJob, String> {
    let mut jobs = store.jobs(Some(id), 9).await.map_err(error_text)?;
    equal!(jobs.len(), 1, "jobs of the session");
    jobs.pop().ok_or_else(String::new)
}

/// A job is queued exactly where its append is stored. Beside another live job, both are refused.
pub(super) async fn a_job_is_there_iff_its_append_is(store: Arc<dyn Store>) -> CaseOutcome {
    let mut writer = SessionWriter::new(&store, "s").await?;
    let wanted = job("s", "k", 3);
    let append = |append, job| SessionChanges {
        appended: Some(append),
        job: Some(job),
        ..SessionChanges::default()
    };
    let late = AppendRequest {
        expected: 7,
        events: writer.chained([user("late")]),
        ..AppendRequest::default()
    };
    let late = store.commit("s", &append(late, wanted.clone())).await;
    refused!(late, StoreError::Conflict { .. }, "a late append");
    equal!(
        store.jobs(Some("s"), 9).await.map_err(error_text)?.len(),
        0,
        "jobs of a refused append"
    );
    let foreign = append(AppendRequest::default(), job("t", "k", 3));
    let foreign = store.commit("s", &foreign).await;
    refused!(foreign, StoreError::Query(_), "the job of another session");

    writer.append_with([user("one")], Some("key"), Some(wanted.clone())).await?;
    let stored = only_job(&store, "s").await?;
    equal!(stored.job, wanted, "the job");
    equal!((stored.state, stored.attempt, stored.fold), (JobState::Ready, 0, None), "its state");
    // A retry queues no second job, and neither does the same job again.
    let retry = AppendRequest {
        expected: 0,
        key: Some("key".to_owned()),
        events: chain(Hash::ROOT, [user("one")]),
        now: 6,
    };
    let another = || job("s", "another", 3);
    let retry = store.commit("s", &append(retry, another())).await.map_err(error_text)?;
    ensure!(retry.is_repeated(), "the retry was no retry");
    writer.append_with([user("two")], None, Some(wanted)).await?;
    let third = AppendRequest {
        expected: 2,
        events: writer.chained([user("three")]),
        ..AppendRequest::default()
    };
    let third = store.commit("s", &append(third, another())).await;
    refused!(third, StoreError::OtherJob, "beside another job");
    only_job(&store, "s").await?;
    equal!(store.session("s").await.map_err(error_text)?.head, 2, "the head");
    Ok(())
}

/// A session has at most one job that is ready or leased, and a key is used for one job only.
pub(super) async fn one_live_job_a_session(store: Arc<dyn Store>) -> CaseOutcome {
    for id in ["s", "t"] {
        store.create(new_session(id)).await.map_err(error_text)?;
    }
    ensure!(store.enqueue(job("s", "a", 0)).await.map_err(error_text)?, "the first job");
    ensure!(!store.enqueue(job("s", "a", 0)).await.map_err(error_text)?, "its key again");
    ensure!(!store.enqueue(job("s", "b", 0)).await.map_err(error_text)?, "a second live job");
    ensure!(store.enqueue(job("t", "a", 0)).await.map_err(error_text)?, "another session's");
    // A job is found by its key within its session.
    let by_key = store.job("t", Some("a")).await.map_err(error_text)?;
    equal!(by_key.map(|job| job.job), Some(job("t", "a", 0)), "the job of a session and key");
    equal!(store.job("t", Some("b")).await.map_err(error_text)?, None, "a key that no job has");
    refused!(store.job("none", Some("a")).await, StoreError::NoSession(_), "a job of no session");
    let got = claim_one(&store, "w", 1).await?;
    ensure!(!store.enqueue(job("s", "b", 0)).await.map_err(error_text)?, "beside a leased job");
    // The answer of a model may hold a character that PostgreSQL cannot store.
    let outcome = JobOutcome { verdict: "garb\0age".to_owned(), fold: None };
    ensure!(store.finish(&got.lease(), &outcome).await.map_err(error_text)?, "the end of a job");
    let done = store.job("s", Some("a")).await.map_err(error_text)?;
    let verdict = done.and_then(|job| job.outcome).unwrap_or_default();
    ensure!(verdict.starts_with("garb") && !verdict.contains('\0'), "the verdict: {verdict:?}");
    ensure!(!store.enqueue(job("s", "a", 0)).await.map_err(error_text)?, "the key of a done job");
    ensure!(store.enqueue(job("s", "b", 0)).await.map_err(error_text)?, "after a done job");

    let race = |at: u64| {
        let store = store.clone();
        tokio::spawn(async move { store.enqueue(job("u", &format!("k{at}"), 0)).await })
    };
    store.create(new_session("u")).await.map_err(error_text)?;
    let mut queued = 0;
    for task in (0..6).map(race).collect::<Vec<_>>() {
        let outcome = task.await.map_err(|error| error.to_string())?;
        queued += u32::from(outcome.map_err(error_text)?);
    }
    equal!(queued, 1, "jobs queued by a race");
    Ok(())
}

/// An expired lease can be claimed by another worker. Then the first worker can store nothing.
pub(super) async fn leases_expire_and_fence(store: Arc<dyn Store>) -> CaseOutcome {
    for id in ["s", "t"] {
        store.create(new_session(id)).await.map_err(error_text)?;
    }
    store.enqueue(job("s", "a", 50)).await.map_err(error_text)?;
    equal!(store.claim(&claim("w", 49)).await.map_err(error_text)?.len(), 0, "before its time");
    let first = claim_one(&store, "w", 50).await?;
    equal!((first.state, first.attempt), (JobState::Leased, 1), "the claimed job");
    equal!(
        (first.worker.as_deref(), first.lease_until, first.job.body.as_str()),
        (Some("w"), Some(150), "{\"for\":\"a\"}"),
        "the lease"
    );
    equal!(store.claim(&claim("x", 149)).await.map_err(error_text)?.len(), 0, "while it is leased");
    ensure!(store.heartbeat(&first.lease(), 300).await.map_err(error_text)?, "a heartbeat");
    equal!(store.claim(&claim("x", 299)).await.map_err(error_text)?.len(), 0, "after a heartbeat");
    let second = claim_one(&store, "x", 300).await?;
    equal!((second.id, second.attempt), (first.id, 2), "the job claimed again");

    let old = first.lease();
    let outcome = JobOutcome { verdict: "accepted".to_owned(), fold: Some(fold(0, 4, "stale")) };
    ensure!(!store.heartbeat(&old, 900).await.map_err(error_text)?, "a heartbeat of a lost lease");
    ensure!(!store.finish(&old, &outcome).await.map_err(error_text)?, "the end of a lost lease");
    ensure!(!store.fail(&old, "x", None).await.map_err(error_text)?, "the failure of a lost lease");
    equal!(store.folds("s").await.map_err(error_text)?.len(), 0, "folds of a lost lease");
    let nobody = Lease { job: 987_654, attempt: 1 };
    ensure!(!store.heartbeat(&nobody, 900).await.map_err(error_text)?, "a heartbeat of no job");
    let now = only_job(&store, "s").await?;
    equal!(
        (now.state, now.worker.as_deref(), now.lease_until),
        (JobState::Leased, Some("x"), Some(400)),
        "the job after all that"
    );
    // Claims return the oldest jobs first, and no more than were asked for.
    store.enqueue(job("t", "b", 60)).await.map_err(error_text)?;
    let both = JobClaim { limit: 5, ..claim("y", 400) };
    let got = store.claim(&both).await.map_err(error_text)?;
    let keys: Vec<&str> = got.iter().map(|job| job.job.key.as_str()).collect();
    equal!(keys, ["a", "b"], "an expired and a new job");
    Ok(())
}

/// A job that was given back waits until its time, or is dead, and keeps the reason.
pub(super) async fn failures_wait_or_die_with_the_reason(store: Arc<dyn Store>) -> CaseOutcome {
    store.create(new_session("s")).await.map_err(error_text)?;
    store.enqueue(job("s", "a", 0)).await.map_err(error_text)?;
    let first = claim_one(&store, "w", 1).await?;
    ensure!(
        store.fail(&first.lease(), "timeout: 25 s", Some(60)).await.map_err(error_text)?,
        "a failure"
    );
    let waiting = only_job(&store, "s").await?;
    equal!(
        (waiting.state, waiting.job.run_at, waiting.outcome.as_deref(), waiting.lease_until),
        (JobState::Ready, 60, Some("timeout: 25 s"), None),
        "the job that waits"
    );
    ensure!(!store.heartbeat(&first.lease(), 99).await.map_err(error_text)?, "a lease given back");
    equal!(store.claim(&claim("w", 59)).await.map_err(error_text)?.len(), 0, "before the retry");
    let second = claim_one(&store, "w", 60).await?;
    equal!(second.attempt, 2, "the attempt");
    ensure!(
        store.fail(&second.lease(), "auth: 401", None).await.map_err(error_text)?,
        "the last failure"
    );
    let dead = only_job(&store, "s").await?;
    equal!(
        (dead.state, dead.outcome.as_deref(), dead.attempt),
        (JobState::Dead, Some("auth: 401"), 2),
        "the dead letter"
    );
    equal!(
        store.claim(&claim("w", 1_000_000)).await.map_err(error_text)?.len(),
        0,
        "the dead are due"
    );
    ensure!(store.enqueue(job("s", "b", 0)).await.map_err(error_text)?, "a job after a dead one");
    Ok(())
}

/// The end of a job stores its fold, once, and does not activate it.
pub(super) async fn a_fold_comes_with_its_completion(store: Arc<dyn Store>) -> CaseOutcome {
    store.create(new_session("s")).await.map_err(error_text)?;
    store.enqueue(job("s", "a", 0)).await.map_err(error_text)?;
    let got = claim_one(&store, "w", 1).await?;
    let new_fold = fold(0, 4, "made");
    let outcome = JobOutcome { verdict: "accepted".to_owned(), fold: Some(new_fold.clone()) };
    ensure!(store.finish(&got.lease(), &outcome).await.map_err(error_text)?, "the end of the job");
    ensure!(!store.finish(&got.lease(), &outcome).await.map_err(error_text)?, "its end once more");
    let ended = only_job(&store, "s").await?;
    equal!(
        (ended.state, ended.outcome.as_deref(), ended.fold),
        (JobState::Done, Some("accepted"), Some(new_fold.id)),
        "the job"
    );
    let rows = store.folds("s").await.map_err(error_text)?;
    equal!(rows.iter().map(|row| &row.fold).collect::<Vec<_>>(), [&new_fold], "the folds");
    equal!(store.session("s").await.map_err(error_text)?.active, None, "a worker activates");
    // A job whose fold is stored already points to that fold.
    store.enqueue(job("s", "b", 0)).await.map_err(error_text)?;
    let got = claim_one(&store, "w", 1).await?;
    let outcome = JobOutcome { verdict: "accepted".to_owned(), fold: Some(new_fold.clone()) };
    ensure!(
        store.finish(&got.lease(), &outcome).await.map_err(error_text)?,
        "the end of the second"
    );
    let jobs = store.jobs(Some("s"), 9).await.map_err(error_text)?;
    equal!(jobs.last().and_then(|job| job.fold), Some(new_fold.id), "the fold of the second");
    equal!(store.folds("s").await.map_err(error_text)?.len(), 1, "the number of folds");
    Ok(())
}

/// Four workers finish 200 jobs: see [`workers_share_a_queue`].
pub(super) async fn four_workers_do_each_span_once(store: Arc<dyn Store>) -> CaseOutcome {
    workers_share_a_queue(store, 200, 4).await
}

/// Makes `spans` sessions with one span to narrate each. Workers claim jobs in batches of various sizes, lose
/// some leases and finish late. In the end, every span has exactly one fold.
///
/// # Errors
/// Fails with a description of the store's mistake.
pub async fn workers_share_a_queue(store: Arc<dyn Store>, spans: u32, workers: u32) -> CaseOutcome {
    for at in 0..spans {
        let id = format!("span {at:06}");
        store.create(new_session(&id)).await.map_err(error_text)?;
        store.enqueue(job(&id, "k", 0)).await.map_err(error_text)?;
    }
    let tasks: Vec<_> = (0..workers).map(|name| tokio::spawn(work(store.clone(), name))).collect();
    let mut finished = 0;
    for task in tasks {
        finished += task.await.map_err(|error| error.to_string())??;
    }
    equal!(finished, spans, "jobs that ended once");
    let jobs = store.jobs(None, spans + 1).await.map_err(error_text)?;
    equal!(jobs.len() as u64, u64::from(spans), "jobs");
    ensure!(jobs.windows(2).all(|pair| pair[0].id < pair[1].id), "jobs are not oldest first");
    for job in &jobs {
        let folds = store.folds(&job.job.session).await.map_err(error_text)?;
        let ids: Vec<Hash> = folds.iter().map(|row| row.fold.id).collect();
        equal!(job.state, JobState::Done, format!("the job of {}", job.job.session));
        equal!(ids, job.fold.into_iter().collect::<Vec<_>>(), format!("{}", job.job.session));
    }
    Ok(())
}

/// One worker, which runs until no job is due at the end of its time. It loses every seventh job, because its lease
/// expires before the job is done, and then its late result has to be refused. At every eleventh job it dies.
async fn work(store: Arc<dyn Store>, name: u32) -> Result<u32, String> {
    let (mut now, mut finished, mut idle) = (10u64, 0, 0);
    while idle < 3 {
        let limit = 1 + (finished + name) % 3;
        let claim = JobClaim { worker: format!("w{name}"), now, until: now + 1, limit };
        let jobs = store.claim(&claim).await.map_err(error_text)?;
        idle = if jobs.is_empty() { idle + 1 } else { 0 };
        for job in jobs {
            let new_fold = fold(0, 4, &format!("{} attempt {}", job.job.session, job.attempt));
            let outcome = JobOutcome { verdict: "accepted".to_owned(), fold: Some(new_fold) };
            if job.id % 11 == 5 && job.attempt == 1 {
                // The worker dies with all its jobs. The worker that replaces it has to wait until the leases expire.
                break;
            }
            if job.id % 7 == 3 && job.attempt == 1 {
                // The worker was too slow. Its lease has expired, so whoever claims at this time gets the job.
                now += 5;
                let again = JobClaim { now, until: now + 1_000_000, limit: 1_000, ..claim.clone() };
                for other in store.claim(&again).await.map_err(error_text)? {
                    let new_fold = fold(0, 4, &format!("{} {}", other.job.session, other.attempt));
                    let outcome =
                        JobOutcome { verdict: "accepted".to_owned(), fold: Some(new_fold) };
                    finished += u32::from(
                        store.finish(&other.lease(), &outcome).await.map_err(error_text)?,
                    );
                }
            }
            finished += u32::from(store.finish(&job.lease(), &outcome).await.map_err(error_text)?);
        }
        now += 5;
        tokio::task::yield_now().await;
    }
    Ok(finished)
}

/// A call that follows the call with the hash `before`.
fn call(number: u64, before: Hash) -> NewCall {
    let body = format!("{{\"call\":{number},\"why\":\"it is 'due'\"}}");
    let hash = before.chain(body.as_bytes());
    NewCall { number, head: 4, fold: Some(Hash::ROOT.chain(b"fold")), hash, body, now: 8 }
}

/// A call is recorded only with the next number, and its usage is recorded once.
pub(super) async fn calls_are_a_chain_and_settle_once(store: Arc<dyn Store>) -> CaseOutcome {
    store.create(new_session("s")).await.map_err(error_text)?;
    equal!(store.call("s", None).await.map_err(error_text)?, None, "the newest of no calls");
    refused!(store.call("t", None).await, StoreError::NoSession(_), "a call of no session");
    let one = call(1, Hash::ROOT);
    let two = NewCall { fold: None, ..call(2, one.hash) };
    refused!(store.record_call("s", &two).await, StoreError::StaleCall { actual: 0 }, "too early");
    equal!(store.record_call("s", &one).await.map_err(error_text)?, 1, "the first call");
    refused!(store.record_call("s", &one).await, StoreError::StaleCall { actual: 1 }, "again");
    equal!(store.record_call("s", &two).await.map_err(error_text)?, 2, "the second call");

    // A report, and its retry.
    for _ in 0..2 {
        store.settle_call("s", 1, "{\"prompt\":9}").await.map_err(error_text)?;
    }
    let first = store.call("s", Some(1)).await.map_err(error_text)?;
    equal!(first.map(|row| row.call), Some(one.clone()), "a call by its number");
    equal!(store.call("s", Some(9)).await.map_err(error_text)?, None, "a number of no call");
    let other = store.settle_call("s", 1, "{\"prompt\":10}").await;
    refused!(other, StoreError::Settled(1), "another report");
    refused!(store.settle_call("s", 7, "{}").await, StoreError::NoCall(7), "no call");
    let newest = store.call("s", None).await.map_err(error_text)?;
    equal!(newest.map(|row| (row.call, row.usage)), Some((two.clone(), None)), "the newest call");
    let rows = store.calls("s").await.map_err(error_text)?;
    equal!(rows.iter().map(|row| &row.call).collect::<Vec<_>>(), [&one, &two], "the calls");
    let read = store.requests("s").await.map_err(error_text)?;
    equal!(read.len(), 2, "what they were read through");
    equal!(read.contains(&(one.fold, 4)) && read.contains(&(None, 4)), true, "which folds");
    let usage: Vec<Option<&str>> = rows.iter().map(|row| row.usage.as_deref()).collect();
    equal!(usage, [Some("{\"prompt\":9}"), None], "the reports");

    let race = |_| {
        let (store, three) = (store.clone(), call(3, two.hash));
        tokio::spawn(async move { store.record_call("s", &three).await })
    };
    let mut winners = 0;
    for task in (0..6).map(race).collect::<Vec<_>>() {
        match task.await.map_err(|error| error.to_string())? {
            Ok(_) => winners += 1,
            Err(StoreError::StaleCall { actual: 3 }) => {}
            Err(error) => return Err(format!("a racing call: {error}")),
        }
    }
    equal!(winners, 1, "racing calls that won");
    // This fold was never activated. The ledger may name any fold, so it may name this one.
    store.put_fold("s", &fold(0, 2, "f")).await.map_err(error_text)?;
    Ok(())
}

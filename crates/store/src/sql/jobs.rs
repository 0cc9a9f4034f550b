//! Jobs in a database.

use sqlx::AssertSqlSafe;

use super::db::{SqlConnection, query};
use super::delete::hold_session_of;
use super::folds::put_fold;
use super::rows::{integer_of, job_columns, job_row};
use super::{failed, state_name};
use crate::error::StoreError;
use crate::types::{JobClaim, JobOutcome, JobState, Lease, Millis, NewJob, StoreJob};

/// Queues a job. Returns false where its key is taken, or a unique index finds another live job of the session.
pub(super) async fn enqueue<D: SqlConnection>(
    db: &mut D,
    no: i64,
    job: &NewJob,
) -> Result<bool, StoreError> {
    let sql = format!(
        "INSERT INTO jobs (session_no, key, span_start, span_end, hash_end, body, run_at) \
         SELECT $1, $2, $3, $4, $5, $6, $7 WHERE EXISTS \
         (SELECT no FROM sessions WHERE no = $1{}) ON CONFLICT DO NOTHING",
        D::HOLD
    );
    let changed = query(AssertSqlSafe(sql))
        .bind(no)
        .bind(&job.key)
        .bind(job.start)
        .bind(job.end)
        .bind(&job.through)
        .bind(&job.body)
        .bind(job.run_at)
        .run(db)
        .await?;
    Ok(changed == 1)
}

/// Leases due jobs. Rows that another worker is leasing at this moment are skipped.
pub(super) async fn claim<D: SqlConnection>(
    db: &mut D,
    claim: &JobClaim,
) -> Result<Vec<StoreJob>, StoreError> {
    // The first condition repeats that of the partial index `jobs_live`, so that the planner can use it. The second
    // then tells a due job from one that waits.
    let sql = format!(
        "WITH due AS MATERIALIZED (SELECT id AS due_id FROM jobs \
         WHERE state IN ('ready', 'leased') \
         AND ((state = 'ready' AND run_at <= $1) OR (state = 'leased' AND lease_until <= $1)) \
         ORDER BY id LIMIT $2{}) UPDATE jobs SET state = 'leased', attempt = attempt + 1, \
         worker = $3, lease_until = $4 FROM due WHERE jobs.id = due_id RETURNING {}",
        D::SKIP_LOCKED,
        job_columns!()
    );
    let rows = query(AssertSqlSafe(sql))
        .bind(claim.now)
        .bind(claim.limit)
        .bind(&claim.worker)
        .bind(claim.until)
        .all(db)
        .await?;
    let mut jobs: Vec<StoreJob> = rows.iter().map(job_row).collect::<Result<_, _>>()?;
    // `RETURNING` gives no order.
    jobs.sort_unstable_by_key(|job| job.id);
    Ok(jobs)
}

/// Extends a lease. Returns false where the job has another attempt or is not leased.
pub(super) async fn heartbeat<D: SqlConnection>(
    db: &mut D,
    lease: &Lease,
    until: Millis,
) -> Result<bool, StoreError> {
    let changed = query(
        // A lease that ran out may be extended as well, as long as no other worker has begun another attempt.
        "UPDATE jobs SET lease_until = $3 \
         WHERE id = $1 AND attempt = $2 AND state = 'leased'",
    )
    .bind(lease.job)
    .bind(lease.attempt)
    .bind(until)
    .run(db)
    .await?;
    Ok(changed == 1)
}

/// Ends a job and stores its fold, in one transaction. Returns false where the lease was lost.
pub(super) async fn finish<D: SqlConnection>(
    db: &mut D,
    lease: &Lease,
    outcome: &JobOutcome,
) -> Result<bool, StoreError> {
    let mut tx = db.begin_with(D::BEGIN).await.map_err(failed)?;
    // The session is locked before its rows, as in all transactions, because it might be deleted at this moment.
    if !hold_session_of(&mut *tx, lease.job).await? {
        tx.rollback().await.map_err(failed)?;
        return Ok(false);
    }
    // The fence: a worker whose lease was lost changes nothing.
    let ended = query(
        "UPDATE jobs SET state = 'done', outcome = $3, lease_until = NULL \
         WHERE id = $1 AND attempt = $2 AND state = 'leased' RETURNING session_no",
    )
    .bind(lease.job)
    .bind(lease.attempt)
    .bind(crate::check::plain(&outcome.verdict).into_owned())
    .maybe(&mut *tx)
    .await?;
    let Some(row) = ended else {
        tx.rollback().await.map_err(failed)?;
        return Ok(false);
    };
    if let Some(fold) = &outcome.fold {
        let no = integer_of(&row, 0)?;
        put_fold(&mut *tx, no, fold).await?;
        query("UPDATE jobs SET fold = $2 WHERE id = $1")
            .bind(lease.job)
            .bind(&fold.id)
            .run(&mut *tx)
            .await?;
    }
    tx.commit().await.map_err(failed)?;
    Ok(true)
}

/// Gives a job back, to be tried at `retry_at` or to be dead. Returns false where the lease was lost.
pub(super) async fn fail<D: SqlConnection>(
    db: &mut D,
    lease: &Lease,
    reason: &str,
    retry_at: Option<Millis>,
) -> Result<bool, StoreError> {
    let state = if retry_at.is_some() { JobState::Ready } else { JobState::Dead };
    let changed = query(
        // `failures` is not `attempt`: a worker that died began an attempt, and no model failed.
        "UPDATE jobs SET state = $3, outcome = $4, lease_until = NULL, failures = failures + 1, \
         run_at = coalesce($5, run_at) \
         WHERE id = $1 AND attempt = $2 AND state = 'leased'",
    )
    .bind(lease.job)
    .bind(lease.attempt)
    .bind(state_name(state))
    .bind(crate::check::plain(reason).into_owned())
    .bind(retry_at)
    .run(db)
    .await?;
    Ok(changed == 1)
}

/// At most `limit` jobs of a session, or of all sessions, the oldest first.
pub(super) async fn jobs<D: SqlConnection>(
    db: &mut D,
    no: Option<i64>,
    limit: u32,
) -> Result<Vec<StoreJob>, StoreError> {
    let query = match no {
        Some(no) => query(concat!(
            "SELECT ",
            job_columns!(),
            " FROM jobs WHERE session_no = $2 ORDER BY jobs.id LIMIT $1"
        ))
        .bind(limit)
        .bind(no),
        None => query(concat!("SELECT ", job_columns!(), " FROM jobs ORDER BY jobs.id LIMIT $1"))
            .bind(limit),
    };
    query.all(db).await?.iter().map(job_row).collect()
}

pub(super) async fn job<D: SqlConnection>(
    db: &mut D,
    no: i64,
    key: &str,
) -> Result<Option<StoreJob>, StoreError> {
    let sql = concat!("SELECT ", job_columns!(), " FROM jobs WHERE session_no = $1 AND key = $2");
    let row = query(sql).bind(no).bind(key).maybe(db).await;
    row?.as_ref().map(job_row).transpose()
}

/// The job that was queued last; `None` where the session has had none.
pub(super) async fn newest_job<D: SqlConnection>(
    db: &mut D,
    no: i64,
) -> Result<Option<StoreJob>, StoreError> {
    let sql = concat!(
        "SELECT ",
        job_columns!(),
        " FROM jobs WHERE session_no = $1 ORDER BY jobs.id DESC LIMIT 1"
    );
    let row = query(sql).bind(no).maybe(db).await;
    row?.as_ref().map(job_row).transpose()
}

//! As `statements`: jobs, the ledger and the index.

macro_rules! work_statements {
    ($Connection:ty, $Row:ty, skip: $skip:literal) => {
        // Jobs.

        fn job_row(row: &$Row) -> Result<Job, StoreError> {
            Ok(Job {
                id: number_of(row, 0)?,
                job: NewJob {
                    key: text_of(row, 1)?,
                    session: text_of(row, 2)?,
                    start: number_of(row, 3)?,
                    end: number_of(row, 4)?,
                    through: hash_of(row, 5)?,
                    body: text_of(row, 6)?,
                    run_at: number_of(row, 7)?,
                },
                state: rows::state(row.try_get(8).map_err(failed)?)?,
                attempt: rows::small(row.try_get(9).map_err(failed)?),
                worker: text_or_none(row, 10)?,
                lease_until: row
                    .try_get::<Option<i64>, _>(11)
                    .map_err(failed)?
                    .map(rows::unsigned),
                outcome: text_or_none(row, 12)?,
                fold: hash_or_none(row, 13)?,
                failures: rows::small(row.try_get(14).map_err(failed)?),
            })
        }

        async fn enqueue(
            db: &mut $Connection,
            no: i64,
            job: &NewJob,
        ) -> Result<bool, StoreError> {
            let done = sqlx::query(
                "INSERT INTO jobs (session_no, key, span_start, span_end, hash_end, body, run_at) \
                 VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING",
            )
            .bind(no)
            .bind(&job.key)
            .bind(signed(job.start))
            .bind(signed(job.end))
            .bind(&job.through.0[..])
            .bind(&job.body)
            .bind(signed(job.run_at))
            .execute(db)
            .await
            .map_err(failed)?;
            Ok(done.rows_affected() == 1)
        }

        async fn claim(db: &mut $Connection, claim: &Claim) -> Result<Vec<Job>, StoreError> {
            let rows = sqlx::query(concat!(
                "WITH due AS MATERIALIZED (SELECT id AS due_id FROM jobs \
                 WHERE state IN ('ready', 'leased') \
                 AND ((state = 'ready' AND run_at <= $1) OR (state = 'leased' AND lease_until <= $1)) \
                 ORDER BY id LIMIT $2",
                $skip,
                ") UPDATE jobs SET state = 'leased', attempt = attempt + 1, worker = $3, \
                 lease_until = $4 FROM due WHERE jobs.id = due_id RETURNING ",
                job_columns!()
            ))
            .bind(signed(claim.now))
            .bind(i64::from(claim.limit))
            .bind(&claim.worker)
            .bind(signed(claim.until))
            .fetch_all(db)
            .await
            .map_err(failed)?;
            let mut jobs: Vec<Job> = rows.iter().map(job_row).collect::<Result<_, _>>()?;
            jobs.sort_unstable_by_key(|job| job.id);
            Ok(jobs)
        }

        async fn heartbeat(
            db: &mut $Connection,
            lease: &Lease,
            until: Millis,
        ) -> Result<bool, StoreError> {
            let done = sqlx::query(
                "UPDATE jobs SET lease_until = $3 \
                 WHERE id = $1 AND attempt = $2 AND state = 'leased'",
            )
            .bind(signed(lease.job))
            .bind(i64::from(lease.attempt))
            .bind(signed(until))
            .execute(db)
            .await
            .map_err(failed)?;
            Ok(done.rows_affected() == 1)
        }

        async fn finish(
            db: &mut $Connection,
            lease: &Lease,
            done: &Done,
        ) -> Result<bool, StoreError> {
            let mut tx = db.begin_with(BEGIN).await.map_err(failed)?;
            // First the fence: a lease that was lost stores nothing.
            let ended = sqlx::query(
                "UPDATE jobs SET state = 'done', outcome = $3, lease_until = NULL \
                 WHERE id = $1 AND attempt = $2 AND state = 'leased' RETURNING session_no",
            )
            .bind(signed(lease.job))
            .bind(i64::from(lease.attempt))
            .bind(&done.verdict)
            .fetch_optional(&mut *tx)
            .await
            .map_err(failed)?;
            let Some(row) = ended else {
                tx.rollback().await.map_err(failed)?;
                return Ok(false);
            };
            if let Some(fold) = &done.fold {
                let no: i64 = row.try_get(0).map_err(failed)?;
                let id = match put_fold(&mut tx, no, fold).await? {
                    Put::New => fold.id,
                    Put::Same(id) => id,
                };
                sqlx::query("UPDATE jobs SET fold = $2 WHERE id = $1")
                    .bind(signed(lease.job))
                    .bind(&id.0[..])
                    .execute(&mut *tx)
                    .await
                    .map_err(failed)?;
            }
            tx.commit().await.map_err(failed)?;
            Ok(true)
        }

        async fn fail(
            db: &mut $Connection,
            lease: &Lease,
            reason: &str,
            retry_at: Option<Millis>,
        ) -> Result<bool, StoreError> {
            let state = if retry_at.is_some() { JobState::Ready } else { JobState::Dead };
            let done = sqlx::query(
                "UPDATE jobs SET state = $3, outcome = $4, lease_until = NULL, failures = failures + 1, \
                 run_at = coalesce($5, run_at) \
                 WHERE id = $1 AND attempt = $2 AND state = 'leased'",
            )
            .bind(signed(lease.job))
            .bind(i64::from(lease.attempt))
            .bind(state_name(state))
            .bind($crate::check::plain(reason).into_owned())
            .bind(retry_at.map(signed))
            .execute(db)
            .await
            .map_err(failed)?;
            Ok(done.rows_affected() == 1)
        }

        async fn jobs(
            db: &mut $Connection,
            no: Option<i64>,
            limit: u32,
        ) -> Result<Vec<Job>, StoreError> {
            let query = match no {
                Some(no) => sqlx::query(concat!(
                    "SELECT ",
                    job_columns!(),
                    " FROM jobs WHERE session_no = $2 ORDER BY jobs.id LIMIT $1"
                ))
                .bind(i64::from(limit))
                .bind(no),
                None => sqlx::query(concat!(
                    "SELECT ",
                    job_columns!(),
                    " FROM jobs ORDER BY jobs.id LIMIT $1"
                ))
                .bind(i64::from(limit)),
            };
            query.fetch_all(db).await.map_err(failed)?.iter().map(job_row).collect()
        }

        async fn job(
            db: &mut $Connection,
            no: i64,
            key: &str,
        ) -> Result<Option<Job>, StoreError> {
            let query = concat!(
                "SELECT ",
                job_columns!(),
                " FROM jobs WHERE session_no = $1 AND key = $2"
            );
            let row = sqlx::query(query).bind(no).bind(key).fetch_optional(db).await;
            row.map_err(failed)?.as_ref().map(job_row).transpose()
        }

        async fn newest_job(db: &mut $Connection, no: i64) -> Result<Option<Job>, StoreError> {
            let query = concat!(
                "SELECT ",
                job_columns!(),
                " FROM jobs WHERE session_no = $1 ORDER BY jobs.id DESC LIMIT 1"
            );
            let row = sqlx::query(query).bind(no).fetch_optional(db).await;
            row.map_err(failed)?.as_ref().map(job_row).transpose()
        }

        // Ledger.

        /// False when the number is not the next one.
        async fn record_call(
            db: &mut $Connection,
            no: i64,
            call: &NewCall,
        ) -> Result<bool, StoreError> {
            let done = sqlx::query(
                "INSERT INTO calls (session_no, number, head, fold, hash, made, body) \
                 SELECT $1, $2, $3, $4, $5, $6, $7 WHERE $2 = \
                 (SELECT coalesce(max(number), 0) + 1 FROM calls WHERE session_no = $1) \
                 ON CONFLICT DO NOTHING",
            )
            .bind(no)
            .bind(signed(call.number))
            .bind(signed(call.head))
            .bind(call.fold.as_ref().map(|id| &id.0[..]))
            .bind(&call.hash.0[..])
            .bind(signed(call.now))
            .bind(&call.body)
            .execute(db)
            .await
            .map_err(failed)?;
            Ok(done.rows_affected() == 1)
        }

        async fn last_call(db: &mut $Connection, no: i64) -> Result<u64, StoreError> {
            let row = sqlx::query("SELECT coalesce(max(number), 0) FROM calls WHERE session_no = $1")
                .bind(no);
            number_of(&row.fetch_one(db).await.map_err(failed)?, 0)
        }

        async fn settle_call(
            db: &mut $Connection,
            no: i64,
            call: u64,
            usage: &str,
        ) -> Result<(), StoreError> {
            let done = sqlx::query(
                "UPDATE calls SET usage = $3 WHERE session_no = $1 AND number = $2 \
                 AND (usage IS NULL OR usage = $3)",
            )
            .bind(no)
            .bind(signed(call))
            .bind(usage)
            .execute(&mut *db)
            .await
            .map_err(failed)?;
            if done.rows_affected() == 1 {
                return Ok(());
            }
            let found = sqlx::query("SELECT 1 FROM calls WHERE session_no = $1 AND number = $2")
                .bind(no)
                .bind(signed(call))
                .fetch_optional(db)
                .await
                .map_err(failed)?;
            Err(found.map_or(StoreError::NoCall(call), |_| StoreError::Settled(call)))
        }

        fn call_row(row: &$Row) -> Result<CallRow, StoreError> {
            let call = NewCall {
                number: number_of(row, 0)?,
                head: number_of(row, 1)?,
                fold: hash_or_none(row, 2)?,
                hash: hash_of(row, 3)?,
                now: number_of(row, 4)?,
                body: text_of(row, 6)?,
            };
            Ok(CallRow { call, usage: text_or_none(row, 5)? })
        }

        async fn newest_call(
            db: &mut $Connection,
            no: i64,
        ) -> Result<Option<CallRow>, StoreError> {
            let newest = sqlx::query(
                "SELECT number, head, fold, hash, made, usage, body FROM calls \
                 WHERE session_no = $1 ORDER BY number DESC LIMIT 1",
            );
            let row = newest.bind(no).fetch_optional(db).await.map_err(failed)?;
            row.as_ref().map(call_row).transpose()
        }

        async fn calls(db: &mut $Connection, no: i64) -> Result<Vec<CallRow>, StoreError> {
            let all = sqlx::query(
                "SELECT number, head, fold, hash, made, usage, body FROM calls \
                 WHERE session_no = $1 ORDER BY number",
            )
            .bind(no)
            .fetch_all(db)
            .await
            .map_err(failed)?;
            all.iter().map(call_row).collect()
        }

        // The index.

        /// Where the index of a session ends, and where its log does.
        async fn indexed(db: &mut $Connection, no: i64) -> Result<(u64, u64), StoreError> {
            let row = sqlx::query("SELECT indexed FROM sessions WHERE no = $1").bind(no);
            let row = row.fetch_one(&mut *db).await.map_err(failed)?;
            Ok((number_of(&row, 0)?, head(db, no).await?))
        }

        /// Adds the words of events to the index, if it still ends where it did.
        async fn index(
            db: &mut $Connection,
            no: i64,
            from: u64,
            texts: &[(u64, Vec<String>)],
        ) -> Result<(), StoreError> {
            let Some((last, _)) = texts.last() else { return Ok(()) };
            let mut tx = db.begin_with(BEGIN).await.map_err(failed)?;
            let moved = sqlx::query(
                "UPDATE sessions SET indexed = $3 WHERE no = $1 AND indexed = $2",
            )
            .bind(no)
            .bind(signed(from))
            .bind(signed(last + 1))
            .execute(&mut *tx)
            .await
            .map_err(failed)?;
            if moved.rows_affected() == 0 {
                // Another search was faster.
                return tx.rollback().await.map_err(failed);
            }
            for (seq, words) in texts {
                insert_words(&mut tx, no, *seq, words).await?;
            }
            tx.commit().await.map_err(failed)
        }
    };
}

#[cfg(any(feature = "sqlite", feature = "postgres"))]
pub(super) use work_statements;

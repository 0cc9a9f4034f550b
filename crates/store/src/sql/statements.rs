//! The SQL that both databases read, as functions over a connection. A macro makes them once for
//! each, because sqlx's types differ; the text of every statement stands here once.
//!
//! Each is one statement, so each is right under READ COMMITTED: what it decides on is what it
//! locks. Where a unique key may be taken by a concurrent writer, `ON CONFLICT DO NOTHING` waits
//! for that writer, and the next statement sees its row.

macro_rules! statements {
    ($Connection:ty, $Row:ty, begin: $begin:literal) => {
        use midfold_core::Hash;
        use sqlx::{Connection as _, Row as _};

        use $crate::error::StoreError;
        use $crate::sql::rows::{self, event_columns, fold_columns, job_columns};
        use $crate::sql::{failed, signed, state_name};
        use $crate::types::{
            Append, Appended, CallRow, Claim, Done, EventRow, FoldRow, Job, JobState, Lease,
            Millis, NewCall, NewEvent, NewFold, NewJob, NewSession, Put, SessionRow,
        };

        /// How a transaction that writes begins.
        const BEGIN: &str = $begin;

        fn hash_of(row: &$Row, at: usize) -> Result<Hash, StoreError> {
            rows::hash(row.try_get::<&[u8], _>(at).map_err(failed)?)
        }

        fn hash_or_none(row: &$Row, at: usize) -> Result<Option<Hash>, StoreError> {
            row.try_get::<Option<&[u8]>, _>(at).map_err(failed)?.map(rows::hash).transpose()
        }

        fn number_of(row: &$Row, at: usize) -> Result<u64, StoreError> {
            row.try_get::<i64, _>(at).map(rows::unsigned).map_err(failed)
        }

        fn text_of(row: &$Row, at: usize) -> Result<String, StoreError> {
            row.try_get(at).map_err(failed)
        }

        fn text_or_none(row: &$Row, at: usize) -> Result<Option<String>, StoreError> {
            row.try_get(at).map_err(failed)
        }

        // Sessions.

        macro_rules! select_session {
            ($rest:literal) => {
                concat!(
                    "SELECT s.id, s.dialect, s.profile, s.counter, s.policy, s.meta, s.created, \
                     s.active, s.state, s.state_version, e.seq, e.hash, e.turn \
                     FROM sessions s LEFT JOIN events e ON e.session_no = s.no AND e.seq = \
                     (SELECT max(seq) FROM events WHERE session_no = s.no) ",
                    $rest
                )
            };
        }

        fn session_row(row: &$Row) -> Result<SessionRow, StoreError> {
            let last: Option<i64> = row.try_get(10).map_err(failed)?;
            let turn: Option<i64> = row.try_get(12).map_err(failed)?;
            Ok(SessionRow {
                new: NewSession {
                    id: text_of(row, 0)?,
                    dialect: text_of(row, 1)?,
                    profile: text_of(row, 2)?,
                    counter: text_of(row, 3)?,
                    policy: text_of(row, 4)?,
                    meta: text_of(row, 5)?,
                    created: number_of(row, 6)?,
                },
                head: last.map_or(0, |last| rows::unsigned(last) + 1),
                head_hash: hash_or_none(row, 11)?.unwrap_or(Hash::ROOT),
                turn: turn.map_or(0, rows::small),
                active: hash_or_none(row, 7)?,
                state: text_of(row, 8)?,
                state_version: number_of(row, 9)?,
            })
        }

        async fn create(db: &mut $Connection, new: &NewSession) -> Result<bool, StoreError> {
            let done = sqlx::query(
                "INSERT INTO sessions (id, dialect, profile, counter, policy, meta, created) \
                 VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING",
            )
            .bind(&new.id)
            .bind(&new.dialect)
            .bind(&new.profile)
            .bind(&new.counter)
            .bind(&new.policy)
            .bind(&new.meta)
            .bind(signed(new.created))
            .execute(db)
            .await
            .map_err(failed)?;
            Ok(done.rows_affected() == 1)
        }

        async fn find_number(db: &mut $Connection, id: &str) -> Result<i64, StoreError> {
            // PostgreSQL cannot even be asked about such an id.
            let found = match id.contains('\0') {
                true => None,
                false => sqlx::query("SELECT no FROM sessions WHERE id = $1")
                    .bind(id)
                    .fetch_optional(db)
                    .await
                    .map_err(failed)?,
            };
            let row = found.ok_or_else(|| StoreError::NoSession(id.to_owned()))?;
            row.try_get(0).map_err(failed)
        }

        async fn session(db: &mut $Connection, no: i64) -> Result<SessionRow, StoreError> {
            let row = sqlx::query(select_session!("WHERE s.no = $1")).bind(no);
            session_row(&row.fetch_one(db).await.map_err(failed)?)
        }

        async fn sessions(
            db: &mut $Connection,
            after: &str,
            limit: u32,
        ) -> Result<Vec<SessionRow>, StoreError> {
            let all = sqlx::query(select_session!("WHERE s.id > $1 ORDER BY s.id LIMIT $2"))
                .bind(after)
                .bind(i64::from(limit))
                .fetch_all(db)
                .await
                .map_err(failed)?;
            all.iter().map(session_row).collect()
        }

        async fn save_state(
            db: &mut $Connection,
            no: i64,
            expected: u64,
            state: &str,
        ) -> Result<bool, StoreError> {
            let done = sqlx::query(
                "UPDATE sessions SET state = $3, state_version = state_version + 1 \
                 WHERE no = $1 AND state_version = $2",
            )
            .bind(no)
            .bind(signed(expected))
            .bind(state)
            .execute(db)
            .await
            .map_err(failed)?;
            Ok(done.rows_affected() == 1)
        }

        // Events.

        fn event_row(row: &$Row) -> Result<EventRow, StoreError> {
            Ok(EventRow {
                seq: number_of(row, 0)?,
                event: NewEvent {
                    turn: rows::small(row.try_get(1).map_err(failed)?),
                    tokens: rows::small(row.try_get(2).map_err(failed)?),
                    hash: hash_of(row, 3)?,
                    usage: text_or_none(row, 4)?,
                    bytes: row.try_get::<Vec<u8>, _>(5).map_err(failed)?.into(),
                },
            })
        }

        async fn events(
            db: &mut $Connection,
            no: i64,
            range: &std::ops::Range<u64>,
        ) -> Result<Vec<EventRow>, StoreError> {
            let all = sqlx::query(concat!(
                "SELECT ",
                event_columns!(),
                " FROM events e WHERE session_no = $1 AND seq >= $2 AND seq < $3 ORDER BY seq"
            ))
            .bind(no)
            .bind(signed(range.start))
            .bind(signed(range.end))
            .fetch_all(db)
            .await
            .map_err(failed)?;
            all.iter().map(event_row).collect()
        }

        /// The newest events of a range, newest first.
        async fn newest(
            db: &mut $Connection,
            no: i64,
            range: &std::ops::Range<u64>,
        ) -> Result<Vec<EventRow>, StoreError> {
            let all = sqlx::query(concat!(
                "SELECT ",
                event_columns!(),
                " FROM events e WHERE session_no = $1 AND seq >= $2 AND seq < $3 \
                 ORDER BY seq DESC LIMIT $4"
            ))
            .bind(no)
            .bind(signed(range.start))
            .bind(signed(range.end))
            .bind($crate::sql::PAGE)
            .fetch_all(db)
            .await
            .map_err(failed)?;
            all.iter().map(event_row).collect()
        }

        /// The answer of an earlier append with this key, and what that one was.
        async fn answer(
            db: &mut $Connection,
            no: i64,
            key: &str,
        ) -> Result<Option<(Hash, Appended)>, StoreError> {
            let found = sqlx::query(
                "SELECT fingerprint, first, count FROM append_keys \
                 WHERE session_no = $1 AND key = $2",
            )
            .bind(no)
            .bind(key)
            .fetch_optional(db)
            .await
            .map_err(failed)?;
            let Some(row) = found else { return Ok(None) };
            let (first, count) = (number_of(&row, 1)?, number_of(&row, 2)?);
            Ok(Some((hash_of(&row, 0)?, Appended { first, count, repeated: true })))
        }

        /// Takes a key for an append. False when it is taken.
        async fn take_key(
            db: &mut $Connection,
            no: i64,
            key: &str,
            fingerprint: Hash,
            answer: Appended,
        ) -> Result<bool, StoreError> {
            let done = sqlx::query(
                "INSERT INTO append_keys (session_no, key, fingerprint, first, count) \
                 VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING",
            )
            .bind(no)
            .bind(key)
            .bind(&fingerprint.0[..])
            .bind(signed(answer.first))
            .bind(signed(answer.count))
            .execute(db)
            .await
            .map_err(failed)?;
            Ok(done.rows_affected() == 1)
        }

        async fn head(db: &mut $Connection, no: i64) -> Result<u64, StoreError> {
            let row = sqlx::query("SELECT max(seq) FROM events WHERE session_no = $1").bind(no);
            let row = row.fetch_one(db).await.map_err(failed)?;
            let last: Option<i64> = row.try_get(0).map_err(failed)?;
            Ok(last.map_or(0, |last| rows::unsigned(last) + 1))
        }

        /// An append that is more than one insert. `None` on a conflict; nothing is changed then.
        async fn append_all(
            db: &mut $Connection,
            no: i64,
            append: &Append,
        ) -> Result<Option<Appended>, StoreError> {
            let mut tx = db.begin_with(BEGIN).await.map_err(failed)?;
            let count = append.events.len() as u64;
            let fresh = Appended { first: append.expected, count, repeated: false };
            if let Some(key) = &append.key {
                let fingerprint = $crate::check::fingerprint(&append.events);
                if !take_key(&mut tx, no, key, fingerprint, fresh).await? {
                    return match answer(&mut tx, no, key).await? {
                        Some((before, answer)) if before == fingerprint => Ok(Some(answer)),
                        Some(_) => Err(StoreError::KeyReused(key.clone())),
                        None => Err(StoreError::Damaged(format!("the key `{key}` is gone"))),
                    };
                }
            }
            let done = match append.events.is_empty() {
                true => head(&mut tx, no).await? == append.expected,
                false => insert_events(&mut tx, no, append.expected, &append.events).await?,
            };
            if !done {
                tx.rollback().await.map_err(failed)?;
                return Ok(None);
            }
            if let Some(job) = &append.job {
                enqueue(&mut tx, no, job).await?;
            }
            tx.commit().await.map_err(failed)?;
            Ok(Some(fresh))
        }

        // Folds.

        fn fold_row(row: &$Row) -> Result<FoldRow, StoreError> {
            fold_from(row, 0)
        }

        /// A fold whose columns start at this one.
        fn fold_from(row: &$Row, at: usize) -> Result<FoldRow, StoreError> {
            let fold = NewFold {
                id: hash_of(row, at + 1)?,
                start: number_of(row, at + 2)?,
                end: number_of(row, at + 3)?,
                before: hash_of(row, at + 4)?,
                through: hash_of(row, at + 5)?,
                policy: hash_of(row, at + 6)?,
                recap: hash_of(row, at + 7)?,
                kept: rows::runs(row.try_get(at + 8).map_err(failed)?)?,
                now: number_of(row, at + 9)?,
                body: text_of(row, at + 10)?,
            };
            Ok(FoldRow { number: number_of(row, at)?, fold })
        }

        /// A session and its active fold.
        async fn session_and_fold(
            db: &mut $Connection,
            no: i64,
        ) -> Result<(SessionRow, Option<FoldRow>), StoreError> {
            let found = sqlx::query(
                "SELECT s.id, s.dialect, s.profile, s.counter, s.policy, s.meta, s.created, \
                 s.active, s.state, s.state_version, e.seq, e.hash, e.turn, f.number, f.id, \
                 f.span_start, f.span_end, f.hash_before, f.hash_end, f.policy, f.recap, f.kept, \
                 f.made, f.body FROM sessions s \
                 LEFT JOIN events e ON e.session_no = s.no AND e.seq = \
                 (SELECT max(seq) FROM events WHERE session_no = s.no) \
                 LEFT JOIN folds f ON f.session_no = s.no AND f.id = s.active WHERE s.no = $1",
            )
            .bind(no)
            .fetch_one(db)
            .await
            .map_err(failed)?;
            let there: Option<i64> = found.try_get(13).map_err(failed)?;
            let fold = there.map(|_| fold_from(&found, 13)).transpose()?;
            Ok((session_row(&found)?, fold))
        }

        async fn folds(db: &mut $Connection, no: i64) -> Result<Vec<FoldRow>, StoreError> {
            let all = sqlx::query(concat!(
                "SELECT ",
                fold_columns!(),
                " FROM folds WHERE session_no = $1 ORDER BY number"
            ))
            .bind(no)
            .fetch_all(db)
            .await
            .map_err(failed)?;
            all.iter().map(fold_row).collect()
        }

        async fn fold(
            db: &mut $Connection,
            no: i64,
            id: Hash,
        ) -> Result<Option<FoldRow>, StoreError> {
            let found = sqlx::query(concat!(
                "SELECT ",
                fold_columns!(),
                " FROM folds WHERE session_no = $1 AND id = $2"
            ))
            .bind(no)
            .bind(&id.0[..])
            .fetch_optional(db)
            .await
            .map_err(failed)?;
            found.as_ref().map(fold_row).transpose()
        }

        /// The fold that is there in the place of this one.
        async fn same_fold(
            db: &mut $Connection,
            no: i64,
            fold: &NewFold,
        ) -> Result<Option<Hash>, StoreError> {
            let found = sqlx::query(
                "SELECT id FROM folds WHERE session_no = $1 AND (id = $2 OR (span_start = $3 \
                 AND span_end = $4 AND hash_before = $5 AND hash_end = $6 AND policy = $7 \
                 AND recap = $8)) ORDER BY number LIMIT 1",
            )
            .bind(no)
            .bind(&fold.id.0[..])
            .bind(signed(fold.start))
            .bind(signed(fold.end))
            .bind(&fold.before.0[..])
            .bind(&fold.through.0[..])
            .bind(&fold.policy.0[..])
            .bind(&fold.recap.0[..])
            .fetch_optional(db)
            .await
            .map_err(failed)?;
            found.as_ref().map(|row| hash_of(row, 0)).transpose()
        }

        async fn put_fold(
            db: &mut $Connection,
            no: i64,
            fold: &NewFold,
        ) -> Result<Put, StoreError> {
            // A turn is lost only to another fold that took the number: so somebody moves on.
            loop {
                let done = sqlx::query(concat!(
                    "INSERT INTO folds (session_no, ",
                    fold_columns!(),
                    ") SELECT $1, coalesce(max(number), 0) + 1, \
                     $2, $3, $4, $5, $6, $7, $8, $9, $10, $11 FROM folds WHERE session_no = $1 \
                     ON CONFLICT DO NOTHING"
                ))
                .bind(no)
                .bind(&fold.id.0[..])
                .bind(signed(fold.start))
                .bind(signed(fold.end))
                .bind(&fold.before.0[..])
                .bind(&fold.through.0[..])
                .bind(&fold.policy.0[..])
                .bind(&fold.recap.0[..])
                .bind(rows::runs_text(&fold.kept))
                .bind(signed(fold.now))
                .bind(&fold.body)
                .execute(&mut *db)
                .await
                .map_err(failed)?;
                if done.rows_affected() == 1 {
                    return Ok(Put::New);
                }
                if let Some(id) = same_fold(db, no, fold).await? {
                    return Ok(Put::Same(id));
                }
            }
        }

        async fn activate(
            db: &mut $Connection,
            no: i64,
            expected: Option<Hash>,
            wanted: Option<Hash>,
        ) -> Result<(), StoreError> {
            if let Some(id) = wanted
                && fold(db, no, id).await?.is_none()
            {
                return Err(StoreError::NoFold(id));
            }
            let done = sqlx::query(
                "UPDATE sessions SET active = $2 \
                 WHERE no = $1 AND active IS NOT DISTINCT FROM $3",
            )
            .bind(no)
            .bind(wanted.as_ref().map(|id| &id.0[..]))
            .bind(expected.as_ref().map(|id| &id.0[..]))
            .execute(&mut *db)
            .await
            .map_err(failed)?;
            if done.rows_affected() == 1 {
                return Ok(());
            }
            let row = sqlx::query("SELECT active FROM sessions WHERE no = $1").bind(no);
            let row = row.fetch_one(db).await.map_err(failed)?;
            Err(StoreError::StaleFold { actual: hash_or_none(&row, 0)? })
        }
    };
}

#[cfg(any(feature = "sqlite", feature = "postgres"))]
pub(super) use statements;

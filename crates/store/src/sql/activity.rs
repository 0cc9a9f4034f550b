//! The activity of sessions: one small row for each, which triggers of the database keep up to date.

use super::db::{SqlConnection, SqlRow, query};
use super::rows::{hash_or_none, number_of, unsigned};
use crate::error::StoreError;
use crate::types::{NewestQuery, SessionActivity};

/// Selects a session's activity with the end of its log; `$rest` selects the sessions.
macro_rules! select_activity {
    ($rest:literal) => {
        concat!(
            "SELECT s.id, a.owner, a.tick, a.changed, a.active, a.tokens, a.folds, a.calls, \
             (SELECT max(seq) FROM events WHERE session_no = a.session_no), \
             (SELECT number FROM folds WHERE session_no = a.session_no AND id = a.active) \
             FROM activity a JOIN sessions s ON s.no = a.session_no ",
            $rest
        )
    };
}

/// Sessions by their last change, the newest first.
pub(super) async fn newest<D: SqlConnection>(
    db: &mut D,
    filter: &NewestQuery,
) -> Result<Vec<SessionActivity>, StoreError> {
    let before = filter.before.unwrap_or(i64::MAX.unsigned_abs());
    let select = match &filter.owner {
        // The index is over eras of 64 ticks.
        None => query(select_activity!(
            "WHERE a.era <= $1 >> 6 AND a.tick < $1 \
             ORDER BY a.era DESC, a.tick DESC LIMIT $2"
        )),
        Some(_) => query(select_activity!(
            "WHERE a.era <= $1 >> 6 AND a.tick < $1 AND a.owner = $3 \
             ORDER BY a.era DESC, a.tick DESC LIMIT $2"
        )),
    };
    let select = select.bind(before).bind(filter.limit);
    let select = match &filter.owner {
        None => select,
        Some(owner) => select.bind(owner),
    };
    select.all(db).await?.iter().map(activity).collect()
}

/// The activity of the session with this number; `None` where there is no such session.
pub(super) async fn one<D: SqlConnection>(
    db: &mut D,
    no: i64,
) -> Result<Option<SessionActivity>, StoreError> {
    let row = query(select_activity!("WHERE a.session_no = $1")).bind(no).maybe(db).await?;
    row.as_ref().map(activity).transpose()
}

fn activity<R: SqlRow>(row: &R) -> Result<SessionActivity, StoreError> {
    Ok(SessionActivity {
        id: row.text(0)?.unwrap_or_default().to_owned(),
        owner: row.text(1)?.map(str::to_owned),
        tick: number_of(row, 2)?,
        changed: number_of(row, 3)?,
        active: hash_or_none(row, 4)?,
        tokens: number_of(row, 5)?,
        folds: number_of(row, 6)?,
        calls: number_of(row, 7)?,
        active_number: row.integer(9)?.map(unsigned),
        head: row.integer(8)?.map_or(0, |last| unsigned(last) + 1),
    })
}

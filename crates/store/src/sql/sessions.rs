//! Sessions in a database.

use midfold_core::Hash;
use sqlx::AssertSqlSafe;

use super::db::{SqlConnection, SqlRow, query};
use super::rows::{hash_or_none, integer_of, number_of, select_session, session_row};
use crate::error::StoreError;
use crate::types::{IdentifiedSession, NewSession, SessionRow};

/// Creates a session, and returns its number; `None` where its id is taken.
pub(super) async fn create<D: SqlConnection>(
    db: &mut D,
    new: &NewSession,
) -> Result<Option<i64>, StoreError> {
    let row = query(
        "INSERT INTO sessions (id, dialect, profile, counter, policy, meta, created, owner) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING RETURNING no",
    )
    .bind(&new.id)
    .bind(&new.dialect)
    .bind(&new.profile)
    .bind(&new.counter)
    .bind(&new.policy)
    .bind(&new.meta)
    .bind(new.created)
    .bind(crate::check::owner(new))
    .maybe(db)
    .await?;
    row.map(|row| integer_of(&row, 0)).transpose()
}

/// The number of the session with this id. Fails where there is none.
pub(super) async fn find_number<D: SqlConnection>(db: &mut D, id: &str) -> Result<i64, StoreError> {
    // PostgreSQL refuses text with a NUL character, even in a query.
    let row = match id.contains('\0') {
        true => None,
        false => query("SELECT no FROM sessions WHERE id = $1").bind(id).maybe(db).await?,
    };
    let row = row.ok_or_else(|| StoreError::NoSession(id.to_owned()))?;
    integer_of(&row, 0)
}

/// The row of the session with this number; `None` where there is none any more.
pub(super) async fn session<D: SqlConnection>(
    db: &mut D,
    no: i64,
) -> Result<Option<SessionRow>, StoreError> {
    let row = query(select_session!("WHERE s.no = $1")).bind(no).maybe(db).await?;
    row.as_ref().map(session_row).transpose()
}

pub(super) async fn sessions<D: SqlConnection>(
    db: &mut D,
    after: &str,
    limit: u32,
) -> Result<Vec<SessionRow>, StoreError> {
    let all = query(select_session!("WHERE s.id > $1 ORDER BY s.id LIMIT $2"))
        .bind(after)
        .bind(limit)
        .all(db)
        .await?;
    all.iter().map(session_row).collect()
}

/// Sessions whose ids begin with `start`. In the order of the ids they follow it without a gap.
pub(super) async fn sessions_beginning<D: SqlConnection>(
    db: &mut D,
    start: &str,
    limit: u32,
) -> Result<Vec<SessionRow>, StoreError> {
    let all = query(select_session!("WHERE s.id >= $1 ORDER BY s.id LIMIT $2"))
        .bind(start)
        .bind(limit)
        .all(db)
        .await?;
    let mut sessions: Vec<_> = all.iter().map(session_row).collect::<Result<_, _>>()?;
    sessions.retain(|session| session.new.id.starts_with(start));
    Ok(sessions)
}

/// Saves a state. Returns false where its version is not `expected`.
pub(super) async fn save_state<D: SqlConnection>(
    db: &mut D,
    no: i64,
    expected: u64,
    state: &str,
) -> Result<bool, StoreError> {
    let changed = query(
        "UPDATE activity SET state = $3, state_version = state_version + 1 \
         WHERE session_no = $1 AND state_version = $2",
    )
    .bind(no)
    .bind(expected)
    .bind(state)
    .run(db)
    .await?;
    Ok(changed == 1)
}

/// Notes an identity. Returns false where there is no session with this number any more. The session cannot be deleted
/// in the meantime.
pub(super) async fn identify<D: SqlConnection>(
    db: &mut D,
    no: i64,
    identity: Hash,
    events: u64,
) -> Result<bool, StoreError> {
    let sql = format!(
        "INSERT INTO identities (identity, session_no, events) \
         SELECT $1, no, $3 FROM (SELECT no FROM sessions WHERE no = $2{}) AS held WHERE true \
         ON CONFLICT (identity) DO UPDATE \
         SET session_no = excluded.session_no, events = excluded.events",
        D::HOLD
    );
    let query = query(AssertSqlSafe(sql)).bind(&identity).bind(no).bind(events);
    Ok(query.run(db).await? == 1)
}

/// Of the sessions that were noted for these identities, the one with the most messages.
pub(super) async fn identified<D: SqlConnection>(
    db: &mut D,
    identities: &[Hash],
) -> Result<Option<IdentifiedSession>, StoreError> {
    if identities.is_empty() {
        return Ok(None);
    }
    let places: Vec<_> = (1..=identities.len()).map(|at| format!("${at}")).collect();
    let sql = format!(
        "SELECT s.id, i.events, a.active, a.state_version FROM identities i \
         JOIN sessions s ON s.no = i.session_no JOIN activity a ON a.session_no = i.session_no \
         WHERE i.identity IN ({}) ORDER BY i.events DESC LIMIT 1",
        places.join(", ")
    );
    let select =
        identities.iter().fold(query(AssertSqlSafe(sql)), |query, identity| query.bind(identity));
    let Some(row) = select.maybe(db).await? else { return Ok(None) };
    Ok(Some(IdentifiedSession {
        id: row.text(0)?.unwrap_or_default().to_owned(),
        events: number_of(&row, 1)?,
        active: hash_or_none(&row, 2)?,
        state_version: number_of(&row, 3)?,
    }))
}

//! Folds in a database.

use midfold_core::Hash;

use super::db::{SqlConnection, SqlRow, query};
use super::packed::{pack, unpack};
use super::rows::{
    FoldColumns, fold_columns, hash_or_none, read_fold, runs_text, session_row, unsigned,
};
use crate::error::StoreError;
use crate::types::{FoldRow, NewFold, SessionRow};

/// A session and its active fold; `None` where there is no such session.
pub(super) async fn session_and_fold<D: SqlConnection>(
    db: &mut D,
    no: i64,
) -> Result<Option<(SessionRow, Option<FoldRow>)>, StoreError> {
    // One statement, so that the session, its head and its fold are of the same moment.
    let row = query(
        "SELECT s.id, s.dialect, s.profile, s.counter, s.policy, s.meta, s.created, \
         a.active, a.state, a.state_version, e.seq, e.hash, e.turn, f.number, f.id, \
         f.span_start, f.span_end, f.hash_before, f.hash_end, f.policy, f.recap, f.kept, \
         f.made, f.body, f.base, f.packed FROM sessions s \
         JOIN activity a ON a.session_no = s.no \
         LEFT JOIN events e ON e.session_no = s.no AND e.seq = \
         (SELECT max(seq) FROM events WHERE session_no = s.no) \
         LEFT JOIN folds f ON f.session_no = s.no AND f.id = a.active WHERE s.no = $1",
    )
    .bind(no)
    .maybe(db)
    .await?;
    let Some(row) = row else { return Ok(None) };
    let there = row.integer(13)?;
    let fold = match there {
        Some(_) => Some(whole(db, no, read_fold(&row, 13)?).await?),
        None => None,
    };
    Ok(Some((session_row(&row)?, fold)))
}

/// The folds of a session, in the order in which they were stored.
pub(super) async fn folds<D: SqlConnection>(
    db: &mut D,
    no: i64,
) -> Result<Vec<FoldRow>, StoreError> {
    let all = query(concat!(
        "SELECT ",
        fold_columns!(),
        " FROM folds WHERE session_no = $1 ORDER BY number"
    ))
    .bind(no)
    .all(db)
    .await?;
    let mut folds: Vec<FoldRow> = Vec::with_capacity(all.len());
    for row in &all {
        let FoldColumns { mut row, packed } = read_fold(row, 0)?;
        if let Some((packed, base)) = packed {
            // Each base comes before the folds that need it.
            let base = match base {
                Some(base) => Some(
                    folds
                        .iter()
                        .rev()
                        .find(|fold| fold.number == base)
                        .ok_or_else(|| missing(base))?,
                ),
                None => None,
            };
            row.fold.body = unpack(&packed, base.map_or("", |base| &base.fold.body))?;
        }
        folds.push(row);
    }
    Ok(folds)
}

fn missing(base: u64) -> StoreError {
    StoreError::Damaged(format!("fold {base}, with which the next one is compressed, is not there"))
}

/// How many folds in a row are compressed each with the one before. To read one, all of them are read.
const CHAIN: u64 = 8;

/// A fold with its body.
async fn whole<D: SqlConnection>(
    db: &mut D,
    no: i64,
    columns: FoldColumns,
) -> Result<FoldRow, StoreError> {
    let FoldColumns { mut row, packed } = columns;
    let mut chain = Vec::new();
    let mut next = packed;
    let mut number = row.number;
    while let Some((packed, base)) = next.take() {
        chain.push(packed);
        let Some(base) = base else { break };
        // A damaged chain could lead back to itself.
        if base >= number {
            return Err(missing(base));
        }
        number = base;
        let record =
            query("SELECT body, base, packed FROM folds WHERE session_no = $1 AND number = $2")
                .bind(no)
                .bind(base)
                .maybe(db)
                .await?
                .ok_or_else(|| missing(base))?;
        row.fold.body = record.text(0)?.unwrap_or_default().to_owned();
        let base = record.integer(1)?.map(unsigned);
        next = record.bytes(2)?.map(|packed| (packed.to_vec(), base));
    }
    for packed in chain.iter().rev() {
        row.fold.body = unpack(packed, &row.fold.body)?;
    }
    Ok(row)
}

/// Stores a fold, unless it is stored already. The caller has locked the session, so that nobody else takes the number.
pub(super) async fn put_fold<D: SqlConnection>(
    db: &mut D,
    no: i64,
    new: &NewFold,
) -> Result<(), StoreError> {
    let newest = query(concat!(
        "SELECT ",
        fold_columns!(),
        " FROM folds WHERE session_no = $1 ORDER BY number DESC LIMIT 1"
    ));
    let newest = newest.bind(no).maybe(db).await?;
    let newest = newest.map(|row| read_fold(&row, 0)).transpose()?;
    let number = newest.as_ref().map_or(1, |newest| newest.row.number + 1);
    let base = match newest {
        Some(newest) if number % CHAIN != 1 => Some(whole(db, no, newest).await?),
        _ => None,
    };
    let packed = pack(&new.body, base.as_ref().map_or("", |base| &base.fold.body))?;
    let sql = concat!(
        "INSERT INTO folds (session_no, ",
        fold_columns!(),
        ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, '', $12, $13) \
         ON CONFLICT DO NOTHING"
    );
    query(sql)
        .bind(no)
        .bind(number)
        .bind(&new.id)
        .bind(new.start)
        .bind(new.end)
        .bind(&new.before)
        .bind(&new.through)
        .bind(&new.policy)
        .bind(&new.recap)
        .bind(runs_text(&new.kept))
        .bind(new.now)
        .bind(base.map(|base| base.number))
        .bind(&packed[..])
        .run(db)
        .await
        .map(drop)
}

/// Whether the session has a fold with this id.
async fn has_fold<D: SqlConnection>(db: &mut D, no: i64, id: Hash) -> Result<bool, StoreError> {
    let select = query("SELECT number FROM folds WHERE session_no = $1 AND id = $2");
    Ok(select.bind(no).bind(&id).maybe(db).await?.is_some())
}

/// Makes a fold the active one, where `expected` is still active. Fails with the active fold otherwise.
pub(super) async fn activate<D: SqlConnection>(
    db: &mut D,
    no: i64,
    expected: Option<Hash>,
    wanted: Option<Hash>,
) -> Result<(), StoreError> {
    if let Some(id) = wanted
        && !has_fold(db, no, id).await?
    {
        return Err(StoreError::NoFold(id));
    }
    let changed = query(
        // `=` is never true for NULL, which means that no fold is active.
        "UPDATE activity SET active = $2 \
         WHERE session_no = $1 AND active IS NOT DISTINCT FROM $3",
    )
    .bind(no)
    .bind(wanted.as_ref())
    .bind(expected.as_ref())
    .run(db)
    .await?;
    if changed == 1 {
        return Ok(());
    }
    let row = query("SELECT active FROM activity WHERE session_no = $1").bind(no);
    let row = row.maybe(db).await?;
    let actual = row.map(|row| hash_or_none(&row, 0)).transpose()?.flatten();
    Err(StoreError::StaleFold { actual })
}

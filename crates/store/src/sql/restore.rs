//! Bringing in whole sessions, in one transaction.

use super::calls::{last_call, record_call, settle_call};
use super::db::Db;
use super::events::head;
use super::failed;
use super::folds::{activate, put_fold};
use super::sessions::{create, find_number, save_state};
use crate::error::StoreError;
use crate::types::{Millis, Part, Parts};

pub(super) async fn restore<D: Db>(
    db: &mut D,
    parts: Parts<'_>,
    now: Millis,
) -> Result<(), StoreError> {
    let mut tx = db.begin_with(D::BEGIN).await.map_err(failed)?;
    let (mut no, mut next) = (0, 0);
    for part in parts {
        match part? {
            Part::Session(new) => {
                crate::check::session(&new)?;
                if !create(&mut *tx, &new).await? {
                    return Err(StoreError::Exists(new.id));
                }
                (no, next) = (find_number(&mut *tx, &new.id).await?, 0);
            }
            Part::Events(events) => {
                if !tx.insert_events(no, next, &events, now).await? {
                    let actual = head(&mut *tx, no).await?;
                    return Err(StoreError::Conflict { expected: next, actual });
                }
                next += events.len() as u64;
            }
            Part::Fold(fold) => {
                put_fold(&mut *tx, no, &fold).await?;
            }
            Part::Call(call, usage) => {
                if !record_call(&mut *tx, no, &call).await? {
                    let actual = last_call(&mut *tx, no).await?;
                    return Err(StoreError::StaleCall { actual });
                }
                if let Some(usage) = usage {
                    settle_call(&mut *tx, no, call.number, &usage).await?;
                }
            }
            Part::Done(active, state) => {
                activate(&mut *tx, no, None, active).await?;
                if !state.is_empty() {
                    save_state(&mut *tx, no, 0, &state).await?;
                }
            }
        }
    }
    tx.commit().await.map_err(failed)
}

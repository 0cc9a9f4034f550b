//! Imports whole sessions in one transaction.

use super::calls::{last_call, record_call, settle_call};
use super::db::SqlConnection;
use super::events::head;
use super::failed;
use super::folds::{activate, put_fold};
use super::sessions::{create, save_state};
use crate::error::StoreError;
use crate::types::{Millis, TransferPart, TransferParts};

/// Stores all parts in one transaction. An error leaves nothing behind.
pub(super) async fn restore<D: SqlConnection>(
    db: &mut D,
    parts: TransferParts<'_>,
    now: Millis,
) -> Result<(), StoreError> {
    let mut tx = db.begin_with(D::BEGIN).await.map_err(failed)?;
    // The reader passes on no part before the first session, so this number is never used.
    let (mut no, mut next) = (0, 0);
    for part in parts {
        match part? {
            TransferPart::Session(new) => {
                crate::check::session(&new)?;
                let created = create(&mut *tx, &new).await?;
                (no, next) = (created.ok_or(StoreError::Exists(new.id))?, 0);
            }
            TransferPart::Events(events) => {
                if !tx.insert_events(no, next, &events, now).await? {
                    let actual = head(&mut *tx, no).await?;
                    return Err(StoreError::Conflict { expected: next, actual });
                }
                next += events.len() as u64;
            }
            TransferPart::Fold(fold) => {
                put_fold(&mut *tx, no, &fold).await?;
            }
            TransferPart::Call(call, usage) => {
                if !record_call(&mut *tx, no, &call).await? {
                    let actual = last_call(&mut *tx, no).await?;
                    return Err(StoreError::StaleCall { actual });
                }
                if let Some(usage) = usage {
                    settle_call(&mut *tx, no, call.number, &usage).await?;
                }
            }
            TransferPart::Done(active, state) => {
                activate(&mut *tx, no, None, active).await?;
                if !state.is_empty() {
                    save_state(&mut *tx, no, 0, &state).await?;
                }
            }
        }
    }
    tx.commit().await.map_err(failed)
}

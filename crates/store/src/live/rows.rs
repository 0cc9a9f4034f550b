//! Converts between the engine's values and the store's rows.

use midfold_core::Counter;
use midfold_core::engine::{BriefReading, SessionState};
use midfold_core::fold::{Fold, VERSION};
use midfold_core::ledger::{CallRecord, ReportedCost};
use midfold_core::log::EventLog;
use midfold_core::policy::Policy;
use midfold_formats::{DialectKind, profile};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::sync::Arc;

use super::{SessionMeta, StoredError};
use crate::error::StoreError;
use crate::types::{CallRow, EventRow, FoldRow, SessionRow};

/// How a session's events are read: dialect, profile and counter. The rules of its model apply: the model in its
/// state, or else the one that it began with.
pub(super) fn reading(row: &SessionRow, model: &str) -> Result<BriefReading, StoredError> {
    let unknown = |what: &'static str, name: &str| StoredError::Unknown {
        what,
        name: name.to_owned(),
        session: row.new.id.clone(),
    };
    let dialect = DialectKind::from_name(&row.new.dialect)
        .ok_or_else(|| unknown("dialect", &row.new.dialect))?;
    let profile =
        profile::by_name(&row.new.profile).ok_or_else(|| unknown("profile", &row.new.profile))?;
    let counter: Arc<dyn Counter> = midfold_tokens::by_name(&row.new.counter)
        .map_err(|_| unknown("counter", &row.new.counter))?;
    let began_with = if model.is_empty() { meta(row)?.model } else { None };
    let profile = profile::for_model(*profile, began_with.as_deref().unwrap_or(model));
    Ok(BriefReading { dialect: dialect.shared(), profile, counter })
}

pub(super) fn policy(row: &SessionRow) -> Result<Policy, StoredError> {
    Policy::from_stored(&row.new.policy).map_err(|error| damaged(&row.new.id, "policy", &error))
}

pub(super) fn meta(row: &SessionRow) -> Result<SessionMeta, StoredError> {
    parse(&row.new.id, "meta", &row.new.meta)
}

pub(super) fn state(row: &SessionRow) -> Result<SessionState, StoredError> {
    if row.state.is_empty() {
        return Ok(SessionState::default());
    }
    parse(&row.new.id, "state", &row.state)
}

/// Checks that a session with this row can be opened: all names in it are known, and all texts can be read.
pub(crate) fn check(row: &SessionRow) -> Result<(), StoredError> {
    let model = state(row)?.model;
    reading(row, &model)?;
    policy(row)?;
    meta(row).map(drop)
}

/// Checks that the reported usage of an event or a call can be read.
pub(crate) fn check_usage<T: DeserializeOwned>(
    session: &str,
    usage: Option<&str>,
) -> Result<(), StoredError> {
    usage.map_or(Ok(()), |usage| parse::<T>(session, "usage", usage).map(drop))
}

pub(super) fn fold(session: &str, row: &FoldRow) -> Result<Fold, StoredError> {
    // The version comes first: a newer record may lack what this midfold needs.
    let FoldVersion { version } = parse(session, "fold", &row.fold.body)?;
    if version > VERSION {
        let problem =
            format!("it has version {version}, this midfold knows up to {VERSION}: update midfold");
        return Err(damaged(session, "fold", &problem));
    }
    parse(session, "fold", &row.fold.body)
}

/// The part of a fold's record that is the same in all versions.
#[derive(Deserialize)]
struct FoldVersion {
    version: u32,
}

/// The record of a call, and the usage that the provider reported; `None` where it has reported none.
pub(super) fn call(
    session: &str,
    row: &CallRow,
) -> Result<(CallRecord, Option<ReportedCost>), StoredError> {
    let record = parse(session, "call", &row.call.body)?;
    let settled = row.usage.as_deref().map(|usage| parse(session, "usage", usage)).transpose()?;
    Ok((record, settled))
}

fn parse<T: DeserializeOwned>(session: &str, part: &str, text: &str) -> Result<T, StoredError> {
    serde_json::from_str(text).map_err(|error| damaged(session, part, &error))
}

fn damaged(session: &str, part: &str, error: &dyn std::fmt::Display) -> StoredError {
    StoreError::Damaged(format!("the {part} of session `{session}` cannot be read: {error}")).into()
}

/// The JSON of a value that can always be written as JSON.
pub(super) fn json<T: serde::Serialize>(value: &T) -> Result<String, StoredError> {
    Ok(serde_json::to_string(value).map_err(StoreError::from)?)
}

/// A log of all stored events.
pub(super) fn log(reading: BriefReading, meta: &SessionMeta, rows: Vec<EventRow>) -> EventLog {
    let BriefReading { dialect, profile, counter } = reading;
    let mut log = EventLog::new(dialect, profile, counter).append_only();
    log.set_envelope(meta.envelope.iter().map(String::as_bytes));
    for row in rows {
        log.append(row.event.raw());
    }
    log
}

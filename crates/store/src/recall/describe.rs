//! Describes what a fold covers.

use midfold_core::fold::{Fold, FoldEntry};
use midfold_core::references::NameReference;
use serde::Serialize;

use super::reading::LogReader;
use super::target::{covered, fold_of, record};
use super::{ExpandTarget, RecallError};
use crate::store::Store;
use crate::types::{FoldRow, SessionRow};

/// At most this many identifiers are listed by [`describe`].
const LISTED: usize = 40;

/// The messages that a fold covers, and the names that it lost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FoldDescription {
    /// The id of the fold.
    pub id: String,
    /// The number of the fold in the session, from 1.
    pub number: u64,
    /// Whether this is the active fold.
    pub active: bool,
    /// The runs of messages that are not sent in their original form: the first and the last message of each.
    /// [`super::expand`] brings them back.
    pub covered: Vec<(u64, u64)>,
    /// The messages among them that are sent in an edited form.
    pub edited: Vec<u32>,
    /// The number of messages of the span that stay unchanged.
    pub kept: u64,
    /// Counted tokens of the context before the fold.
    pub tokens_before: u64,
    /// Counted tokens of the context after the fold.
    pub tokens_after: u64,
    /// The name of the fold's policy.
    pub policy: String,
    /// The kind of text that replaces the covered messages: `narrated`, `computed`, `marker`, `static`, `host`. Null if no
    /// message is covered.
    pub stand_in: Option<String>,
    /// The text of the recap or marker; null if there is none.
    pub recap: Option<String>,
    /// The identifiers of the covered messages that the context no longer has: worth a [`super::grep`].
    pub lost_ids: Vec<String>,
    /// The number of messages in the session when the fold was made.
    pub folded_at: u32,
    /// The lost identifiers that the user or the model used again, each with the first message that did.
    pub asked_again: Vec<NameReference>,
}

/// Describes a fold, which is given as `active` or as the start of its id.
///
/// # Errors
/// Fails where there is no such session or fold.
pub async fn describe(
    store: &dyn Store,
    session: &str,
    fold: &str,
) -> Result<FoldDescription, RecallError> {
    let row = store.session(session).await?;
    let name = fold.trim();
    let prefix = match ExpandTarget::parse(name) {
        Ok(ExpandTarget::Fold(prefix)) => prefix,
        // The start of an id may consist of digits, so it looks like the number of an event.
        Ok(ExpandTarget::Events(_)) => name.to_owned(),
        Err(_) if name.is_empty() => "active".to_owned(),
        Err(error) => return Err(error),
    };
    let fold_row = fold_of(store, &row, &prefix).await?;
    let record: Fold = record(&fold_row)?;
    let reader = LogReader::of(store, session).await?;
    let later = reader.events(record.accounts.events.into()..row.head).await?;
    let asked_again = record.references(&later);
    Ok(described(&row, &fold_row, record, asked_again))
}

fn described(
    row: &SessionRow,
    fold_row: &FoldRow,
    record: Fold,
    asked_again: Vec<NameReference>,
) -> FoldDescription {
    let edited = |entry: &FoldEntry| match entry {
        FoldEntry::Edited { seq, .. } => Some(*seq),
        _ => None,
    };
    let stand_in = record.stand_in_name();
    // A recap may name a file by another path than the one that was lost.
    let text = record.recap.as_ref().map_or("", |recap| recap.text.as_str());
    let is_lost = |name: &String| !text.contains(name.as_str());
    let lost_ids = record.lost_ids.first.iter().filter(|id| is_lost(id)).take(LISTED);
    let lost_ids = lost_ids.cloned().collect();
    FoldDescription {
        id: fold_row.fold.id.to_hex(),
        number: fold_row.number,
        active: row.active == Some(fold_row.fold.id),
        covered: covered(fold_row).iter().map(|run| (run.start, run.end - 1)).collect(),
        edited: record.entries.iter().filter_map(edited).collect(),
        kept: fold_row.fold.kept.iter().map(|run| run.end.saturating_sub(run.start)).sum(),
        tokens_before: record.tokens_before,
        tokens_after: record.tokens_after,
        policy: record.policy,
        stand_in,
        recap: record.recap.map(|recap| recap.text),
        lost_ids,
        folded_at: record.accounts.events,
        asked_again,
    }
}

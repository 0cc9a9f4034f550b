//! One fold in detail: the recap that the agent read, the edits, and what was lost.

use std::collections::BTreeMap;

use midfold_core::audit::{FoldReceipt, LostGroup, audit};
use midfold_core::fabric::FabricCell;
use midfold_core::fold::{Fold, FoldEntry, RecapRecord, VerdictRecord};
use midfold_core::fold_standing::FoldStanding;
use midfold_core::log::EventLog;
use midfold_core::project::{Context, PieceFate, project};
use midfold_core::tools::ToolTable;
use midfold_store::{FoldRow, StoredError, StoredSession};
use serde::Serialize;

use super::fabric::{FoldBrief, ReadContext};
use super::message::{numbered, reason};
use crate::texts::{cut, hidden, line as line_of, role, tool};

/// The most characters of a first line.
const LINE: usize = 160;
/// The most characters of a text in a comparison.
const SHOWN: usize = 2_000;
/// The most messages in the list of those that left; the newest are listed.
const LISTED: usize = 3_000;
/// The most places in a list of a receipt.
const PLACES: usize = 200;

/// A fold: what the agent read, by which edits, and what it lost.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FoldDetail {
    /// The fold in short, as lists have it.
    pub fold: FoldBrief,
    /// The recap as the agent reads it.
    pub recap: Option<RecapRecord>,
    /// The edits of reducers, in the order of the record.
    pub edits: Vec<EditLine>,
    /// The reason of the first edit of each edited message, by the message's number.
    pub why: BTreeMap<u32, String>,
    /// What became of a model's replies, with the lines that were left out and the reasons.
    pub verdicts: Vec<VerdictRecord>,
    /// What it lost, and what was asked for again.
    pub receipt: Option<FoldReceipt>,
    /// What the context does not say any more, by kind, what weighs most first.
    pub lost: Vec<LostGroup>,
    /// How many names (paths, ids, symbols) the fold took out of the context.
    pub lost_names: u32,
    /// How many names of the folded messages are still in the context.
    pub kept_names: u32,
    /// Messages that are out of the context after it: with this fold or before. The newest of them where they are
    /// many.
    pub events: Vec<GoneMessage>,
    /// How many are out of the context.
    pub gone: u64,
    /// The immutable record.
    pub record: Fold,
}

/// What a reducer did to a part of a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EditLine {
    /// The message.
    pub seq: u32,
    /// `replaced` or `removed`.
    pub kind: String,
    /// The reducer's name.
    pub reducer: String,
    /// The code of the reason.
    pub reason: String,
    /// Tokens before.
    pub tokens_before: u32,
    /// Tokens after.
    pub tokens_after: u32,
}

/// A message that is out of the context.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GoneMessage {
    /// Its place in the log.
    pub seq: u32,
    /// Who spoke.
    pub role: String,
    /// The tool.
    pub tool: Option<String>,
    /// How it begins.
    pub line: String,
    /// Its tokens.
    pub tokens: u32,
}

/// What a fold changed in the context, message by message.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ContextDiff {
    /// Some of the messages that this fold changed or took out, in order.
    pub rows: Vec<ChangedMessage>,
    /// How many messages the fold changed or took out; `rows` is one page of them.
    pub total: u64,
}

/// A message, before and after.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChangedMessage {
    /// Its place in the log.
    pub seq: u32,
    /// Who speaks.
    pub role: String,
    /// The tool.
    pub tool: Option<String>,
    /// What became of it.
    pub fate: char,
    /// By which rule, and why.
    pub reason: Option<String>,
    /// As it was sent before; its beginning where it is long.
    pub before: String,
    /// As it is sent now; none where it left.
    pub after: Option<String>,
    /// Its tokens before.
    pub tokens_before: u32,
    /// Its tokens now.
    pub tokens_after: u32,
}

/// Returns all folds, and the index of the one with this number.
async fn found(
    stored: &StoredSession,
    number: u64,
) -> Result<(Vec<(FoldRow, Fold)>, usize), StoredError> {
    let rows = stored.fold_rows().await?;
    let at = rows.iter().position(|(row, _)| row.number == number);
    let at = numbered(at, "fold", number, rows.len())?;
    Ok((rows, at))
}

impl FoldDetail {
    /// Reads the detail of a fold of an open session.
    ///
    /// # Errors
    /// If there is no fold with this number, or if the store fails.
    pub async fn of(stored: &mut StoredSession, number: u64) -> Result<Self, StoredError> {
        let (rows, at) = found(stored, number).await?;
        let brief = FoldBrief::stored(&rows, at, &ReadContext::of(stored, &rows).await?);
        let fold = &rows[at].1;
        let session = stored.whole().await?;
        let (log, tools) = (session.log(), ToolTable::of(&session.policy().tools));
        let mut all: Vec<GoneMessage> = gone(log, fold);
        let count = all.len();
        all.drain(..count.saturating_sub(LISTED));
        Ok(Self {
            recap: fold.recap.clone(),
            edits: fold.edits.iter().map(line).collect(),
            // In reverse order, so that the first edit of a message is the last one inserted and stays in the map.
            why: fold.edits.iter().rev().map(|edit| (edit.seq, reason(edit))).collect(),
            verdicts: fold.verdicts.clone(),
            receipt: receipt(log, &rows, at, brief.standing),
            lost: fold.lost(log, &tools),
            lost_names: fold.lost_ids.count,
            kept_names: fold.kept_ids.count,
            events: all,
            gone: count as u64,
            record: fold.with_references(log),
            fold: brief,
        })
    }
}

/// The receipt of the fold at index `at`. The folds up to it are audited together, which gives them the numbers that
/// they have in the session.
fn receipt(
    log: &EventLog,
    rows: &[(FoldRow, Fold)],
    at: usize,
    standing: Option<FoldStanding>,
) -> Option<FoldReceipt> {
    let folds: Vec<Fold> = rows[..=at].iter().map(|(_, fold)| fold.clone()).collect();
    let mut receipt = audit(log, &folds, None, &[]).receipts.pop()?;
    receipt.standing = standing.unwrap_or(receipt.standing);
    receipt.recallable.truncate(PLACES);
    receipt.pins.truncate(PLACES);
    Some(receipt)
}

fn line(edit: &midfold_core::fold::BlockEdit) -> EditLine {
    let kind = serde_json::to_value(edit.kind).ok();
    EditLine {
        seq: edit.seq,
        kind: kind.and_then(|kind| kind.as_str().map(str::to_owned)).unwrap_or_default(),
        reducer: edit.reducer.as_str().to_owned(),
        reason: edit.reason.clone(),
        tokens_before: edit.tokens_before,
        tokens_after: edit.tokens_after,
    }
}

/// The messages that are in the recap or behind the marker after a fold, in order.
fn gone(log: &EventLog, fold: &Fold) -> Vec<GoneMessage> {
    let mut seq = 0_usize;
    let mut all = Vec::new();
    for (cell, count) in FabricCell::of_fold(fold) {
        let end = seq + count as usize;
        if matches!(cell, FabricCell::Recap | FabricCell::Marker) {
            let some = log.events().get(seq..end.min(log.len())).unwrap_or_default();
            all.extend(some.iter().map(|event| GoneMessage {
                seq: event.seq,
                role: role(event).to_owned(),
                tool: tool(event),
                line: line_of(event, LINE),
                tokens: event.tokens.total,
            }));
        }
        seq = end;
    }
    all
}

/// The messages of a context by their numbers in the log, with their tokens; recaps and markers have no number.
fn sent(context: &Context) -> BTreeMap<u32, (&bytes::Bytes, u32)> {
    let seq = |fate: PieceFate| match fate {
        PieceFate::Verbatim(seq) | PieceFate::Edited(seq) | PieceFate::Repaired(seq, _) => {
            Some(seq)
        }
        PieceFate::Recap | PieceFate::Marker | PieceFate::Added(_) => None,
    };
    context
        .pieces()
        .filter_map(|piece| Some((seq(piece.fate)?, (&piece.bytes, piece.tokens))))
        .collect()
}

impl ContextDiff {
    /// Compares the contexts before and after a fold: `limit` changed messages, from the one at index `from` on.
    ///
    /// # Errors
    /// If there is no fold with this number, or if the store fails.
    pub async fn of(
        stored: &mut StoredSession,
        number: u64,
        from: usize,
        limit: usize,
    ) -> Result<Self, StoredError> {
        let (rows, at) = found(stored, number).await?;
        let fold = &rows[at].1;
        let before = rows.iter().map(|(_, fold)| fold).find(|other| Some(other.id) == fold.prev);
        let session = stored.whole().await?;
        let log = session.log().prefix(fold.accounts.events as usize);
        let (old, new) = (project(&log, before), project(&log, Some(fold)));
        let (old, new) = (sent(&old), sent(&new));
        let why: BTreeMap<u32, String> =
            fold.edits.iter().rev().map(|edit| (edit.seq, reason(edit))).collect();
        let cells = FabricCell::of_fold(fold);
        let cells: Vec<FabricCell> =
            cells.iter().flat_map(|(cell, n)| std::iter::repeat_n(*cell, *n as usize)).collect();
        let changed = |(seq, (bytes, _)): &(&u32, &(&bytes::Bytes, u32))| {
            new.get(*seq).is_none_or(|(now, _)| *now != *bytes)
        };
        let all: Vec<_> = old.iter().filter(changed).collect();
        let total = all.len() as u64;
        let text = |bytes: &bytes::Bytes| {
            let view = log.dialect().view(bytes);
            let text = midfold_core::texts::message_text(
                bytes,
                &view,
                midfold_core::texts::ArgumentTexts::Sent,
            );
            cut(&hidden(&text), SHOWN).0
        };
        let row = |(seq, (bytes, tokens)): (&u32, &(&bytes::Bytes, u32))| {
            let event = &log.events()[*seq as usize];
            let now = new.get(seq);
            ChangedMessage {
                seq: *seq,
                role: role(event).to_owned(),
                tool: tool(event),
                fate: cells.get(*seq as usize).copied().unwrap_or(FabricCell::Verbatim).letter(),
                reason: why.get(seq).cloned(),
                before: text(bytes),
                after: now.map(|(bytes, _)| text(bytes)),
                tokens_before: *tokens,
                tokens_after: now.map_or(0, |(_, tokens)| *tokens),
            }
        };
        let rows = all.into_iter().skip(from).take(limit).map(row).collect();
        Ok(Self { rows, total })
    }
}

/// The text that a fold puts in the place of messages: the recap, or else the marker; `None` if it only edits messages.
pub(super) fn stand_in(fold: &Fold, log: &EventLog) -> Option<String> {
    fold.entries.iter().find_map(|entry| match entry {
        FoldEntry::Recap { bytes } | FoldEntry::Marker { bytes } => {
            let bytes = bytes::Bytes::copy_from_slice(bytes.as_bytes());
            let view = log.dialect().view(&bytes);
            Some(midfold_core::texts::message_text(
                &bytes,
                &view,
                midfold_core::texts::ArgumentTexts::Sent,
            ))
        }
        _ => None,
    })
}

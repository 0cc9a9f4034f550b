//! One fold in detail: the recap that the agent read, the edits, and what was lost.

use std::collections::BTreeMap;

use midfold_core::audit::{FoldReceipt, LostGroup, audit};
use midfold_core::fabric::FabricCell;
use midfold_core::fold::{Fold, RecapRecord, VerdictRecord};
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

/// A fold in detail: the text in the context, the edits, and what the context lost.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FoldDetail {
    /// The fold in short, as in lists.
    pub fold: FoldBrief,
    /// The recap as the agent reads it; null if there is none.
    pub recap: Option<RecapRecord>,
    /// The edits of reducers, in the order of the record.
    pub edits: Vec<EditLine>,
    /// The reason of the first edit of each edited message, by the number of the message.
    pub why: BTreeMap<u32, String>,
    /// The outcomes of the requests for a narration, with the lines that were left out and the reasons.
    pub verdicts: Vec<VerdictRecord>,
    /// The account of the content that left the context, and of names that were used again later.
    pub receipt: Option<FoldReceipt>,
    /// The content that the context no longer has, by kind; the heaviest kind first.
    pub lost: Vec<LostGroup>,
    /// The number of names (paths, ids, symbols) that the fold took out of the context.
    pub lost_names: u32,
    /// The number of names of the folded messages that the context still has.
    pub kept_names: u32,
    /// The messages that are out of the context after this fold, whether by it or by an earlier one. Only the newest,
    /// if there are many.
    pub events: Vec<GoneMessage>,
    /// The number of messages that are out of the context.
    pub gone: u64,
    /// The immutable record of the fold.
    pub record: Fold,
}

/// The edit of a part of a message by a reducer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EditLine {
    /// The number of the message.
    pub seq: u32,
    /// `replaced` or `removed`.
    pub kind: String,
    /// The reducer's name.
    pub reducer: String,
    /// The reason code of the reducer.
    pub reason: String,
    /// Tokens of the part before the edit.
    pub tokens_before: u32,
    /// Tokens of the part after the edit.
    pub tokens_after: u32,
}

/// A message that is out of the context.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GoneMessage {
    /// The number of the message in the log, from 0.
    pub seq: u32,
    /// Who wrote the message.
    pub role: String,
    /// The tool that it calls, or whose result it is; null if there is none.
    pub tool: Option<String>,
    /// The beginning of the text.
    pub line: String,
    /// The tokens of the message.
    pub tokens: u32,
}

/// The messages of the context that a fold changed or took out.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ContextDiff {
    /// One page of these messages, in order.
    pub rows: Vec<ChangedMessage>,
    /// The number of these messages on all pages.
    pub total: u64,
}

/// A message of the context before and after a fold.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChangedMessage {
    /// The number of the message in the log, from 0.
    pub seq: u32,
    /// Who wrote the message.
    pub role: String,
    /// The tool that it calls, or whose result it is; null if there is none.
    pub tool: Option<String>,
    /// The fate of the message as a letter, as in `fates` of a fold.
    pub fate: char,
    /// The reducer and its reason; null unless a reducer edited the message.
    pub reason: Option<String>,
    /// The message as sent before the fold; the beginning of a long one.
    pub before: String,
    /// The message as sent after the fold; null if it left the context.
    pub after: Option<String>,
    /// Tokens of the message before the fold.
    pub tokens_before: u32,
    /// Tokens of the message after the fold; 0 if it left.
    pub tokens_after: u32,
}

/// Returns all folds, and the index of the one with this number.
async fn find_fold(
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
        let (rows, at) = find_fold(stored, number).await?;
        let brief = FoldBrief::stored(&rows, at, &ReadContext::of(stored, &rows).await?);
        let fold = &rows[at].1;
        let session = stored.whole().await?;
        let (log, tools) = (session.log(), ToolTable::of(&session.policy().tools));
        let mut all: Vec<GoneMessage> = gone_messages(log, fold);
        let count = all.len();
        all.drain(..count.saturating_sub(LISTED));
        Ok(Self {
            recap: fold.recap.clone(),
            edits: fold.edits.iter().map(line).collect(),
            // In reverse order, so that the first edit of a message is the last one inserted and stays in the map.
            why: fold.edits.iter().rev().map(|edit| (edit.seq, reason(edit))).collect(),
            verdicts: fold.verdicts.clone(),
            receipt: receipt(log, &rows, at, brief.standing),
            lost: fold.lost_groups(log, &tools),
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
fn gone_messages(log: &EventLog, fold: &Fold) -> Vec<GoneMessage> {
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
fn sent_messages(context: &Context) -> BTreeMap<u32, (&bytes::Bytes, u32)> {
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
        let (rows, at) = find_fold(stored, number).await?;
        let fold = &rows[at].1;
        let before = rows.iter().map(|(_, fold)| fold).find(|other| Some(other.id) == fold.prev);
        let session = stored.whole().await?;
        // Messages that came later are no change that the fold made.
        let log = session.log().prefix(fold.accounts.events as usize);
        let (old, new) = (project(&log, before), project(&log, Some(fold)));
        let (old, new) = (sent_messages(&old), sent_messages(&new));
        let why: BTreeMap<u32, String> =
            fold.edits.iter().rev().map(|edit| (edit.seq, reason(edit))).collect();
        let cells = FabricCell::each_of(fold);
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

//! The calls of a session: what each request sent.

use midfold_core::event::Usage;
use midfold_core::fold::Fold;
use midfold_core::inject::Injection;
use midfold_core::ledger::{CallRecord, ReportedCost, SharedPrefix, context_hash};
use midfold_core::log::EventLog;
use midfold_core::project::{PieceFate, project_with_void};
use midfold_core::texts::{ArgumentTexts, message_text};
use midfold_store::{CallRow, FoldRow, Millis, StoredError, StoredSession};
use serde::Serialize;

use super::message::numbered;
use crate::texts::{cut, hidden};

/// The most characters that are shown of a message.
const SHOWN: usize = 4_000;

/// A request in the ledger of a session.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CallView {
    /// The number of the request in the session, from 1.
    pub number: u64,
    /// When the request was made, in milliseconds since 1970.
    pub time: Millis,
    /// The number of messages in the log when the request was made.
    pub events: u32,
    /// The number of the fold that was active; null if there was none.
    pub fold: Option<u64>,
    /// The number of messages that were sent.
    pub messages: u32,
    /// The bytes of these messages.
    pub bytes: u64,
    /// Tokens of the request, as midfold counts them.
    pub tokens_counted: u64,
    /// Tokens of the request, as the provider was expected to count them.
    pub tokens_estimated: u64,
    /// Counted tokens of the whole log at that time, with system prompt and tools.
    pub everything: u64,
    /// The prefix that the request shares with the one before. The provider's cache can serve it.
    pub prefix: SharedPrefix,
    /// The texts that hooks added.
    pub injections: Vec<Injection>,
    /// The tokens as the provider counted them; null if it did not report them.
    pub usage: Option<Usage>,
}

/// A request with its messages.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CallDetail {
    /// The request as in the ledger.
    #[serde(flatten)]
    pub call: CallView,
    /// The messages that were sent, projected again from the log. For a request through the proxy, messages after the
    /// model's last one are missing: they belong to the next request.
    pub sent: Vec<PieceView>,
    /// Whether these messages have the hash that the ledger recorded.
    pub proven: bool,
}

/// A message as it was sent.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PieceView {
    /// The number of the message in the log; null for a recap, a marker, and a message that was added for validity.
    pub seq: Option<u32>,
    /// Who wrote the message.
    pub role: String,
    /// The fate as a letter: `v` verbatim, `s` edited, `x` repaired or added, `r` the recap, `m` the marker.
    pub fate: char,
    /// The text without secrets; the beginning of a long one.
    pub text: String,
    /// Whether `text` is cut.
    pub cut: bool,
    /// The tokens of the message.
    pub tokens: u32,
}

/// Returns all calls of an open session, in order.
///
/// # Errors
/// If the store fails.
pub async fn calls(stored: &mut StoredSession) -> Result<Vec<CallView>, StoredError> {
    let rows = stored.call_rows().await?;
    let folds = stored.fold_rows().await?;
    let log = stored.whole().await?.log();
    Ok(rows.iter().map(|row| call_view(row, &folds, log)).collect())
}

/// A call of the ledger, with the cost that the provider reported.
type LedgerRow = (CallRow, CallRecord, Option<ReportedCost>);

/// The view of a call: `log` gives the tokens of all messages that there were.
fn call_view(
    (row, record, settled): &LedgerRow,
    folds: &[(FoldRow, Fold)],
    log: &EventLog,
) -> CallView {
    let fold = folds.iter().find(|(row, _)| Some(row.fold.id) == record.fold);
    CallView {
        number: record.number,
        time: row.call.now,
        events: record.events,
        fold: fold.map(|(row, _)| row.number),
        messages: record.messages,
        bytes: record.bytes,
        tokens_counted: record.tokens_counted,
        tokens_estimated: record.tokens_estimated,
        everything: log.envelope_tokens() + log.tokens_in(0..record.events as usize),
        prefix: record.prefix,
        injections: record.injections.clone(),
        usage: settled.map(|settled| settled.usage),
    }
}

/// Returns a call with the messages that it sent, projected again from the log.
///
/// # Errors
/// If there is no call with this number, or if the store fails.
pub async fn call(stored: &mut StoredSession, number: u64) -> Result<CallDetail, StoredError> {
    let rows = stored.call_rows().await?;
    let row = rows.iter().find(|(_, record, _)| record.number == number);
    let row = numbered(row, "recorded call", number, rows.len())?;
    let folds = stored.fold_rows().await?;
    let log = stored.whole().await?.log();
    let (call, record) = (call_view(row, &folds, log), &row.1);
    let fold = folds.iter().map(|(_, fold)| fold).find(|fold| Some(fold.id) == record.fold);
    // A log only grows, so its first events are the log of that time.
    let log = log.prefix(record.events as usize);
    let context = project_with_void(&log, fold, record.void);
    let proven = context_hash(&context) == record.context_hash;
    let piece = |piece: &midfold_core::project::ContextPiece| {
        let (seq, fate) = match piece.fate {
            PieceFate::Verbatim(seq) => (Some(seq), 'v'),
            PieceFate::Edited(seq) => (Some(seq), 's'),
            PieceFate::Repaired(seq, _) => (Some(seq), 'x'),
            PieceFate::Recap => (None, 'r'),
            PieceFate::Marker => (None, 'm'),
            PieceFate::Added(_) => (None, 'x'),
        };
        let view = log.dialect().view(&piece.bytes);
        let text = hidden(&message_text(&piece.bytes, &view, ArgumentTexts::Sent));
        let (text, cut) = cut(&text, SHOWN);
        let role = if view.has_results() { "tool" } else { view.role.name() };
        PieceView { seq, role: role.to_owned(), fate, text, cut, tokens: piece.tokens }
    };
    Ok(CallDetail { call, sent: context.pieces().map(piece).collect(), proven })
}

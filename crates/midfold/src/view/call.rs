//! What each request really sent.

use midfold_core::event::Usage;
use midfold_core::inject::Injection;
use midfold_core::ledger::{CallRecord, Prefix, Settled};
use midfold_core::project::{Fate, project};
use midfold_core::replay::{Arguments, message_text};
use midfold_store::{CallRow, Millis, Stored, StoredError};
use serde::Serialize;

use super::message::numbered;
use super::text::{cut, hidden};

/// Characters that are shown of a message.
const SHOWN: usize = 4_000;

/// A request, as the ledger has it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Call {
    /// Its number in the session, from 1.
    pub number: u64,
    /// When.
    pub time: Millis,
    /// Messages of the log that it was made from.
    pub events: u32,
    /// The number of the fold that it was read through.
    pub fold: Option<u64>,
    /// Messages that were sent.
    pub messages: u32,
    /// Their bytes.
    pub bytes: u64,
    /// Tokens as midfold counts them.
    pub tokens_counted: u64,
    /// Tokens as the provider was expected to count them.
    pub tokens_estimated: u64,
    /// Tokens of the whole log then.
    pub everything: u64,
    /// What it has in common with the request before: a cache can serve that.
    pub prefix: Prefix,
    /// What hooks added.
    pub injections: Vec<Injection>,
    /// What the provider counted.
    pub usage: Option<Usage>,
}

/// A request, and its messages.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CallDetail {
    /// As the ledger has it.
    #[serde(flatten)]
    pub call: Call,
    /// What it sent, projected again. Through a proxy, what came after the model's last message is in the next
    /// request.
    pub sent: Vec<Piece>,
    /// The messages hash to what the ledger says.
    pub proven: bool,
}

/// A message as it was sent.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Piece {
    /// Its place in the log; none for a recap, a marker and what validity asked for.
    pub seq: Option<u32>,
    /// Who speaks.
    pub role: String,
    /// What it is: `v` verbatim, `s` edited, `x` repaired or added, `r` the recap, `m` the marker.
    pub fate: char,
    /// Its text, without secrets; its beginning where it is long.
    pub text: String,
    /// There is more text.
    pub cut: bool,
    /// Its tokens.
    pub tokens: u32,
}

/// All requests of an open session, in order.
///
/// # Errors
/// When the store fails.
pub async fn calls(stored: &mut Stored) -> Result<Vec<Call>, StoredError> {
    let rows = stored.call_rows().await?;
    let folds = stored.fold_rows().await?;
    let log = stored.whole().await?.log();
    let number =
        |id| folds.iter().find(|(row, _)| Some(row.fold.id) == id).map(|(row, _)| row.number);
    let call = |(row, record, settled): (CallRow, CallRecord, Option<Settled>)| Call {
        number: record.number,
        time: row.call.now,
        events: record.events,
        fold: number(record.fold),
        messages: record.messages,
        bytes: record.bytes,
        tokens_counted: record.tokens_counted,
        tokens_estimated: record.tokens_estimated,
        everything: log.envelope_tokens() + log.tokens_in(0..record.events as usize),
        prefix: record.prefix,
        injections: record.injections,
        usage: settled.map(|settled| settled.usage),
    };
    Ok(rows.into_iter().map(call).collect())
}

/// A request, with what it sent.
///
/// # Errors
/// When there is none of this number, or the store fails.
pub async fn call(stored: &mut Stored, number: u64) -> Result<CallDetail, StoredError> {
    let all = calls(stored).await?;
    let count = all.len();
    let call = numbered(all.into_iter().find(|call| call.number == number), "call", number, count)?;
    let records = stored.calls().await?;
    let record = records.into_iter().map(|(record, _)| record).find(|it| it.number == number);
    let record = numbered(record, "call", number, count)?;
    let folds = stored.folds().await?;
    let fold = folds.iter().find(|fold| Some(fold.id) == record.fold);
    let log = stored.whole().await?.log().prefix(record.events as usize);
    let context = project(&log, fold);
    let proven = midfold_core::ledger::context_hash(&context) == record.context_hash;
    let piece = |piece: &midfold_core::project::Piece| {
        let (seq, fate) = match piece.fate {
            Fate::Verbatim(seq) => (Some(seq), 'v'),
            Fate::Edited(seq) => (Some(seq), 's'),
            Fate::Repaired(seq, _) => (Some(seq), 'x'),
            Fate::Recap => (None, 'r'),
            Fate::Marker => (None, 'm'),
            Fate::Added(_) => (None, 'x'),
        };
        let view = log.dialect().view(&piece.bytes);
        let text = hidden(&message_text(&piece.bytes, &view, Arguments::Sent));
        let (text, cut) = cut(&text, SHOWN);
        let role = if view.has_results() { "tool" } else { view.role.name() };
        Piece { seq, role: role.to_owned(), fate, text, cut, tokens: piece.tokens }
    };
    Ok(CallDetail { call, sent: context.pieces().map(piece).collect(), proven })
}

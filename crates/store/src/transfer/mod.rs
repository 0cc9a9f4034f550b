//! A store as text: one JSON record a line, from one store into another. What comes out of
//! `export(import(x))` is `x`, byte for byte.
//!
//! The first line names the format and its version, the last one counts the records. Before anything
//! is stored, the whole file is read through and every hash is computed again; then it is stored in
//! one transaction. A session's lines follow each other: the session, its events, its folds, its
//! calls. Jobs and keys of appends belong to the
//! nodes of one store and stay there; a span that waits is queued again by the next turn.

mod line;
mod reader;

use std::io::{BufRead, Write};

use crate::store::Store;
use crate::types::{Millis, NewCall, NewEvent, NewFold};
use line::{EventContent, FoldLine, PAGE, TransferLine};
pub use line::{TransferCounts, TransferError, VERSION};
use reader::PartReader;

/// Sessions that are read at once.
const SESSIONS: u32 = 256;

fn put(out: &mut impl Write, line: &TransferLine) -> Result<(), TransferError> {
    serde_json::to_writer(&mut *out, line).map_err(std::io::Error::from)?;
    Ok(out.write_all(b"\n")?)
}

/// Writes sessions (all without `only`) as lines.
///
/// # Errors
/// When the store cannot be read or the file not be written.
pub async fn export<W: Write + Send>(
    store: &dyn Store,
    only: Option<&str>,
    out: &mut W,
) -> Result<TransferCounts, TransferError> {
    let mut moved = TransferCounts::default();
    put(out, &TransferLine::Midfold { version: VERSION })?;
    if let Some(id) = only {
        export_session(store, id, out, &mut moved).await?;
    } else {
        let mut after: Option<String> = None;
        loop {
            let page = store.sessions(after.as_deref(), SESSIONS).await?;
            let Some(last) = page.last() else { break };
            after = Some(last.new.id.clone());
            for row in &page {
                export_session(store, &row.new.id, out, &mut moved).await?;
            }
        }
    }
    put(out, &TransferLine::End(moved))?;
    out.flush()?;
    Ok(moved)
}

async fn export_session<W: Write + Send>(
    store: &dyn Store,
    id: &str,
    out: &mut W,
    moved: &mut TransferCounts,
) -> Result<(), TransferError> {
    let row = store.session(id).await?;
    // Read after the session's row: so the active fold is among them.
    let folds = store.folds(id).await?;
    let (head, active, state) = (row.head, row.active, row.state);
    put(out, &TransferLine::Session { new: row.new, head, active, state })?;
    moved.sessions += 1;
    let mut seq = 0;
    while seq < head {
        let page = store.events(id, seq..head.min(seq + PAGE as u64)).await?;
        let Some(last) = page.last() else { break };
        seq = last.seq + 1;
        for row in page {
            let NewEvent { bytes, hash, turn, tokens, usage, origin } = row.event;
            let bytes = EventContent::of(&bytes);
            put(out, &TransferLine::Event { bytes, hash, turn, tokens, usage, origin })?;
            moved.events += 1;
        }
    }
    // A fold that came in meanwhile over events after `head` belongs to a later export.
    for row in folds.into_iter().filter(|row| row.fold.end <= head) {
        let NewFold { id, start, end, before, through, policy, recap, kept, body, now } = row.fold;
        let kept = kept.into_iter().map(|run| (run.start, run.end)).collect();
        let fold = FoldLine { id, start, end, before, through, policy, recap, kept, now, body };
        put(out, &TransferLine::Fold(Box::new(fold)))?;
        moved.folds += 1;
    }
    for row in store.calls(id).await?.into_iter().take_while(|row| row.call.head <= head) {
        let NewCall { number, head, fold, hash, body, now } = row.call;
        put(out, &TransferLine::Call { number, head, fold, hash, body, now, usage: row.usage })?;
        moved.calls += 1;
    }
    Ok(())
}

/// Reads what [`export`] wrote, all of it or nothing. Sessions must be new to the store. When an event
/// came in is not in the file: here that is `now`.
///
/// The whole file is read through once before anything is stored: what was cut off, changed, put in
/// another order or written by another version changes nothing.
///
/// # Errors
/// [`TransferError::Line`] for a bad file; [`StoreError::Exists`](crate::error::StoreError::Exists) for a session that is there
/// already.
pub async fn import<R, F>(
    store: &dyn Store,
    now: Millis,
    open: F,
) -> Result<TransferCounts, TransferError>
where
    R: BufRead + Send,
    F: Fn() -> std::io::Result<R> + Send,
{
    let mut survey = PartReader::new(open()?);
    survey.by_ref().try_for_each(|part| part.map(drop)).or_else(|error| survey.why(error))?;
    // Checked again as it is stored: the file may have changed meanwhile.
    let mut parts = PartReader::new(open()?);
    store.restore(&mut parts, now).await.or_else(|error| parts.why(error))?;
    Ok(parts.moved())
}

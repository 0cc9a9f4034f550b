//! Moves sessions from one store into another as text, with one JSON record on each line. Exporting an import of `x`
//! gives `x` again, byte for byte.
//!
//! The first line names the format and its version, and the last one counts the records. An import reads the whole
//! file and computes every hash again before it stores anything; then it stores everything in one transaction. The
//! lines of a session are the session, its events, its folds and its calls.
//!
//! Jobs and append keys belong to the nodes of one store, so they are not moved. A span that waits for narration is
//! queued again by the next turn.

mod line;
mod reader;

use std::io::{BufRead, Write};

use crate::error::StoreError;
use crate::store::Store;
use crate::types::{CallRow, EventRow, FoldRow, Millis, NewCall, NewEvent, NewFold, SessionRow};
use line::{EventContent, FoldLine, PAGE, TransferLine};
pub use line::{TransferCounts, TransferError, VERSION};
use reader::PartReader;

/// How many sessions are read at a time.
const SESSIONS: u32 = 256;

fn put(out: &mut impl Write, line: &TransferLine) -> Result<(), TransferError> {
    serde_json::to_writer(&mut *out, line).map_err(std::io::Error::from)?;
    Ok(out.write_all(b"\n")?)
}

/// Writes one session, or all sessions where `only` is `None`, as lines. A session that is deleted before its turn
/// comes is left out.
///
/// # Errors
/// Fails where the store cannot be read, or the file cannot be written; with [`TransferError::Deleted`] where a session
/// is deleted after a part of it was written.
pub async fn export<W: Write + Send>(
    store: &dyn Store,
    only: Option<&str>,
    out: &mut W,
) -> Result<TransferCounts, TransferError> {
    let mut moved = TransferCounts::default();
    put(out, &TransferLine::Midfold { version: VERSION })?;
    if let Some(id) = only {
        let session = SessionExport::read(store, id).await?;
        session.write(store, out, &mut moved).await?;
    } else {
        let mut after: Option<String> = None;
        loop {
            let page = store.sessions(after.as_deref(), SESSIONS).await?;
            let Some(last) = page.last() else { break };
            after = Some(last.new.id.clone());
            for row in &page {
                // Read again: the page may be minutes old, and its head would leave newer events out.
                match SessionExport::read(store, &row.new.id).await {
                    Ok(session) => session.write(store, out, &mut moved).await?,
                    Err(StoreError::NoSession(_)) => {}
                    Err(error) => return Err(error.into()),
                }
            }
        }
    }
    put(out, &TransferLine::End(moved))?;
    out.flush()?;
    Ok(moved)
}

/// A session to export, as of its row. Later additions are left out.
struct SessionExport {
    row: SessionRow,
    /// The first page of its events. The others are read while it is written, because a log may be large.
    events: Vec<EventRow>,
    folds: Vec<FoldRow>,
    calls: Vec<CallRow>,
}

impl SessionExport {
    /// Reads a session, before anything of it is written.
    async fn read(store: &dyn Store, id: &str) -> Result<Self, StoreError> {
        let row = store.session(id).await?;
        // The folds are read after the session's row, so that the active fold is among them.
        let (mut folds, mut calls) = (store.folds(id).await?, store.calls(id).await?);
        let events = match row.head {
            0 => Vec::new(),
            head => store.events(id, 0..head.min(PAGE as u64)).await?,
        };
        // A fold over events after the head was added in the meantime, so it belongs to a later export.
        folds.retain(|fold| fold.fold.end <= row.head);
        // The calls are a chain, which may be cut only at its end. So those behind the first that saw more are left
        // out, too.
        let count = calls.iter().take_while(|call| call.call.head <= row.head).count();
        calls.truncate(count);
        Ok(Self { row, events, folds, calls })
    }

    /// Writes the lines of the session.
    async fn write<W: Write + Send>(
        self,
        store: &dyn Store,
        out: &mut W,
        moved: &mut TransferCounts,
    ) -> Result<(), TransferError> {
        let Self { row, mut events, folds, calls } = self;
        let SessionRow { new, head, active, state, .. } = row;
        let id = new.id.clone();
        put(out, &TransferLine::Session { new, head, active, state })?;
        moved.sessions += 1;
        // A damaged session gives fewer events than its line promises, and an import refuses that.
        while let Some(last) = events.last() {
            let seq = last.seq + 1;
            for row in events {
                let NewEvent { bytes, hash, turn, tokens, usage, origin } = row.event;
                let bytes = EventContent::of(&bytes);
                put(out, &TransferLine::Event { bytes, hash, turn, tokens, usage, origin })?;
                moved.events += 1;
            }
            if seq >= head {
                break;
            }
            let page = store.events(&id, seq..head.min(seq + PAGE as u64)).await;
            events = page.map_err(|error| match error {
                StoreError::NoSession(id) => TransferError::Deleted(id),
                error => error.into(),
            })?;
        }
        for FoldRow { fold, .. } in folds {
            let NewFold { id, start, end, before, through, policy, recap, kept, body, now } = fold;
            let kept = kept.into_iter().map(|run| (run.start, run.end)).collect();
            let fold = FoldLine { id, start, end, before, through, policy, recap, kept, now, body };
            put(out, &TransferLine::Fold(Box::new(fold)))?;
            moved.folds += 1;
        }
        for CallRow { call, usage } in calls {
            let NewCall { number, head, fold, hash, body, now } = call;
            put(out, &TransferLine::Call { number, head, fold, hash, body, now, usage })?;
            moved.calls += 1;
        }
        Ok(())
    }
}

/// Imports what [`export`] wrote, all or nothing. The sessions must be new to the store. The file does not say when
/// events came in, so they count as appended at `now`.
///
/// The whole file is read once before anything is stored. So a file that is incomplete, changed, out of order or of
/// another version changes nothing. Neither does a file with a session that could not be opened here: one with an
/// unknown dialect, or a policy, a state or a usage that cannot be read.
///
/// # Errors
/// Fails with [`TransferError::Line`] where the file is not valid, and with
/// [`StoreError::Exists`] where a session exists already.
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
    // The file is checked again while it is stored, because it may have changed in the meantime.
    let mut parts = PartReader::new(open()?);
    store.restore(&mut parts, now).await.or_else(|error| parts.why(error))?;
    Ok(parts.counts())
}

//! Which events a load reads, and the form in which it returns them. All stores share this.

use std::ops::Range;

use crate::types::{EventRow, FoldRow, LoadedSession, SessionRow};

/// The runs of events that are needed to render a context, in order: the head, kept events of the middle, the tail.
pub(crate) fn runs(session: &SessionRow, fold: Option<&FoldRow>) -> Vec<Range<u64>> {
    let Some(FoldRow { fold, .. }) = fold else {
        return std::iter::once(0..session.head).collect();
    };
    let mut runs = Vec::with_capacity(fold.kept.len() + 2);
    runs.push(0..fold.start);
    let mut from = fold.start;
    // Damaged records may hold runs that overlap or are out of order. They are cut here, so that no event is returned
    // twice.
    for run in &fold.kept {
        let run = run.start.max(from)..run.end.min(fold.end);
        if run.start < run.end {
            from = run.end;
            runs.push(run);
        }
    }
    runs.push(fold.end..session.head);
    runs.retain(|run| run.start < run.end);
    runs
}

/// The loaded session, with the events of [`runs`] split into head, kept events and tail.
pub(crate) fn loaded(
    session: SessionRow,
    fold: Option<FoldRow>,
    mut events: Vec<EventRow>,
) -> LoadedSession {
    let (start, end) = fold.as_ref().map_or((0, 0), |row| (row.fold.start, row.fold.end));
    let tail = events.split_off(events.partition_point(|row| row.seq < end));
    let kept = events.split_off(events.partition_point(|row| row.seq < start));
    LoadedSession { session, fold, head: events, kept, tail }
}

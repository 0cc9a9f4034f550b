//! Searches the events of a session.

use std::ops::Range;

use super::database::{SqlDatabase, no_session};
use super::db::SqlConnection;
use super::{events, index};
use crate::error::StoreError;
use crate::text::{CandidateRanking, Matcher, Postings, QueryWord};
use crate::types::{EventRow, Hit};

/// Indexes the events that were appended since the last search.
async fn catch_up<S: SqlDatabase>(
    store: &S,
    id: &str,
    no: i64,
    dialect: &str,
) -> Result<(), StoreError> {
    loop {
        let indexed = index::indexed(&mut *store.reader().await?, no).await?;
        let (from, head) = indexed.ok_or_else(|| no_session(store, id))?;
        if from >= head {
            return Ok(());
        }
        let page = from..head.min(from + super::PAGE as u64);
        let events = events::events(&mut *store.reader().await?, no, &page).await?;
        store.notes().count_events(&events);
        let words = |row: &EventRow| {
            let text = crate::text::searched_text(dialect, &row.event.bytes);
            (row.seq, crate::text::distinct_words(&text))
        };
        let texts: Vec<_> = events.iter().map(words).collect();
        // Page by page, so that appends get the writer in between. If another search was faster, this adds nothing, and
        // the loop goes on where that one ended.
        index::index(&mut *store.writer().await?, no, &page, &texts).await?;
    }
}

/// Searches for words with the index, and ranks the candidates by their texts.
pub(super) async fn search_words<S: SqlDatabase>(
    store: &S,
    (id, no): (&str, i64),
    dialect: &str,
    range: &Range<u64>,
    (words, phrase): (&[QueryWord], &str),
    limit: u32,
) -> Result<Vec<Hit>, StoreError> {
    let postings = loop {
        catch_up(store, id, no, dialect).await?;
        let mut postings = Postings::new(range.end.saturating_sub(range.start));
        for word in words {
            let mut seqs = Vec::new();
            for form in word.forms() {
                seqs.extend(store.reader().await?.posting(no, range, form).await?);
            }
            seqs.sort_unstable();
            seqs.dedup();
            postings.push(seqs);
        }
        // The deletion of another session may have emptied the index in the meantime.
        let now = index::indexed(&mut *store.reader().await?, no).await?;
        if now.is_none_or(|(indexed, _)| indexed >= range.end) {
            break postings;
        }
    };
    let mut ranking = CandidateRanking::new(words, phrase, &postings);
    let mut best = postings.best();
    // The candidates are read in the order of the log, so that each of its pages is read once.
    best.sort_unstable();
    // A few at a time, because the texts of all candidates together may not fit into memory.
    for some in best.chunks(super::RANKED_AT_ONCE) {
        let runs: Vec<_> = some.iter().map(|seq| *seq..*seq + 1).collect();
        let events = store.reader().await?.run_events(no, &runs).await?;
        store.notes().count_events(&events);
        for row in &events {
            let text = crate::text::searched_text(dialect, &row.event.bytes);
            ranking.push(row.seq, &text);
        }
    }
    Ok(ranking.finish(limit))
}

/// Searches from the newest event on, without the index, until there are `limit` hits.
pub(super) async fn scan<S: SqlDatabase>(
    store: &S,
    no: i64,
    dialect: &str,
    mut range: Range<u64>,
    matcher: &Matcher,
    limit: u32,
) -> Result<Vec<Hit>, StoreError> {
    let mut hits = Vec::new();
    while range.start < range.end && hits.len() < limit as usize {
        let page = events::newest(&mut *store.reader().await?, no, &range).await?;
        store.notes().count_events(&page);
        let Some(last) = page.last() else { break };
        range.end = last.seq;
        let page_hits = page.iter().filter_map(|row| {
            let text = crate::text::searched_text(dialect, &row.event.bytes);
            matcher.scan(row.seq, &text)
        });
        hits.extend(page_hits.take(limit as usize - hits.len()));
    }
    Ok(hits)
}

//! Cases for folds and loads.

use std::sync::Arc;

use midfold_core::Hash;

use super::kit::{
    CaseOutcome, SessionWriter, ensure, equal, error_text, fold, new_session, refused, user,
};
use crate::error::StoreError;
use crate::single::SingleChange;
use crate::store::Store;
use crate::types::{NewFold, ReadCounts};

/// A fold with a known id is not stored again. Folds are numbered in the order in which they are stored.
pub(super) async fn a_fold_is_there_once(store: Arc<dyn Store>) -> CaseOutcome {
    store.create(new_session("s")).await.map_err(error_text)?;
    let kept = vec![3..5, 7..8];
    let first = NewFold { kept, ..fold(2, 9, "first") };
    // Twice by one node, and once more by another.
    for fold in [&first, &first, &NewFold { now: 10, ..first.clone() }] {
        store.put_fold("s", fold).await.map_err(error_text)?;
    }
    // Two folds may have the same span, policy and recap but other entries or pins; then only the ids differ.
    for at in 0..4 {
        let id = Hash::ROOT.chain(format!("other {at}").as_bytes());
        let fold = NewFold { id, ..first.clone() };
        store.put_fold("s", &fold).await.map_err(error_text)?;
    }
    let rows = store.folds("s").await.map_err(error_text)?;
    let numbers: Vec<u64> = rows.iter().map(|row| row.number).collect();
    equal!(numbers, [1, 2, 3, 4, 5], "the numbers");
    equal!(rows.first().map(|row| &row.fold), Some(&first), "the first fold read back");
    Ok(())
}

/// Where several nodes store the same fold at once, it is there once.
pub(super) async fn concurrent_nodes_end_with_one_fold(store: Arc<dyn Store>) -> CaseOutcome {
    store.create(new_session("s")).await.map_err(error_text)?;
    for round in 0..4 {
        let alike = |node: u64| {
            let (store, fold) = (store.clone(), fold(0, 5, &format!("round {round}")));
            let other = super::kit::fold(0, 5, &format!("round {round} node {node}"));
            tokio::spawn(async move {
                // Another fold is stored at the same time, so that fold numbers are contended as well.
                store.put_fold("s", &other).await?;
                store.put_fold("s", &fold).await
            })
        };
        for task in (0..5).map(alike).collect::<Vec<_>>() {
            task.await.map_err(|error| error.to_string())?.map_err(error_text)?;
        }
    }
    let numbers: Vec<u64> =
        store.folds("s").await.map_err(error_text)?.iter().map(|row| row.number).collect();
    equal!(numbers, (1..=24).collect::<Vec<u64>>(), "the numbers");
    Ok(())
}

/// A fold becomes active only where the expected one still is. Of several nodes that try at once, one wins.
pub(super) async fn the_active_fold_is_compare_and_swap(store: Arc<dyn Store>) -> CaseOutcome {
    store.create(new_session("s")).await.map_err(error_text)?;
    let (a, b) = (fold(0, 3, "a"), fold(0, 6, "b"));
    refused!(
        store.activate("s", None, Some(a.id)).await,
        StoreError::NoFold(id) if id == a.id,
        "a fold that is not there"
    );
    for fold in [&a, &b] {
        store.put_fold("s", fold).await.map_err(error_text)?;
    }
    equal!(store.session("s").await.map_err(error_text)?.active, None, "put alone activates");
    store.activate("s", None, Some(a.id)).await.map_err(error_text)?;
    refused!(
        store.activate("s", None, Some(b.id)).await,
        StoreError::StaleFold { actual: Some(id) } if id == a.id,
        "from none"
    );
    refused!(
        store.activate("s", Some(b.id), Some(b.id)).await,
        StoreError::StaleFold { actual: Some(id) } if id == a.id,
        "from another"
    );
    store.activate("s", Some(a.id), Some(b.id)).await.map_err(error_text)?;
    equal!(store.session("s").await.map_err(error_text)?.active, Some(b.id), "the active fold");
    store.activate("s", Some(b.id), None).await.map_err(error_text)?;
    refused!(
        store.activate("s", Some(b.id), None).await,
        StoreError::StaleFold { actual: None },
        "undone twice"
    );
    let race = |fold: NewFold| {
        let store = store.clone();
        tokio::spawn(async move { store.activate("s", None, Some(fold.id)).await.is_ok() })
    };
    let mut winners = 0;
    for task in [a.clone(), b.clone(), a, b].map(race) {
        winners += u32::from(task.await.map_err(|error| error.to_string())?);
    }
    equal!(winners, 1, "nodes that won");
    Ok(())
}

/// Events in the head, for the test of the cost of loads.
const HEAD: u64 = 2;
/// Events in the tail, for the same test.
const TAIL: u64 = 20;

/// Makes a session with this many events and an active fold, and returns what a load of it reads.
async fn load_of(store: &Arc<dyn Store>, id: &str, events: u64) -> Result<ReadCounts, String> {
    let mut writer = SessionWriter::new(store, id).await?;
    writer.fill(usize::try_from(events).unwrap_or(usize::MAX)).await?;
    // Records have the same size whatever numbers they hold.
    let span = HEAD..events - TAIL;
    let kept = std::iter::once(10..14).collect();
    let fold = NewFold { body: "x".repeat(4_000), kept, ..fold(span.start, span.end, "f") };
    store.put_fold(id, &fold).await.map_err(error_text)?;
    store.activate(id, None, Some(fold.id)).await.map_err(error_text)?;
    let before = store.reads();
    let loaded = store.load(id).await.map_err(error_text)?;
    let after = store.reads();
    equal!(loaded.session.head, events, "the head");
    let seqs = |rows: &[crate::types::EventRow]| rows.iter().map(|row| row.seq).collect::<Vec<_>>();
    equal!(seqs(&loaded.head), (0..HEAD).collect::<Vec<_>>(), "the head's events");
    equal!(seqs(&loaded.kept), (10..14).collect::<Vec<_>>(), "the kept events");
    equal!(seqs(&loaded.tail), (events - TAIL..events).collect::<Vec<_>>(), "the tail's events");
    Ok(ReadCounts { rows: after.rows - before.rows, bytes: after.bytes - before.bytes })
}

/// A load reads as many rows and bytes from a session of 10,000 events as from one of 100.
pub(super) async fn loading_reads_head_and_tail_only(store: Arc<dyn Store>) -> CaseOutcome {
    let short = load_of(&store, "a", 100).await?;
    let long = load_of(&store, "b", 10_000).await?;
    equal!(long, short, "reads of a load at 10,000 events and at 100");
    ensure!(
        (HEAD + TAIL + 4..=HEAD + TAIL + 4 + 4).contains(&short.rows),
        "{} rows read for {} events",
        short.rows,
        HEAD + TAIL + 4
    );
    let least = 4_000 + (HEAD + TAIL + 4) * user("event 00000000").len() as u64;
    ensure!(short.bytes >= least, "{} bytes counted, at least {least} were read", short.bytes);
    Ok(())
}

/// A load returns the events before the span, the kept events of the span, and the events after it.
pub(super) async fn loading_hands_out_what_the_fold_keeps(store: Arc<dyn Store>) -> CaseOutcome {
    let mut writer = SessionWriter::new(&store, "s").await?;
    let empty = store.load("s").await.map_err(error_text)?;
    ensure!(empty.tail.is_empty() && empty.fold.is_none(), "an empty session loads events");
    writer.fill(12).await?;
    let whole = store.load("s").await.map_err(error_text)?;
    equal!((whole.head.len(), whole.kept.len(), whole.tail.len()), (0, 0, 12), "without a fold");
    let folds = [
        (NewFold { kept: vec![2..3, 4..6, 8..9], ..fold(2, 9, "many") }, 2, vec![2, 4, 5, 8], 3),
        (fold(0, 12, "all"), 0, vec![], 0),
        (
            NewFold { kept: std::iter::once(0..12).collect(), ..fold(0, 12, "none") },
            0,
            (0..12).collect(),
            0,
        ),
    ];
    let mut active = None;
    for (fold, head, kept, tail) in folds {
        store.put_fold("s", &fold).await.map_err(error_text)?;
        store.activate("s", active, Some(fold.id)).await.map_err(error_text)?;
        active = Some(fold.id);
        let loaded = store.load("s").await.map_err(error_text)?;
        equal!(loaded.fold.as_ref().map(|row| &row.fold), Some(&fold), "the fold");
        equal!((loaded.head.len(), loaded.tail.len()), (head, tail), "around the span");
        equal!(loaded.kept.iter().map(|row| row.seq).collect::<Vec<_>>(), kept, "the kept ones");
    }
    Ok(())
}

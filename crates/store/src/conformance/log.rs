//! Cases for sessions, appends, retries and concurrency.

use std::sync::Arc;

use bytes::Bytes;
use midfold_core::{Hash, TextOrigin};

use super::kit::{
    CaseOutcome, SessionWriter, chain, ensure, equal, error_text, fold, job, new_session, refused,
    user,
};
use crate::error::StoreError;
use crate::single::SingleChange;
use crate::store::Store;
use crate::types::{AppendOutcome, AppendRequest, NewSession};

/// An id is used for one session only, and bad ids are refused. Sessions are listed by the bytes of their ids.
pub(super) async fn sessions_are_made_once_and_listed_in_order(
    store: Arc<dyn Store>,
) -> CaseOutcome {
    // Ids are ordered by their bytes, whatever the collation of the database.
    let ids = ["B", "a", "a b/c:d", "a-b", "b'; drop table sessions; --", "ä"];
    for id in ids.iter().rev() {
        let created = store.create(new_session(id)).await.map_err(error_text)?;
        equal!(created.new, new_session(id), "a new session");
        equal!((created.head, created.head_hash, created.turn), (0, Hash::ROOT, 0), "a new head");
        equal!(store.session(id).await.map_err(error_text)?, created, "the session read back");
    }
    refused!(store.create(new_session("a")).await, StoreError::Exists(id) if id == "a", "again");
    let all = store.sessions(None, 100).await.map_err(error_text)?;
    let listed: Vec<&str> = all.iter().map(|row| row.new.id.as_str()).collect();
    equal!(listed, ids, "all sessions");
    let page = store.sessions(Some("a"), 2).await.map_err(error_text)?;
    let listed: Vec<&str> = page.iter().map(|row| row.new.id.as_str()).collect();
    equal!(listed, ["a b/c:d", "a-b"], "a page of sessions");
    for (start, limit, most) in
        [("a", 9, 3), ("a", 1, 1), ("a-b", 9, 1), ("a c", 9, 0), ("c", 9, 0)]
    {
        let rows = store.sessions_beginning(start, limit).await.map_err(error_text)?;
        let begun: Vec<&str> = rows.iter().map(|row| row.new.id.as_str()).collect();
        let expected: Vec<&str> = ids.into_iter().filter(|id| id.starts_with(start)).collect();
        equal!(begun, expected[..most], format!("the ids that begin with {start:?}"));
    }
    for id in ["", "a\nb", "nul\0", &"x".repeat(201)] {
        let refused = store.create(NewSession { id: id.to_owned(), ..new_session("") }).await;
        refused!(refused, StoreError::BadId(_), format!("the id {id:?}"));
    }
    store.create(new_session(&"ä".repeat(200))).await.map_err(error_text)?;
    Ok(())
}

/// Every operation on an unknown session fails with [`StoreError::NoSession`].
pub(super) async fn what_is_not_there_is_said_so(store: Arc<dyn Store>) -> CaseOutcome {
    let id = "nobody";
    let append =
        AppendRequest { events: chain(Hash::ROOT, [user("x")]), ..AppendRequest::default() };
    let keyed = AppendRequest { key: Some("k".to_owned()), ..append.clone() };
    let empty = AppendRequest::default();
    for append in [append, keyed, empty] {
        refused!(store.append(id, append).await, StoreError::NoSession(_), "append");
    }
    refused!(store.session(id).await, StoreError::NoSession(_), "session");
    refused!(store.save_state(id, 0, "{}").await, StoreError::NoSession(_), "save_state");
    refused!(store.events(id, 0..9).await, StoreError::NoSession(_), "events");
    refused!(store.load(id).await, StoreError::NoSession(_), "load");
    refused!(store.put_fold(id, &fold(0, 1, "x")).await, StoreError::NoSession(_), "put_fold");
    refused!(store.activate(id, None, None).await, StoreError::NoSession(_), "activate");
    refused!(store.folds(id).await, StoreError::NoSession(_), "folds");
    refused!(store.enqueue(job(id, "k", 0)).await, StoreError::NoSession(_), "enqueue");
    refused!(store.jobs(Some(id), 9).await, StoreError::NoSession(_), "jobs");
    refused!(store.calls(id).await, StoreError::NoSession(_), "calls");
    refused!(store.settle_call(id, 1, "{}").await, StoreError::NoSession(_), "settle_call");
    let search = crate::types::LogSearch {
        query: "x".to_owned(),
        limit: 5,
        ..crate::types::LogSearch::default()
    };
    refused!(store.search(id, &search).await, StoreError::NoSession(_), "search");
    equal!(store.jobs(None, 9).await.map_err(error_text)?.len(), 0, "jobs of nobody");
    Ok(())
}

/// An append at another head is a conflict and writes nothing, not even its key.
pub(super) async fn an_append_is_compare_and_set(store: Arc<dyn Store>) -> CaseOutcome {
    let mut writer = SessionWriter::new(&store, "s").await?;
    let first = writer.append([user("one"), user("two")]).await?;
    equal!(first, AppendOutcome { first: 0, count: 2, repeated: false }, "the first append");
    let second = writer.append([user("three")]).await?;
    equal!(second, AppendOutcome { first: 2, count: 1, repeated: false }, "the second append");

    // An append with an expected head below, far below or above the actual one is a conflict and writes nothing.
    for expected in [0, 2, 4, 1_000_000] {
        let events = writer.chained([user("late")]);
        let key = (expected == 2).then(|| "a key that is not used up".to_owned());
        let append = AppendRequest { expected, events, key, ..AppendRequest::default() };
        refused!(
            store.append("s", append).await,
            StoreError::Conflict { expected: e, actual: 3 } if e == expected,
            format!("an append at {expected} of 3")
        );
    }
    let empty = AppendRequest { expected: 1, ..AppendRequest::default() };
    refused!(
        store.append("s", empty).await,
        StoreError::Conflict { expected: 1, actual: 3 },
        "an empty append at an old head"
    );
    equal!(writer.append(Vec::<Bytes>::new()).await?.count, 0, "an empty append");
    let key = Some("a key that is not used up");
    let again = writer.append_with([user("four")], key, None).await?;
    equal!(again, AppendOutcome { first: 3, count: 1, repeated: false }, "after conflicts");

    let row = store.session("s").await.map_err(error_text)?;
    equal!((row.head, row.head_hash, row.turn), (4, writer.hash, 1), "the head");
    let rows = store.events("s", 0..u64::MAX).await.map_err(error_text)?;
    equal!(rows.iter().map(|row| row.seq).collect::<Vec<_>>(), [0, 1, 2, 3], "the seqs");
    let rows = store.events("s", 1..3).await.map_err(error_text)?;
    equal!(rows.iter().map(|row| row.seq).collect::<Vec<_>>(), [1, 2], "a range");
    equal!(store.events("s", 3..3).await.map_err(error_text)?.len(), 0, "an empty range");
    equal!(
        store.events("s", 9..u64::MAX).await.map_err(error_text)?.len(),
        0,
        "a range past the head"
    );
    Ok(())
}

/// A retry with the same key and events returns the first answer, also at a new head. Other events with the key are
/// refused.
pub(super) async fn a_retry_gets_the_first_answer(store: Arc<dyn Store>) -> CaseOutcome {
    let mut writer = SessionWriter::new(&store, "s").await?;
    writer.append([user("zero")]).await?;
    let events = writer.chained([user("one"), user("two")]);
    let append = AppendRequest {
        expected: 1,
        key: Some("k".to_owned()),
        events,
        ..AppendRequest::default()
    };
    let answer = store.append("s", append.clone()).await.map_err(error_text)?;
    equal!(answer, AppendOutcome { first: 1, count: 2, repeated: false }, "the append");
    let repeated = AppendOutcome { repeated: true, ..answer };
    equal!(store.append("s", append.clone()).await.map_err(error_text)?, repeated, "the retry");

    // A client that crashed before it saw the answer has read the session again in the meantime.
    let row = store.session("s").await.map_err(error_text)?;
    let later = chain(row.head_hash, [user("three")]);
    let later = AppendRequest { expected: row.head, events: later, ..AppendRequest::default() };
    store.append("s", later).await.map_err(error_text)?;
    let row = store.session("s").await.map_err(error_text)?;
    let rechained = AppendRequest {
        expected: row.head,
        events: chain(row.head_hash, [user("one"), user("two")]),
        ..append.clone()
    };
    equal!(store.append("s", append.clone()).await.map_err(error_text)?, repeated, "a late retry");
    equal!(
        store.append("s", rechained).await.map_err(error_text)?,
        repeated,
        "a retry from a new head"
    );

    let other = AppendRequest { events: chain(Hash::ROOT, [user("another")]), ..append.clone() };
    refused!(store.append("s", other).await, StoreError::KeyReused(k) if k == "k", "other events");
    let fewer = AppendRequest { events: append.events[..1].to_vec(), ..append.clone() };
    refused!(store.append("s", fewer).await, StoreError::KeyReused(_), "fewer events");
    equal!(store.session("s").await.map_err(error_text)?.head, 4, "the head after all retries");

    SessionWriter::new(&store, "other").await?;
    let elsewhere = AppendRequest { expected: 0, ..append };
    let answer = store.append("other", elsewhere).await.map_err(error_text)?;
    ensure!(!answer.repeated, "a key of one session counts in another");
    Ok(())
}

/// Events come back as they were appended: empty ones, bytes that are no text, and 5 MB.
pub(super) async fn bytes_come_back_identical(store: Arc<dyn Store>) -> CaseOutcome {
    let mut writer = SessionWriter::new(&store, "s").await?;
    let all: Vec<Bytes> = vec![
        Bytes::from_static(b""),
        Bytes::from_static(b"\0\x01\xff\xfe'\"\\; \x80"),
        Bytes::from_static("{ \"role\" : \"user\",\t\"content\":\"\u{e4}\u{1f600}\" }".as_bytes()),
        Bytes::from((0..=255u8).cycle().take(70_000).collect::<Vec<u8>>()),
        Bytes::from(
            (0..5_000_000u32)
                .map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8)
                .collect::<Vec<u8>>(),
        ),
    ];
    let mut events = writer.chained(all.clone());
    events[1].usage = Some("{\"prompt\":12,\"output\":3}".to_owned());
    events[1].origin = Some(TextOrigin::Injected);
    events[2].turn = 4_000_000_000;
    events[2].tokens = u32::MAX;
    let append = AppendRequest { events: events.clone(), now: 77, ..AppendRequest::default() };
    writer.store.append("s", append).await.map_err(error_text)?;
    let rows = store.events("s", 0..9).await.map_err(error_text)?;
    equal!(rows.len(), all.len(), "the number of events");
    for (row, event) in rows.iter().zip(&events) {
        ensure!(row.event.bytes == event.bytes, "the bytes of event {} differ", row.seq);
        ensure!(row.event == *event, "event {} differs in its columns", row.seq);
    }
    let hash = rows.iter().fold(Hash::ROOT, |hash, row| hash.chain(&row.event.bytes));
    equal!(
        store.session("s").await.map_err(error_text)?.head_hash,
        hash,
        "the chain over what was read"
    );
    writer.head = 5;
    writer.hash = hash;
    writer.append([user("after")]).await?;
    Ok(())
}

/// An append of thousands of events is stored completely or not at all.
pub(super) async fn a_large_batch_is_one_append(store: Arc<dyn Store>) -> CaseOutcome {
    let mut writer = SessionWriter::new(&store, "s").await?;
    writer.append([user("first")]).await?;
    let many = (0..2_345).map(|at| user(&format!("part {at}")));
    let answer = writer.append(many).await?;
    equal!((answer.first, answer.count), (1, 2_345), "the answer");
    let rows = store.events("s", 0..u64::MAX).await.map_err(error_text)?;
    equal!(rows.len(), 2_346, "the number of events");
    ensure!(rows.iter().zip(0..).all(|(row, seq)| row.seq == seq), "the seqs have a gap");
    let hash = rows.iter().fold(Hash::ROOT, |hash, row| hash.chain(&row.event.bytes));
    equal!(hash, writer.hash, "the chain");
    // An append at an old head writes nothing, not even its first event.
    let events = writer.chained((0..2_345).map(|at| user(&format!("part {at}"))));
    let late = AppendRequest { expected: 9, events, ..AppendRequest::default() };
    refused!(store.append("s", late).await, StoreError::Conflict { .. }, "a late batch");
    equal!(store.session("s").await.map_err(error_text)?.head, 2_346, "the head");
    Ok(())
}

/// The number of writers in the test of concurrency.
const WRITERS: u64 = 8;
/// The number of events of each writer.
const EACH: u64 = 20;

/// Several writers append at once. Their events get all positions without a gap, in one hash chain.
pub(super) async fn concurrent_writers_make_one_chain(store: Arc<dyn Store>) -> CaseOutcome {
    store.create(new_session("s")).await.map_err(error_text)?;
    let write = |store: Arc<dyn Store>, name: u64| async move {
        let mut seqs = Vec::new();
        while seqs.len() < EACH as usize {
            let row = store.session("s").await.map_err(error_text)?;
            let text = user(&format!("writer {name} event {}", seqs.len()));
            let events = chain(row.head_hash, [text]);
            match store
                .append(
                    "s",
                    AppendRequest { expected: row.head, events, ..AppendRequest::default() },
                )
                .await
            {
                Ok(answer) => seqs.push(answer.first),
                Err(StoreError::Conflict { .. }) => tokio::task::yield_now().await,
                Err(error) => return Err(format!("writer {name}: {error}")),
            }
        }
        Ok(seqs)
    };
    let tasks: Vec<_> = (0..WRITERS).map(|name| tokio::spawn(write(store.clone(), name))).collect();
    let mut seqs = Vec::new();
    for task in tasks {
        seqs.extend(task.await.map_err(|error| error.to_string())??);
    }
    seqs.sort_unstable();
    equal!(seqs, (0..WRITERS * EACH).collect::<Vec<_>>(), "the seqs that were won");
    let rows = store.events("s", 0..u64::MAX).await.map_err(error_text)?;
    let mut hash = Hash::ROOT;
    for row in &rows {
        hash = hash.chain(&row.event.bytes);
        ensure!(row.event.hash == hash, "event {} is off the chain", row.seq);
    }
    let mut texts: Vec<_> = rows.iter().map(|row| &row.event.bytes).collect();
    texts.sort_unstable();
    texts.dedup();
    equal!(texts.len() as u64, WRITERS * EACH, "the number of different events");
    Ok(())
}

/// Of several appends with the same key at once, one writes, and all get the same answer.
pub(super) async fn concurrent_retries_append_once(store: Arc<dyn Store>) -> CaseOutcome {
    store.create(new_session("s")).await.map_err(error_text)?;
    for round in 0..6u64 {
        let row = store.session("s").await.map_err(error_text)?;
        let append = AppendRequest {
            expected: row.head,
            key: Some(format!("round {round}")),
            events: chain(row.head_hash, [user(&format!("round {round}"))]),
            ..AppendRequest::default()
        };
        let retry = |_| {
            let (store, append) = (store.clone(), append.clone());
            tokio::spawn(async move { store.append("s", append).await })
        };
        let tasks: Vec<_> = (0..6).map(retry).collect();
        let mut first = 0;
        for task in tasks {
            let answer = task.await.map_err(|error| error.to_string())?.map_err(error_text)?;
            equal!((answer.first, answer.count), (round, 1), "the answer to a retry");
            first += u32::from(!answer.repeated);
        }
        equal!(first, 1, "answers that were the first");
    }
    equal!(store.session("s").await.map_err(error_text)?.head, 6, "the head");
    Ok(())
}

/// A state is saved only over the expected version. Of several nodes that save at once, one wins.
pub(super) async fn state_is_compare_and_swap(store: Arc<dyn Store>) -> CaseOutcome {
    store.create(new_session("s")).await.map_err(error_text)?;
    equal!(
        store.save_state("s", 0, "{\"a\":1}").await.map_err(error_text)?,
        1,
        "the first version"
    );
    refused!(
        store.save_state("s", 0, "{\"a\":2}").await,
        StoreError::StaleState { expected: 0, actual: 1 },
        "an old version"
    );
    equal!(
        store.save_state("s", 1, "{\"a\":3}").await.map_err(error_text)?,
        2,
        "the second version"
    );
    let row = store.session("s").await.map_err(error_text)?;
    equal!((row.state.as_str(), row.state_version), ("{\"a\":3}", 2), "the state");
    let swap = |_| {
        let store = store.clone();
        tokio::spawn(async move { store.save_state("s", 2, "{}").await.is_ok() })
    };
    let mut winners = 0;
    for task in (0..6).map(swap).collect::<Vec<_>>() {
        winners += u32::from(task.await.map_err(|error| error.to_string())?);
    }
    equal!(winners, 1, "savers that won");
    Ok(())
}

/// Two sessions may use the same keys, folds and words, and neither sees data of the other.
pub(super) async fn sessions_are_apart(store: Arc<dyn Store>) -> CaseOutcome {
    let mut one = SessionWriter::new(&store, "one").await?;
    let mut two = SessionWriter::new(&store, "two").await?;
    for at in 0..3 {
        one.append([user(&format!("alpha {at}"))]).await?;
        two.append([user(&format!("beta {at}"))]).await?;
    }
    let same = fold(0, 2, "same");
    for id in ["one", "two"] {
        store.put_fold(id, &same).await.map_err(error_text)?;
        ensure!(store.enqueue(job(id, "same", 0)).await.map_err(error_text)?, "the job of {id}");
    }
    store.activate("one", None, Some(same.id)).await.map_err(error_text)?;
    store.save_state("one", 0, "mine").await.map_err(error_text)?;
    let row = store.session("two").await.map_err(error_text)?;
    equal!((row.active, row.state.as_str(), row.head), (None, "", 3), "the other session");
    for (id, word) in [("one", "alpha"), ("two", "beta")] {
        let rows = store.events(id, 0..9).await.map_err(error_text)?;
        let all = |row: &crate::types::EventRow| {
            row.event.bytes.windows(word.len()).any(|at| at == word.as_bytes())
        };
        ensure!(rows.len() == 3 && rows.iter().all(all), "{id} holds events of another session");
        for query in ["alpha", "beta"] {
            for mode in [crate::types::SearchMode::Text, crate::types::SearchMode::Literal] {
                let search = crate::types::LogSearch {
                    query: query.to_owned(),
                    mode,
                    limit: 9,
                    range: None,
                };
                let hits = store.search(id, &search).await.map_err(error_text)?.len();
                equal!(hits, if query == word { 3 } else { 0 }, format!("{query} in {id}"));
            }
        }
    }
    Ok(())
}

/// Of the sessions noted for some identities, the one with the most messages is found. The last note for an identity
/// counts.
pub(super) async fn sessions_are_found_by_their_beginning(store: Arc<dyn Store>) -> CaseOutcome {
    let of = |text: &str| Hash::ROOT.chain(text.as_bytes());
    for id in ["one", "two"] {
        store.create(new_session(id)).await.map_err(error_text)?;
    }
    store.identify("one", of("a"), 3).await.map_err(error_text)?;
    store.identify("one", of("b"), 5).await.map_err(error_text)?;
    let noted = |id: &str, events| {
        let (id, active) = (id.to_owned(), None);
        Some(crate::types::IdentifiedSession { id, events, active, state_version: 0 })
    };
    let identified = |texts: &[&str]| {
        let identities: Vec<_> = texts.iter().map(|text| of(text)).collect();
        let store = Arc::clone(&store);
        async move { store.identified(&identities).await.map_err(error_text) }
    };
    equal!(identified(&[]).await?, None, "of nothing");
    equal!(identified(&["a", "b", "c"]).await?, noted("one", 5), "the longest");
    equal!(identified(&["a"]).await?, noted("one", 3), "the first");
    equal!(identified(&["c"]).await?, None, "what nobody noted");
    store.identify("two", of("a"), 4).await.map_err(error_text)?;
    equal!(identified(&["a"]).await?, noted("two", 4), "the last note counts");
    refused!(
        store.identify("three", of("a"), 1).await,
        StoreError::NoSession(_),
        "a note for nobody"
    );
    store.delete("two", None).await.map_err(error_text)?;
    equal!(identified(&["a"]).await?, None, "the note of a deleted session");
    equal!(identified(&["b"]).await?, noted("one", 5), "the note of another");
    Ok(())
}

//! What an agent reads page by page: each page says where the next one begins, and together they show everything.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::collections::BTreeMap;

use bytes::Bytes;
use midfold_core::Hash;
use midfold_store::recall::{FOUND_CHARS, FindRequest, GrepQuery, find, grep, show};
use midfold_store::single::SingleChange as _;
use midfold_store::{AppendRequest, MemoryStore, NewEvent, NewFold, NewSession, SearchMode};
use serde_json::{Value, json};

/// Length of a page, in characters.
const CHARS: usize = 8_000;

fn user(text: &str) -> Value {
    json!({ "role": "user", "content": text })
}

fn reads(ids: &[&str]) -> Value {
    let call = |id: &&str| {
        let arguments = json!({ "path": format!("src/{id}.rs") }).to_string();
        json!({ "id": id, "type": "function", "function": { "name": "read_file", "arguments": arguments } })
    };
    json!({ "role": "assistant", "content": null, "tool_calls": ids.iter().map(call).collect::<Vec<_>>() })
}

fn result(id: &str, text: &str) -> Value {
    json!({ "role": "tool", "tool_call_id": id, "content": text })
}

/// Lines of about 40 characters, each with its number.
fn lines(count: usize) -> String {
    (1..=count).map(|at| format!("line {at:04} of a text that goes on and on\n")).collect()
}

/// A session `s` of these messages, of which the active fold took out the run, if there is one.
async fn stored(messages: Vec<Value>, folded: Option<std::ops::Range<u64>>) -> MemoryStore {
    let store = MemoryStore::new();
    let dialect = "openai-chat".to_owned();
    store.create(NewSession { id: "s".into(), dialect, ..NewSession::default() }).await.unwrap();
    let mut hash = Hash::ROOT;
    let event = |message: &Value| {
        let bytes = Bytes::from(message.to_string());
        hash = hash.chain(&bytes);
        NewEvent { bytes, hash, turn: 1, tokens: 1, usage: None, origin: None }
    };
    let events = messages.iter().map(event).collect();
    store.append("s", AppendRequest { events, ..AppendRequest::default() }).await.unwrap();
    if let Some(run) = folded {
        let id = Hash::ROOT.chain(b"fold");
        let fold = NewFold {
            id,
            start: run.start,
            end: run.end,
            before: Hash::ROOT,
            through: hash,
            policy: Hash::ROOT,
            recap: Hash::ROOT,
            kept: Vec::new(),
            body: "{}".into(),
            now: 0,
        };
        store.put_fold("s", &fold).await.unwrap();
        store.activate("s", None, Some(id)).await.unwrap();
    }
    store
}

/// All pages of a look-up, in order. The first lists what is asked for, the others what the page before says.
async fn pages(store: &MemoryStore, messages: &str) -> Vec<String> {
    let (mut pages, mut next) = (Vec::new(), Some(messages.to_owned()));
    while let Some(messages) = next {
        let page = show(store, "s", &messages, CHARS).await.unwrap();
        pages.push(page.text);
        next = page.next;
        assert!(pages.len() < 100, "{next:?}");
    }
    pages
}

/// The numbers of the messages on pages, and how many characters of each are there.
fn shown(pages: &[String]) -> BTreeMap<u64, usize> {
    let (mut shown, mut event) = (BTreeMap::new(), 0);
    for line in pages.iter().flat_map(|page| page.lines()) {
        match line.strip_prefix("── @") {
            Some(head) => {
                event = head.split(|c: char| !c.is_ascii_digit()).next().unwrap().parse().unwrap();
                shown.entry(event).or_default();
            }
            None => *shown.entry(event).or_default() += line.chars().count() + 1,
        }
    }
    shown
}

/// Steps of a call and its long result, behind a request.
fn steps(count: usize) -> Vec<Value> {
    let mut messages = vec![user("Read them all")];
    for at in 0..count {
        let id = format!("c{at}");
        messages.extend([reads(&[&id]), result(&id, &format!("file {at}\n{}", lines(50)))]);
    }
    messages
}

#[tokio::test]
async fn the_pages_of_a_fold_show_all_of_it() {
    let store = stored(steps(15), Some(3..31)).await;
    let id = Hash::ROOT.chain(b"fold").to_hex();
    for asked in ["active", &id[..12], "3-30", "3-"] {
        let pages = pages(&store, asked).await;
        assert!(pages.len() > 2, "{asked}");
        assert_eq!(shown(&pages).into_keys().collect::<Vec<_>>(), Vec::from_iter(3..31), "{asked}");
    }
    let first = show(&store, "s", "active", CHARS).await.unwrap();
    assert!(first.next.as_ref().unwrap().ends_with("-30"), "{first:?}");
    // An end that is not given is the end of the log, and no huge number.
    let open = show(&store, "s", "3-", CHARS).await.unwrap();
    assert_eq!(open.next, first.next);
}

#[tokio::test]
async fn the_results_of_a_call_come_on_later_pages() {
    let ids = ["a", "b", "c", "d", "e", "f"];
    let mut messages = vec![user("Read"), reads(&ids)];
    messages.extend(ids.map(|id| result(id, &format!("{id}\n{}", lines(70)))));
    let store = stored(messages, None).await;
    for asked in ["1", "0-1", "1,0"] {
        let pages = pages(&store, asked).await;
        let keys: Vec<u64> = shown(&pages).into_keys().collect();
        let wanted = Vec::from_iter(u64::from(asked == "1")..8);
        assert_eq!(keys, wanted, "{asked}: {pages:?}");
    }

    // A call that is longer than a page: its rest is shown whole, and then its result.
    let text = lines(310);
    let write = json!({ "role": "assistant", "content": null, "tool_calls": [{ "id": "w",
        "type": "function", "function": { "name": "write_file",
        "arguments": json!({ "path": "a.txt", "content": text }).to_string() } }] });
    let store = stored(vec![user("Write"), write, result("w", "error: disk full")], None).await;
    let pages = pages(&store, "1").await;
    let all = pages.concat();
    assert_eq!(pages.len(), 2, "{all}");
    assert_eq!(all.matches("line 0").count(), 310, "{all}");
    assert!(all.ends_with("error: disk full\n"), "{all}");
}

#[tokio::test]
async fn a_range_in_a_message_ends_where_it_was_asked_to() {
    let text = lines(600);
    let store = stored(vec![user(&text)], None).await;
    let page = show(&store, "s", "0:0-9500", CHARS).await.unwrap();
    assert!(page.next.as_ref().unwrap().ends_with("-9500"), "{:?}", page.next);
    let found = shown(&pages(&store, "0:0-9500").await);
    assert!(found[&0].abs_diff(9_500) < 5, "{found:?}");

    // Lines come in parts, and each part says to where it goes on.
    let (mut asked, mut found) = ("0:L11-L300".to_owned(), String::new());
    loop {
        let page = show(&store, "s", &asked, CHARS).await.unwrap();
        let Some((text, next)) = page.text.split_once("… (it goes on at ") else {
            found += &page.text;
            break;
        };
        found += text;
        next.trim_end_matches(")\n").clone_into(&mut asked);
        assert!(asked.ends_with("-L300"), "{asked}");
    }
    assert_eq!(found.matches("line 0").count(), 290);
    assert!(
        found.contains("line 0011") && found.ends_with("line 0300 of a text that goes on and on\n")
    );

    // Both ends of what goes on are of one kind, because a line without its letter would be a number of characters.
    let part = show(&store, "s", "0,0:41-9500", CHARS).await.unwrap();
    assert!(part.text.ends_with("(it goes on at 0:2520-9500)\n"), "{}", part.text);
}

/// What a search prints as the number of a line is the number by which the line is shown, whatever a client put before
/// it.
#[tokio::test]
async fn lines_have_the_same_numbers_in_both_look_ups() {
    let reminder = format!("<system-reminder>\n{}</system-reminder>\n", lines(20));
    let rows = |from: usize, to: usize| {
        (from..to)
            .map(|at| format!("row {at} of the table with some filler text\n"))
            .collect::<String>()
    };
    let text = format!("{reminder}{}row 150 NEEDLEWORD is here\n{}", rows(0, 150), rows(151, 300));
    let store = stored(vec![user("Look"), user(&text)], None).await;
    let ask = FindRequest { query: "NEEDLEWORD".into(), ..FindRequest::default() };
    let found = find(&store, "s", &ask, FOUND_CHARS).await.unwrap().unwrap().text;
    let line = found.split(" L").nth(1).unwrap().split(' ').next().unwrap();
    let page = show(&store, "s", &format!("1:L{line}-L{line}"), CHARS).await.unwrap().text;
    assert!(page.ends_with("\nrow 150 NEEDLEWORD is here\n"), "{page}");

    // Reminders are one line, they take the room of one, and nothing behind them is lost at the end of a page.
    let pages = pages(&store, "1").await;
    let all = pages.concat();
    assert_eq!(all.matches("(a reminder of the client)").count(), 1, "{all}");
    assert!(!all.contains("line 00"), "{all}");
    assert_eq!(all.matches("row ").count(), 300, "{all}");
    // In a list, a long message is cut, and a reminder is no reason for it.
    let text = format!("{reminder}{reminder}{reminder}{reminder}short");
    let store = stored(vec![user("Look"), user(&text)], None).await;
    let page = show(&store, "s", "0,1", CHARS).await.unwrap().text;
    assert!(page.ends_with("\nshort\n"), "{page}");
}

#[tokio::test]
async fn different_messages_in_front_of_the_agent_are_not_the_same() {
    let store = stored(steps(15), Some(1..20)).await;
    let page = show(&store, "s", "19-28", CHARS).await.unwrap().text;
    assert!(page.contains("(in front of you)"), "{page}");
    assert!(!page.contains("same as"), "{page}");
    // A place is asked for because it is wanted.
    let page = show(&store, "s", "3,26:L2", CHARS).await.unwrap().text;
    assert!(page.contains("\nline 0001 of a text"), "{page}");
    let behind = page.split("── @26 ").nth(1).unwrap();
    assert!(behind.contains("\nline 0001 of a text"), "{page}");
}

#[tokio::test]
async fn pages_of_hits_have_each_hit_once() {
    let store = stored(
        (0..20)
            .map(|at| match at % 2 {
                1 => user(&format!("pebble and shore number {at}")),
                _ => user(&format!("nothing {at}")),
            })
            .chain([user("a heron at the pebble"), user("one lone heron")])
            .collect(),
        None,
    )
    .await;
    let (mut skip, mut seen) = (0, Vec::new());
    loop {
        let ask =
            GrepQuery { limit: 2, skip, ..GrepQuery::new("pebble shore heron", SearchMode::Text) };
        let hits = grep(&store, "s", &ask).await.unwrap();
        seen.extend(hits.found.iter().map(|hit| hit.event));
        let Some(next) = hits.next else { break };
        skip = next;
    }
    seen.sort_unstable();
    let wanted: Vec<u64> = (0..20).filter(|at| at % 2 == 1).chain([20, 21]).collect();
    assert_eq!(seen, wanted);
}

/// A blank range is none, so what a fold took out comes first.
#[tokio::test]
async fn a_blank_range_names_no_messages() {
    let messages = ["pebble one", "pebble two", "pebble three"].map(user).to_vec();
    let store = stored(messages, Some(0..2)).await;
    let found = async |messages: Option<&str>| {
        let messages = messages.map(str::to_owned);
        let ask = FindRequest { query: "pebble".into(), messages, ..FindRequest::default() };
        find(&store, "s", &ask, FOUND_CHARS).await.unwrap().unwrap().text
    };
    let wanted = found(None).await;
    assert!(!wanted.contains("three"), "{wanted}");
    assert_eq!(found(Some(" ")).await, wanted);
}

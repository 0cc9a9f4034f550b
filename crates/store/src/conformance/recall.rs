//! Cases for search in the original log.

use std::sync::Arc;

use super::kit::{CaseOutcome, SessionWriter, ensure, equal, error_text, refused, user};
use crate::error::StoreError;
use crate::recall::{ExpandTarget, GrepQuery, expand, grep, outline, page_text};
use crate::store::Store;
use crate::types::{Hit, LogSearch, SearchMode};

/// A search for at most ten hits.
fn search(query: &str, mode: SearchMode) -> LogSearch {
    LogSearch { query: query.to_owned(), mode, range: None, limit: 10 }
}

/// The hits of a search in the session `s`.
async fn hits(store: &Arc<dyn Store>, search: &LogSearch) -> Result<Vec<Hit>, String> {
    store.search("s", search).await.map_err(error_text)
}

/// The seqs of the hits, in the order of the answer.
async fn seqs(store: &Arc<dyn Store>, query: &str, mode: SearchMode) -> Result<Vec<u64>, String> {
    Ok(hits(store, &search(query, mode)).await?.iter().map(|hit| hit.seq).collect())
}

/// The seqs of the hits of a search for words, sorted.
async fn sorted(store: &Arc<dyn Store>, query: &str) -> Result<Vec<u64>, String> {
    let mut found_seqs = seqs(store, query, SearchMode::Text).await?;
    found_seqs.sort_unstable();
    Ok(found_seqs)
}

/// A session about a failing build.
async fn conversation(store: &Arc<dyn Store>) -> Result<SessionWriter, String> {
    let mut writer = SessionWriter::new(store, "s").await?;
    let long =
        format!("{} the needle stands here {}", "hay ".repeat(5_000), "stack ".repeat(5_000));
    let events = [
        user("Please find out why the deployment to staging fails"),
        r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"run","arguments":"{\"command\":\"cargo build --package ledger_core\\n\\tsettleBatch\"}"}}]}"#.to_owned(),
        r#"{"role":"tool","tool_call_id":"c1","content":"error[E0432]: unresolved import\n --> src/retry/budget.rs:17:5\nwarning: build failed"}"#.to_owned(),
        user("Der Ärger mit der Größe: 東京 タワー ist zu groß, \u{1f680} naïve"),
        user("The staging database is at db-7.example:5432"),
        user(&long),
    ];
    writer.append(events).await?;
    Ok(writer)
}

/// Words are found in messages, results and arguments, in any case and script. No part of a query is an operator.
pub(super) async fn words_are_found_wherever_they_stand(store: Arc<dyn Store>) -> CaseOutcome {
    conversation(&store).await?;
    equal!(sorted(&store, "staging").await?, [0, 4], "a word of two events");
    equal!(sorted(&store, "STAGING").await?, [0, 4], "in capitals");
    equal!(sorted(&store, "unresolved").await?, [2], "a word in a tool's result");
    equal!(sorted(&store, "ledger_core").await?, [1], "a word in a call's arguments");
    equal!(sorted(&store, "settleBatch").await?, [1], "a word behind an escape in them");
    equal!(sorted(&store, "src/retry/budget.rs:17").await?, [2], "a path");
    equal!(sorted(&store, "ärger").await?, [3], "an umlaut, lower case");
    equal!(sorted(&store, "GRÖSSE").await?, [] as [u64; 0], "no folding of ß");
    equal!(sorted(&store, "東京").await?, [3], "a script without spaces");
    equal!(sorted(&store, "needle").await?, [5], "a word of a long event");
    equal!(sorted(&store, "stag").await?, [] as [u64; 0], "a part of a word");
    equal!(sorted(&store, "role").await?, [] as [u64; 0], "a word of the wire format");
    // Messages with more of the words, and with rarer ones, come first.
    let ranked = seqs(&store, "staging deployment", SearchMode::Text).await?;
    equal!(ranked, [0, 4], "the order of two hits");
    let ranked = seqs(&store, "the staging database", SearchMode::Text).await?;
    equal!(ranked.first(), Some(&4), "the best of several hits");
    // A query is plain words: nothing in it is an operator of the index.
    for query in [
        "staging AND",
        "NOT (staging",
        "\"staging",
        "staging*",
        "a:staging ' OR 1=1",
        "{staging} ^ &|!<->",
    ] {
        let found_seqs = sorted(&store, query).await?;
        ensure!(
            found_seqs.contains(&0) && found_seqs.contains(&4),
            "{query}: found {found_seqs:?}"
        );
    }
    let one = LogSearch { limit: 1, ..search("staging", SearchMode::Text) };
    equal!(hits(&store, &one).await?.len(), 1, "hits at a limit of one");
    let part = LogSearch { range: Some(1..5), ..search("staging", SearchMode::Text) };
    equal!(
        hits(&store, &part).await?.iter().map(|hit| hit.seq).collect::<Vec<_>>(),
        [4],
        "a range"
    );
    snippets(&store).await
}

/// A snippet shows the match, and is short even where the event is long.
async fn snippets(store: &Arc<dyn Store>) -> CaseOutcome {
    for (query, mode) in [
        ("needle", SearchMode::Text),
        ("the needle", SearchMode::Literal),
        ("n[e]+dle", SearchMode::Regex),
    ] {
        let matches = hits(store, &search(query, mode)).await?;
        let snippet = matches.first().map(|hit| hit.snippet.as_str()).unwrap_or_default();
        ensure!(snippet.contains("needle stands here"), "{mode:?}: the snippet is {snippet:?}");
        let length = snippet.chars().count();
        ensure!(length <= 310, "{mode:?}: a snippet of {length} characters");
    }
    Ok(())
}

/// Searches for a literal or a regex see the decoded text, and return the newest hits first.
pub(super) async fn literals_and_regexes_scan_newest_first(store: Arc<dyn Store>) -> CaseOutcome {
    conversation(&store).await?;
    use SearchMode::{Literal, Regex};
    equal!(seqs(&store, "staging", Literal).await?, [4, 0], "a substring");
    equal!(seqs(&store, "Staging", Literal).await?, [] as [u64; 0], "case counts");
    equal!(seqs(&store, "import\n -->", Literal).await?, [2], "over a line break");
    equal!(seqs(&store, "\"command\":\"cargo", Literal).await?, [1], "decoded arguments");
    equal!(seqs(&store, "100%_", Literal).await?, [] as [u64; 0], "no wildcards");
    equal!(seqs(&store, "\u{1f680}", Literal).await?, [3], "a pictogram");
    equal!(seqs(&store, r"E\d{4}", Regex).await?, [2], "a class");
    equal!(seqs(&store, r"(?i)^the STAGING\b", Regex).await?, [4], "flags and anchors");
    equal!(seqs(&store, r"st(aging|ack)", Regex).await?, [5, 4, 0], "an alternative");
    let one = LogSearch { limit: 1, ..search("staging", Literal) };
    equal!(hits(&store, &one).await?.iter().map(|hit| hit.seq).collect::<Vec<_>>(), [4], "one");
    let part = LogSearch { range: Some(0..4), ..search("staging", Regex) };
    equal!(
        hits(&store, &part).await?.iter().map(|hit| hit.seq).collect::<Vec<_>>(),
        [0],
        "a range"
    );
    Ok(())
}

/// An empty query, one without words, and a bad or too large regex are errors.
pub(super) async fn bad_queries_are_said_to_be_bad(store: Arc<dyn Store>) -> CaseOutcome {
    SessionWriter::new(&store, "s").await?;
    for (query, mode) in [
        ("(unclosed", SearchMode::Regex),
        ("(a{1000}){1000}", SearchMode::Regex),
        ("", SearchMode::Text),
        ("  ", SearchMode::Literal),
        ("?!", SearchMode::Text),
    ] {
        let outcome = store.search("s", &search(query, mode)).await;
        refused!(outcome, StoreError::Query(_), format!("{query:?} as {mode:?}"));
    }
    equal!(hits(&store, &search("x", SearchMode::Text)).await?.len(), 0, "in an empty session");
    Ok(())
}

/// Each search finds the events that were appended since the search before.
pub(super) async fn what_came_later_is_found_too(store: Arc<dyn Store>) -> CaseOutcome {
    let mut writer = conversation(&store).await?;
    for round in 0..4u64 {
        writer.append([user(&format!("round {round} of zebras"))]).await?;
        let wanted: Vec<u64> = (6..=6 + round).collect();
        equal!(sorted(&store, "zebras").await?, wanted, format!("after round {round}"));
    }
    writer.fill(1_500).await?;
    writer.append([user("the last zebras")]).await?;
    equal!(sorted(&store, "zebras").await?, [6, 7, 8, 9, 1_510], "after many events");
    let many = LogSearch { limit: 5_000, ..search("event", SearchMode::Literal) };
    equal!(hits(&store, &many).await?.len(), 1_500, "all hits of a scan");
    // One search covers two sessions whose indexes both lack the newest messages.
    let mut other = SessionWriter::new(&store, "t").await?;
    other.append([user("zebras elsewhere")]).await?;
    writer.append([user("more zebras")]).await?;
    let ask = |id: &'static str| {
        let store = store.clone();
        tokio::spawn(async move { store.search(id, &search("zebras", SearchMode::Text)).await })
    };
    for (task, wanted) in [(ask("s"), 6), (ask("t"), 1), (ask("s"), 6)] {
        let matches = task.await.map_err(|error| error.to_string())?.map_err(error_text)?;
        equal!(matches.len(), wanted, "hits of concurrent searches");
    }
    Ok(())
}

/// A search finds calls by the name of the tool.
pub(super) async fn tools_are_found_by_name(store: Arc<dyn Store>) -> CaseOutcome {
    conversation(&store).await?;
    equal!(sorted(&store, "run").await?, [1], "the name of a tool");
    equal!(seqs(&store, "run", SearchMode::Literal).await?, [1], "the name as a text");
    equal!(sorted(&store, "run cargo").await?, [1], "the name and a word of the arguments");
    Ok(())
}

/// Filters, pairs and pages need only events and ranges, so all stores give the same.
pub(super) async fn an_agent_reads_the_log(store: Arc<dyn Store>) -> CaseOutcome {
    let mut writer = conversation(&store).await?;
    let recalled = |error: crate::recall::RecallError| error.to_string();
    let listed = outline(&*store, "s", 0, 3, false).await.map_err(recalled)?;
    let rows = listed.rows.iter().map(|row| (row.event, row.role.as_str(), row.chars));
    let wanted = [(0, "user", 51), (1, "assistant", 64), (2, "tool", 83)];
    equal!(rows.collect::<Vec<_>>(), wanted, "an outline");
    let action = Some("run cargo build --package ledger_core settleBatch".to_owned());
    equal!((&listed.rows[1].action, &listed.rows[2].action), (&action, &action), "call and result");
    equal!(listed.next, Some(3), "where it goes on");
    let target = ExpandTarget::parse("@1").map_err(recalled)?;
    let page = expand(&*store, "s", &target, None, 8_000).await.map_err(recalled)?;
    let text = page_text(&page);
    ensure!(text.contains("command:\ncargo build --package ledger_core\n\tsettleBatch"), "{text}");
    ensure!(text.contains("── @2 tool"), "the call with its result: {text}");
    let within = Some(GrepQuery::range("1-2").map_err(recalled)?);
    for (ask, wanted) in [
        (GrepQuery { role: Some("user".to_owned()), ..GrepQuery::default() }, vec![0, 3, 4, 5]),
        (GrepQuery { tool: Some("run".to_owned()), ..GrepQuery::default() }, vec![1, 2]),
        (GrepQuery { within, ..GrepQuery::new("budget", SearchMode::Text) }, vec![2]),
        (
            GrepQuery { skip: 1, limit: 1, ..GrepQuery::new("staging", SearchMode::Literal) },
            vec![0],
        ),
    ] {
        let hits = grep(&*store, "s", &ask).await.map_err(recalled)?;
        let events: Vec<u64> = hits.found.iter().map(|hit| hit.event).collect();
        equal!(events, wanted, format!("{ask:?}"));
    }
    writer.append([user("and staging again")]).await?;
    let hits =
        grep(&*store, "s", &GrepQuery::new("staging", SearchMode::Text)).await.map_err(recalled)?;
    equal!(hits.total, 3, "hits after an append");
    Ok(())
}

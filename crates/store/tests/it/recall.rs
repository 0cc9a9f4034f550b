//! Recall over a session that the engine folded: what left the context comes back, page by page.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::collections::HashSet;

use bytes::Bytes;
use midfold_core::budget::Budget;
use midfold_core::engine::Session;
use midfold_core::fold::{Fold, FoldEntry};
use midfold_core::ids::identifiers;
use midfold_core::meter::Meter;
use midfold_core::plan::PlanOutcome;
use midfold_core::policy::Policy;
use midfold_core::{Hash, RawEvent};
use midfold_formats::{DialectKind, profile};
use midfold_store::recall::{
    ExpandTarget, GrepQuery, MAX_PAGE_CHARS, OriginalPage, RecallError, ToolListShape, describe,
    dispatch, expand, grep, names, outline, tools,
};
use midfold_store::single::SingleChange as _;
use midfold_store::{
    AppendRequest, MemoryStore, NewEvent, NewFold, NewSession, SearchMode, Store, StoreError,
    event_text,
};
use midfold_testkit::coding_session;
use serde_json::Value;

const NEEDLE: &str = "the heron_lock of bay-7 opens with marmalade";

/// A coding session with one planted line, folded once; the seq of the line.
async fn folded() -> (MemoryStore, Fold, u64, Vec<String>) {
    folded_with(&format!("{NEEDLE} é")).await
}

async fn folded_with(line: &str) -> (MemoryStore, Fold, u64, Vec<String>) {
    let mut messages = coding_session(7, 12);
    let planted = 6;
    messages.insert(planted, format!(r#"{{"role":"user","content":"{line}"}}"#));
    let store = MemoryStore::new();
    let new =
        NewSession { id: "s1".into(), dialect: "openai-chat".into(), ..NewSession::default() };
    store.create(new).await.unwrap();
    let counter = midfold_tokens::by_name("chars:4").unwrap();
    let policy = Policy::preset("head-tail").unwrap();
    let dialect = DialectKind::OpenAiChat.shared();
    let mut session = Session::new("s1", policy, dialect, profile::OPENAI, counter, Meter::exact());
    for message in &messages {
        session.append(RawEvent::new(Bytes::from(message.clone())));
    }
    let event = |event: &midfold_core::log::Event| NewEvent {
        bytes: event.bytes.clone(),
        hash: event.hash,
        turn: event.turn,
        tokens: event.tokens.total,
        usage: None,
        origin: None,
    };
    let events = session.log().events().iter().map(event).collect();
    store.append("s1", AppendRequest { events, ..AppendRequest::default() }).await.unwrap();
    let budget = Budget::new(session.log().tokens() / 2);
    let PlanOutcome::Folded(fold) = session.compact(&budget, None).unwrap() else { unreachable!() };
    store.put_fold("s1", &row(&fold)).await.unwrap();
    store.activate("s1", None, Some(fold.id)).await.unwrap();
    (store, *fold, planted as u64, messages)
}

fn row(fold: &Fold) -> NewFold {
    let kept = |entry: &FoldEntry| match entry {
        FoldEntry::Verbatim { from, to } => Some(u64::from(*from)..u64::from(*to)),
        _ => None,
    };
    NewFold {
        id: fold.id,
        start: fold.span.start.into(),
        end: fold.span.end.into(),
        before: fold.span.before,
        through: fold.span.through,
        policy: fold.policy_fingerprint,
        recap: fold.recap.as_ref().map_or(Hash::ROOT, |recap| recap.hash),
        kept: fold.entries.iter().filter_map(kept).collect(),
        body: serde_json::to_string(fold).unwrap(),
        now: 0,
    }
}

#[tokio::test]
async fn grep_finds_what_the_marker_hides() {
    let (store, _, planted, _) = folded().await;
    for (mode, query) in [
        (SearchMode::Text, "marmalade heron_lock"),
        (SearchMode::Literal, "bay-7 opens"),
        (SearchMode::Regex, r"bay-\d opens"),
    ] {
        let found = grep(&store, "s1", &GrepQuery::new(query, mode)).await.unwrap().found;
        assert_eq!(found[0].event, planted);
        assert_eq!(found[0].role, "user");
        assert!(found[0].snippet.contains("marmalade"));
    }
    let bad = grep(&store, "s1", &GrepQuery::new("(", SearchMode::Regex)).await;
    assert!(matches!(bad, Err(RecallError::Store(StoreError::Query(_)))));
    let nothing = grep(&store, "s1", &GrepQuery::default()).await;
    assert!(matches!(nothing, Err(RecallError::Nothing)));
}

#[tokio::test]
async fn pages_together_are_the_originals() {
    let (store, fold, _, messages) = folded().await;
    let what = ExpandTarget::parse("[Earlier messages truncated]").unwrap();
    let id = ExpandTarget::parse(&fold.id.to_hex()).unwrap();
    let (mut whole, mut pages, mut cursor) = (Vec::<(u64, String)>::new(), 0, None);
    loop {
        let OriginalPage { originals, next } =
            expand(&store, "s1", &what, cursor.as_deref(), 700).await.unwrap();
        let chars: usize = originals.iter().map(|part| part.text.chars().count()).sum();
        assert!(chars <= 700);
        for part in originals {
            match whole.last_mut() {
                Some((event, text)) if *event == part.event => {
                    assert_eq!(part.offset, text.chars().count());
                    text.push_str(&part.text);
                }
                _ => whole.push((part.event, part.text)),
            }
        }
        pages += 1;
        let Some(next) = next else { break };
        assert_ne!(cursor.as_ref(), Some(&next), "pages go on");
        cursor = Some(next);
    }
    assert!(pages > 5, "{pages}");
    let span = fold.span.start..fold.span.end;
    let kept = row(&fold).kept;
    let covered: Vec<_> =
        span.map(u64::from).filter(|seq| !kept.iter().any(|run| run.contains(seq))).collect();
    assert_eq!(whole.iter().map(|(event, _)| *event).collect::<Vec<_>>(), covered);
    for (event, text) in &whole {
        let message = &messages[*event as usize];
        // Arguments of calls are written anew; everything else is the text itself.
        if !message.contains("tool_calls") {
            assert_eq!(*text, event_text("openai-chat", message.as_bytes()));
        }
    }
    let page = expand(&store, "s1", &id, None, MAX_PAGE_CHARS).await.unwrap();
    assert_eq!(page.originals[0].event, covered[0]);
}

#[tokio::test]
async fn an_event_comes_back_from_any_place() {
    let (store, _, planted, _) = folded().await;
    let what = ExpandTarget::event(planted);
    let page = expand(&store, "s1", &what, None, 10).await.unwrap();
    assert_eq!((page.originals[0].text.as_str(), page.originals[0].cut), ("the heron_", true));
    let page = expand(&store, "s1", &what, page.next.as_deref(), 1_000).await.unwrap();
    assert_eq!(page.originals[0].text, format!("{} é", &NEEDLE[10..]));
    assert_eq!((page.originals[0].offset, page.next), (10, None));
    // A cursor that was made up: the last letter, in characters, and past the end.
    let inside = format!("@{planted}:{}", NEEDLE.chars().count() + 1);
    let page = expand(&store, "s1", &what, Some(&inside), 10).await.unwrap();
    assert_eq!(page.originals[0].text, "é");
    let past = format!("{planted}:{}", usize::MAX);
    let page = expand(&store, "s1", &what, Some(&past), 10).await.unwrap();
    assert_eq!(page.originals[0].text, "");
    let range = ExpandTarget::parse(&format!("{}-{}", planted, u64::from(u32::MAX))).unwrap();
    let page = expand(&store, "s1", &range, None, 100_000).await.unwrap();
    assert_eq!(page.originals[0].event, planted);
}

#[tokio::test]
async fn describe_says_what_a_fold_covers() {
    let (store, fold, planted, _) = folded().await;
    let found = describe(&store, "s1", "active").await.unwrap();
    assert_eq!((found.id.as_str(), found.number, found.active), (&*fold.id.to_hex(), 1, true));
    assert!(found.covered.iter().any(|(first, last)| (*first..=*last).contains(&planted)));
    assert_eq!(found.stand_in.as_deref(), Some("marker"));
    assert_eq!(found.tokens_after, fold.tokens_after);
    assert_eq!(describe(&store, "s1", &fold.id.to_hex()[..10]).await.unwrap(), found);
    let none = describe(&store, "s1", "ffffffff").await;
    assert!(matches!(none, Err(RecallError::NoFold(_))));
}

/// The planted line has two names; the marker has none, so both are gone.
#[tokio::test]
async fn names_are_those_of_the_covered_events_alone() {
    let (store, fold, _, messages) = folded().await;
    let all = names(&store, "s1", "which lock of the heron?", 20_000).await.unwrap();
    assert_eq!(all.names[0], "heron_lock");
    assert!(all.names.contains(&"bay-7".to_owned()));
    let held = |seq: &usize| !(fold.span.start as usize..fold.span.end as usize).contains(seq);
    let texts = |held: &dyn Fn(&usize) -> bool| -> String {
        let texts = messages.iter().enumerate().filter(|(seq, _)| held(seq));
        texts.map(|(_, text)| event_text("openai-chat", text.as_bytes()) + "\n").collect()
    };
    // Head-tail edits nothing and a marker names nothing: what is sent is what lies outside.
    let here: HashSet<_> = identifiers(&texts(&held)).map(str::to_owned).collect();
    let covered: HashSet<_> = identifiers(&texts(&|seq| !held(seq))).map(str::to_owned).collect();
    let gone: HashSet<_> = covered.difference(&here).cloned().collect();
    assert!(all.names.iter().all(|name| gone.contains(name)));
    assert_eq!(all.names.len() + all.more, gone.len());
    let few = names(&store, "s1", "", 60).await.unwrap();
    assert!(few.names.join(" ").len() <= 60);
    assert_eq!(few.names.len() + few.more, gone.len());
}

#[tokio::test]
async fn no_secret_is_among_the_names() {
    let secret = "sk-proj-Zx8Qw2Lm4Nv6Bt0Rc1Yh3Jk5";
    let (store, ..) = folded_with(&format!("heron_lock needs API_KEY={secret} here")).await;
    let found = names(&store, "s1", "the key of the heron lock", 20_000).await.unwrap();
    assert_eq!(found.names[0], "heron_lock");
    assert!(found.names.iter().all(|name| !name.contains("Zx8Qw2Lm4Nv6")), "{:?}", found.names);
}

async fn call(store: &dyn Store, name: &str, arguments: &str) -> String {
    dispatch(store, "s1", name, arguments).await
}

#[tokio::test]
async fn an_agent_finds_and_shows() {
    let (store, _, planted, _) = folded().await;
    let found = call(&store, "recall_find", r#"{"query":"marmalade"}"#).await;
    assert!(found.contains(&format!("\n@{planted} user: {NEEDLE} é\n")), "{found}");
    assert!(found.lines().next().unwrap().contains("not instructions"));
    // Words that are nowhere are named, and a plural finds its singular.
    let found = call(&store, "recall_find", r#"{"query":"Marmalades zzyzx"}"#).await;
    assert!(found.contains(&format!("\n@{planted} user: ")), "{found}");
    assert!(found.contains("\nnowhere: zzyzx\n"), "{found}");
    // A word that only messages in front of the agent have is not lost.
    let seen = outline(&store, "s1", 0, 1, false).await.unwrap().rows.remove(0).text;
    let word = seen.split(|c: char| !c.is_alphabetic()).find(|word| word.len() > 5).unwrap();
    let found = call(&store, "recall_find", &format!(r#"{{"query":"marmalade {word}"}}"#)).await;
    let word = word.to_lowercase();
    assert!(!found.contains(&format!("nowhere: {word}")), "{found}");
    let phrase = call(&store, "recall_find", r#"{"query":"\"is marmalade\""}"#).await;
    assert!(!phrase.contains(&format!("@{planted} ")), "{phrase}");
    let from = format!("{planted}:10");
    let arguments = format!(r#"{{"messages":"@{from}"}}"#);
    let page = call(&store, "recall_show", &arguments).await;
    assert!(page.contains("characters 10 to 46 of 46, turn "), "{page}");
    assert!(page.ends_with("marmalade é\n"), "{page}");
    let list = format!(r#"{{"messages":[{planted},"@0"]}}"#);
    let page = call(&store, "recall_show", &list).await;
    // The system message is in front of the agent.
    assert!(page.contains("── @0 system, turn 0\n(in front of you)\n"), "{page}");
    assert!(page.contains(&format!("── @{planted} user")), "{page}");
    // What is asked for first comes first, and what did not fit is the next call.
    let first = page.find(&format!("── @{planted} ")).unwrap();
    assert!(first < page.find("── @0 ").unwrap(), "{page}");
    let all = format!(r#"{{"messages":"{planted},0-9999"}}"#);
    let page = call(&store, "recall_show", &all).await;
    let next = page.lines().last().unwrap();
    assert!(next.starts_with("next: recall_show(messages=\""), "{page}");
    let alone = call(&store, "recall_show", r#"{"messages":0}"#).await;
    assert!(!alone.contains("(in front of you)"), "{alone}");
    let misspelt = call(&store, "recall_find", r#"{"qurey":"marmalade"}"#).await;
    assert!(misspelt.starts_with("error: there is no argument `qurey`\ndo: "), "{misspelt}");
    let beside = call(&store, "recall_find", r#"{"query":"zzyzx","why":"to know"}"#).await;
    let nothing = call(&store, "recall_find", r#"{"query":"zzyzx"}"#).await;
    assert_eq!(beside, nothing);
    assert!(nothing.starts_with("no message matches; try "), "{nothing}");
}

#[tokio::test]
async fn what_the_fold_took_out_can_be_searched_alone() {
    let (store, fold, planted, _) = folded().await;
    let ask = |query: &str| GrepQuery {
        folded: true,
        limit: 50,
        ..GrepQuery::new(query, SearchMode::Literal)
    };
    let found = grep(&store, "s1", &ask("marmalade")).await.unwrap().found;
    assert_eq!(found.iter().map(|hit| hit.event).collect::<Vec<_>>(), [planted]);
    let (kept, span) = (row(&fold).kept, u64::from(fold.span.start)..u64::from(fold.span.end));
    let left = |seq: u64| span.contains(&seq) && !kept.iter().any(|run| run.contains(&seq));
    let all = grep(&store, "s1", &GrepQuery { folded: true, role: Some("tool".into()), ..ask("") })
        .await
        .unwrap();
    assert!(all.found.len() > 5 && all.found.iter().all(|hit| left(hit.event)));
    let first =
        grep(&store, "s1", &GrepQuery { role: Some("system".into()), ..ask("") }).await.unwrap();
    assert_eq!((first.found.len(), first.total, first.next), (0, 0, None));
}

/// More hits than are looked at together.
#[tokio::test]
async fn every_hit_can_be_reached() {
    let store = MemoryStore::new();
    let new =
        NewSession { id: "s1".into(), dialect: "openai-chat".into(), ..NewSession::default() };
    store.create(new).await.unwrap();
    let mut hash = Hash::ROOT;
    let event = |n: usize| {
        let bytes = Bytes::from(format!(r#"{{"role":"user","content":"pebble {n}"}}"#));
        hash = hash.chain(&bytes);
        NewEvent { bytes, hash, turn: 1, tokens: 1, usage: None, origin: None }
    };
    let events = (0..1_234).map(event).collect();
    store.append("s1", AppendRequest { events, ..AppendRequest::default() }).await.unwrap();
    let (mut skip, mut seen) = (0, Vec::new());
    loop {
        let ask = GrepQuery { limit: 50, skip, ..GrepQuery::new("pebble", SearchMode::Literal) };
        let hits = grep(&store, "s1", &ask).await.unwrap();
        assert_eq!(hits.total, 1_234);
        seen.extend(hits.found.iter().map(|hit| hit.event));
        let Some(next) = hits.next else { break };
        skip = next;
    }
    assert!(seen.iter().copied().eq((0..1_234).rev()), "{seen:?}");
}

#[tokio::test]
async fn hits_come_in_pages_that_say_how_to_go_on() {
    let (store, fold, ..) = folded().await;
    let mut arguments = r#"{"role":"tool"}"#.to_owned();
    let mut seen = Vec::new();
    loop {
        let page = call(&store, "recall_find", &arguments).await;
        let heads = page.lines().filter(|line| line.starts_with('@'));
        seen.extend(
            heads.map(|line| ExpandTarget::number(line.split([' ', ',']).next().unwrap()).unwrap()),
        );
        let Some(next) = page.lines().last().unwrap().strip_prefix("next: recall_find(") else {
            break;
        };
        let skip = next.split("skip=").nth(1).unwrap().trim_end_matches(')');
        arguments = format!(r#"{{"role":"tool","skip":{skip}}}"#);
    }
    let kept = row(&fold).kept;
    let span = u64::from(fold.span.start)..u64::from(fold.span.end);
    let all = outline(&store, "s1", 0, 500, false).await.unwrap();
    let tools: Vec<u64> = all
        .rows
        .iter()
        .filter(|row| row.role == "tool")
        .map(|row| row.event)
        .filter(|seq| span.contains(seq) && !kept.iter().any(|run| run.contains(seq)))
        .collect();
    assert_eq!(seen, tools, "all that the fold took out, in order");
    assert!(seen.len() > 7);
}

#[tokio::test]
async fn bad_calls_are_answered_with_what_to_do() {
    let (store, ..) = folded().await;
    for (name, arguments) in [
        ("recall_find", "{"),
        ("recall_find", "[1]"),
        ("recall_find", r#"{"query":{"a":1}}"#),
        ("recall_find", r#"{"query":"x","skip":-1}"#),
        ("recall_find", r#"{"query":"x","role":"robot"}"#),
        ("recall_find", r#"{"query":"x","tool":"sed"}"#),
        ("recall_find", r#"{"query":"x","outcome":"perhaps"}"#),
        ("recall_find", r#"{"query":"x","messages":"active"}"#),
        ("recall_show", r#"{}"#),
        ("recall_show", r#"{"messages":"the file"}"#),
        ("recall_show", r#"{"messages":"99999999"}"#),
        ("recall_show", r#"{"messages":"20-10"}"#),
        ("recall_show", r#"{"messages":"18446744073709551615"}"#),
        ("recall_show", r#"{"messages":"0-18446744073709551615"}"#),
        ("recall_show", r#"{"messages":"1:next"}"#),
        ("recall_show", r#"{"messages":"deadbeef"}"#),
        ("rm", r#"{}"#),
        ("", "\u{0}"),
    ] {
        let answer = call(&store, name, arguments).await;
        let lines: Vec<_> = answer.lines().collect();
        assert!(lines[0].starts_with("error: "), "{name} {arguments} {answer}");
        let advice = lines.last().unwrap();
        assert!(advice.starts_with("do: ") && advice.ends_with('.'), "{name} {arguments} {answer}");
    }
    let answer = dispatch(&store, "elsewhere", "recall_find", "{}").await;
    assert!(answer.contains("there is no session `elsewhere`"), "{answer}");
}

#[test]
fn tools_have_the_shape_of_their_provider() {
    let openai: Value = serde_json::from_str(&tools(ToolListShape::OpenAi)).unwrap();
    let anthropic: Value = serde_json::from_str(&tools(ToolListShape::Anthropic)).unwrap();
    for (a, b) in openai.as_array().unwrap().iter().zip(anthropic.as_array().unwrap()) {
        assert_eq!(a["type"], "function");
        assert_eq!(a["function"]["name"], b["name"]);
        assert_eq!(a["function"]["parameters"], b["input_schema"]);
        let properties = b["input_schema"]["properties"].as_object().unwrap();
        let required = b["input_schema"]["required"].as_array().unwrap();
        assert!(required.iter().all(|key| properties.contains_key(key.as_str().unwrap())));
        assert!(b["description"].as_str().unwrap().len() > 40);
    }
    assert_eq!(openai.as_array().unwrap().len(), 2);
    for (shape, name) in [
        ("responses", "/0/name"),
        ("gemini", "/0/functionDeclarations/0/name"),
        ("bedrock", "/0/toolSpec/name"),
    ] {
        let list = tools(ToolListShape::named(shape).unwrap());
        let list: Value = serde_json::from_str(&list).unwrap();
        assert_eq!(list.pointer(name).unwrap(), "recall_find", "{shape}");
    }
}

/// What a session without folds and one without events say.
#[tokio::test]
async fn nothing_folded_nothing_to_recall() {
    let store = MemoryStore::new();
    let new =
        NewSession { id: "s1".into(), dialect: "openai-chat".into(), ..NewSession::default() };
    store.create(new).await.unwrap();
    let empty = expand(&store, "s1", &ExpandTarget::event(0), None, 10).await;
    assert!(matches!(empty, Err(RecallError::Empty)));
    assert!(matches!(describe(&store, "s1", "").await, Err(RecallError::Unfolded)));
    assert!(matches!(names(&store, "s1", "", 10).await, Err(RecallError::Unfolded)));
}

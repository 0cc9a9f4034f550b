//! An agent says what should become of its session, over the protocol.

use std::sync::Arc;

use midfold::RawEvent;
use midfold::core::plan::FoldCause;
use midfold::store::{Store, StoredSession};
use midfold_mcp::SessionScope;
use serde_json::json;

use crate::kit::{Client, Plan, add, messages, of, store};

const NOTE: &str = "The red barn is done; the blue one comes next.";
/// A line of the newest part.
const LINE: &str = "row 3 of list 38: 131 units checked";

fn may() -> SessionScope {
    SessionScope { agent_tools: true, ..SessionScope::default() }
}

async fn opened(store: &Arc<dyn Store>) -> StoredSession {
    StoredSession::open(Arc::clone(store), "s").await.unwrap()
}

/// A session that was folded, and went on to just below the line.
async fn going_on() -> Arc<dyn Store> {
    let store = store();
    add(&store, &Plan::default()).await;
    let mut stored = opened(&store).await;
    let more = messages("And again", "nothing else");
    for pair in more[1..].chunks(2) {
        let status = stored.status(2).await.unwrap();
        if status.context_tokens * 100 > status.threshold.tokens * 85 {
            break;
        }
        let events = pair.iter().map(|message| RawEvent::new(message.to_string().into()));
        stored.append(events.collect(), None, 2).await.unwrap();
    }
    assert!(!stored.status(3).await.unwrap().due.fires());
    store
}

#[tokio::test]
async fn what_an_agent_says_is_done_with_the_next_context() {
    let store = going_on().await;
    let client = Client::of(&store, may()).await;
    assert_eq!(client.ok("note", json!({ "text": NOTE })).await, NOTED);
    let told = client.ok("pin", json!({ "text": LINE })).await;
    assert!(told.starts_with("message @") && told.contains("stays whole"), "{told}");
    assert!(client.ok("pin", json!({ "text": LINE })).await.contains("is kept already"));
    let told = client.ok("compact", json!({ "keep": "blue barn" })).await;
    assert_eq!(told, "the older part is replaced by a summary before your next turn\n");
    // Another process goes on with it.
    let mut stored = opened(&store).await;
    let sent = stored.context(true, 4).await.unwrap();
    let session = stored.whole().await.unwrap();
    let fold = session.active().unwrap();
    assert_eq!((Some(fold.id), fold.cause), (sent.folded, FoldCause::Agent));
    let context = String::from_utf8(sent.context.bytes()).unwrap();
    assert!(context.contains(NOTE) && context.contains(LINE), "{context}");
    let told = client.ok("compact", json!({})).await;
    assert!(told.starts_with("not done: there is room enough: "), "{told}");
}

const NOTED: &str = "noted: each summary from the next one on has it\n";

#[tokio::test]
async fn who_did_not_ask_for_the_tools_has_none() {
    let store = going_on().await;
    let client = Client::of(&store, SessionScope::default()).await;
    for tool in ["compact", "pin", "note"] {
        assert!(client.result(tool, json!({ "text": NOTE })).await.is_err(), "{tool}");
    }
    assert!(opened(&store).await.whole().await.unwrap().state().agent.is_silent());
    let tools = Client::of(&store, may()).await.0.list_all_tools().await.unwrap();
    let changing = tools.iter().filter(|tool| {
        let hints = tool.annotations.as_ref().unwrap();
        assert_eq!(tool.input_schema["additionalProperties"], false, "{}", tool.name);
        assert!(!tool.description.as_ref().unwrap().contains("midfold_"), "{}", tool.name);
        hints.read_only_hint == Some(false)
    });
    let names: Vec<_> = changing.map(|tool| tool.name.to_string()).collect();
    assert_eq!(names, ["compact", "pin", "note"]);
}

#[tokio::test]
async fn nobody_changes_a_session_that_may_not_be_seen() {
    let store = going_on().await;
    let scope = SessionScope { agent_tools: true, ..of("alice") };
    let client = Client::of(&store, scope).await;
    let (text, failed) = client.call("note", json!({ "session": "s", "text": NOTE })).await;
    assert!(failed && text.contains("there is no session `s`"), "{text}");
    assert!(opened(&store).await.whole().await.unwrap().notes().is_empty());
}

#[tokio::test]
async fn what_cannot_be_done_says_what_to_do() {
    let store = going_on().await;
    let client = Client::of(&store, may()).await;
    for (tool, arguments) in [
        ("note", json!({})),
        ("note", json!({ "text": "x".repeat(501) })),
        ("pin", json!({})),
        ("pin", json!({ "text": "a b" })),
        ("pin", json!({ "text": "words that nobody said here" })),
        ("pin", json!({ "message": "@9999" })),
        ("pin", json!({ "message": "first" })),
    ] {
        let (text, failed) = client.call(tool, arguments.clone()).await;
        assert!(failed, "{tool} {arguments}: {text}");
        assert!(text.starts_with("error: ") && text.contains("\ndo: "), "{tool}: {text}");
    }
    assert!(opened(&store).await.whole().await.unwrap().state().agent.is_silent());
}

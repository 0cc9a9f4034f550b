//! What belongs to somebody else is not there.

use midfold_mcp::SessionScope;
use serde_json::json;

use crate::kit::{Client, FACT, Plan, add, of, store};

const THEIRS: &str = "the vault of the other house opens with V1-5ec2";

async fn shared() -> std::sync::Arc<dyn midfold::store::Store> {
    let store = store();
    add(&store, &Plan { id: "mine", owner: Some("alice"), ..Plan::default() }).await;
    let theirs =
        Plan { id: "theirs", owner: Some("bob"), task: "Watch the safe", fact: THEIRS, created: 2 };
    add(&store, &theirs).await;
    let nobodys = Plan {
        id: "nobodys",
        owner: None,
        task: "Old work",
        fact: "the old gate opens with O3-11aa",
        created: 3,
    };
    add(&store, &nobodys).await;
    store
}

#[tokio::test]
async fn the_session_of_another_is_as_one_that_is_not_there() {
    let client = Client::of(&shared().await, of("alice")).await;
    for tool in ["recall_find", "recall_show", "explain"] {
        let ask = |id: &str| json!({ "session": id, "query": "vault", "text": "vault", "messages": "@1" });
        let unknown = client.call(tool, ask("never")).await;
        assert!(unknown.1, "{unknown:?}");
        for id in ["theirs", "nobodys"] {
            let (text, failed) = client.call(tool, ask(id)).await;
            assert_eq!((text.replace(id, "never"), failed), unknown, "{tool}");
        }
    }
    let read = |id: &str| {
        let uri = format!("midfold://session/{id}/recap");
        client.0.read_resource(rmcp::model::ReadResourceRequestParams::new(uri))
    };
    let unknown = read("never").await.unwrap_err().to_string();
    assert_eq!(read("theirs").await.unwrap_err().to_string().replace("theirs", "never"), unknown);
}

#[tokio::test]
async fn nothing_of_another_is_listed_found_or_counted() {
    let client = Client::of(&shared().await, of("alice")).await;
    let list = client.ok("sessions", json!({})).await;
    assert!(
        list.contains("mine: ") && !list.contains("theirs") && !list.contains("nobodys"),
        "{list}"
    );
    // With one session that may be seen, that one is meant.
    let found = client.ok("recall_find", json!({ "query": "opens with" })).await;
    assert!(found.contains(FACT) && !found.contains("V1-5ec2"), "{found}");
    let (text, failed) = client.call("recall_find", json!({ "said": THEIRS })).await;
    assert!(failed && text.contains("none of the 1 newest sessions (of 1)"), "{text}");
    let resources = client.0.list_all_resources().await.unwrap();
    let uris: Vec<_> = resources.iter().map(|resource| resource.uri.as_str()).collect();
    assert_eq!(uris, ["midfold://session/mine/recap"]);
}

#[tokio::test]
async fn a_connection_does_not_reach_what_its_owner_may_not_see() {
    let scope = SessionScope { session: Some("theirs".to_owned()), ..of("alice") };
    let client = Client::of(&shared().await, scope).await;
    let (text, failed) = client.call("recall_find", json!({})).await;
    assert!(failed && text.starts_with("error: there is no session `theirs`"), "{text}");
}

#[tokio::test]
async fn without_an_owner_all_are_seen() {
    let client = Client::of(&shared().await, SessionScope::default()).await;
    let list = client.ok("sessions", json!({})).await;
    for id in ["mine", "theirs", "nobodys"] {
        assert!(list.contains(&format!("\n{id}: ")), "{list}");
    }
}

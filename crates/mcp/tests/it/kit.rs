//! Stores with folded sessions, and a client of the server.

use std::sync::Arc;

use midfold::store::{MemoryStore, NewSession, SessionMeta, Store, StoredSession};
use midfold::{Budget, PlanOutcome, Policy, RawEvent};
use midfold_mcp::{SessionScope, serve_over};
use rmcp::model::{CallToolRequestParams, CallToolResult};
use rmcp::service::{RunningService, ServiceError};
use rmcp::{RoleClient, ServiceExt};
use serde_json::{Value, json};

/// What is said once, in the middle of a session, in the result of a tool.
pub const FACT: &str = "the locker of the red barn opens with K7-0c1e";

/// An empty store.
pub fn store() -> Arc<dyn Store> {
    Arc::new(MemoryStore::new())
}

/// A session to add to a store.
pub struct Plan<'a> {
    pub id: &'a str,
    pub owner: Option<&'a str>,
    pub task: &'a str,
    /// What the tool found, in the middle.
    pub fact: &'a str,
    pub created: u64,
}

impl Default for Plan<'_> {
    fn default() -> Self {
        Self { id: "s", owner: None, task: "Look after the sheds", fact: FACT, created: 1 }
    }
}

fn call(at: usize, tool: &str, argument: &str) -> Value {
    let arguments = json!({ "command": argument }).to_string();
    json!({ "role": "assistant", "content": null, "tool_calls": [
        { "id": format!("c{at}"), "type": "function",
          "function": { "name": tool, "arguments": arguments } }] })
}

fn result(at: usize, text: &str) -> Value {
    json!({ "role": "tool", "tool_call_id": format!("c{at}"), "content": text })
}

/// The messages of a session: enough beside the fact that all of it is folded.
pub fn messages(task: &str, fact: &str) -> Vec<Value> {
    let mut all = vec![json!({ "role": "user", "content": task })];
    for at in 0..40 {
        let lines: Vec<String> = (0..30)
            .map(|line| format!("row {line} of list {at}: {} units checked", line * 31 + at))
            .collect();
        let text = if at == 4 {
            format!("{}\n{fact}\n{}", lines[..15].join("\n"), lines[15..].join("\n"))
        } else {
            lines.join("\n")
        };
        all.push(call(at, "Bash", &format!("./list {at}")));
        all.push(result(at, &text));
    }
    all.push(json!({ "role": "assistant", "content": "All lists are read." }));
    all
}

/// The policy of the sessions.
const SHORT: &str =
    "base = \"default\"\nname = \"short\"\n[recap]\ncap_tokens = 260\nfills = false\n";

/// Adds a session and folds it.
pub async fn add(store: &Arc<dyn Store>, plan: &Plan<'_>) {
    let meta = SessionMeta {
        budget: Budget::new(8_000),
        envelope: Vec::new(),
        parent: None,
        source: None,
        owner: plan.owner.map(str::to_owned),
        model: None,
        client: None,
        cache_lifetime: None,
    };
    let new = NewSession {
        id: plan.id.into(),
        dialect: "openai-chat".into(),
        profile: "openai".into(),
        counter: "chars:4".into(),
        // A recap that has no room for what a look-up showed.
        policy: Policy::from_toml(SHORT).unwrap().to_toml(),
        meta: serde_json::to_string(&meta).unwrap(),
        created: plan.created,
    };
    let mut stored = StoredSession::create(Arc::clone(store), new).await.unwrap();
    let events = messages(plan.task, plan.fact);
    let events = events.iter().map(|message| RawEvent::new(message.to_string().into())).collect();
    stored.append(events, None, plan.created).await.unwrap();
    let outcome = stored.compact(None, plan.created).await.unwrap();
    assert!(matches!(outcome, PlanOutcome::Folded(_)), "{outcome:?}");
    let context = String::from_utf8(stored.whole().await.unwrap().view().bytes().to_vec()).unwrap();
    assert!(!context.contains(plan.fact), "the fact is still in the context");
}

/// A client that is connected to a server of its own.
pub struct Client(pub RunningService<RoleClient, ()>);

impl Client {
    pub async fn of(store: &Arc<dyn Store>, scope: SessionScope) -> Self {
        let (near, far) = tokio::io::duplex(1 << 20);
        let (read, write) = tokio::io::split(far);
        tokio::spawn(serve_over(Arc::clone(store), scope, read, write));
        Self(().serve(near).await.unwrap())
    }

    pub async fn result(
        &self,
        tool: &str,
        arguments: Value,
    ) -> Result<CallToolResult, ServiceError> {
        let mut params = CallToolRequestParams::new(tool.to_owned());
        params.arguments = arguments.as_object().cloned();
        self.0.call_tool(params).await
    }

    /// The text of a result, and whether it is an error.
    pub async fn call(&self, tool: &str, arguments: Value) -> (String, bool) {
        text_of(&self.result(tool, arguments).await.unwrap())
    }

    /// The text of a result that is none.
    pub async fn ok(&self, tool: &str, arguments: Value) -> String {
        let (text, failed) = self.call(tool, arguments).await;
        assert!(!failed, "{text}");
        text
    }
}

pub fn text_of(result: &CallToolResult) -> (String, bool) {
    let [content] = result.content.as_slice() else { panic!("{result:?}") };
    (content.as_text().unwrap().text.clone(), result.is_error == Some(true))
}

/// The scope of somebody.
pub fn of(owner: &str) -> SessionScope {
    SessionScope { owner: Some(owner.to_owned()), ..SessionScope::default() }
}

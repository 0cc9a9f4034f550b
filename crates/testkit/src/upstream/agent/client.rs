//! The properties of a client, and code that all dialects share.

use serde_json::{Value, json};

use crate::upstream::request_parts::WireDialect;
use crate::upstream::script::task;

/// The habits of real clients that matter to a proxy.
#[derive(Clone, Copy, Debug, Default)]
pub struct Habits {
    /// Every request ends with a text of the user that is missing in the next request (`OpenClaw`, aider).
    pub ephemeral: bool,
    /// Call ids keep only letters and digits (`OpenClaw`).
    pub plain_ids: bool,
    /// Responses items are sent back without `id` and `status`.
    pub bare_items: bool,
    /// Texts are lists of parts instead of strings.
    pub part_lists: bool,
    /// No cache marks. Otherwise Anthropic requests have one after the instructions and one at the end.
    pub unmarked: bool,
    /// The user's first message is a text that the client adds, and the task follows (Codex, Claude Code).
    pub injected: bool,
    /// Instructions follow some results, as messages of their own (Claude Code; Messages only).
    pub reminders: bool,
    /// Every request asks the provider to keep all thinking (Claude Code; Messages only).
    pub keeps_thinking: bool,
    /// No tools. Commands are read from code blocks, and their output is sent as text.
    pub toolless: bool,
}

/// A client and its behaviour.
#[derive(Clone, Debug)]
pub struct ClientAgent {
    /// The dialect.
    pub dialect: WireDialect,
    /// The part of its URLs before `/v1`.
    pub base_url: String,
    /// The model that it names.
    pub model: String,
    /// Whether it asks for streams.
    pub stream: bool,
    /// Its system prompt.
    pub system: String,
    /// Its first message.
    pub task: String,
    /// The name of its tool, which takes a `command`.
    pub tool: String,
    /// Whether it asks for thinking, and sends it back.
    pub thinking: bool,
    /// The most tokens of a reply that its requests allow.
    pub max_tokens: u64,
    /// Headers that are added to every request.
    pub headers: Vec<(String, String)>,
    /// The attempts after the first one when a request fails with 429 or 5xx, or breaks off.
    pub retries: u32,
    /// The number of requests after which it gives up.
    pub max_requests: u32,
    /// Whether the server keeps the conversation: with `previous_response_id` in Responses, with threads in Messages.
    /// If the server refuses a thread, the client goes on without one, as Anthropic's SDK does.
    pub server_state: bool,
    /// Its habits.
    pub habits: Habits,
}

impl ClientAgent {
    /// A well-behaved client of a server.
    #[must_use]
    pub fn new(dialect: WireDialect, base_url: &str) -> Self {
        Self {
            dialect,
            base_url: base_url.trim_end_matches('/').to_owned(),
            model: "scripted".to_owned(),
            stream: false,
            system: "You are an agent that works with a shell. Do one step at a time.".to_owned(),
            task: task(20),
            tool: "bash".to_owned(),
            thinking: false,
            max_tokens: 1_024,
            headers: Vec::new(),
            retries: 0,
            max_requests: 1_000,
            server_state: false,
            habits: Habits::default(),
        }
    }
}

/// A call in a reply of the model.
#[derive(Clone, Debug)]
pub(super) struct RequestedCall {
    pub id: String,
    pub name: String,
    pub command: String,
}

/// The content of a reply, read from its dialect.
#[derive(Clone, Debug, Default)]
pub(super) struct ReplyContent {
    pub text: String,
    pub calls: Vec<RequestedCall>,
    /// The messages or items that go into the client's history.
    pub history: Vec<Value>,
    pub usage: Value,
    /// The id of the reply.
    pub reply: String,
}

/// The reason why there is no reply.
pub(super) enum ReplyTrouble {
    Failed { status: u16, body: String },
    Broken(String),
}

/// The id of a call as this client keeps it.
pub(super) fn kept_id(agent: &ClientAgent, id: &Value) -> String {
    let id = id.as_str().unwrap_or_default();
    if !agent.habits.plain_ids {
        return id.to_owned();
    }
    id.chars().filter(char::is_ascii_alphanumeric).collect()
}

/// The schema of the tool's arguments.
pub(super) fn schema() -> Value {
    json!({"type": "object", "required": ["command"],
        "properties": {"command": {"type": "string", "description": "The command to run"}}})
}

/// The command in a call's arguments.
pub(super) fn command(arguments: &Value) -> String {
    let parsed: Value = match arguments {
        Value::String(text) => serde_json::from_str(text).unwrap_or_default(),
        other => other.clone(),
    };
    parsed["command"].as_str().unwrap_or_default().to_owned()
}

/// The description of the tool.
pub(super) const DESCRIPTION: &str = "Runs a command in a shell and answers what it prints.";

/// The trouble of an error event in a stream, whose HTTP status is 200.
pub(super) fn in_stream(event: &Value) -> ReplyTrouble {
    ReplyTrouble::Failed { status: 200, body: event.to_string() }
}

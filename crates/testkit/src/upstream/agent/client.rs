//! What a client is like, and what its dialects have in common.

use serde_json::{Value, json};

use crate::upstream::request_parts::WireDialect;
use crate::upstream::script::task;

/// Habits of real clients.
#[derive(Clone, Copy, Debug, Default)]
pub struct Habits {
    /// The end of every request has a text of the user that the next one replaces (`OpenClaw`, aider).
    pub ephemeral: bool,
    /// Call ids lose everything but letters and digits (`OpenClaw`).
    pub plain_ids: bool,
    /// Responses items come back without `id` and `status`.
    pub bare_items: bool,
    /// Texts are lists of parts, where others have a string.
    pub part_lists: bool,
    /// No cache marks: Anthropic requests have one after the instructions and one at the end otherwise.
    pub unmarked: bool,
    /// The first message of the user is not the task but what the client adds to it (Codex, Claude Code).
    pub injected: bool,
    /// Instructions among the messages, now and then after results (Claude Code; Messages only).
    pub reminders: bool,
    /// No tools: commands are read from code blocks, and answered as text.
    pub toolless: bool,
}

/// How a client behaves.
#[derive(Clone, Debug)]
pub struct ClientAgent {
    /// The dialect.
    pub dialect: WireDialect,
    /// Everything before `/v1`.
    pub base_url: String,
    /// The model that it names.
    pub model: String,
    /// Whether it asks for streams.
    pub stream: bool,
    /// Its instructions.
    pub system: String,
    /// Its first message.
    pub task: String,
    /// The name of its tool, which takes a `command`.
    pub tool: String,
    /// Whether it asks for thinking, and sends it back.
    pub thinking: bool,
    /// Tokens that it allows for a reply.
    pub max_tokens: u64,
    /// More headers on every request.
    pub headers: Vec<(String, String)>,
    /// Attempts after the first one when a request fails with 429 or 5xx, or breaks off.
    pub retries: u32,
    /// Requests after which it gives up.
    pub max_requests: u32,
    /// Whether the server keeps the conversation: `previous_response_id` in Responses, threads in Messages.
    /// A refused thread is done without, as by Anthropic's SDK.
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

/// A call that a reply asks for.
#[derive(Clone, Debug)]
pub(super) struct RequestedCall {
    pub id: String,
    pub name: String,
    pub command: String,
}

/// What a reply says.
#[derive(Clone, Debug, Default)]
pub(super) struct ReplyContent {
    pub text: String,
    pub calls: Vec<RequestedCall>,
    /// What goes into the history.
    pub kept: Vec<Value>,
    pub usage: Value,
    /// The id of the reply.
    pub reply: String,
}

/// Why there is no reply.
pub(super) enum ReplyTrouble {
    Failed { status: u16, body: String },
    Broken(String),
}

/// A call id, as this client keeps it.
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

/// What the tool is said to do.
pub(super) const DESCRIPTION: &str = "Runs a command in a shell and answers what it prints.";

/// An error event in a stream of status 200.
pub(super) fn in_stream(event: &Value) -> ReplyTrouble {
    ReplyTrouble::Failed { status: 200, body: event.to_string() }
}

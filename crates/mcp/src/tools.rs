//! The tools, as a client lists them. A model reads their texts.

use std::sync::Arc;

use midfold::store::recall::{ToolListShape, tools};
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::choose::{SAID, SESSION};
use crate::request::{LISTED, MAX_LISTED};
use crate::scope::SessionScope;
use crate::wishes;

/// A tool of recall, as the table of [`tools`] has it.
#[derive(Deserialize)]
struct RecallTool {
    name: String,
    description: String,
    input_schema: JsonObject,
}

/// All tools of a client. Their calls need not name a session if the connection does.
pub(crate) fn list(scope: &SessionScope) -> Vec<Tool> {
    let table: Vec<RecallTool> =
        serde_json::from_str(&tools(ToolListShape::Anthropic)).unwrap_or_default();
    let mut all: Vec<Tool> = table.into_iter().map(|tool| recall(tool, scope)).collect();
    all.push(explain(scope));
    all.push(sessions());
    if scope.agent_tools {
        all.extend(wishes::list().map(|mut tool| {
            let schema = Arc::unwrap_or_clone(tool.input_schema);
            tool.input_schema = Arc::new(with_session(schema, scope));
            tool
        }));
    }
    all
}

/// Whether the client has a tool with this name.
pub(crate) fn has(name: &str, scope: &SessionScope) -> bool {
    list(scope).iter().any(|tool| tool.name == name)
}

fn recall(tool: RecallTool, scope: &SessionScope) -> Tool {
    let title = match tool.name.as_str() {
        "recall_find" => "Find original messages",
        _ => "Show original messages in full",
    };
    reading(Tool::new(tool.name, tool.description, with_session(tool.input_schema, scope)), title)
}

fn explain(scope: &SessionScope) -> Tool {
    let description = "Says whether you still see a text of this conversation: word for word, in a \
        shortened message, in the summary only, or not at all; and if not, when it left, by which \
        rule, and where the original is. Use it when you are unsure whether something was said or is \
        only out of sight.";
    let schema = object(json!({
        "type": "object",
        "properties": {
            "text": { "type": "string", "description": "the words to look for, or `@12`: a message" },
            "call": {
                "type": "integer", "minimum": 1,
                "description": "ask about this call of the model; without it, about now",
            },
        },
        "required": ["text"],
        "additionalProperties": false,
    }));
    let tool = Tool::new("explain", description, with_session(schema, scope));
    reading(tool, "Say whether the model still sees a text")
}

fn sessions() -> Tool {
    let description = "Lists the stored conversations that can be recalled, newest first: id, number \
        of messages, when it was made, first line of the task. Use it when a call asks which session \
        is meant.";
    let schema = object(json!({
        "type": "object",
        "properties": {
            "limit": { "type": "integer", "minimum": 1, "maximum": MAX_LISTED, "default": LISTED },
            "skip": { "type": "integer", "minimum": 0, "description": "sessions to pass over" },
        },
        "required": [],
        "additionalProperties": false,
    }));
    reading(Tool::new("sessions", description, schema), "List the stored conversations")
}

/// Adds the arguments that name a session to a schema. `said` is only offered if the connection names no session.
fn with_session(mut schema: JsonObject, scope: &SessionScope) -> JsonObject {
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        let usual =
            if scope.session.is_some() { "; without it, the one of this connection" } else { "" };
        let of_session = format!("id of the conversation, as `sessions` lists it{usual}");
        properties
            .insert(SESSION.to_owned(), json!({ "type": "string", "description": of_session }));
        if scope.session.is_none() {
            let description = "instead of its id: a text that was said in the conversation, letter by letter; \
                        the newest one that has it is meant";
            properties
                .insert(SAID.to_owned(), json!({ "type": "string", "description": description }));
        }
    }
    schema
}

fn object(schema: Value) -> JsonObject {
    match schema {
        Value::Object(object) => object,
        _ => JsonObject::new(),
    }
}

/// Marks a tool as read-only. Clients may call it without asking the user: it changes nothing, and reaches only the
/// store.
fn reading(tool: Tool, title: &str) -> Tool {
    let hints = ToolAnnotations::with_title(title).read_only(true).destructive(false);
    tool.with_title(title).with_annotations(hints.idempotent(true).open_world(false))
}

//! The recall tools for an agent. A model reads the texts in this file.

use serde_json::{Value, json};

/// How a provider wants tools to be described.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolListShape {
    /// Chat Completions: `{"type":"function","function":{…}}`.
    OpenAi,
    /// Anthropic: `{"name":…,"input_schema":{…}}`.
    Anthropic,
}

/// The two tools, as a JSON array for the `tools` of a request.
///
/// ```
/// use midfold_store::recall::{ToolListShape, tools};
/// let tools: serde_json::Value = serde_json::from_str(&tools(ToolListShape::Anthropic)).unwrap();
/// assert_eq!(tools[0]["name"], "recall_find");
/// ```
#[must_use]
pub fn tools(shape: ToolListShape) -> String {
    let tool = |(name, description, schema): (&str, &str, Value)| match shape {
        ToolListShape::OpenAi => json!({
            "type": "function",
            "function": { "name": name, "description": description, "parameters": schema },
        }),
        ToolListShape::Anthropic => {
            json!({ "name": name, "description": description, "input_schema": schema })
        }
    };
    Value::from(table().into_iter().map(tool).collect::<Vec<_>>()).to_string()
}

fn table() -> [(&'static str, &'static str, Value); 2] {
    [find(), show()]
}

fn find() -> (&'static str, &'static str, Value) {
    let description = "Finds messages of this session that a summary replaced. Use it when the \
        summary lacks a detail: a value, an error, a decision, a command, a line of a file. One \
        line a hit: @number, tool, outcome, the words. Without a query it lists what passes the \
        filters, in order: outcome=failed alone is a list of all failures. Several questions at \
        once: put the words of all into one query.";
    let properties = json!({
        "query": {
            "type": "string",
            "description": "words, best match first; or \"a phrase\" in quotation marks",
        },
        "role": { "type": "string", "enum": ["user", "assistant", "tool", "system"] },
        "tool": {
            "type": "string",
            "description": "only this tool: its name, or read, edit, write, search, shell, web",
        },
        "outcome": { "type": "string", "enum": ["failed", "ok"] },
        "messages": { "type": "string", "description": "only these: `12-80`, `12-`" },
        "skip": { "type": "integer", "minimum": 0, "description": "hits of earlier pages" },
    });
    ("recall_find", description, object(properties, &[]))
}

fn show() -> (&'static str, &'static str, Value) {
    let description = "Shows messages of this session in full, a call with its result. Use it for \
        an @number of the summary or of recall_find. What is long comes in pages: the last line is \
        the call for the next one.";
    let properties = json!({
        "messages": { "type": "string", "description": "`@12`, a range `12-20`, a list `12,15,20`" },
        "from": {
            "type": "string",
            "description": "where to go on: `15`, `15:4000` (character) or `15:L310` (line)",
        },
    });
    ("recall_show", description, object(properties, &["messages"]))
}

/// The schema of an object with these properties and no others.
fn object(properties: Value, required: &[&str]) -> Value {
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

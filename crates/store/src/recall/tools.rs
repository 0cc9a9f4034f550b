//! The recall tools for an agent. A model reads the texts in this file.

use serde_json::{Value, json};

use super::{
    HITS, MAX_CONTEXT, MAX_HITS, MAX_NAME_CHARS, MAX_PAGE_CHARS, MAX_ROWS, NAME_CHARS, PAGE_CHARS,
    ROWS,
};

/// How a provider wants tools to be described.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolListShape {
    /// Chat Completions: `{"type":"function","function":{…}}`.
    OpenAi,
    /// Anthropic: `{"name":…,"input_schema":{…}}`.
    Anthropic,
}

/// The five tools, as a JSON array for the `tools` of a request.
///
/// ```
/// use midfold_store::recall::{ToolListShape, tools};
/// let tools: serde_json::Value = serde_json::from_str(&tools(ToolListShape::Anthropic)).unwrap();
/// assert_eq!(tools[0]["name"], "recall_grep");
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

fn table() -> [(&'static str, &'static str, Value); 5] {
    [grep(), outline(), expand(), names(), describe()]
}

fn grep() -> (&'static str, &'static str, Value) {
    let description = "Searches all original messages of this session, those that were compacted \
        away included. Use it when the summary lacks a detail that you can put into words: a value, \
        an error, a decision, a line of a file. Prints the @number of each message with the lines \
        that match, and says where a newer version is. With a filter and no query it lists whatever \
        passes, oldest first: errors=true alone lists all failures.";
    let properties = json!({
        "query": { "type": "string", "description": "words, a text or a regex, see `mode`" },
        "mode": {
            "type": "string",
            "enum": ["text", "literal", "regex"],
            "description": "text: words, best match first (default). literal: exactly this, newest \
                            first. regex: newest first",
        },
        "role": { "type": "string", "enum": ["user", "assistant", "tool", "system"] },
        "tool": {
            "type": "string",
            "description": "only this tool's calls and results: its name, or read, edit, write, \
                            search, shell, web",
        },
        "errors": { "type": "boolean", "description": "only results that failed" },
        "folded": { "type": "boolean", "description": "only what you no longer see" },
        "range": { "type": "string", "description": "only these messages: `12-80`, `12-`" },
        "context": {
            "type": "integer", "minimum": 0, "maximum": MAX_CONTEXT,
            "description": "lines around a match",
        },
        "limit": int(1, MAX_HITS, HITS),
        "skip": { "type": "integer", "minimum": 0, "description": "hits to pass over" },
    });
    ("recall_grep", description, object(properties, &[]))
}

fn outline() -> (&'static str, &'static str, Value) {
    let description = "Lists the original messages in order, one line each: @number, role, tool and \
        target, outcome, size. Use it to see what happened and when, or when you do not know which \
        words to search for. Cheap; expand what matters.";
    let properties = json!({
        "from": { "type": "integer", "minimum": 0, "description": "first message" },
        "limit": int(1, MAX_ROWS, ROWS),
        "folded": { "type": "boolean", "description": "only what you no longer see" },
    });
    ("recall_outline", description, object(properties, &[]))
}

fn expand() -> (&'static str, &'static str, Value) {
    let description = "Returns messages in full, a call together with its result. Use it for an \
        @number that the summary, recall_grep or recall_outline printed. What is long comes in \
        pages: the last line is the call for the next one.";
    let properties = json!({
        "what": {
            "type": "string",
            "description": "`@12`, a range `12-20`, a list `12,15,20`, or `active`: all that was \
                            compacted away",
        },
        "from": {
            "type": "string",
            "description": "where to go on: `15`, `15:4000` (character) or `15:L310` (line)",
        },
        "max_chars": int(1, MAX_PAGE_CHARS, PAGE_CHARS),
    });
    ("recall_expand", description, object(properties, &["what"]))
}

fn names() -> (&'static str, &'static str, Value) {
    let description = "Lists names (files, symbols, ids, numbers) that were compacted away and stand \
        nowhere in front of you, the most likely needed first. Use it when you know what you need \
        and not what it is called; then recall_grep finds where it was said.";
    let properties = json!({
        "question": {
            "type": "string",
            "description": "what you are about to do, in words; may be left out",
        },
        "max_chars": int(1, MAX_NAME_CHARS, NAME_CHARS),
    });
    ("recall_names", description, object(properties, &[]))
}

fn describe() -> (&'static str, &'static str, Value) {
    let description = "Says which messages a summary stands for, which of them you see shortened, \
        and which names it no longer mentions.";
    let properties = json!({
        "fold": { "type": "string", "description": "`active` (default), or a fold's id" },
    });
    ("recall_describe", description, object(properties, &[]))
}

/// The schema of a whole number.
fn int(least: usize, most: impl TryInto<u64>, usual: impl TryInto<u64>) -> Value {
    let (most, usual) = (most.try_into().ok(), usual.try_into().ok());
    json!({ "type": "integer", "minimum": least, "maximum": most, "default": usual })
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

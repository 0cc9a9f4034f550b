//! The recall tools for an agent. A model reads the texts in this file.

use midfold_formats::DialectKind;
use serde_json::{Value, json};

/// How a provider wants tools to be described.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolListShape {
    /// Chat Completions and Ollama: `{"type":"function","function":{…}}`.
    OpenAi,
    /// Responses: `{"type":"function","name":…,"parameters":{…}}`.
    Responses,
    /// Anthropic: `{"name":…,"input_schema":{…}}`.
    Anthropic,
    /// Gemini: one `{"functionDeclarations":[…]}`.
    Gemini,
    /// Bedrock: `{"toolSpec":{…}}`.
    Bedrock,
}

impl ToolListShape {
    /// The shapes by name.
    const NAMED: [(&str, Self); 5] = [
        ("openai", Self::OpenAi),
        ("responses", Self::Responses),
        ("anthropic", Self::Anthropic),
        ("gemini", Self::Gemini),
        ("bedrock", Self::Bedrock),
    ];

    /// The names of all shapes.
    #[must_use]
    pub fn names() -> [&'static str; 5] {
        Self::NAMED.map(|(name, _)| name)
    }

    /// The shape with this name; `None` where there is none.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::NAMED.iter().find(|(own, _)| *own == name).map(|(_, shape)| *shape)
    }

    /// The shape of the requests of a dialect.
    #[must_use]
    pub fn of(kind: DialectKind) -> Self {
        match kind {
            DialectKind::OpenAiResponses => Self::Responses,
            DialectKind::Anthropic => Self::Anthropic,
            DialectKind::Gemini => Self::Gemini,
            DialectKind::Bedrock => Self::Bedrock,
            DialectKind::OpenAiChat | DialectKind::Ollama | DialectKind::ShareGpt => Self::OpenAi,
        }
    }
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
        ToolListShape::Responses => json!({
            "type": "function", "name": name, "description": description, "parameters": schema,
        }),
        ToolListShape::Anthropic => {
            json!({ "name": name, "description": description, "input_schema": schema })
        }
        ToolListShape::Gemini => {
            json!({ "name": name, "description": description, "parametersJsonSchema": schema })
        }
        ToolListShape::Bedrock => json!({
            "toolSpec": {
                "name": name, "description": description, "inputSchema": { "json": schema },
            },
        }),
    };
    let all: Vec<Value> = table().into_iter().map(tool).collect();
    match shape {
        ToolListShape::Gemini => json!([{ "functionDeclarations": all }]),
        _ => Value::from(all),
    }
    .to_string()
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
        an @number of the summary, of a shortened result or of recall_find. What is long comes in pages: the last line is \
        the call for the next one.";
    let properties = json!({
        "messages": {
            "type": "string",
            "description": "`@12`, a range `12-20`, a list `15,12,20-22` (shown in this order), or a \
                place in a long one: `15:L310-L340` (lines), `15:4000` (from a character)",
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

//! A request in one form for all dialects.

use serde_json::{Map, Value, json};

/// A wire format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WireDialect {
    /// `OpenAI` Chat Completions.
    Chat,
    /// `OpenAI` Responses.
    Responses,
    /// Anthropic Messages.
    Messages,
    /// Gemini `generateContent`.
    Gemini,
}

impl WireDialect {
    /// All four.
    pub const ALL: [Self; 4] = [Self::Chat, Self::Responses, Self::Messages, Self::Gemini];

    /// Its name in statistics and options.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Responses => "responses",
            Self::Messages => "messages",
            Self::Gemini => "gemini",
        }
    }
}

/// A tool that a request offers.
#[derive(Clone, Debug)]
pub(crate) struct OfferedTool {
    pub name: String,
    /// The JSON Schema of the arguments. `null` where the tool takes free text.
    pub schema: Value,
    /// Whether the tool takes free text instead of arguments (`type: custom`).
    pub custom: bool,
}

/// A request, with the parts that the model reads.
#[derive(Clone, Debug)]
pub(crate) struct AskedParts {
    pub dialect: WireDialect,
    pub model: String,
    pub streams: bool,
    /// Instructions outside of the messages. `null` where the dialect has them as messages.
    pub system: Value,
    pub tools: Value,
    /// Messages, items or contents, in order. Those that the server kept from earlier requests are included.
    pub items: Vec<Value>,
    pub body: Value,
}

impl AskedParts {
    pub fn new(dialect: WireDialect, model: Option<String>, streams: bool, body: Value) -> Self {
        let of = |names: &[&str]| {
            names
                .iter()
                .map(|name| &body[*name])
                .find(|v| !v.is_null())
                .cloned()
                .unwrap_or_default()
        };
        let (system, items) = match dialect {
            WireDialect::Chat => (Value::Null, of(&["messages"])),
            WireDialect::Responses => (of(&["instructions"]), input(&body["input"])),
            WireDialect::Messages => (of(&["system"]), of(&["messages"])),
            WireDialect::Gemini => {
                (of(&["systemInstruction", "system_instruction"]), of(&["contents"]))
            }
        };
        let items = match items {
            Value::Array(items) => items,
            _ => Vec::new(),
        };
        let model = model.or_else(|| body["model"].as_str().map(str::to_owned));
        let tools = of(&["tools"]);
        Self { dialect, model: model.unwrap_or_default(), streams, system, tools, items, body }
    }

    /// The most tokens that the request allows for the reply. `None` where it sets no limit.
    pub fn max_tokens(&self) -> Option<u64> {
        let body = &self.body;
        let value = match self.dialect {
            WireDialect::Chat if body["max_completion_tokens"].is_u64() => {
                &body["max_completion_tokens"]
            }
            WireDialect::Chat | WireDialect::Messages => &body["max_tokens"],
            WireDialect::Responses => &body["max_output_tokens"],
            WireDialect::Gemini => &body["generationConfig"]["maxOutputTokens"],
        };
        value.as_u64()
    }

    /// The offered functions, in order. Tools that the provider runs itself are left out.
    pub fn offered(&self) -> Vec<OfferedTool> {
        let mut tools = Vec::new();
        self.collect(&self.tools, &mut tools);
        for item in &self.items {
            if item["type"] == "additional_tools" {
                self.collect(&item["tools"], &mut tools);
            }
        }
        tools
    }

    fn collect(&self, tools: &Value, out: &mut Vec<OfferedTool>) {
        let mut push = |tool: &Value, schemas: &[&str], custom: bool| {
            let schema = schemas.iter().map(|name| &tool[*name]).find(|v| !v.is_null());
            if let Some(name) = tool["name"].as_str() {
                let schema = schema.cloned().unwrap_or_default();
                out.push(OfferedTool { name: name.to_owned(), schema, custom });
            }
        };
        for tool in array(tools) {
            match self.dialect {
                WireDialect::Chat if tool["type"] == "custom" => push(&tool["custom"], &[], true),
                WireDialect::Chat => push(&tool["function"], &["parameters"], false),
                WireDialect::Responses if tool["type"] == "namespace" => {
                    for inner in array(&tool["tools"]) {
                        push(inner, &["parameters"], inner["type"] == "custom");
                    }
                }
                WireDialect::Responses => push(tool, &["parameters"], tool["type"] == "custom"),
                WireDialect::Messages if tool["type"].is_string() && tool["type"] != "custom" => {}
                WireDialect::Messages => push(tool, &["input_schema"], false),
                WireDialect::Gemini => {
                    let schemas = ["parametersJsonSchema", "parameters_json_schema", "parameters"];
                    for list in ["functionDeclarations", "function_declarations"] {
                        for tool in array(&tool[list]) {
                            push(tool, &schemas, false);
                        }
                    }
                }
            }
        }
    }
}

/// The elements of an array. Empty where the value is no array.
pub(crate) fn array(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// The input of a Responses request as items. A plain text becomes a message of the user.
fn input(value: &Value) -> Value {
    match value {
        Value::String(text) => json!([{"role": "user", "content": text}]),
        other => other.clone(),
    }
}

/// The content of a message as parts. A plain text becomes one part.
pub(crate) fn parts(content: &Value) -> Vec<Value> {
    match content {
        Value::String(text) => vec![json!({"type": "text", "text": text})],
        Value::Array(parts) => parts.clone(),
        _ => Vec::new(),
    }
}

/// A copy without cache marks at any depth. Marks say where to cache and are no part of the prompt.
pub(crate) fn unmarked(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let members = map.iter().filter(|(key, _)| {
                key.as_str() != "cache_control" && key.as_str() != "prompt_cache_breakpoint"
            });
            Value::Object(
                members.map(|(key, value)| (key.clone(), unmarked(value))).collect::<Map<_, _>>(),
            )
        }
        Value::Array(list) => Value::Array(list.iter().map(unmarked).collect()),
        other => other.clone(),
    }
}

/// The 64-bit FNV-1a hash, which is good enough to tell the texts of a test apart.
pub(crate) fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

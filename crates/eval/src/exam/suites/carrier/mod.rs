//! Conversations that carry the tested text. They are made up from a seed, and the same on every machine.

pub mod agent;
pub mod rng;
pub mod talk;

use serde::Deserialize;
use serde_json::{Value, json};

/// A sentence that is said once, and the word that shows whether it is still known.
#[derive(Clone, Debug, Deserialize)]
pub struct CarriedFact {
    /// The sentence.
    pub says: String,
    /// The word that only this sentence contains.
    pub word: String,
}

/// One message of Chat Completions.
#[derive(Clone, Debug)]
pub struct CarrierMessage {
    /// The role: `system`, `user`, `assistant` or `tool`.
    pub role: &'static str,
    /// The text.
    pub content: String,
    /// The call of an assistant, or the call that a result answers: id, tool, arguments. `None` for other messages.
    pub call: Option<(String, String, Value)>,
}

impl CarrierMessage {
    fn of(role: &'static str, content: impl Into<String>) -> Self {
        Self { role, content: content.into(), call: None }
    }

    /// A system prompt.
    pub fn system(content: impl Into<String>) -> Self {
        Self::of("system", content)
    }

    /// A message of the user.
    pub fn user(content: impl Into<String>) -> Self {
        Self::of("user", content)
    }

    /// A message of the assistant.
    pub fn assistant(content: impl Into<String>) -> Self {
        Self::of("assistant", content)
    }

    /// A call and its result.
    pub fn step(
        says: &str,
        id: &str,
        tool: &str,
        arguments: Value,
        result: impl Into<String>,
    ) -> [Self; 2] {
        let call = Some((id.to_owned(), tool.to_owned(), arguments));
        let asks = Self { call: call.clone(), ..Self::of("assistant", says) };
        [asks, Self { call, ..Self::of("tool", result) }]
    }

    /// The message as it is sent.
    #[must_use]
    pub fn json(&self) -> String {
        // The role comes first, as clients write it.
        let role = self.role;
        let content = Value::from(self.content.as_str());
        let rest = match (&self.call, role) {
            (Some((id, tool, _)), "tool") => {
                let (id, tool) = (Value::from(id.as_str()), Value::from(tool.as_str()));
                format!(r#","tool_call_id":{id},"name":{tool}"#)
            }
            (Some((id, tool, arguments)), _) => {
                let function = json!({"name": tool, "arguments": arguments.to_string()});
                let calls = json!([{"id": id, "type": "function", "function": function}]);
                format!(r#","tool_calls":{calls}"#)
            }
            (None, _) => String::new(),
        };
        format!(r#"{{"role":"{role}","content":{content}{rest}}}"#)
    }
}

/// The index of the first user message at or after this share of a conversation's bytes, in percent.
#[must_use]
pub fn turn_at(messages: &[CarrierMessage], percent: usize) -> usize {
    let total: usize = messages.iter().map(|message| message.content.len()).sum();
    let mut seen = 0;
    for (at, message) in messages.iter().enumerate() {
        if message.role == "user" && seen * 100 >= total * percent {
            return at;
        }
        seen += message.content.len();
    }
    messages.len()
}

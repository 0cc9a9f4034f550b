//! A conversation before it is written in any dialect.

/// One message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TestMessage {
    /// The system prompt.
    System(String),
    /// The words of the user.
    User(String),
    /// The words and calls of the model.
    Assistant {
        /// Its reasoning. `None` where there is none.
        thought: Option<String>,
        /// Its text, which may be empty.
        text: String,
        /// Its calls.
        calls: Vec<TestCall>,
    },
    /// The result of one call.
    Tool {
        /// The id of the call.
        id: String,
        /// The name of the tool.
        name: String,
        /// The tool's output.
        content: String,
    },
}

/// A tool call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestCall {
    /// The id of the call.
    pub id: String,
    /// The name of the tool.
    pub name: String,
    /// The arguments: a JSON object as text.
    pub arguments: String,
}

/// The text as a JSON string, with quotes.
#[must_use]
pub fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

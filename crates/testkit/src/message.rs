//! A conversation before it is written in any dialect.

/// One message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TestMessage {
    /// The system prompt.
    System(String),
    /// What the user says.
    User(String),
    /// What the model says and calls.
    Assistant {
        /// Its reasoning, where there is some.
        thought: Option<String>,
        /// Its text; may be empty.
        text: String,
        /// Its calls.
        calls: Vec<TestCall>,
    },
    /// The result of one call.
    Tool {
        /// Id of the call.
        id: String,
        /// Name of the tool.
        name: String,
        /// What came back.
        content: String,
    },
}

/// A tool call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestCall {
    /// Its id.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The arguments: a JSON object.
    pub arguments: String,
}

/// A JSON string token.
#[must_use]
pub fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

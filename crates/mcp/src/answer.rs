//! Answers to calls of tools.

use midfold::store::StoreError;
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::Value;

/// The answer to a call: a text for the model, and in some cases the same as a JSON value.
#[derive(Debug)]
pub(crate) struct CallAnswer {
    pub text: String,
    pub value: Option<Value>,
}

/// An error for the model, in the same form as recall writes errors.
#[derive(Debug)]
pub(crate) struct CallRefusal(String);

impl CallRefusal {
    /// An error, and advice what to do about it.
    pub fn new(error: impl std::fmt::Display, advice: impl std::fmt::Display) -> Self {
        Self(format!("error: {error}\ndo: {advice}\n"))
    }

    /// An error text that recall already wrote.
    pub fn of_text(text: String) -> Self {
        Self(text)
    }

    /// The error for an unknown session. A session that the client may not see gets the same error, so that its
    /// existence is not revealed.
    pub fn no_session(id: &str) -> Self {
        let id: String = id.chars().take(200).collect();
        Self::new(
            format!("there is no session `{id}`"),
            "Call `sessions` for those that are there.",
        )
    }

    /// The text of the error.
    pub fn text(&self) -> &str {
        &self.0
    }
}

impl From<StoreError> for CallRefusal {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::NoSession(id) | StoreError::BadId(id) => Self::no_session(&id),
            StoreError::Query(_) => Self::new(error, "Send words as the query."),
            error => {
                tracing::warn!(%error, "a call of a tool could not be answered");
                Self::new(error, "Try again later; go on without it until then.")
            }
        }
    }
}

impl From<String> for CallAnswer {
    fn from(text: String) -> Self {
        Self { text, value: None }
    }
}

impl From<Result<CallAnswer, CallRefusal>> for ToolContent {
    fn from(outcome: Result<CallAnswer, CallRefusal>) -> Self {
        Self(match outcome {
            Ok(CallAnswer { text, value }) => {
                let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
                result.structured_content = value;
                result
            }
            Err(CallRefusal(text)) => CallToolResult::error(vec![ContentBlock::text(text)]),
        })
    }
}

/// The answer in the types of the protocol.
pub(crate) struct ToolContent(pub CallToolResult);

//! Replies in the providers' shapes, whole and as events.

pub(crate) mod chat;
pub(crate) mod gemini;
mod made;
pub(crate) mod messages;
pub(crate) mod responses;

use serde_json::{Value, json};

use self::made::{data, named};
use super::asked::Dialect;

pub(crate) use self::made::{CREATED, Made};

impl Made<'_> {
    /// As one JSON object.
    pub fn whole(&self) -> Value {
        match self.asked.dialect {
            Dialect::Chat => chat::whole(self),
            Dialect::Responses => responses::whole(self),
            Dialect::Messages => messages::whole(self),
            Dialect::Gemini => gemini::whole(self),
        }
    }

    /// As the events of a stream, each with its line breaks.
    pub fn events(&self) -> Vec<String> {
        match self.asked.dialect {
            Dialect::Chat => chat::events(self),
            Dialect::Responses => responses::events(self),
            Dialect::Messages => messages::events(self),
            Dialect::Gemini => gemini::events(self),
        }
    }
}

/// An error in the middle of a stream.
pub(crate) fn failed(dialect: Dialect) -> String {
    match dialect {
        Dialect::Chat => {
            data(&json!({"error": {"message": "The server had an error while processing \
            your request.", "type": "server_error", "param": null, "code": null}}))
        }
        Dialect::Responses => named(&json!({"type": "error", "sequence_number": 900,
            "code": "server_error", "param": null,
            "message": "The server had an error while processing your request."})),
        Dialect::Messages => named(&json!({"type": "error",
            "error": {"type": "overloaded_error", "message": "Overloaded"}})),
        Dialect::Gemini => data(&json!({"error": {"code": 503, "status": "UNAVAILABLE",
            "message": "The model is overloaded. Please try again later."}})),
    }
}

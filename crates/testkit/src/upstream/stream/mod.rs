//! Replies in the providers' shapes, whole and as events.

pub(crate) mod chat;
pub(crate) mod gemini;
pub(crate) mod messages;
mod numbered_reply;
pub(crate) mod responses;

use serde_json::{Value, json};

use self::numbered_reply::{data, named};
use super::request_parts::WireDialect;

pub(crate) use self::numbered_reply::{CREATED, NumberedReply};

impl NumberedReply<'_> {
    /// The reply as one JSON object.
    pub fn whole(&self) -> Value {
        match self.request.dialect {
            WireDialect::Chat => chat::whole(self),
            WireDialect::Responses => responses::whole(self),
            WireDialect::Messages => messages::whole(self),
            WireDialect::Gemini => gemini::whole(self),
        }
    }

    /// The reply as the events of a stream, each with its line breaks.
    pub fn events(&self) -> Vec<String> {
        match self.request.dialect {
            WireDialect::Chat => chat::events(self),
            WireDialect::Responses => responses::events(self),
            WireDialect::Messages => messages::events(self),
            WireDialect::Gemini => gemini::events(self),
        }
    }
}

/// An error event in the middle of a stream.
pub(crate) fn failed(dialect: WireDialect) -> String {
    match dialect {
        WireDialect::Chat => {
            data(&json!({"error": {"message": "The server had an error while processing \
            your request.", "type": "server_error", "param": null, "code": null}}))
        }
        WireDialect::Responses => named(&json!({"type": "error", "sequence_number": 900,
            "code": "server_error", "param": null,
            "message": "The server had an error while processing your request."})),
        WireDialect::Messages => named(&json!({"type": "error",
            "error": {"type": "overloaded_error", "message": "Overloaded"}})),
        WireDialect::Gemini => data(&json!({"error": {"code": 503, "status": "UNAVAILABLE",
            "message": "The model is overloaded. Please try again later."}})),
    }
}

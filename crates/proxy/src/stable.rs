//! Where the history of a request ends.

use midfold_core::Role;
use midfold_formats::request::Request;

/// How many messages of a request are its history: all up to the model's last one. The client may replace the messages
/// after it: reminders, the state of an editor, or a question in other words, even within one message with a tool's
/// result. They become history when the model has answered and the next request still has them.
pub(super) fn stable(request: &Request) -> usize {
    let dialect = request.kind().dialect();
    let is_model = |at: &usize| dialect.view(&request.message(*at)).role == Role::Assistant;
    (0..request.len()).rev().find(is_model).map_or(0, |at| at + 1)
}

//! What the client of a request gets: the provider's answer as it comes, or several as one.

use axum::response::Response;
use hyper::StatusCode;

use crate::answers::json;
use crate::joined_streams::StreamedAnswer;
use crate::proxy_request::no_answer;
use crate::rounds::{AnswerReads, reads};
use crate::upstream_call::{ResponseBody, UpstreamAnswer, UpstreamCall};

impl UpstreamCall {
    /// Sends it, and answers.
    pub async fn go(mut self) -> Response {
        let UpstreamAnswer { head, body, refused } = match self.asked().await {
            Ok(answer) => answer,
            Err(error) => return no_answer(&self.way.app, &error),
        };
        let is_long = refused.is_some_and(|found| found.exceeds_window());
        if is_long && self.turn.request().continues_thread {
            return thread_not_found();
        }
        let (held, body, tee) = match body {
            ResponseBody::Refused(refusal) => return self.refused(&head, refusal),
            ResponseBody::Passing(held, body, tee) => (held, body, tee),
        };
        self.turn.accept();
        self.way.written(&self.turn).await;
        match reads(&self, &head) {
            Some(AnswerReads::Whole) => self.whole(head, held, body, *tee).await,
            Some(AnswerReads::Stream) => StreamedAnswer::answer(self, &head, held, body, *tee),
            None => self.passed(&head, held, body, *tee),
        }
    }
}

/// The history of a thread is the provider's: what is too long there can be folded only where the client
/// sends all of it. That is what Anthropic's SDK does when a thread is gone.
fn thread_not_found() -> Response {
    let body = serde_json::json!({
        "type": "error",
        "error": {
            "type": "not_found_error",
            "message": "midfold: the thread is longer than the window; send its messages again",
            "details": { "error_code": "thread_not_found" },
        },
    });
    json(StatusCode::NOT_FOUND, &body)
}

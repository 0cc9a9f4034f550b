//! Passes the answer to the client: unchanged as it comes, or several answers as one.

use axum::response::Response;
use hyper::StatusCode;

use crate::answers::json;
use crate::joined_streams::StreamedAnswer;
use crate::proxy_request::no_answer;
use crate::rounds::{AnswerReads, reads};
use crate::upstream_call::{ResponseBody, UpstreamAnswer, UpstreamCall};

impl UpstreamCall {
    /// Sends the request, and returns the response for the client.
    pub async fn go(mut self) -> Response {
        let UpstreamAnswer { head, body, refused, .. } = match self.ask_and_recover().await {
            Ok(answer) => answer,
            Err(error) => return no_answer(&self.request.app, &error),
        };
        let is_long = refused.is_some_and(|diagnosis| diagnosis.exceeds_window());
        if is_long && self.turn.request().continues_thread {
            return thread_not_found();
        }
        let (pieces, body, tee) = match body {
            ResponseBody::Refused(refusal) => return self.pass_on_refusal(&head, refusal),
            ResponseBody::Passing(pieces, body, tee) => (pieces, body, tee),
        };
        // Before the answer is read: the provider took the prompt, so the conversation is real even if its answer
        // breaks off.
        self.turn.accept();
        self.request.wait_until_written(&self.turn).await;
        match reads(&self, &head, tee.framing()) {
            Some(AnswerReads::Whole) => self.join_whole(head, pieces, body, *tee).await,
            Some(AnswerReads::Stream) => StreamedAnswer::answer(self, &head, pieces, body, *tee),
            None => self.pass_on(&head, pieces, body, *tee),
        }
    }
}

/// The response if a thread is too long. The provider keeps a thread's history, so it can only be folded if the client
/// sends all messages. Anthropic's SDK does that after this error.
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

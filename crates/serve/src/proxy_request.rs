//! The head of a request and its destination, which are known before its body, and needed until the answer ends.

use std::sync::Arc;

use axum::response::Response;
use hyper::StatusCode;
use hyper::http::request::Parts;
use midfold_proxy::MatchedRequest;

use crate::admit::AdmitRefusal;
use crate::answers::error;
use crate::app::SharedApp;
use crate::guard::BodyWatch;
use crate::metric_labels::RequestLabels;
use crate::pass_cause::PassCause;
use crate::route_hints::{NoKey, RequestGoal, RouteHints};
use crate::traces::RequestTrace;
use crate::upstream::NoAnswer;

/// The head of a request, and its destination.
pub(crate) struct ProxyRequest {
    pub app: Arc<SharedApp>,
    pub parts: Parts,
    pub aim: RouteHints,
    pub goal: RequestGoal,
    /// Tells why the request's body was cut off, if it was.
    pub watch: BodyWatch,
    pub trace: RequestTrace,
    /// How its answers are counted.
    pub labels: Arc<RequestLabels>,
}

impl ProxyRequest {
    /// Waits until the store has all that another process needs to continue the conversation.
    pub async fn wait_until_written(&self, turn: &MatchedRequest) {
        if let Some(keeper) = self.app.keeper.as_ref().filter(|_| !turn.is_written()) {
            keeper.first(turn).await;
        }
    }
}

/// The response if the server has no key for the upstream of a request.
pub(crate) fn no_key(app: &SharedApp, NoKey(name): NoKey) -> Response {
    app.metrics.count_refused();
    let refused = AdmitRefusal::NoProviderKey(name);
    tracing::info!(why = %refused, "a request was not let in");
    refused.response()
}

/// The refusal of a request that cannot be folded, where only folded ones are sent (`--strict`).
pub(crate) fn not_folded(cause: PassCause) -> Response {
    let text = format!(
        "midfold: the request cannot be folded ({}), and --strict sends nothing that is not",
        cause.name()
    );
    error(StatusCode::UNPROCESSABLE_ENTITY, "midfold_strict", &text)
}

/// The response if the upstream gave no answer.
pub(crate) fn no_answer(app: &SharedApp, no: &NoAnswer) -> Response {
    if let NoAnswer::Unknown(unknown) = no {
        return error(StatusCode::NOT_FOUND, "midfold_upstream", &format!("midfold: {unknown}"));
    }
    if let NoAnswer::Leaving = no {
        return error(StatusCode::BAD_REQUEST, "midfold_path", &format!("midfold: {no}"));
    }
    app.metrics.count_unanswered();
    tracing::warn!(error = %no, "no answer");
    error(StatusCode::BAD_GATEWAY, "midfold_upstream", &format!("midfold: {no}"))
}

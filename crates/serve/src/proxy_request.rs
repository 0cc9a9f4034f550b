//! A request's head, and where it goes: what is known of it before its body is, and as long as it is on its way.

use std::sync::Arc;

use axum::response::Response;
use hyper::StatusCode;
use hyper::http::request::Parts;
use midfold_proxy::MatchedRequest;

use crate::admit::AdmitRefusal;
use crate::answers::error;
use crate::app::SharedApp;
use crate::guard::BodyWatch;
use crate::route_hints::{NoKey, RequestGoal, RouteHints};
use crate::traces::RequestTrace;
use crate::upstream::NoAnswer;

/// A request's head, and where it goes.
pub(crate) struct ProxyRequest {
    pub app: Arc<SharedApp>,
    pub parts: Parts,
    pub aim: RouteHints,
    pub goal: RequestGoal,
    /// Why the request's body ended, where it had to.
    pub watch: BodyWatch,
    pub trace: RequestTrace,
}

impl ProxyRequest {
    /// Waits until what others have to know of a conversation is written.
    pub async fn written(&self, turn: &MatchedRequest) {
        if let Some(keeper) = self.app.keeper.as_ref().filter(|_| !turn.is_written()) {
            keeper.first(turn).await;
        }
    }
}

/// The answer where the server has no key for where a request goes.
pub(crate) fn no_key(app: &SharedApp, NoKey(name): NoKey) -> Response {
    app.metrics.refused();
    let refused = AdmitRefusal::NoProviderKey(name);
    tracing::info!(why = %refused, "a request was not let in");
    refused.response()
}

/// The answer where the provider gave none.
pub(crate) fn no_answer(app: &SharedApp, no: &NoAnswer) -> Response {
    if let NoAnswer::Unknown(unknown) = no {
        return error(StatusCode::NOT_FOUND, "midfold_upstream", &format!("midfold: {unknown}"));
    }
    app.metrics.unanswered();
    tracing::warn!(error = %no, "no answer");
    error(StatusCode::BAD_GATEWAY, "midfold_upstream", &format!("midfold: {no}"))
}

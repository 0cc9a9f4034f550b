//! A request's head, and where it goes: what is known of it before its body is, and as long as it is on its way.

use std::sync::Arc;

use axum::response::Response;
use hyper::http::request::Parts;
use hyper::{StatusCode, Uri};
use midfold::proxy::Turn;

use crate::answers::error;
use crate::app::App;
use crate::guard::Watch;
use crate::upstream::NoAnswer;

/// A request's head, and where it goes.
pub(crate) struct Way {
    pub app: Arc<App>,
    pub parts: Parts,
    pub address: Uri,
    /// Why the request's body ended, where it had to.
    pub watch: Watch,
}

impl Way {
    /// Waits until what others have to know of a conversation is written.
    pub async fn written(&self, turn: &Turn) {
        if let Some(keeper) = self.app.keeper.as_ref().filter(|_| !turn.is_written()) {
            keeper.first(turn).await;
        }
    }
}

/// The answer where the provider gave none.
pub(crate) fn no_answer(app: &App, no: &NoAnswer) -> Response {
    app.metrics.unanswered();
    tracing::warn!(error = %no, "no answer");
    error(StatusCode::BAD_GATEWAY, "midfold_upstream", &format!("midfold: {no}"))
}

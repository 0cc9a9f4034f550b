//! Which handler takes a request.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get};
use hyper::StatusCode;

use crate::admit::admit;
use crate::app::App;
use crate::forward;
use crate::keys::Scope;

/// The paths that are answered here; every other one goes to a provider.
pub(crate) fn router(app: Arc<App>) -> Router {
    Router::new()
        .route("/livez", get(alive))
        .route("/readyz", get(alive))
        .route("/metrics", get(metrics))
        .fallback(any(pass))
        .with_state(app)
}

async fn alive() -> StatusCode {
    StatusCode::OK
}

async fn metrics(State(app): State<Arc<App>>, request: Request) -> Response {
    match admit(&app, Scope::Admin, request) {
        Ok(_) => app.figures().into_response(),
        Err(refused) => refused.response(),
    }
}

async fn pass(State(app): State<Arc<App>>, request: Request) -> Response {
    match admit(&app, Scope::Proxy, request) {
        Ok(request) => forward::forward(app, request).await,
        Err(refused) => refused.response(),
    }
}

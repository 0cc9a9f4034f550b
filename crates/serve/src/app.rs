//! What every request shares, and which handler takes it.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::response::Response;
use axum::routing::{any, get};
use hyper::StatusCode;
use midfold::proxy::Proxy;

use crate::body::Rooms;
use crate::config::Clock;
use crate::forward;
use crate::keeper::Keeper;
use crate::metrics::Metrics;
use crate::upstream::Upstream;

/// What every request shares.
pub(crate) struct App {
    pub proxy: Arc<Proxy>,
    pub upstream: Upstream,
    pub rooms: Rooms,
    pub metrics: Metrics,
    pub clock: Clock,
    pub is_strict: bool,
    pub keeper: Option<Arc<Keeper>>,
}

impl App {
    pub fn now(&self) -> u64 {
        (self.clock)()
    }

    /// There is something to write to the store, where there is one.
    pub fn keep(&self) {
        if let Some(keeper) = &self.keeper {
            keeper.due();
        }
    }
}

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

async fn metrics(State(app): State<Arc<App>>) -> String {
    app.metrics.text(app.proxy.held(), app.proxy.unsaved())
}

async fn pass(State(app): State<Arc<App>>, request: Request) -> Response {
    forward::forward(app, request).await
}

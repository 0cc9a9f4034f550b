//! Which handler takes a request.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get};
use hyper::StatusCode;
use hyper::header::{HeaderName, SERVER, UPGRADE};

use crate::admit::admit;
use crate::api;
use crate::app::SharedApp;
use crate::console;
use crate::forward;
use crate::keys::KeyScope;
use crate::logged::logged;
use crate::mcp;
use crate::route::route;

/// The paths that are answered here; every other one goes to a provider.
pub(crate) fn router(app: Arc<SharedApp>) -> Router {
    let other = middleware::from_fn_with_state(Arc::clone(&app), to_provider);
    let sessions = api::router(&app).layer(other);
    Router::new()
        .route("/livez", get(alive))
        .route("/readyz", get(ready))
        .route("/metrics", get(metrics))
        .with_state(Arc::clone(&app))
        .merge(sessions)
        .merge(console::router())
        .merge(mcp::router(&app))
        .fallback(any(pass).with_state(app))
        .layer(middleware::from_fn(logged))
}

/// Anthropic has sessions of its own under the same path. Its clients say who they ask for.
async fn to_provider(State(app): State<Arc<SharedApp>>, request: Request, next: Next) -> Response {
    if request.headers().contains_key("anthropic-version") {
        return pass(State(app), request).await;
    }
    next.run(request).await
}

/// Says who answers, so that another program on the port is not taken for midfold.
const NAME: [(HeaderName, &str); 1] = [(SERVER, concat!("midfold/", env!("CARGO_PKG_VERSION")))];

async fn alive() -> impl IntoResponse {
    NAME
}

/// The same, and whether conversations can be kept: not where the store's file was taken away.
async fn ready(State(app): State<Arc<SharedApp>>) -> Response {
    match app.desk.as_ref().map_or(Ok(()), |desk| desk.store.is_there()) {
        Ok(()) => NAME.into_response(),
        Err(error) => {
            tracing::error!(%error, "conversations are not kept");
            let text = format!("midfold: {error}\n");
            (StatusCode::SERVICE_UNAVAILABLE, NAME, text).into_response()
        }
    }
}

async fn metrics(State(app): State<Arc<SharedApp>>, request: Request) -> Response {
    match admit(&app, &[KeyScope::Admin], request) {
        Ok(_) => app.figures().into_response(),
        Err(refused) => refused.response(),
    }
}

async fn pass(State(app): State<Arc<SharedApp>>, request: Request) -> Response {
    // With the key in its place, which may be what tells where it goes.
    let route = route(request.method(), request.uri().path(), request.headers());
    match admit(&app, &[KeyScope::Proxy], request) {
        // A history that goes through a socket cannot be folded. Codex asks for one first, and takes this
        // status for "use HTTP" at once; any other one it takes for a fault, and tries again for seconds.
        Ok(request) if wants_socket(&request) => StatusCode::UPGRADE_REQUIRED.into_response(),
        Ok(request) => forward::forward(app, request, route).await,
        Err(refused) => refused.response(),
    }
}

fn wants_socket(request: &Request) -> bool {
    request.headers().get(UPGRADE).is_some_and(|to| to.as_bytes() == b"websocket")
}

//! The router: which handler takes which request.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get};
use hyper::StatusCode;
use hyper::header::{CONTENT_TYPE, HeaderName, SERVER, UPGRADE};
use tokio::task::spawn_blocking;

use crate::admit::admit;
use crate::api;
use crate::app::SharedApp;
use crate::console;
use crate::forward;
use crate::keys::KeyScope;
use crate::logged::log_request;
use crate::mcp;
use crate::metrics::MEDIA_TYPE;
use crate::route::route;

/// The routes that midfold answers itself. Every other request is forwarded.
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
        .layer(middleware::from_fn(log_request))
}

/// Anthropic's API has paths of the same name for its own sessions. Its clients send the header `anthropic-version`;
/// their requests are forwarded.
async fn to_provider(State(app): State<Arc<SharedApp>>, request: Request, next: Next) -> Response {
    if request.headers().contains_key("anthropic-version") {
        return pass(State(app), request).await;
    }
    next.run(request).await
}

/// The header `server`, by which another program on the port is not mistaken for midfold.
const NAME: [(HeaderName, &str); 1] = [(SERVER, concat!("midfold/", env!("CARGO_PKG_VERSION")))];

async fn alive() -> impl IntoResponse {
    NAME
}

/// As [`alive`], and whether conversations can be stored. They cannot if the store's file was removed, its disk is full,
/// or the last write failed.
async fn ready(State(app): State<Arc<SharedApp>>) -> Response {
    match trouble(&app).await {
        None => NAME.into_response(),
        Some(error) => {
            tracing::error!(error, "conversations are not kept");
            let text = format!("midfold: {error}\n");
            (StatusCode::SERVICE_UNAVAILABLE, NAME, text).into_response()
        }
    }
}

/// Why conversations cannot be stored; `None` if they can, or if there is no store.
async fn trouble(app: &SharedApp) -> Option<String> {
    if let Some(trouble) = app.keeper.as_ref().and_then(|keeper| keeper.trouble()) {
        return Some(trouble);
    }
    let store = Arc::clone(&app.desk.as_ref()?.store);
    // The disk is tried by a write, which may block.
    let tried = spawn_blocking(move || store.is_there().and_then(|()| store.has_room())).await;
    tried.ok()?.err().map(|error| error.to_string())
}

async fn metrics(State(app): State<Arc<SharedApp>>, request: Request) -> Response {
    match admit(&app, &[KeyScope::Admin], request) {
        Ok(_) => ([(CONTENT_TYPE, MEDIA_TYPE)], app.figures()).into_response(),
        Err(refused) => refused.response(),
    }
}

async fn pass(State(app): State<Arc<SharedApp>>, request: Request) -> Response {
    // The route is found before the key is removed, because the header of the key may decide the provider.
    let route = route(request.method(), request.uri().path(), request.headers());
    match admit(&app, &[KeyScope::Proxy], request) {
        // A history that is sent through a WebSocket cannot be folded. Codex tries one first. It reads this status as
        // "use HTTP" and does so at once; after any other error it tries the socket again for seconds.
        Ok(request) if wants_socket(&request) => StatusCode::UPGRADE_REQUIRED.into_response(),
        Ok(request) => forward::forward(app, request, route).await,
        Err(refused) => refused.response(),
    }
}

fn wants_socket(request: &Request) -> bool {
    request.headers().get(UPGRADE).is_some_and(|to| to.as_bytes() == b"websocket")
}

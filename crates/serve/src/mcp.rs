//! Recall for agents at `/mcp`: the Model Context Protocol, for clients that may see sessions.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use hyper::http::request::Parts;
use midfold::formats::recall_tool::ToolOffer;
use midfold_mcp::{HttpService, SessionScope, http_service};
use tower::ServiceExt;

use crate::api::{ApiCaller, document};
use crate::app::SharedApp;
use crate::keys::KeyHolder;

/// The route `/mcp`; without a store there is none.
pub(crate) fn router(app: &Arc<SharedApp>) -> Router {
    let Some(desk) = &app.desk else { return Router::new() };
    let usual = app.proxy.offer();
    let service = http_service(Arc::clone(&desk.store), move |parts| scope_of(parts, usual));
    let answer = move |State(app): State<Arc<SharedApp>>, request: Request| {
        answered(app, service.clone(), request)
    };
    Router::new().route("/mcp", any(answer)).with_state(Arc::clone(app))
}

async fn answered(app: Arc<SharedApp>, service: HttpService, request: Request) -> Response {
    let request = match ApiCaller::enter(&app, request) {
        Ok((_, request)) => request,
        Err(problem) => return problem.into_response(),
    };
    let (parts, body) = request.into_parts();
    let (bytes, _room) = match document(&app, &parts, body).await {
        Ok(read) => read,
        Err(problem) => return problem.into_response(),
    };
    match service.oneshot(Request::from_parts(parts, Body::from(bytes))).await {
        Ok(response) => response.map(Body::new),
        Err(never) => match never {},
    }
}

/// What the sender of an admitted request may see and change. `usual` are the tools of senders whose key names none.
fn scope_of(parts: &Parts, usual: ToolOffer) -> SessionScope {
    let agent_tools = KeyHolder::offer(parts, usual).agent;
    let owner = ApiCaller::of(parts).owner;
    SessionScope { owner, agent_tools, ..SessionScope::default() }
}

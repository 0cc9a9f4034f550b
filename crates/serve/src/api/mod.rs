//! The HTTP API of sessions, `/v1/sessions…`: what `midfold session`, `recall`, `explain` and `audit` do.
//!
//! A route is registered once, with the types that it takes and returns ([`describe`]). The router and the OpenAPI
//! document come from that registration.

mod act;
mod ask;
mod body_messages;
pub(crate) mod caller;
mod context;
mod describe;
mod listen;
mod look;
mod messages;
pub(crate) mod problem;
mod recall;
mod replay;
mod server;
mod sessions;

use std::sync::Arc;

use axum::Router;
use serde_json::Value;

use crate::app::SharedApp;

pub(crate) use ask::document;
pub(crate) use caller::ApiCaller;

use describe::ApiRoutes;

/// The OpenAPI 3.1 document of the API.
#[must_use]
pub fn openapi() -> Value {
    api().document()
}

/// The routes of the API.
pub(crate) fn router(app: &Arc<SharedApp>) -> Router {
    let document = Arc::new(openapi().to_string());
    api().router(app).route("/v1/openapi.json", axum::routing::get(describe::serve(document)))
}

fn api() -> ApiRoutes {
    let mut api = ApiRoutes::default();
    sessions::routes(&mut api);
    messages::routes(&mut api);
    context::routes(&mut api);
    act::routes(&mut api);
    look::routes(&mut api);
    recall::routes(&mut api);
    replay::routes(&mut api);
    listen::routes(&mut api);
    server::routes(&mut api);
    api
}

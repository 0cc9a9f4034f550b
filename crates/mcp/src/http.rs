//! The server over HTTP: a service for one path of whoever listens.

use std::sync::Arc;

use http::request::Parts;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};

use crate::scope::SessionScope;
use crate::server::{McpServer, ScopeSource};
use crate::sessions::StoreSource;

/// The header that names the session that is meant.
pub const SESSION_HEADER: &str = "midfold-session";

/// The streamable HTTP transport as a tower service, which axum can mount at a path.
pub type HttpService = StreamableHttpService<McpServer, NeverSessionManager>;

/// Answers over HTTP. `scope_of` says what the sender of a request may see: it is asked for every
/// request, and reads what was put into the request's extensions before. Where it names no session,
/// the header [`SESSION_HEADER`] does.
///
/// Each request is answered by itself and in JSON: no state of a client is kept, so that any of
/// several servers can answer. `Host` and `Origin` are for whoever mounts it to check.
pub fn http_service(
    stores: impl StoreSource + 'static,
    scope_of: impl Fn(&Parts) -> SessionScope + Send + Sync + 'static,
) -> HttpService {
    let stores: Arc<dyn StoreSource> = Arc::new(stores);
    let of: Arc<dyn Fn(&Parts) -> SessionScope + Send + Sync> = Arc::new(move |parts| {
        let mut scope = scope_of(parts);
        scope.session = scope.session.or_else(|| session(parts));
        scope
    });
    let mut config =
        StreamableHttpServerConfig::default().disable_allowed_hosts().disable_allowed_origins();
    config.legacy_session_mode = false;
    config.json_response = true;
    config.sse_keep_alive = None;
    let make =
        move || Ok(McpServer::new(Arc::clone(&stores), ScopeSource::Request(Arc::clone(&of))));
    StreamableHttpService::new(make, Arc::new(NeverSessionManager::default()), config)
}

/// The session that the header names. Ids may have letters that HTTP knows nothing of: bytes of UTF-8.
fn session(parts: &Parts) -> Option<String> {
    let value = parts.headers.get(SESSION_HEADER)?;
    // What is no text names a session that is not there, and not none.
    let id = String::from_utf8_lossy(value.as_bytes()).trim().to_owned();
    (!id.is_empty()).then_some(id)
}

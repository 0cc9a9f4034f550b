//! The MCP server over HTTP, as a service that a web server mounts at a path.

use std::sync::Arc;

use http::request::Parts;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};

use crate::scope::SessionScope;
use crate::server::{McpServer, ScopeSource};
use crate::sessions::StoreSource;

/// The header that names the session that a request is about.
pub const SESSION_HEADER: &str = "midfold-session";

/// The streamable HTTP transport as a tower service, which axum can mount at a path.
pub type HttpService = StreamableHttpService<McpServer, NeverSessionManager>;

/// Makes the service. `scope_of` returns the sessions that the sender of a request may see. It is called for every
/// request, and can read extensions that were added to the request before. If the scope names no session, the header
/// [`SESSION_HEADER`] does.
///
/// Each request is answered by itself and in JSON. No state of a client is kept, so any of several servers can answer.
/// Whoever mounts the service has to check `Host` and `Origin`.
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

/// The session that the header names; `None` if the header is missing or empty. Ids may contain any UTF-8 text, which
/// HTTP does not treat as text.
fn session(parts: &Parts) -> Option<String> {
    let value = parts.headers.get(SESSION_HEADER)?;
    // A value that is not UTF-8 becomes an id that does not exist. Ignoring it would choose another session.
    let id = String::from_utf8_lossy(value.as_bytes()).trim().to_owned();
    (!id.is_empty()).then_some(id)
}

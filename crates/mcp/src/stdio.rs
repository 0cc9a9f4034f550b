//! The MCP server over a pair of streams, with one message a line.

use std::sync::Arc;

use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::lines::ClientLines;
use crate::scope::SessionScope;
use crate::server::{McpServer, ScopeSource};
use crate::sessions::StoreSource;

/// Why serving a client ended early.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The client's first message does not begin the protocol.
    #[error("the client did not begin as the Model Context Protocol does: {0}")]
    Beginning(String),
    /// The server stopped because of a defect of its own.
    #[error("the server stopped: {0}")]
    Stopped(String),
}

/// Serves one client over standard input and output, until the client closes its end.
///
/// # Errors
/// As [`serve_over`].
pub async fn serve_stdio(
    stores: impl StoreSource + 'static,
    scope: SessionScope,
) -> Result<(), ServeError> {
    serve_over(stores, scope, tokio::io::stdin(), tokio::io::stdout()).await
}

/// Serves one client that writes to `read` and reads from `write`, until it closes its end. A line that is not a
/// request is answered with an error.
///
/// # Errors
/// If the client does not begin the protocol, or if the server fails.
pub async fn serve_over<R, W>(
    stores: impl StoreSource + 'static,
    scope: SessionScope,
    read: R,
    write: W,
) -> Result<(), ServeError>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let server = McpServer::new(Arc::new(stores), ScopeSource::Fixed(scope));
    let (lines, writing) = ClientLines::new(read, write);
    let outcome = served(server, lines).await;
    // All answers are written before the process ends.
    let _ = writing.await;
    outcome
}

async fn served<R>(server: McpServer, lines: ClientLines<R>) -> Result<(), ServeError>
where
    R: AsyncRead + Send + Unpin + 'static,
{
    let running = match server.serve(lines).await {
        Ok(running) => running,
        // The client left before it sent anything: agents only test whether a server starts.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(ServeError::Beginning(error.to_string())),
    };
    running.waiting().await.map_err(|error| ServeError::Stopped(error.to_string()))?;
    Ok(())
}

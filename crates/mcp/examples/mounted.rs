//! The service of this crate at `/mcp` of an axum router, over the store of a URL:
//!
//!     cargo run -p midfold-mcp --features midfold/sqlite --example mounted -- sqlite:PATH 127.0.0.1:7879
//!
//! Everybody who reaches it sees all sessions: a server that others reach checks keys, `Host` and `Origin`
//! before the service, and says by the scope what the sender may see.

use axum::Router;
use midfold_mcp::{SessionScope, http_service};
use tokio::net::TcpListener;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let url = arguments.next().unwrap_or_else(|| "memory".to_owned());
    let address = arguments.next().unwrap_or_else(|| "127.0.0.1:7879".to_owned());
    let store = midfold::store::open_existing(&url).await?;
    let service = http_service(store, |_| SessionScope::default());
    let listener = TcpListener::bind(&address).await?;
    axum::serve(listener, Router::new().route_service("/mcp", service)).await?;
    Ok(())
}

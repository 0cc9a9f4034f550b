//! A server with a certificate of its own, and who trusts it.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::body::Body;
use hyper::client::conn::http2::{SendRequest, handshake};
use hyper_util::rt::{TokioExecutor, TokioIo};
use midfold_serve::TlsIdentity;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

pub const CERTIFICATE: &[u8] = include_bytes!("../tls/cert.pem");
pub const KEY: &[u8] = include_bytes!("../tls/key.pem");

pub fn served() -> TlsIdentity {
    TlsIdentity::from_pem(CERTIFICATE, KEY).unwrap()
}

pub fn trusting() -> rustls::ClientConfig {
    let mut roots = rustls::RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(CERTIFICATE).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth()
}

/// A connection that speaks HTTP/2.
pub async fn http_2(address: SocketAddr) -> SendRequest<Body> {
    let mut trusting = trusting();
    trusting.alpn_protocols = vec![b"h2".to_vec()];
    let connector = TlsConnector::from(Arc::new(trusting));
    let stream = TcpStream::connect(address).await.unwrap();
    let name = ServerName::try_from("localhost").unwrap();
    let stream = TokioIo::new(connector.connect(name, stream).await.unwrap());
    let (client, connection) = handshake(TokioExecutor::new(), stream).await.unwrap();
    tokio::spawn(connection);
    client
}

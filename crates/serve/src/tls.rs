//! TLS of the server itself: its certificate, its key, and handshakes.

use std::sync::Arc;

use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

/// A certificate with its key.
#[derive(Clone)]
pub struct TlsIdentity(TlsAcceptor);

/// Why a certificate and a key cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// The certificate file has no certificate.
    #[error("there is no certificate in it: `-----BEGIN CERTIFICATE-----` is looked for")]
    NoCertificate,
    /// The certificate file is not valid PEM.
    #[error("the certificate cannot be read: {0}")]
    Certificate(String),
    /// The key file has no key, or one that is encrypted with a password.
    #[error("there is no private key in it that can be read: {0}")]
    Key(String),
    /// Certificate and key do not belong together, or have an unsupported type.
    #[error("certificate and key cannot be used: {0}")]
    Pair(rustls::Error),
}

/// Reads the certificates of a PEM file; there has to be at least one.
pub(crate) fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let all: Vec<_> = CertificateDer::pem_slice_iter(pem)
        .collect::<Result<_, _>>()
        .map_err(|error| TlsError::Certificate(error.to_string()))?;
    if all.is_empty() { Err(TlsError::NoCertificate) } else { Ok(all) }
}

impl TlsIdentity {
    /// Reads a certificate chain and its key, both as PEM.
    ///
    /// # Errors
    /// If one of them is missing or cannot be read, or if they do not belong together.
    pub fn from_pem(certificates: &[u8], key: &[u8]) -> Result<Self, TlsError> {
        let chain = self::certificates(certificates)?;
        let key =
            PrivateKeyDer::from_pem_slice(key).map_err(|error| TlsError::Key(error.to_string()))?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(TlsError::Pair)?
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .map_err(TlsError::Pair)?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Self(TlsAcceptor::from(Arc::new(config))))
    }

    pub(crate) async fn accept(&self, stream: TcpStream) -> std::io::Result<TlsStream<TcpStream>> {
        self.0.accept(stream).await
    }
}

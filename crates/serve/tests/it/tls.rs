//! A server with a certificate of its own, and who trusts it.

use std::sync::Arc;

use midfold_serve::Tls;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

pub const CERTIFICATE: &[u8] = include_bytes!("../tls/cert.pem");
pub const KEY: &[u8] = include_bytes!("../tls/key.pem");

pub fn served() -> Tls {
    Tls::from_pem(CERTIFICATE, KEY).unwrap()
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

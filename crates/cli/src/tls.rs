//! Reads the TLS certificate of `midfold serve`, and the authorities that it trusts.

use std::path::Path;

use midfold::ServerSettings;
use midfold_serve::{OutgoingProxy, TlsError, TlsIdentity};

use crate::env;
use crate::error::CommandError;
use crate::input;

/// The server's certificate and key. `None` where it serves plain HTTP.
pub fn of(serving: &ServerSettings) -> Result<Option<TlsIdentity>, CommandError> {
    match (&serving.tls_cert, &serving.tls_key) {
        (None, None) => Ok(None),
        (Some(certificate), Some(key)) => read(certificate, key).map(Some),
        _ => Err(CommandError::usage("TLS takes a certificate and its key, and one is missing")
            .hint("--tls-cert cert.pem --tls-key key.pem")),
    }
}

/// The way of the server's own requests: proxies and trusted authorities.
pub fn outgoing(serving: &ServerSettings) -> Result<OutgoingProxy, CommandError> {
    let mut outgoing = env::proxies()?;
    if let Some(path) = &serving.ca {
        outgoing.trust(&input::bytes(path)?).map_err(|error| {
            CommandError::usage(format!("{}: {error}", path.display()))
                .hint("--ca takes a PEM file of certificates of authorities")
        })?;
    }
    Ok(outgoing)
}

/// Reads `--tls-cert` and `--tls-key`.
fn read(certificate: &Path, key: &Path) -> Result<TlsIdentity, CommandError> {
    let chain = input::bytes(certificate)?;
    let bytes = input::bytes(key)?;
    TlsIdentity::from_pem(&chain, &bytes).map_err(|error| match &error {
        TlsError::Key(_) => CommandError::usage(format!("{}: {error}", key.display())).hint(
            "--tls-key takes the PEM file of the key, without a password: \
             openssl pkey -in KEY -out PLAIN",
        ),
        TlsError::NoCertificate | TlsError::Certificate(_) => {
            CommandError::usage(format!("{}: {error}", certificate.display()))
                .hint("--tls-cert takes a PEM file: the server's certificate first, then those above it")
        }
        TlsError::Pair(_) => CommandError::usage(format!(
            "{} and {}: {error}",
            certificate.display(),
            key.display()
        ))
        .hint("name the key that the certificate was made for, and put the server's certificate first"),
    })
}

//! The certificate of `midfold serve`.

use std::path::Path;

use midfold::Serving;
use midfold_serve::{Tls, TlsError};

use crate::error::CommandError;
use crate::input;

/// What is said of TLS; nothing where it is plain HTTP.
pub fn of(serving: &Serving) -> Result<Option<Tls>, CommandError> {
    match (&serving.tls_cert, &serving.tls_key) {
        (None, None) => Ok(None),
        (Some(certificate), Some(key)) => read(certificate, key).map(Some),
        _ => Err(CommandError::usage("TLS takes a certificate and its key, and one is missing")
            .hint("--tls-cert cert.pem --tls-key key.pem")),
    }
}

/// Reads `--tls-cert` and `--tls-key`.
fn read(certificate: &Path, key: &Path) -> Result<Tls, CommandError> {
    let chain = input::bytes(certificate)?;
    let bytes = input::bytes(key)?;
    Tls::from_pem(&chain, &bytes).map_err(|error| match &error {
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

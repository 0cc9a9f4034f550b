//! What is said by name about a server: flags, variables, and `[serve]` of a file of settings.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use serde::Deserialize;

/// What is said about a server. What is left out is said further away, or is a default.
///
/// ```
/// use midfold::{Serving, Settings};
/// let said = r#"{"serve": {"listen": "0.0.0.0:80", "upstream": {"openai": "http://h"}}}"#;
/// let file: Settings = serde_json::from_str(said)?;
/// let flags = Serving { listen: Some("127.0.0.1:7878".parse()?), ..Serving::default() };
/// let both = flags.over(file.serve);
/// assert_eq!(both.listen, Some("127.0.0.1:7878".parse()?));
/// assert_eq!(both.upstream["openai"], "http://h");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Serving {
    /// Where to listen.
    pub listen: Option<SocketAddr>,
    /// Whether other machines may reach it although no keys are asked for.
    pub open: Option<bool>,
    /// Whether what cannot be folded is an error.
    pub strict: Option<bool>,
    /// Whether the model gets a tool that brings back what was folded.
    pub recall: Option<bool>,
    /// Origins whose pages may ask beside the server's own, and under whose names it is reached.
    pub allow_origin: Vec<String>,
    /// The file of the clients' keys.
    pub keys: Option<PathBuf>,
    /// The file of the certificate.
    pub tls_cert: Option<PathBuf>,
    /// The file of its key.
    pub tls_key: Option<PathBuf>,
    /// Where requests go, by provider.
    pub upstream: BTreeMap<String, String>,
    /// The environment variable that holds the server's own key, by provider.
    pub upstream_key: BTreeMap<String, String>,
}

impl Serving {
    /// These, and what they leave out as `below` says it.
    #[must_use]
    pub fn over(self, below: Self) -> Self {
        let both = |near: BTreeMap<_, _>, mut far: BTreeMap<_, _>| {
            far.extend(near);
            far
        };
        let origins = match self.allow_origin.is_empty() {
            true => below.allow_origin,
            false => self.allow_origin,
        };
        Self {
            allow_origin: origins,
            listen: self.listen.or(below.listen),
            open: self.open.or(below.open),
            strict: self.strict.or(below.strict),
            recall: self.recall.or(below.recall),
            keys: self.keys.or(below.keys),
            tls_cert: self.tls_cert.or(below.tls_cert),
            tls_key: self.tls_key.or(below.tls_key),
            upstream: both(self.upstream, below.upstream),
            upstream_key: both(self.upstream_key, below.upstream_key),
        }
    }

    /// With the paths of a file as they are meant: from its folder.
    #[must_use]
    pub fn placed(self, folder: &Path) -> Self {
        let beside = |path: Option<PathBuf>| path.map(|path| folder.join(path));
        Self {
            keys: beside(self.keys),
            tls_cert: beside(self.tls_cert),
            tls_key: beside(self.tls_key),
            ..self
        }
    }

    /// What decides who reaches the server, and where conversations go.
    #[must_use]
    pub fn reaches_out(&self) -> bool {
        *self != Self { strict: self.strict, ..Self::default() }
    }
}

//! The settings of a server, as flags, environment variables and `[serve]` of a settings file give them.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::model_pattern::ModelPattern;

/// The settings of a server. A setting that is left out is taken from the next place (environment, settings file), or
/// is a default.
///
/// ```
/// use midfold::{ServerSettings, Settings};
/// let said = r#"{"serve": {"listen": "0.0.0.0:80", "upstream": {"openai": "http://h"}}}"#;
/// let file: Settings = serde_json::from_str(said)?;
/// let flags = ServerSettings { listen: Some("127.0.0.1:7878".parse()?), ..ServerSettings::default() };
/// let both = flags.over(file.serve);
/// assert_eq!(both.listen, Some("127.0.0.1:7878".parse()?));
/// assert_eq!(both.upstream.0["openai"].url, "http://h");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ServerSettings {
    /// The address and port to listen on: 127.0.0.1:7878 by default. An address of the network needs `keys` or `open`.
    pub listen: Option<SocketAddr>,
    /// Whether other machines may reach a server that asks for no keys. Off by default. If on, everybody who reaches it
    /// can use it, and read all its sessions.
    pub open: Option<bool>,
    /// Whether a request that cannot be folded is an error. Off by default: it is sent as it came, and the provider decides.
    pub strict: Option<bool>,
    /// Whether the model gets a tool that brings back folded messages, from the first fold on. It does by default. A look-up costs one more request to the provider.
    pub recall: Option<bool>,
    /// Whether an agent's model gets tools to ask for a fold, to keep a message whole, and to keep a line in each
    /// recap. Off by default; the descriptions take some hundred tokens of each request.
    pub agent_tools: Option<bool>,
    /// Seconds for which the provider's cache keeps a prompt, unless the request asks for longer. 0: for ever. 300 by
    /// default. After a longer pause a context above the buffer line is folded first, since that costs no cache.
    pub cache_lifetime: Option<u64>,
    /// Other origins whose pages may send requests, and other names under which the server may be reached.
    pub allow_origin: Vec<String>,
    /// The file with the keys of the clients. Without one, nobody is asked for a key.
    pub keys: Option<PathBuf>,
    /// The file of the TLS certificate.
    pub tls_cert: Option<PathBuf>,
    /// The file of the certificate's private key.
    pub tls_key: Option<PathBuf>,
    /// The upstreams that requests are sent to, by name.
    pub upstream: ServingUpstreams,
    /// A PEM file of certificates to trust beside the system's.
    pub ca: Option<PathBuf>,
    /// The environment variable with the server's own key for an upstream, by upstream.
    pub upstream_key: BTreeMap<String, String>,
}

impl ServerSettings {
    /// Returns these settings; a setting that they leave out is taken from `below`.
    #[must_use]
    pub fn over(self, below: Self) -> Self {
        let both = |near: BTreeMap<_, _>, mut base: BTreeMap<_, _>| {
            base.extend(near);
            base
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
            agent_tools: self.agent_tools.or(below.agent_tools),
            cache_lifetime: self.cache_lifetime.or(below.cache_lifetime),
            keys: self.keys.or(below.keys),
            tls_cert: self.tls_cert.or(below.tls_cert),
            tls_key: self.tls_key.or(below.tls_key),
            ca: self.ca.or(below.ca),
            upstream: self.upstream.over(below.upstream),
            upstream_key: both(self.upstream_key, below.upstream_key),
        }
    }

    /// Returns the settings with the paths of a settings file, which are relative to the file's `folder`.
    #[must_use]
    pub fn with_paths_in(self, folder: &Path) -> Self {
        let beside = |path: Option<PathBuf>| path.map(|path| folder.join(path));
        Self {
            keys: beside(self.keys),
            tls_cert: beside(self.tls_cert),
            tls_key: beside(self.tls_key),
            ca: beside(self.ca),
            ..self
        }
    }

    /// Whether any setting but `strict` is given: they decide who reaches the server, and where conversations are sent.
    #[must_use]
    pub fn reaches_out(&self) -> bool {
        *self != Self { strict: self.strict, ..Self::default() }
    }
}

/// Upstreams by name. `openai`, `anthropic`, `gemini` and `ollama` take requests in their formats; any other name is
/// one of the user's own.
///
/// ```
/// use midfold::ServingUpstreams;
/// let list = r#"[{"name": "local", "url": "http://127.0.0.1:8080/v1", "models": ["llama*", "qwen*"]}]"#;
/// let list: ServingUpstreams = serde_json::from_str(list)?;
/// let table = r#"{"local": {"url": "http://127.0.0.1:8080/v1", "models": ["llama*", "qwen*"]}}"#;
/// assert_eq!(list, serde_json::from_str(table)?);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "UpstreamsForm")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ServingUpstreams(pub BTreeMap<String, ServingUpstream>);

/// An upstream: a place that requests are sent to.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(from = "UpstreamForm")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ServingUpstream {
    /// The address.
    pub url: String,
    /// The models whose requests go there, whatever format these have.
    pub models: Vec<ModelPattern>,
}

impl ServingUpstreams {
    /// Returns these upstreams, and those of `below` whose names are not among them.
    #[must_use]
    pub fn over(self, mut below: Self) -> Self {
        below.0.extend(self.0);
        below
    }
}

/// The names of providers, which are also the upstreams for requests in their formats.
pub const PROVIDERS: [&str; 4] = ["openai", "anthropic", "gemini", "ollama"];

impl ServingUpstreams {
    /// Reads flags and variables: `NAME=URL`, or a URL alone for all providers. If two have the same name, the later
    /// one is used.
    ///
    /// ```
    /// use midfold::ServingUpstreams;
    /// let upstreams = ServingUpstreams::from_texts(["http://127.0.0.1:1", "local=http://127.0.0.1:2"]);
    /// assert_eq!((upstreams.0.len(), upstreams.0["gemini"].url.as_str()), (5, "http://127.0.0.1:1"));
    /// ```
    #[must_use]
    pub fn from_texts<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let one = |text: &'a str| -> Vec<(String, String)> {
            // A URL can have a `=` in its query, but a name has no `/` and no `:`.
            let named = text.split_once('=').filter(|(name, _)| !name.contains(['/', ':']));
            match named {
                Some((name, url)) => vec![(name.to_owned(), url.to_owned())],
                None => PROVIDERS.map(|name| (name.to_owned(), text.to_owned())).into(),
            }
        };
        texts.into_iter().flat_map(one).collect()
    }
}

impl FromIterator<(String, String)> for ServingUpstreams {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(named: I) -> Self {
        let one = |(name, url)| (name, ServingUpstream { url, models: Vec::new() });
        Self(named.into_iter().map(one).collect())
    }
}

/// The two forms of upstreams in a settings file: a list, or a table by names.
#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "upstreams are a table of URLs by names, or a list with `name`, `url` and `models`"
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
enum UpstreamsForm {
    /// A list: one `[[upstream]]` for each place.
    List(Vec<NamedForm>),
    /// A table: the addresses by the names of the places.
    Table(BTreeMap<String, ServingUpstream>),
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "an upstream is a URL, or a table with `url` and `models`")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
enum UpstreamForm {
    /// The address alone.
    Url(String),
    /// The address, and the models that go there.
    Table(TableForm),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct TableForm {
    /// The address.
    url: String,
    /// The models whose requests go there, whatever format these have: patterns such as `llama*`.
    #[serde(default)]
    models: Vec<ModelPattern>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct NamedForm {
    /// The name of the place, as in a path `/to/NAME/…` and in the header `midfold-upstream`.
    name: String,
    /// The address.
    url: String,
    /// The models whose requests go there, whatever format these have: patterns such as `llama*`.
    #[serde(default)]
    models: Vec<ModelPattern>,
}

impl From<UpstreamForm> for ServingUpstream {
    fn from(form: UpstreamForm) -> Self {
        match form {
            UpstreamForm::Url(url) => Self { url, models: Vec::new() },
            UpstreamForm::Table(TableForm { url, models }) => Self { url, models },
        }
    }
}

impl TryFrom<UpstreamsForm> for ServingUpstreams {
    type Error = String;

    fn try_from(form: UpstreamsForm) -> Result<Self, Self::Error> {
        let list = match form {
            UpstreamsForm::Table(table) => return Ok(Self(table)),
            UpstreamsForm::List(list) => list,
        };
        let mut all = BTreeMap::new();
        for NamedForm { name, url, models } in list {
            if all.insert(name.clone(), ServingUpstream { url, models }).is_some() {
                return Err(format!("two upstreams are called `{name}`"));
            }
        }
        Ok(Self(all))
    }
}

//! The upstreams, and the choice of one for each request.

use std::net::IpAddr;

use hyper::Uri;
use hyper::http::uri::Authority;
use midfold::{ModelPattern, ServingUpstreams};

use crate::provider::Provider;

/// The upstreams that requests are sent to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UpstreamTable {
    /// The upstreams that were set, in that order.
    named: Vec<NamedUpstream>,
}

/// An upstream that was set.
#[derive(Clone, Debug, PartialEq, Eq)]
struct NamedUpstream {
    name: String,
    base: BaseAddress,
    models: Vec<ModelPattern>,
}

/// A base address: an origin, and a path without a slash at its end.
#[derive(Clone, Debug, PartialEq, Eq)]
struct BaseAddress {
    origin: String,
    path: String,
}

/// The facts of a request that choose its upstream.
#[derive(Clone, Copy, Debug)]
pub struct UpstreamFacts<'a> {
    /// The upstream that the request names itself.
    pub named: Option<&'a str>,
    /// The model that the request asks for.
    pub model: Option<&'a str>,
    /// The provider whose API it uses.
    pub provider: Provider,
}

/// The upstream of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpstreamTarget {
    /// The name of the upstream.
    pub name: String,
    /// Whether it is the provider's own address, which nobody set.
    pub is_usual: bool,
    base: BaseAddress,
}

/// Why a configuration cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// No request can be sent to the address of this upstream. The error text does not show the address, because it may
    /// contain a password.
    #[error("the upstream {0} is not usable: it has to be http://HOST… or https://HOST…")]
    Address(String),
    /// The name cannot be used in a path.
    #[error("`{0}` cannot be the name of an upstream: letters, digits, `.`, `_` and `-` can")]
    Name(String),
}

/// The error for a request that names an unknown upstream.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no upstream `{name}` here; there are: {}", known.join(", "))]
pub struct NoUpstream {
    name: String,
    known: Vec<String>,
}

impl UpstreamTable {
    /// Sets one upstream: `NAME=URL`, or `URL` alone for the APIs of all providers.
    ///
    /// ```
    /// use midfold_serve::UpstreamTable;
    /// let mut upstreams = UpstreamTable::default();
    /// upstreams.set("openai=http://127.0.0.1:8080/v1")?;
    /// upstreams.set("local=http://127.0.0.1:11434")?;
    /// assert_eq!(upstreams.to_string(), "openai=http://127.0.0.1:8080/v1 local=http://127.0.0.1:11434");
    /// # Ok::<(), midfold_serve::ConfigError>(())
    /// ```
    ///
    /// # Errors
    /// If the name cannot be used in a path, or if the address is not valid.
    pub fn set(&mut self, address: &str) -> Result<(), ConfigError> {
        self.set_all(&ServingUpstreams::from_texts([address]))
    }

    /// Sets all of these upstreams.
    ///
    /// # Errors
    /// As for [`UpstreamTable::set`].
    pub fn set_all(&mut self, given: &ServingUpstreams) -> Result<(), ConfigError> {
        let mut each = given.0.iter();
        each.try_for_each(|(name, to)| self.add(name, &to.url, to.models.clone()))
    }

    /// Adds an upstream, or replaces the one with the same name.
    fn add(&mut self, name: &str, url: &str, models: Vec<ModelPattern>) -> Result<(), ConfigError> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        if name.is_empty() || !name.chars().all(is_plain) {
            return Err(ConfigError::Name(name.to_owned()));
        }
        let base = BaseAddress::read(url).ok_or_else(|| ConfigError::Address(name.to_owned()))?;
        let place = NamedUpstream { name: name.to_owned(), base, models };
        match self.named.iter_mut().find(|known| known.name == name) {
            Some(known) => *known = place,
            None => self.named.push(place),
        }
        Ok(())
    }

    /// The address of requests to a provider's API, if neither a model nor a name chooses another upstream.
    #[must_use]
    pub fn url(&self, provider: Provider) -> String {
        self.of(provider).base.url()
    }

    /// All upstreams with their addresses: those that were set, and the providers that no other upstream replaces.
    /// Ollama is only listed if it was set, and under its own name only if no other one has its address.
    #[must_use]
    pub fn places(&self) -> Vec<(String, String)> {
        let usual = Provider::ALL.into_iter().filter(|provider| *provider != Provider::Ollama);
        let usual = usual.map(|provider| self.of(provider));
        let mut all: Vec<(String, String)> = Vec::new();
        for UpstreamTarget { name, base, .. } in
            usual.chain(self.named.iter().map(NamedUpstream::target))
        {
            let url = base.url();
            let is_ollama = name == Provider::Ollama.name();
            if all.iter().all(|(known, at)| *known != name && (!is_ollama || *at != url)) {
                all.push((name, url));
            }
        }
        all
    }

    /// The patterns of the models that are sent to the upstream with this name.
    pub(crate) fn models(&self, name: &str) -> Vec<String> {
        let place = self.named.iter().find(|place| place.name == name);
        let models = place.map_or(&[][..], |place| &place.models[..]);
        models.iter().map(|pattern| pattern.as_str().to_owned()).collect()
    }

    /// The upstreams that were set under a name that is not a provider's, with their addresses.
    pub fn others(&self) -> impl Iterator<Item = (&str, String)> {
        let is_other = |place: &&NamedUpstream| Provider::named(&place.name).is_none();
        self.named.iter().filter(is_other).map(|place| (&*place.name, place.base.url()))
    }

    /// Chooses the upstream of a request. The first of these that exists:
    ///
    /// - the one that it names,
    /// - the one whose pattern matches most characters of its model's name,
    /// - the one with the name of its provider,
    /// - the only one without models, if no upstream has the name of a provider,
    /// - the provider itself.
    pub(crate) fn choose(&self, wanted: UpstreamFacts<'_>) -> Result<UpstreamTarget, NoUpstream> {
        if let Some(name) = wanted.named {
            let place =
                self.named.iter().find(|place| place.name == name).map(NamedUpstream::target);
            let place = place.or_else(|| Provider::named(name).map(|provider| self.of(provider)));
            return place.ok_or_else(|| self.unknown(name));
        }
        let precision = |place: &NamedUpstream, model: &str| {
            let fitting = place.models.iter().filter(|pattern| pattern.matches(model));
            fitting.map(ModelPattern::precision).max()
        };
        let by_model = wanted.model.and_then(|model| {
            let all = self.named.iter();
            let all = all.filter_map(|place| Some((precision(place, model)?, place)));
            // In reverse order, because `max_by_key` returns the last of equals and the first one should win.
            all.rev().max_by_key(|(precision, _)| *precision).map(|(_, place)| place.target())
        });
        Ok(by_model.unwrap_or_else(|| self.of(wanted.provider)))
    }

    fn of(&self, provider: Provider) -> UpstreamTarget {
        let named = self.named.iter().find(|place| place.name == provider.name());
        if let Some(place) = named.or_else(|| self.for_all()) {
            return place.target();
        }
        let base = BaseAddress { origin: provider.origin().to_owned(), path: String::new() };
        UpstreamTarget { name: provider.name().to_owned(), is_usual: true, base }
    }

    /// The only upstream without models; `None` if there are several, or if one has the name of a provider.
    fn for_all(&self) -> Option<&NamedUpstream> {
        if self.named.iter().any(|place| Provider::named(&place.name).is_some()) {
            return None;
        }
        let mut all = self.named.iter().filter(|place| place.models.is_empty());
        all.next().filter(|_| all.next().is_none())
    }

    fn unknown(&self, name: &str) -> NoUpstream {
        let named = self.named.iter().map(|place| place.name.clone());
        let usual = Provider::ALL.iter().map(|provider| provider.name().to_owned());
        let mut known: Vec<_> = named.chain(usual).collect();
        known.sort();
        known.dedup();
        NoUpstream { name: name.chars().take(40).collect(), known }
    }
}

impl std::fmt::Display for UpstreamTable {
    /// The upstreams that were set; if there are none, the providers.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(base) = self.base_of_all() {
            return f.write_str(&base.url());
        }
        let usual = Provider::ALL.iter().filter(|provider| **provider != Provider::Ollama);
        let all: Vec<String> = match self.named.as_slice() {
            [] => {
                usual.map(|provider| format!("{}={}", provider.name(), provider.origin())).collect()
            }
            named => named.iter().map(NamedUpstream::to_string).collect(),
        };
        f.write_str(&all.join(" "))
    }
}

impl UpstreamTable {
    /// The address to which all requests go, whatever their format: that of each provider, where nothing else is set.
    fn base_of_all(&self) -> Option<&BaseAddress> {
        let base = &self.named.first()?.base;
        let is_there = |provider: &Provider| {
            let mut named = self.named.iter();
            named.any(|place| place.name == provider.name() && place.base == *base)
        };
        let is_plain = self.named.len() == Provider::ALL.len()
            && self.named.iter().all(|place| place.models.is_empty());
        (is_plain && Provider::ALL.iter().all(is_there)).then_some(base)
    }
}

impl NamedUpstream {
    fn target(&self) -> UpstreamTarget {
        UpstreamTarget { name: self.name.clone(), is_usual: false, base: self.base.clone() }
    }
}

impl std::fmt::Display for NamedUpstream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}={}", self.name, self.base.url())?;
        let models: Vec<_> = self.models.iter().map(ModelPattern::as_str).collect();
        if models.is_empty() { Ok(()) } else { write!(f, " (for {})", models.join(", ")) }
    }
}

impl UpstreamTarget {
    /// The address of a request with this path and query; `None` if it is not valid.
    pub(crate) fn address(&self, path_and_query: &str) -> Option<Uri> {
        let BaseAddress { origin, path } = &self.base;
        format!("{origin}{path}{}", self.base.rest_of(path_and_query)).parse().ok()
    }

    /// What tells it from others: its name and, where somebody set it, its address. Nothing that is learned of a server
    /// is used for another one that gets its name.
    pub(crate) fn identity(&self) -> String {
        if self.is_usual {
            return self.name.clone();
        }
        format!("{} {}{}", self.name, self.base.origin, self.base.path)
    }

    /// Whether it is on this machine or in its own network, as servers of local models are: a private address, or a
    /// name that only a network of one's own resolves (`ollama`, `host.docker.internal`).
    pub(crate) fn is_local(&self) -> bool {
        let host = self.base.origin.split_once("://").map_or("", |(_, authority)| authority);
        let host = host.parse::<Authority>().map(|parsed| parsed.host().to_ascii_lowercase());
        let host = host.unwrap_or_default();
        match host.trim_matches(['[', ']']).parse::<IpAddr>().map(|ip| ip.to_canonical()) {
            Ok(IpAddr::V4(ip)) => {
                ip.is_loopback() || ip.is_private() || ip.is_link_local() || ip.is_unspecified()
            }
            Ok(IpAddr::V6(ip)) => {
                ip.is_loopback()
                    || ip.is_unique_local()
                    || ip.is_unicast_link_local()
                    || ip.is_unspecified()
            }
            Err(_) => {
                !host.contains('.') || host.ends_with(".local") || host.ends_with(".internal")
            }
        }
    }

    /// The address of a path that is outside of the API's version folder (`/v1`), next to it.
    pub(crate) fn at_root(&self, path: &str) -> Option<Uri> {
        let BaseAddress { origin, path: base } = &self.base;
        let above = base.rsplit_once('/').filter(|(_, last)| is_version(last));
        let base = above.map_or(base.as_str(), |(above, _)| above);
        format!("{origin}{base}{path}").parse().ok()
    }
}

impl BaseAddress {
    /// Reads a base address. One with a user name, a password or a query is not accepted.
    fn read(url: &str) -> Option<Self> {
        let uri: Uri = url.trim().parse().ok()?;
        let scheme = uri.scheme_str().filter(|scheme| matches!(*scheme, "http" | "https"));
        let (scheme, authority) = scheme.zip(uri.authority())?;
        if authority.as_str().contains('@') || uri.query().is_some() {
            return None;
        }
        let path = uri.path().trim_end_matches('/').to_owned();
        Some(Self { origin: format!("{scheme}://{authority}"), path })
    }

    fn url(&self) -> String {
        format!("{}{}", self.origin, self.path)
    }

    /// The part of a request's path that follows this base path. Clients and people both write the last folders of a
    /// base URL (`…/v1`, `…/api/v1`), so they are removed once. OpenAI's clients also write `/v1` if the server has
    /// another version.
    fn rest_of<'a>(&self, path_and_query: &'a str) -> &'a str {
        // `/v1` must not match the start of `/v1beta`.
        let ends = |rest: &str| rest.is_empty() || rest.starts_with(['/', '?']);
        let starts = self.path.match_indices('/').map(|(at, _)| &self.path[at..]);
        // The longest end of the base path comes first, so `/api/v1` is removed as a whole before `/v1` is tried.
        let shared = starts.filter_map(|end| path_and_query.strip_prefix(end));
        if let Some(rest) = shared.into_iter().find(|rest| ends(rest)) {
            return rest;
        }
        // Google's base for clients of OpenAI is `/v1beta/openai`.
        let is_versioned = self.path.split('/').any(is_version);
        let rest = path_and_query.strip_prefix("/v1").filter(|rest| ends(rest));
        rest.filter(|_| is_versioned).unwrap_or(path_and_query)
    }
}

/// Whether a path has a segment `..`, by which an upstream would go up from its base. Some servers decode a path several
/// times, read `\` as `/`, or cut parameters off at `;`. All of these are taken as such a segment.
pub(crate) fn leaves_base(path_and_query: &str) -> bool {
    let path = path_and_query.split('?').next().unwrap_or_default();
    let segments = decoded(path);
    let mut segments = segments.split(|byte| matches!(byte, b'/' | b'\\'));
    segments.any(|segment| segment.split(|byte| *byte == b';').next() == Some(b".."))
}

/// A path without percent-encoding, also where a decoded character is a part of another one: `%252e` is `.`.
pub(crate) fn decoded(path: &str) -> Vec<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|value| u8::try_from(value).ok());
    let mut out = Vec::with_capacity(path.len());
    for byte in path.bytes() {
        out.push(byte);
        while let [.., b'%', high, low] = out[..]
            && let (Some(high), Some(low)) = (digit(high), digit(low))
        {
            out.truncate(out.len() - 3);
            out.push(high << 4 | low);
        }
    }
    out
}

fn is_version(segment: &str) -> bool {
    segment.strip_prefix('v').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

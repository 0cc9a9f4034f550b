//! Decides whether a browser was led here by a page of another site. One rule holds for requests that midfold answers
//! and for those that it forwards.
//!
//! A server without keys trusts everybody who reaches it, and a browser on the same machine reaches it for any page.
//! The headers in which a browser names the page are trusted, because the page's script cannot set them. Other programs
//! do not send these headers.

use hyper::header::{HOST, HeaderMap, HeaderName, ORIGIN};
use hyper::http::request::Parts;
use hyper::http::uri::Authority;

const SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
/// Names by which containers reach the machine that they run on.
const CONTAINERS: [&str; 2] = ["host.docker.internal", "host.containers.internal"];

/// Why a request is refused, whoever sent it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OriginRefusal {
    /// A page of another site sent it.
    #[error("another page's script may not ask here")]
    Page,
    /// Its `Host` is not a name of this machine. An attacker's name may have been made to resolve to this machine.
    #[error("the name in `Host` is none of this machine's")]
    Name,
}

/// The error for a text that is not an origin.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no origin: it has to be https://HOST, with a port where it has one, and nothing else"
)]
pub struct NoOrigin(pub String);

/// Origins that may send requests, beside the server's own: `https://app.example`, `chrome-extension://…`. The host of
/// such an origin also counts as a name of this server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AllowedOrigins(Vec<String>);

impl AllowedOrigins {
    /// Adds an origin.
    ///
    /// ```
    /// use midfold_serve::AllowedOrigins;
    /// let mut origins = AllowedOrigins::default();
    /// assert!(origins.allow("https://midfold.example").is_ok());
    /// assert!(origins.allow("midfold.example").is_err() && origins.allow("https://a.b/c").is_err());
    /// ```
    ///
    /// # Errors
    /// If the text is not a scheme and a host, with or without a port, and nothing else.
    pub fn allow(&mut self, origin: &str) -> Result<(), NoOrigin> {
        let origin = origin.trim().trim_end_matches('/').to_ascii_lowercase();
        let is_origin = origin.split_once("://").is_some_and(|(scheme, host)| {
            !scheme.is_empty() && host.parse::<Authority>().is_ok() && !host.contains(['@', '/'])
        });
        match is_origin {
            true => self.0.push(origin),
            false => return Err(NoOrigin(origin)),
        }
        Ok(())
    }

    fn has(&self, origin: &str) -> bool {
        self.0.iter().any(|allowed| allowed.eq_ignore_ascii_case(origin))
    }

    fn name(&self, host: &str) -> bool {
        self.0.iter().any(|allowed| is_of(allowed, host))
    }
}

/// Checks that a request comes from a page of this server, from a page of an allowed origin, or from no page. With
/// `any_name`, its `Host` does not matter, because keys are required or the server's names are not known.
///
/// # Errors
/// If the request has to be refused.
pub fn may_ask(
    parts: &Parts,
    allowed: &AllowedOrigins,
    any_name: bool,
) -> Result<(), OriginRefusal> {
    // In HTTP/2 the host is in the request's address, and usually only there.
    let authority = parts.uri.authority().map(Authority::as_str);
    let hosts: Vec<_> = authority.into_iter().chain(texts(&parts.headers, HOST)).collect();
    let origins: Vec<_> = texts(&parts.headers, ORIGIN).collect();
    let is_allowed = !origins.is_empty() && origins.iter().all(|origin| allowed.has(origin));
    let mut sites = texts(&parts.headers, SITE);
    let is_own = origins.iter().all(|origin| hosts.iter().all(|host| is_of(origin, host)))
        // `all` also holds for no hosts, so an origin with no host beside it is not taken for our own.
        && (origins.is_empty() || !hosts.is_empty())
        // `same-site` is not enough: a page on another port or subdomain may belong to somebody else.
        && sites.all(|site| matches!(site, "same-origin" | "none"));
    if !is_allowed && !is_own {
        return Err(OriginRefusal::Page);
    }
    let is_ours = |host: &&str| is_of_this_machine(host) || allowed.name(host);
    if any_name || hosts.iter().all(is_ours) { Ok(()) } else { Err(OriginRefusal::Name) }
}

/// All values of a header. A value that is not text did not come from a browser; it is replaced by one that matches
/// nothing.
fn texts(headers: &HeaderMap, name: HeaderName) -> impl Iterator<Item = &str> {
    headers.get_all(name).iter().map(|value| value.to_str().unwrap_or("\u{fffd}"))
}

/// Whether an origin has this host. Browsers leave out the default port of the scheme.
fn is_of(origin: &str, host: &str) -> bool {
    let Some((scheme, name)) = origin.split_once("://") else { return false };
    let port = match scheme.to_ascii_lowercase().as_str() {
        "http" => ":80",
        "https" => ":443",
        _ => "",
    };
    name.eq_ignore_ascii_case(host)
        || name.eq_ignore_ascii_case(host.strip_suffix(port).unwrap_or(host))
}

/// Whether a `Host` names this machine, by an IP address or `localhost`.
fn is_of_this_machine(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    };
    let name = name.to_ascii_lowercase();
    name == "localhost"
        || name.ends_with(".localhost")
        || CONTAINERS.contains(&name.as_str())
        // An address cannot be made to resolve to another machine, as an attacker's name can.
        || name.parse::<std::net::IpAddr>().is_ok()
}

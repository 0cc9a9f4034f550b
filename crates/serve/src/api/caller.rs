//! Who asks, and whether a browser may have been led here by another page.

use axum::extract::Request;
use hyper::HeaderMap;
use hyper::StatusCode;
use hyper::header::{HOST, HeaderName, ORIGIN};
use hyper::http::request::Parts;
use std::sync::Arc;

use super::problem::Problem;
use crate::admit::{Refused, admit};
use crate::app::App;
use crate::keys::{Holder, Scope};

const SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Whose sessions may be seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Caller {
    /// Only those of this name; all without one.
    pub owner: Option<String>,
}

impl Caller {
    /// Lets a request in, or says why not.
    pub fn enter(app: &App, request: Request) -> Result<(Self, Request), Problem> {
        if !is_same_origin(app, request.headers()) {
            return Err(Problem::new(
                StatusCode::FORBIDDEN,
                "forbidden",
                "another page's script may not ask here",
            )
            .hint("open the console at this server's own address, or ask without a browser"));
        }
        let request = admit(app, &[Scope::Sessions, Scope::Admin], request)
            .map_err(|refused| refused_as(&refused))?;
        let (parts, body) = request.into_parts();
        let caller = Self::of(&parts);
        Ok((caller, Request::from_parts(parts, body)))
    }

    /// Who sent a request that was let in.
    pub fn of(parts: &Parts) -> Self {
        let holder = parts.extensions.get::<Arc<Holder>>();
        let own = holder.filter(|holder| !holder.entry.scopes.contains(&Scope::Admin));
        Self { owner: own.map(|holder| holder.entry.name.clone()) }
    }

    /// Whether a session of this owner is there for them.
    pub fn sees(&self, owner: Option<&str>) -> bool {
        self.owner.is_none() || self.owner.as_deref() == owner
    }
}

fn refused_as(refused: &Refused) -> Problem {
    let text = refused.to_string();
    let text = text.trim_start_matches("midfold: ");
    match refused {
        Refused::Rate(seconds) => {
            Problem::new(StatusCode::TOO_MANY_REQUESTS, "rate", text).wait(*seconds)
        }
        Refused::Scope(_) => Problem::new(StatusCode::FORBIDDEN, "forbidden", text)
            .hint("`midfold key new NAME --scope sessions` makes one for one's own sessions"),
        _ => Problem::new(StatusCode::UNAUTHORIZED, "no-key", text)
            .hint("send it in the header `midfold-key`"),
    }
}

/// Whether a request may come from a page of this server, or from no page at all. A server that asks for no keys
/// trusts whoever reaches it: a page of another site must not reach it through a browser, by its address or by
/// a name that leads to it.
pub(crate) fn is_same_origin(app: &App, headers: &HeaderMap) -> bool {
    let text = |name: &HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    if text(&SITE).is_some_and(|site| !matches!(site, "same-origin" | "none")) {
        return false;
    }
    let host = text(&HOST);
    if let Some(origin) = text(&ORIGIN) {
        let from = origin.split_once("://").map_or(origin, |(_, host)| host);
        if Some(from) != host {
            return false;
        }
    }
    // A name that somebody else made lead here is none of ours. With keys, it has none to send.
    app.keys.is_some() || !app.is_local || host.is_none_or(is_of_this_machine)
}

/// Whether a `Host` names this machine by an address or `localhost`.
pub fn is_of_this_machine(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    };
    name.eq_ignore_ascii_case("localhost")
        || name.to_ascii_lowercase().ends_with(".localhost")
        || name.parse::<std::net::IpAddr>().is_ok()
}

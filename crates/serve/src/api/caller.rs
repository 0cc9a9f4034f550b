//! The caller of the API, and the sessions that it may see.

use axum::extract::Request;
use hyper::StatusCode;
use hyper::http::request::Parts;
use std::sync::Arc;

use super::problem::ApiProblem;
use crate::admit::{AdmitRefusal, admit};
use crate::app::SharedApp;
use crate::keys::{KeyHolder, KeyScope};

/// The caller of the API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ApiCaller {
    /// The owner whose sessions it may see; `None` means all sessions.
    pub owner: Option<String>,
}

impl ApiCaller {
    /// Admits a request to the API of sessions, or returns the reason why not.
    pub fn enter(app: &SharedApp, request: Request) -> Result<(Self, Request), ApiProblem> {
        let request = admit(app, &[KeyScope::Sessions, KeyScope::Admin], request)
            .map_err(|refused| refused_as(&refused))?;
        let (parts, body) = request.into_parts();
        let caller = Self::of(&parts);
        Ok((caller, Request::from_parts(parts, body)))
    }

    /// Admits a request with an administrator's key, or returns the reason why not.
    pub fn enter_as_admin(app: &SharedApp, request: Request) -> Result<(), ApiProblem> {
        let admitted = admit(app, &[KeyScope::Admin], request);
        admitted.map(drop).map_err(|refused| refused_as(&refused))
    }

    /// The caller of an admitted request. Without a key, or with an administrator's, it sees all sessions.
    pub fn of(parts: &Parts) -> Self {
        let holder = parts.extensions.get::<Arc<KeyHolder>>();
        let own = holder.filter(|holder| !holder.entry.scopes.contains(&KeyScope::Admin));
        Self { owner: own.map(|holder| holder.entry.name.clone()) }
    }

    /// Whether the caller may see a session of this owner.
    pub fn sees(&self, owner: Option<&str>) -> bool {
        self.owner.is_none() || self.owner.as_deref() == owner
    }
}

/// The problem for a refused request, with hints.
fn refused_as(refused: &AdmitRefusal) -> ApiProblem {
    let text = refused.to_string();
    let text = text.trim_start_matches("midfold: ");
    match refused {
        AdmitRefusal::Rate(seconds) => {
            ApiProblem::new(StatusCode::TOO_MANY_REQUESTS, "rate", text).wait(*seconds)
        }
        AdmitRefusal::Stranger(_) => ApiProblem::new(StatusCode::FORBIDDEN, "forbidden", text)
            .hint("open the console at this server's own address, or ask without a browser")
            .hint("start the server with --allow-origin https://HOST to allow that origin and host name"),
        AdmitRefusal::Scope(scope) => {
            let reach = if *scope == KeyScope::Admin { "the whole server" } else { "one's own sessions" };
            let hint = format!("`midfold serve key new NAME --scope {}` makes a key for {reach}", scope.name());
            ApiProblem::new(StatusCode::FORBIDDEN, "wrong-scope", text).hint(hint)
        }
        _ => ApiProblem::new(StatusCode::UNAUTHORIZED, "no-key", text)
            .hint("send a key in the header `midfold-key`"),
    }
}

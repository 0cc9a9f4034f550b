//! Who asks.

use axum::extract::Request;
use hyper::StatusCode;
use hyper::http::request::Parts;
use std::sync::Arc;

use super::problem::ApiProblem;
use crate::admit::{AdmitRefusal, admit};
use crate::app::SharedApp;
use crate::keys::{KeyHolder, KeyScope};

/// Whose sessions may be seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ApiCaller {
    /// Only those of this name; all without one.
    pub owner: Option<String>,
}

impl ApiCaller {
    /// Lets a request in, or says why not.
    pub fn enter(app: &SharedApp, request: Request) -> Result<(Self, Request), ApiProblem> {
        let request = admit(app, &[KeyScope::Sessions, KeyScope::Admin], request)
            .map_err(|refused| refused_as(&refused))?;
        let (parts, body) = request.into_parts();
        let caller = Self::of(&parts);
        Ok((caller, Request::from_parts(parts, body)))
    }

    /// Lets a request in of whoever runs the server, or says why not.
    pub fn enter_as_admin(app: &SharedApp, request: Request) -> Result<(), ApiProblem> {
        let admitted = admit(app, &[KeyScope::Admin], request);
        admitted.map(drop).map_err(|refused| refused_as(&refused))
    }

    /// Who sent a request that was let in.
    pub fn of(parts: &Parts) -> Self {
        let holder = parts.extensions.get::<Arc<KeyHolder>>();
        let own = holder.filter(|holder| !holder.entry.scopes.contains(&KeyScope::Admin));
        Self { owner: own.map(|holder| holder.entry.name.clone()) }
    }

    /// Whether a session of this owner is there for them.
    pub fn sees(&self, owner: Option<&str>) -> bool {
        self.owner.is_none() || self.owner.as_deref() == owner
    }
}

fn refused_as(refused: &AdmitRefusal) -> ApiProblem {
    let text = refused.to_string();
    let text = text.trim_start_matches("midfold: ");
    match refused {
        AdmitRefusal::Rate(seconds) => {
            ApiProblem::new(StatusCode::TOO_MANY_REQUESTS, "rate", text).wait(*seconds)
        }
        AdmitRefusal::Stranger(_) => ApiProblem::new(StatusCode::FORBIDDEN, "forbidden", text)
            .hint("open the console at this server's own address, or ask without a browser")
            .hint("--allow-origin https://HOST lets pages of that origin ask, and requests under that name"),
        AdmitRefusal::Scope(scope) => {
            let whose = if *scope == KeyScope::Admin { "all of the server" } else { "one's own sessions" };
            let hint = format!("`midfold key new NAME --scope {}` makes one for {whose}", scope.name());
            ApiProblem::new(StatusCode::FORBIDDEN, "wrong-scope", text).hint(hint)
        }
        _ => ApiProblem::new(StatusCode::UNAUTHORIZED, "no-key", text)
            .hint("send it in the header `midfold-key`"),
    }
}

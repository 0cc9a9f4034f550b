//! Who asks.

use axum::extract::Request;
use hyper::StatusCode;
use hyper::http::request::Parts;
use std::sync::Arc;

use super::problem::Problem;
use crate::admit::{Refused, admit};
use crate::app::App;
use crate::keys::{Holder, Scope};

/// Whose sessions may be seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Caller {
    /// Only those of this name; all without one.
    pub owner: Option<String>,
}

impl Caller {
    /// Lets a request in, or says why not.
    pub fn enter(app: &App, request: Request) -> Result<(Self, Request), Problem> {
        let request = admit(app, &[Scope::Sessions, Scope::Admin], request)
            .map_err(|refused| refused_as(&refused))?;
        let (parts, body) = request.into_parts();
        let caller = Self::of(&parts);
        Ok((caller, Request::from_parts(parts, body)))
    }

    /// Lets a request in of whoever runs the server, or says why not.
    pub fn enter_as_admin(app: &App, request: Request) -> Result<(), Problem> {
        let admitted = admit(app, &[Scope::Admin], request);
        admitted.map(drop).map_err(|refused| refused_as(&refused))
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
        Refused::Stranger(_) => Problem::new(StatusCode::FORBIDDEN, "forbidden", text)
            .hint("open the console at this server's own address, or ask without a browser")
            .hint("--allow-origin https://HOST lets pages of that origin ask, and requests under that name"),
        Refused::Scope(scope) => {
            let whose = if *scope == Scope::Admin { "all of the server" } else { "one's own sessions" };
            let hint = format!("`midfold key new NAME --scope {}` makes one for {whose}", scope.name());
            Problem::new(StatusCode::FORBIDDEN, "wrong-scope", text).hint(hint)
        }
        _ => Problem::new(StatusCode::UNAUTHORIZED, "no-key", text)
            .hint("send it in the header `midfold-key`"),
    }
}

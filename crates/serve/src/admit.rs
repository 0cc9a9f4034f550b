//! Decides whether a request is admitted, and removes its key.

use std::sync::Arc;

use axum::extract::Request;
use axum::response::Response;
use hyper::StatusCode;
use hyper::header::{HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use hyper::http::request::Parts;

use crate::answers::error;
use crate::app::SharedApp;
use crate::keys::{ApiKeys, FoundKey, KeyHolder, KeyScope, take};
use crate::origin::{OriginRefusal, may_ask};

/// Marks a request whose midfold serve key was in the place of the provider's key. The request then has no key for the
/// provider, so the server has to add its own.
#[derive(Clone, Copy)]
pub(crate) struct KeyInPlace;

/// Why a request is not admitted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum AdmitRefusal {
    #[error(
        "midfold: this server asks for a key; send `midfold-key: mf_…`, or the key in the place of the \
         provider's"
    )]
    NoKey,
    #[error(
        "midfold: this key is not known here; ask whoever runs the server for one (`midfold serve key new`)"
    )]
    Wrong,
    #[error("midfold: this key may not be used for this; it needs the scope `{}`", .0.name())]
    Scope(KeyScope),
    #[error(
        "midfold: the key is in the place of the provider's, and the server has none for {0}; send \
         `midfold-key: mf_…` beside your own key, or have the server started with --upstream-key {0}=VARIABLE"
    )]
    NoProviderKey(String),
    #[error("midfold: {0}; --allow-origin https://HOST lets it in")]
    Stranger(OriginRefusal),
    #[error("midfold: too many requests with this key; try again in {0} s")]
    Rate(u64),
}

/// Admits a request whose key has one of these scopes, or returns the reason why not. The key is removed, and the
/// sender's [`KeyHolder`] is attached to the request. If the server has no keys, everybody is admitted except pages of
/// other sites.
pub(crate) fn admit(
    app: &SharedApp,
    scopes: &[KeyScope],
    request: Request,
) -> Result<Request, AdmitRefusal> {
    let (mut parts, body) = request.into_parts();
    match check_request(app, scopes, &mut parts) {
        Ok(()) => Ok(Request::from_parts(parts, body)),
        Err(refused) => {
            tracing::info!(path = parts.uri.path(), why = %refused, "a request was not let in");
            app.metrics.count_refused();
            Err(refused)
        }
    }
}

fn check_request(
    app: &SharedApp,
    scopes: &[KeyScope],
    parts: &mut Parts,
) -> Result<(), AdmitRefusal> {
    // Also where the server has no keys: a client may be set up for another server, and its key is not the provider's.
    let found_key = take(parts);
    // If keys are required, the host name does not matter: a page that reaches the server under a foreign name has no
    // key to send.
    let any_name = app.keys.is_some() || !app.is_local;
    may_ask(parts, &app.origins, any_name).map_err(AdmitRefusal::Stranger)?;
    let Some(keys) = &app.keys else { return Ok(()) };
    // Cloned, so that the lock is free while the key is looked up: a changed file of keys replaces the value.
    let keys = Arc::clone(&keys.borrow());
    let holder = holder(app, &keys, scopes, found_key, parts)?;
    parts.extensions.insert(holder);
    Ok(())
}

/// The holder of the request's key, if the key has one of the scopes and its rate limit allows the request.
fn holder(
    app: &SharedApp,
    keys: &ApiKeys,
    scopes: &[KeyScope],
    found_key: Option<FoundKey>,
    parts: &mut Parts,
) -> Result<Arc<KeyHolder>, AdmitRefusal> {
    let found_key = found_key.ok_or(AdmitRefusal::NoKey)?;
    let holder = keys.holder(&found_key.key).ok_or(AdmitRefusal::Wrong)?;
    if !holder.entry.scopes.iter().any(|scope| scopes.contains(scope)) {
        return Err(AdmitRefusal::Scope(scopes.first().copied().unwrap_or(KeyScope::Admin)));
    }
    // Only a forwarded request needs a key of the provider.
    if scopes.contains(&KeyScope::Proxy) && found_key.is_in_place {
        parts.extensions.insert(KeyInPlace);
    }
    // Counted last, so that a request which is refused for its scope takes nothing from the rate.
    holder.count_request(app.now()).map_err(AdmitRefusal::Rate)?;
    Ok(Arc::clone(holder))
}

impl AdmitRefusal {
    /// The response, in a form that the SDKs of all providers read.
    pub fn response(&self) -> Response {
        let (status, kind) = match self {
            Self::NoKey | Self::Wrong | Self::NoProviderKey(_) => {
                (StatusCode::UNAUTHORIZED, "midfold_key")
            }
            Self::Scope(_) => (StatusCode::FORBIDDEN, "midfold_scope"),
            Self::Stranger(_) => (StatusCode::FORBIDDEN, "midfold_origin"),
            Self::Rate(_) => (StatusCode::TOO_MANY_REQUESTS, "midfold_rate_limit"),
        };
        let mut response = error(status, kind, &self.to_string());
        match self {
            Self::Rate(seconds) => {
                response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(*seconds));
            }
            _ if status == StatusCode::UNAUTHORIZED => {
                let bearer = HeaderValue::from_static("Bearer");
                response.headers_mut().insert(WWW_AUTHENTICATE, bearer);
            }
            _ => {}
        }
        response
    }
}

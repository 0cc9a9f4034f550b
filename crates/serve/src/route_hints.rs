//! Decides where a request is sent, and with whose key.

use hyper::Uri;
use hyper::http::request::Parts;
use hyper::http::uri::PathAndQuery;

use crate::admit::KeyInPlace;
use crate::app::SharedApp;
use crate::provider::Provider;
use crate::route::RequestRoute;
use crate::upstream::NoAnswer;
use crate::upstreams::{UpstreamFacts, UpstreamTarget, leaves_base};

/// The facts that decide where a request is sent, except for its model.
pub(crate) struct RouteHints {
    upstream: Option<String>,
    pub provider: Provider,
    path_and_query: String,
}

/// The destination of a request.
pub(crate) struct RequestGoal {
    pub target: UpstreamTarget,
    pub address: Uri,
}

/// The server has no key for this upstream, and the client sent midfold's key in the place of the provider's.
pub(crate) struct NoKey(pub String);

impl RouteHints {
    pub fn new(route: &RequestRoute, uri: &Uri) -> Self {
        let query = uri.path_and_query().and_then(PathAndQuery::query);
        let query = query.map(|query| format!("?{query}")).unwrap_or_default();
        Self {
            upstream: route.upstream.clone(),
            provider: route.provider,
            path_and_query: format!("{}{query}", route.path),
        }
    }

    /// The destination, if the request asks for this model.
    pub fn goal(&self, app: &SharedApp, model: Option<&str>) -> Result<RequestGoal, NoAnswer> {
        let (named, provider) = (self.upstream.as_deref(), self.provider);
        let target = app.upstreams.choose(UpstreamFacts { named, model, provider })?;
        if leaves_base(&self.path_and_query) {
            return Err(NoAnswer::Leaving);
        }
        let address = target.address(&self.path_and_query).ok_or(NoAnswer::Address)?;
        Ok(RequestGoal { target, address })
    }

    /// Adds the server's key for the upstream, if the request had midfold's key in that place.
    pub fn give_key(
        &self,
        app: &SharedApp,
        goal: &RequestGoal,
        parts: &mut Parts,
    ) -> Result<(), NoKey> {
        // Removed, because a request that is passed on after `generate` comes here a second time, and has the
        // provider's key by then.
        if parts.extensions.remove::<KeyInPlace>().is_none() {
            return Ok(());
        }
        let name = &goal.target.name;
        match app.provider_keys.give(name, self.provider, &mut parts.headers) {
            true => Ok(()),
            false => Err(NoKey(name.clone())),
        }
    }
}

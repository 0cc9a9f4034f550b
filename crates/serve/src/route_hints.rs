//! Where a request goes, and with whose key.

use hyper::Uri;
use hyper::http::request::Parts;
use hyper::http::uri::PathAndQuery;

use crate::admit::KeyInPlace;
use crate::app::SharedApp;
use crate::provider::Provider;
use crate::route::RequestRoute;
use crate::upstream::NoAnswer;
use crate::upstreams::{UpstreamFacts, UpstreamTarget};

/// What decides where a request goes, but for its model.
pub(crate) struct RouteHints {
    upstream: Option<String>,
    pub provider: Provider,
    path_and_query: String,
}

/// Where a request goes.
pub(crate) struct RequestGoal {
    pub target: UpstreamTarget,
    pub address: Uri,
}

/// The server has no key for an upstream, and the client sent ours in the place of the provider's.
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

    /// Where it goes, if it asks for this model.
    pub fn goal(&self, app: &SharedApp, model: Option<&str>) -> Result<RequestGoal, NoAnswer> {
        let (named, provider) = (self.upstream.as_deref(), self.provider);
        let target = app.upstreams.choose(UpstreamFacts { named, model, provider })?;
        let address = target.address(&self.path_and_query).ok_or(NoAnswer::Address)?;
        Ok(RequestGoal { target, address })
    }

    /// Gives a request whose key was ours the server's own key for where it goes.
    pub fn give_key(
        &self,
        app: &SharedApp,
        goal: &RequestGoal,
        parts: &mut Parts,
    ) -> Result<(), NoKey> {
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

//! The console: a page that shows sessions, and what left their contexts. Its files are compiled into the program, and
//! it loads nothing else.

use axum::Router;
use axum::body::Body;
use axum::response::Response;
use axum::routing::get;
use hyper::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, HeaderValue, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS,
};

/// The content security policy of the page: it may run its own script and send requests to this server, and nothing
/// else.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
    img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const OPENER: HeaderName = HeaderName::from_static("cross-origin-opener-policy");
const RESOURCE: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

/// A file of the page, made by `ui/console/build`.
struct Asset {
    kind: &'static str,
    bytes: &'static [u8],
}

const PAGE: Asset = Asset {
    kind: "text/html; charset=utf-8",
    bytes: include_bytes!("../assets/console/index.html"),
};
const SCRIPT: Asset = Asset {
    kind: "text/javascript; charset=utf-8",
    bytes: include_bytes!("../assets/console/console.js"),
};
const STYLE: Asset = Asset {
    kind: "text/css; charset=utf-8",
    bytes: include_bytes!("../assets/console/console.css"),
};

/// The routes of the page and its files. They have no data, so they need no key.
pub(crate) fn router() -> Router {
    Router::new()
        .route("/", get(async || PAGE.response()))
        .route("/console.js", get(async || SCRIPT.response()))
        .route("/console.css", get(async || STYLE.response()))
}

impl Asset {
    fn response(&self) -> Response {
        let mut response = Response::new(Body::from(self.bytes));
        let headers = response.headers_mut();
        let mut set = |name, value| headers.insert(name, HeaderValue::from_static(value));
        set(CONTENT_TYPE, self.kind);
        set(CONTENT_SECURITY_POLICY, POLICY);
        set(X_CONTENT_TYPE_OPTIONS, "nosniff");
        set(REFERRER_POLICY, "no-referrer");
        set(OPENER, "same-origin");
        set(RESOURCE, "same-origin");
        // Another version of midfold has other files under the same names, so caches have to ask again.
        set(CACHE_CONTROL, "no-cache");
        response
    }
}

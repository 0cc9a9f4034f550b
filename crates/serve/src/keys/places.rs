//! The places in a request where clients put a key.

use hyper::header::{AUTHORIZATION, HeaderName, HeaderValue};
use hyper::http::request::Parts;
use hyper::http::uri::{PathAndQuery, Uri};

use super::key::PREFIX;

/// The header for midfold's key.
const OURS: HeaderName = HeaderName::from_static("midfold-key");
/// The headers in which clients put the key of their provider.
const THEIRS: [HeaderName; 4] = [
    AUTHORIZATION,
    HeaderName::from_static("x-api-key"),
    HeaderName::from_static("x-goog-api-key"),
    HeaderName::from_static("api-key"),
];
/// The query parameter in which clients of Gemini put it.
pub(crate) const KEY_PARAMETER: &str = "key=";

/// The key of a request.
pub struct FoundKey {
    pub key: String,
    /// Whether the key was in the place of the provider's key.
    pub is_in_place: bool,
}

/// Takes midfold's key out of a request, from all places, so that none is forwarded.
pub fn take(parts: &mut Parts) -> Option<FoundKey> {
    let own_key = parts.headers.remove(OURS).and_then(|value| key(&value));
    // `in_address` runs even if a header has a key, so that the address does not carry one to the provider.
    let provider_key =
        in_headers(parts).into_iter().chain(in_address(parts)).reduce(|first, _| first);
    let is_in_place = provider_key.is_some();
    own_key.or(provider_key).map(|key| FoundKey { key, is_in_place })
}

/// Takes midfold's key out of the headers for providers' keys.
fn in_headers(parts: &mut Parts) -> Option<String> {
    let mut first = None;
    for name in &THEIRS {
        let here = parts
            .headers
            .get_all(name)
            .iter()
            // Any other key is the client's own for its provider, and goes on.
            .find_map(|value| key(value).filter(|key| key.starts_with(PREFIX)));
        if here.is_some() {
            parts.headers.remove(name);
        }
        first = first.or(here);
    }
    if first.is_some() {
        // The provider would read any of these headers. All are removed, so that only the key which the server adds is
        // sent.
        THEIRS.iter().for_each(|name| drop(parts.headers.remove(name)));
    }
    first
}

/// Takes midfold's key out of the query.
fn in_address(parts: &mut Parts) -> Option<String> {
    let query = parts.uri.query()?;
    let is_key = |pair: &&str| {
        pair.strip_prefix(KEY_PARAMETER).is_some_and(|value| value.starts_with(PREFIX))
    };
    let own = query.split('&').find(is_key)?[KEY_PARAMETER.len()..].to_owned();
    let rest: Vec<_> = query.split('&').filter(|pair| !is_key(pair)).collect();
    let mark = if rest.is_empty() { "" } else { "?" };
    let target = format!("{}{mark}{}", parts.uri.path(), rest.join("&"));
    let mut uri = std::mem::take(&mut parts.uri).into_parts();
    // The text was a part of a valid address before, so it still parses.
    uri.path_and_query = target.parse::<PathAndQuery>().ok();
    parts.uri = Uri::from_parts(uri).unwrap_or_default();
    Some(own)
}

/// The key in a header's value, without the word `Bearer`.
fn key(value: &HeaderValue) -> Option<String> {
    let text = value.to_str().ok()?.trim();
    let bare = match text.split_at_checked(7) {
        Some((word, rest)) if word.eq_ignore_ascii_case("bearer ") => rest.trim(),
        _ => text,
    };
    Some(bare.to_owned())
}

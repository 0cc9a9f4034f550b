//! Where a request has its key.

use hyper::header::{AUTHORIZATION, HeaderName, HeaderValue};
use hyper::http::request::Parts;
use hyper::http::uri::{PathAndQuery, Uri};

use super::key::PREFIX;

/// The header of our own.
const OURS: HeaderName = HeaderName::from_static("midfold-key");
/// Where clients put the key of their provider.
const THEIRS: [HeaderName; 4] = [
    AUTHORIZATION,
    HeaderName::from_static("x-api-key"),
    HeaderName::from_static("x-goog-api-key"),
    HeaderName::from_static("api-key"),
];
/// Where Gemini's clients put it in the address.
const PARAMETER: &str = "key=";

/// The key of a request.
pub struct FoundKey {
    pub key: String,
    /// It was where the key of the provider belongs.
    pub is_in_place: bool,
}

/// Takes the key of a request out of it, from wherever it is: none of ours goes on.
pub fn take(parts: &mut Parts) -> Option<FoundKey> {
    let ours = parts.headers.remove(OURS).and_then(|value| key(&value));
    let theirs = in_headers(parts).into_iter().chain(in_address(parts)).reduce(|first, _| first);
    let is_in_place = theirs.is_some();
    ours.or(theirs).map(|key| FoundKey { key, is_in_place })
}

fn in_headers(parts: &mut Parts) -> Option<String> {
    let mut found = None;
    for name in &THEIRS {
        let here = parts
            .headers
            .get_all(name)
            .iter()
            .find_map(|value| key(value).filter(|key| key.starts_with(PREFIX)));
        if here.is_some() {
            parts.headers.remove(name);
        }
        found = found.or(here);
    }
    if found.is_some() {
        // The provider would take either: it gets the one that belongs to this key, and no other.
        THEIRS.iter().for_each(|name| drop(parts.headers.remove(name)));
    }
    found
}

fn in_address(parts: &mut Parts) -> Option<String> {
    let query = parts.uri.query()?;
    let is_key =
        |pair: &&str| pair.strip_prefix(PARAMETER).is_some_and(|it| it.starts_with(PREFIX));
    let found = query.split('&').find(is_key)?[PARAMETER.len()..].to_owned();
    let rest: Vec<_> = query.split('&').filter(|pair| !is_key(pair)).collect();
    let mark = if rest.is_empty() { "" } else { "?" };
    let target = format!("{}{mark}{}", parts.uri.path(), rest.join("&"));
    let mut uri = std::mem::take(&mut parts.uri).into_parts();
    // It was part of an address before.
    uri.path_and_query = target.parse::<PathAndQuery>().ok();
    parts.uri = Uri::from_parts(uri).unwrap_or_default();
    Some(found)
}

/// The key in a header's value, without the word in front.
fn key(value: &HeaderValue) -> Option<String> {
    let text = value.to_str().ok()?.trim();
    let bare = match text.split_at_checked(7) {
        Some((word, rest)) if word.eq_ignore_ascii_case("bearer ") => rest.trim(),
        _ => text,
    };
    Some(bare.to_owned())
}

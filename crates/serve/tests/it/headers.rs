//! Which headers go on, and what those of midfold's own say.

use hyper::header::{HeaderMap, HeaderName};
use midfold_serve::inside::{for_client, for_upstream, is_off, who};

#[test]
fn what_is_of_one_connection_or_ours_ends_here() {
    let mut headers = HeaderMap::new();
    for (name, value) in [
        ("authorization", "Bearer k"),
        ("connection", "keep-alive, x-hop"),
        ("x-hop", "1"),
        ("midfold-policy", "lean"),
        ("accept-encoding", "gzip"),
        ("x-other", "2"),
        ("host", "h"),
    ] {
        headers.insert(name, value.parse().unwrap());
    }
    let out = for_upstream(&headers, true);
    let mut names: Vec<_> = out.keys().map(HeaderName::as_str).collect();
    names.sort_unstable();
    assert_eq!(names, ["accept-encoding", "authorization", "x-other"]);
    assert_eq!(out["accept-encoding"], "identity");
    assert_eq!(for_upstream(&headers, false)["accept-encoding"], "gzip");
    assert_eq!(who(&headers, String::new(), None).preset.as_deref(), Some("lean"));
    assert!(!is_off(&headers));
}

/// An upstream may be another midfold, or pretend to be one.
#[test]
fn what_an_upstream_says_in_our_name_ends_here() {
    let mut headers = HeaderMap::new();
    for name in ["midfold-session", "midfold-fold", "midfold", "midfold-other", "content-length"] {
        headers.append(HeaderName::from_static(name), "1".parse().unwrap());
        headers.append(HeaderName::from_static(name), "2".parse().unwrap());
    }
    headers.insert("x-request-id", "3".parse().unwrap());
    let out = for_client(&headers);
    let mut names: Vec<_> = out.keys().map(HeaderName::as_str).collect();
    names.sort_unstable();
    assert_eq!(names, ["content-length", "x-request-id"]);
}

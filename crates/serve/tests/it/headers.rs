//! Which headers go on, and what those of midfold's own say.

use hyper::header::{HeaderMap, HeaderName};
use midfold_serve::inside::{for_upstream, is_off, who};

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

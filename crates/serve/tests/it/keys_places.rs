//! Where a request has its key.

use hyper::http::request::Parts;
use midfold_serve::inside::take;

fn parts(address: &str, headers: &[(&'static str, &str)]) -> Parts {
    let mut request = hyper::Request::get(address);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(()).unwrap().into_parts().0
}

#[test]
fn keys_are_found_and_taken_out() {
    for (address, header, value) in [
        ("/v1/x", "authorization", "Bearer mf_a"),
        ("/v1/x", "authorization", "bearer  mf_a"),
        ("/v1/x", "x-api-key", "mf_a"),
        ("/v1/x", "x-goog-api-key", "mf_a"),
        ("/v1/x", "api-key", "mf_a"),
        ("/v1/x?key=mf_a", "x-other", "1"),
        ("http://h/v1/x?a=b&key=mf_a&key=mf_a&c", "x-other", "1"),
    ] {
        let mut parts = parts(address, &[(header, value)]);
        let found = take(&mut parts).unwrap();
        assert_eq!((found.key.as_str(), found.is_in_place), ("mf_a", true), "{address} {header}");
        assert!(!format!("{parts:?}").contains("mf_a"), "{parts:?}");
        assert_eq!(parts.uri.path(), "/v1/x");
    }
    let mut kept = parts("http://h/v1/x?a=b&key=mf_a&c", &[]);
    take(&mut kept).unwrap();
    assert_eq!(kept.uri, "http://h/v1/x?a=b&c");
}

#[test]
fn the_clients_own_credentials_stay_beside_our_header() {
    let both = [("midfold-key", "mf_a"), ("authorization", "Bearer sk-1")];
    let mut parts1 = parts("/v1/x?key=AIza", &both);
    let found = take(&mut parts1).unwrap();
    assert_eq!((found.key.as_str(), found.is_in_place), ("mf_a", false));
    assert_eq!(parts1.headers["authorization"], "Bearer sk-1");
    assert_eq!(parts1.uri, "/v1/x?key=AIza");
    // One of ours in a second place does not go on either.
    let mut parts2 = parts("/", &[("midfold-key", "mf_a"), ("x-api-key", "mf_b")]);
    let found = take(&mut parts2).unwrap();
    assert_eq!((found.key.as_str(), found.is_in_place), ("mf_a", true));
    assert!(parts2.headers.is_empty());
    assert!(take(&mut parts("/", &[("authorization", "Bearer sk-1")])).is_none());
}

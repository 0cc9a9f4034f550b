//! Addresses of resources.

use midfold_mcp::inside::{of_recap, session};

#[test]
fn ids_come_back_whatever_they_are_made_of() {
    for id in ["01jdq", "a b", "a/recap", "100%", "naïve", "%2F", "a%2fb"] {
        assert_eq!(session(&of_recap(id)).as_deref(), Some(id), "{}", of_recap(id));
    }
    assert_eq!(of_recap("a/b c"), "midfold://session/a%2Fb%20c/recap");
}

#[test]
fn other_addresses_name_no_session() {
    for uri in [
        "",
        "midfold://session//recap",
        "midfold://session/a",
        "midfold://session/%2/recap",
        "midfold://session/%zz/recap",
        "midfold://session/%ff/recap",
        "https://session/a/recap",
    ] {
        assert_eq!(session(uri), None, "{uri}");
    }
}

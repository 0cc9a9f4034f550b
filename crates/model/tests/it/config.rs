//! Which addresses are shown how, and which are of this machine.

use midfold_model::Secret;
use midfold_model::inside::{is_loopback, masked};
use reqwest::Url;

#[test]
fn addresses_are_shown_without_credentials() {
    assert_eq!(masked("https://joe:pw@host/v1"), "https://***@host/v1");
    assert_eq!(masked("https://host/v1?api-key=abc"), "https://host/v1?***");
    assert_eq!(masked("joe:pw"), "joe:pw".replace("joe:pw", &masked("joe:pw")));
    assert_eq!(masked("not one"), "(not a URL)");
    assert_eq!(format!("{:?}", Secret::new("sk-1")), "Secret(***)");
}

#[test]
fn loopback_is_known() {
    for (url, wanted) in
        [("http://localhost:1", true), ("http://[::1]:1", true), ("http://10.0.0.1", false)]
    {
        assert_eq!(Url::parse(url).is_ok_and(|url| is_loopback(&url)), wanted, "{url}");
    }
}

//! Whether a page may have been led here by a name of somebody else's.

use midfold_serve::inside::is_of_this_machine;

#[test]
fn addresses_are_of_this_machine_and_names_are_not() {
    for host in
        ["127.0.0.1:7878", "localhost", "LOCALHOST:1", "[::1]:7878", "10.0.0.2", "a.localhost:1"]
    {
        assert!(is_of_this_machine(host), "{host}");
    }
    for host in
        ["evil.example", "evil.example:7878", "localhost.evil.example", "127.0.0.1.evil.example"]
    {
        assert!(!is_of_this_machine(host), "{host}");
    }
}

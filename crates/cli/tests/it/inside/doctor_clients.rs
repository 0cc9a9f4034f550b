//! URLs as `midfold doctor` reads and shows them.

use midfold_cli::inside::{local, shown};

#[test]
fn no_secret_of_a_url_is_shown() {
    assert_eq!(shown("https://joe:pw@gw.example/v1?key=abc"), "https://gw.example/v1");
    assert_eq!(local("http://localhost:7878/v1"), Some(([127, 0, 0, 1], 7878).into()));
    assert_eq!(local("https://api.openai.com/v1"), None);
}

//! What a list says of a session.

use midfold_mcp::inside::{SHOWN, first_line, time};

#[test]
fn a_task_is_one_line_without_secrets() {
    assert_eq!(first_line("\n  Fix\tthe build \x1b[31m\nand more"), "Fix the build  [31m");
    let line = first_line(&format!("{} postgres://app:s3cr3tpass@db/orders", "x".repeat(60)));
    assert!(!line.contains("s3cr3t") && line.contains("[REDACTED]"), "{line}");
    let long = first_line(&"word ".repeat(50));
    assert!(long.chars().count() <= SHOWN && long.ends_with('…'), "{long}");
    assert_eq!(first_line(""), "");
}

#[test]
fn times() {
    assert_eq!(time(1_795_315_211_000), "2026-11-22 02:40 UTC");
}

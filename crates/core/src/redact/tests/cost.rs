//! A benchmark of finding secrets, to be run by hand: nothing here asserts a time.

use std::time::Instant;

use super::*;

/// `cargo nextest run --release -p midfold-core --run-ignored all -E 'test(cost)' --no-capture`
#[test]
#[ignore = "a measure, to be run by hand in a release build"]
fn megabytes_a_second() {
    let rows: Vec<(&str, String)> = vec![
        ("ordinary", ordinary("served path=/v1/users/42 status=200")),
        ("many names", ordinary("served, tokens: 512")),
        ("BEGIN lines", "-----BEGIN RSA PRIVATE KEY-----\n".repeat(32_000)),
        ("eyJ-", "eyJ-".repeat(250_000)),
        ("eyJ.eyJ", ".eyJabcdefgh".repeat(83_000)),
        ("IQoJb3JpZ2lu/", "IQoJb3JpZ2lu/".repeat(77_000)),
        ("password=", "password=".repeat(111_000)),
        ("PasswordPassword", "Password".repeat(125_000)),
        ("password=\"", "password=\"".repeat(100_000)),
        ("\"password\": ", "\"password\": ".repeat(83_000)),
        ("token: ", "token: ".repeat(143_000)),
        ("password\\n", "password\n".repeat(111_000)),
        ("a,password,b", "a,password,b\n".repeat(77_000)),
        ("| password |", "| password | x1y2z3 |\n".repeat(45_000)),
        ("password,", "password,".repeat(111_000)),
        ("://a:b@", "://a:b@".repeat(143_000)),
        ("sk-sk-", "sk-".repeat(333_000)),
        ("cookie:a=", "cookie:a=".repeat(111_000)),
        ("mysql -p", "mysql -p ".repeat(111_000)),
        ("zip zip", "zip ".repeat(250_000)),
        ("echo a |", "echo a | sudo -S ".repeat(59_000)),
        ("x-amz-signature=", "x-amz-signature=".repeat(62_000)),
        ("cGFzc3dvcm", "cGFzc3dvcm".repeat(100_000)),
        ("<password>", "<password>".repeat(100_000)),
        ("<password a=", "<password a=".repeat(83_000)),
        ("password {", "password {".repeat(100_000)),
        ("curl -u", "curl -u ".repeat(125_000)),
        ("insert", "INSERT INTO t (password) VALUES (".repeat(30_000)),
    ];
    // The redactor is compiled at its first use; that is no part of the cost of a text.
    let _ = Redactor::shared().find(&rows[1].1);
    for (name, text) in rows {
        let start = Instant::now();
        let count = Redactor::shared().find(&text).len();
        let spent = start.elapsed().as_secs_f64();
        let rate = text.len() as f64 / 1e6 / spent;
        eprintln!("{name:>18}: {rate:8.1} MB/s, {:.2} s a MB, {count} found", 1.0 / rate);
    }
    let start = Instant::now();
    let keywords = Redactor::new().sources.len();
    eprintln!("built in {:?}, {keywords} keywords", start.elapsed());
}

/// A text like that of a transcript: source code, and logs with this line.
fn ordinary(words: &str) -> String {
    let mut text = String::new();
    while text.len() < 4_000_000 {
        text.push_str(include_str!("../../recap/prose.rs"));
        text.push_str(include_str!("../../tools/shell.rs"));
        text.push_str(include_str!("../../lib.rs"));
        for at in 0..400 {
            let line =
                format!("2026-11-24T10:00:{:02}.{at:03}Z INFO request {words} in ms\n", at % 60);
            text.push_str(&line);
        }
    }
    text
}

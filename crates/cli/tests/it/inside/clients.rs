//! Clients by name, and the base URLs that they are given.

use std::path::Path;

use midfold_cli::inside::{KnownClient, ProxyFront, VARIABLES};
use midfold_serve::UpstreamTable;

#[test]
fn clients_are_known_by_the_end_of_a_path() {
    let name = |path: &str| KnownClient::of(Path::new(path)).map(|client| client.name);
    assert_eq!(name("/opt/bin/codex"), Some("codex"));
    assert_eq!(name("claude.exe"), Some("claude"));
    assert_eq!(name("claudette"), None);
}

fn front(upstream: &str) -> ProxyFront {
    let mut upstreams = UpstreamTable::default();
    upstreams.set(upstream).unwrap();
    ProxyFront { origin: "http://127.0.0.1:9".to_owned(), upstreams }
}

#[test]
fn a_base_url_ends_as_its_paths_go_on() {
    let openai = &VARIABLES[0];
    let anthropic = &VARIABLES[2];
    for (upstream, variable, before, end) in [
        ("openai=https://api.openai.com", openai, None, "/v1"),
        ("openai=https://api.openai.com/", openai, None, "/v1"),
        ("openai=https://api.openai.com", openai, Some(""), "/v1"),
        ("openai=https://openrouter.ai/api/v1", openai, None, "/v1"),
        ("openai=https://h/api/v1", openai, Some("https://h/api/v1/"), "/v1"),
        // The client puts `/chat/completions` behind it, and so does the proxy.
        ("openai=https://h/openai", openai, Some("https://h/openai"), ""),
        ("openai=https://h/backend/codex", openai, None, ""),
        ("openai=https://h/paas/v4", openai, Some("https://h/paas/v4"), ""),
        ("anthropic=https://h/v1", anthropic, None, ""),
        ("anthropic=https://h/v1", anthropic, Some("https://h/v1"), "/v1"),
    ] {
        let value = front(upstream).value(variable, before);
        assert_eq!(value, format!("http://127.0.0.1:9{end}"), "{upstream} {before:?}");
    }
}

//! `packaging/`, held against the server that it starts and watches.
#![cfg(unix)]

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use clap::Parser;
use midfold_args::Cli;
use serde_json::Value;

use crate::serve::{Server, start};
use crate::serve_log::get_as;
use crate::{folder, root, stdout};

fn text(path: &str) -> String {
    fs::read_to_string(root().join("packaging").join(path)).unwrap()
}

fn yaml(path: &str) -> Value {
    serde_saphyr::from_str(&text(path)).unwrap()
}

/// A server that nobody uses.
fn idle(options: &[&str]) -> Server {
    start("http://127.0.0.1:1", &[&["--store", "memory"], options].concat(), &[])
}

/// All questions to Prometheus in a document.
fn questions(document: &Value, found: &mut Vec<String>) {
    match document {
        Value::Object(members) => {
            for (name, value) in members {
                match value.as_str() {
                    Some(text) if name == "expr" || name == "query" => found.push(text.to_owned()),
                    _ => questions(value, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| questions(item, found)),
        _ => {}
    }
}

/// The names of ours in a text.
fn names(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.filter(|word| word.starts_with("midfold_"))
}

/// The causes of unread requests that a question names.
fn causes(question: &str) -> impl Iterator<Item = &str> {
    let values = question.split("{cause").skip(1).filter_map(|rest| rest.split('"').nth(1));
    values.flat_map(|value| value.split('|'))
}

#[test]
fn dashboard_and_alerts_ask_for_figures_that_the_server_has() {
    let server = idle(&[]);
    let metrics = get_as(&server.url, "/metrics", "host: localhost");
    let samples = metrics.lines().filter(|line| !line.starts_with('#'));
    let has: BTreeSet<&str> = samples.flat_map(|line| names(line).next()).collect();
    let mut asked = Vec::new();
    questions(&serde_json::from_str(&text("compose/grafana/midfold.json")).unwrap(), &mut asked);
    let of_dashboard = asked.len();
    questions(&yaml("compose/alerts.yml"), &mut asked);
    assert!(of_dashboard > 30 && asked.len() > of_dashboard + 5, "{asked:?}");
    for question in &asked {
        for name in names(question) {
            assert!(has.contains(name), "{name} is no figure of /metrics: {question}");
        }
        for cause in causes(question) {
            let figure = format!("midfold_fail_open_total{{cause=\"{cause}\"}}");
            assert!(metrics.contains(&figure), "{cause} is no cause: {question}");
        }
    }
    assert!(asked.iter().flat_map(|question| causes(question)).count() > 2);
}

#[test]
fn operations_say_what_to_do_at_each_alert() {
    let page = fs::read_to_string(root().join("docs/OPERATIONS.md")).unwrap();
    let alerts = yaml("compose/alerts.yml");
    let rules = alerts["groups"][0]["rules"].as_array().unwrap();
    assert!(!rules.is_empty());
    for rule in rules {
        let name = rule["alert"].as_str().unwrap();
        assert!(
            page.contains(&format!("| `{name}` |")),
            "docs/OPERATIONS.md says nothing of {name}"
        );
    }
}

#[test]
fn the_compose_file_starts_a_server_that_is_watched() {
    let compose = yaml("compose/compose.yaml");
    let midfold = &compose["services"]["midfold"];
    let config = fs::read_to_string(root().join("docs/CONFIG.md")).unwrap();
    for name in midfold["environment"].as_object().unwrap().keys() {
        assert!(config.contains(&format!("`{name}`")), "{name} is no variable of midfold");
    }
    let keys = folder("packaging-keys").join("keys.toml").display().to_string();
    let key =
        stdout(&["serve", "key", "new", "prometheus", "--scope", "admin", "--keys", &keys], b"");
    let words: Vec<&str> =
        midfold["command"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert_eq!(words.first(), Some(&"serve"));
    let server = idle(&[&words[1..], &["--keys", &keys]].concat());
    // As Prometheus asks, by the name of the service.
    let scraped = |key: &str| {
        let headers = format!("host: midfold:7878\r\nauthorization: Bearer {}", key.trim());
        get_as(&server.url, "/metrics", &headers)
    };
    assert!(scraped(&key).contains("\nmidfold_requests_total 0\n"), "{}", scraped(&key));
    assert!(scraped("mf_none").starts_with("HTTP/1.1 401 "));
    // As its health is looked at; in the file, a dollar is written twice.
    let check: Vec<String> =
        serde_json::from_value(midfold["healthcheck"]["test"].clone()).unwrap();
    let port = server.url.rsplit(':').next().unwrap().to_owned();
    let is_healthy = || {
        let words = check[1..].iter().map(|word| word.replace("$$", "$").replace("7878", &port));
        let words: Vec<String> = words.collect();
        Command::new(&words[0]).args(&words[1..]).output().unwrap().status.success()
    };
    assert!(is_healthy());
    drop(server);
    assert!(!is_healthy());
}

#[test]
fn what_the_compose_file_names_is_there() {
    let compose = yaml("compose/compose.yaml");
    let mut count = 0;
    for service in compose["services"].as_object().unwrap().values() {
        for volume in service["volumes"].as_array().unwrap() {
            let from = volume.as_str().unwrap().split(':').next().unwrap();
            // The reader makes the keys.
            if let Some(file) = from.strip_prefix("./").filter(|file| !file.starts_with("keys")) {
                assert!(root().join("packaging/compose").join(file).is_file(), "{file}");
                count += 1;
            } else if !from.starts_with('.') {
                assert!(compose["volumes"].as_object().unwrap().contains_key(from), "{from}");
            }
        }
    }
    assert!(count > 4);
    let build = &compose["services"]["midfold"]["build"];
    let context = root().join("packaging/compose").join(build["context"].as_str().unwrap());
    assert!(context.join(build["dockerfile"].as_str().unwrap()).is_file());
}

#[test]
fn the_unit_of_systemd_starts_what_the_command_line_takes() {
    let unit = text("systemd/midfold.service");
    let line = unit.lines().find_map(|line| line.strip_prefix("ExecStart=")).unwrap();
    let words: Vec<&str> = line.split_whitespace().collect();
    assert!(Cli::try_parse_from(words).is_ok(), "{line}");
}

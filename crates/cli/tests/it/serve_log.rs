//! What a server says of itself: its log, and what it says when its store is taken away.

use std::io::{Read, Write};
use std::net::TcpStream;

use midfold_testkit::upstream::agent::ClientAgent;
use midfold_testkit::upstream::{WireDialect, task};
use serde_json::Value;

use crate::serve::{STEPS, start, upstream};

fn get(url: &str, path: &str) -> String {
    get_as(url, path, "host: localhost")
}

/// What the server answers to these headers.
pub fn get_as(url: &str, path: &str, headers: &str) -> String {
    let mut stream = TcpStream::connect(url.trim_start_matches("http://")).unwrap();
    let head = format!("GET {path} HTTP/1.1\r\n{headers}\r\nconnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_request_and_each_fold_is_in_the_log() {
    let upstream = upstream().await;
    let log = crate::folder("serve-log").join("log.jsonl");
    let place = log.display().to_string();
    let options = ["--window", "12k", "--store", "memory", "--log", &place];
    let server = start(upstream.url(), &options, &[]);
    let agent =
        ClientAgent { task: task(STEPS), ..ClientAgent::new(WireDialect::Chat, &server.url) };
    let run = agent.run().await;
    assert!(run.answer().is_some(), "{:?}", run.end);
    get(&server.url, "/v1/models?key=secret");
    let metrics = get(&server.url, "/metrics");
    drop(server);
    let text = std::fs::read_to_string(&log).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let said = |what: &str, level: &str| {
        lines.iter().filter(|line| line["message"] == what && line["level"] == level).count()
    };
    // The metrics are asked all the time: that is no more than a step.
    assert_eq!(said("request", "DEBUG"), run.exchanges.len() + 1, "{text}");
    assert!(said("folded", "INFO") > 0, "{text}");
    let folds = format!("\nmidfold_folds_total {}\n", said("folded", "INFO"));
    assert!(metrics.contains(&folds), "{folds} {metrics}");
    let last = lines.iter().rfind(|line| line["path"] == "/v1/chat/completions").unwrap();
    // All lines of one request have its id, which the client got in a header.
    let id_of = |line: &Value| line["span"]["id"].as_str().map(str::to_owned);
    let told = run.exchanges.last().unwrap().header("midfold-request");
    assert_eq!(id_of(last).as_deref(), told, "{last}");
    let fold = lines.iter().find(|line| line["message"] == "folded").unwrap();
    let of_it =
        lines.iter().filter(|line| line["message"] == "request" && id_of(line) == id_of(fold));
    assert_eq!(of_it.count(), 1, "{fold}");
    assert!(last["session"].is_string() && last["fold"].is_string(), "{last}");
    assert!(last["after"].as_u64() < last["before"].as_u64(), "{last}");
    assert!(!text.contains("secret") && !text.contains("src/part_"), "{text}");
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_that_is_taken_away_is_missed() {
    let upstream = upstream().await;
    let folder = crate::folder("serve-gone");
    let (file, log) = (folder.join("s.db"), folder.join("log.jsonl"));
    let (store, place) = (format!("sqlite:{}", file.display()), log.display().to_string());
    let server =
        start(upstream.url(), &["--window", "12k", "--store", &store, "--log", &place], &[]);
    let mut agent =
        ClientAgent { task: task(STEPS), ..ClientAgent::new(WireDialect::Chat, &server.url) }
            .start();
    agent.turn().await;
    assert!(get(&server.url, "/readyz").starts_with("HTTP/1.1 200 "));
    std::fs::remove_file(&file).unwrap();
    let ready = get(&server.url, "/readyz");
    assert!(ready.starts_with("HTTP/1.1 503 ") && ready.contains("was removed"), "{ready}");
    let sessions = get(&server.url, "/v1/sessions");
    assert!(
        sessions.starts_with("HTTP/1.1 503 ") && sessions.contains("was removed"),
        "{sessions}"
    );
    assert!(get(&server.url, "/livez").starts_with("HTTP/1.1 200 "));
    // No request fails because of it.
    agent.turn().await;
    agent.turn().await;
    assert_eq!(agent.end(), None);
    drop(server);
    assert!(!file.exists(), "no new one in its place");
    let text = std::fs::read_to_string(&log).unwrap();
    assert!(text.contains("conversations are not kept"), "{text}");
    assert!(text.contains("the store is left alone for a second"), "{text}");
}

#[test]
fn an_origin_that_is_none_is_said_to_be() {
    let done = crate::midfold(&["serve", "--allow-origin", "midfold.example"]).output().unwrap();
    assert_eq!(done.status.code(), Some(2), "{done:?}");
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(said.contains("`midfold.example` is no origin"), "{said}");
}

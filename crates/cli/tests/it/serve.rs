//! `midfold serve` as a program: started, used, killed, started again.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use midfold_testkit::upstream::agent::{ClientAgent, RunEnd};
use midfold_testkit::upstream::{
    LookUps, ScriptedUpstream, StepLoop, UpstreamScript, UpstreamSettings, WireDialect, task,
};

pub const STEPS: u32 = 30;

/// A server that runs, until it is dropped.
pub struct Server {
    child: Child,
    pub url: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn serve(upstream: &str, store: &str) -> Server {
    start(upstream, &["--window", "12k", "--store", store], &[])
}

/// Starts a server with these options and variables.
pub fn start(upstream: &str, options: &[&str], variables: &[(&str, &str)]) -> Server {
    let mut child = Command::new(env!("CARGO_BIN_EXE_midfold"))
        .args(["serve", "--listen", "127.0.0.1:0", "--json", "--upstream", upstream])
        .args(options)
        .envs(variables.iter().copied())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap_or_else(|error| unreachable!("{error}"));
    let mut line = String::new();
    if let Some(out) = child.stdout.take() {
        let _ = BufReader::new(out).read_line(&mut line);
    }
    let said: serde_json::Value = serde_json::from_str(&line).unwrap_or_default();
    let url = said["listen"].as_str().unwrap_or_default().to_owned();
    Server { child, url }
}

/// A proxy of another kind would get the password of its address in clear text.
#[test]
fn a_proxy_that_is_not_supported_is_refused_by_its_variable() {
    for (variable, address, wanted) in [
        (
            "ALL_PROXY",
            "socks5://user:word@127.0.0.1:1080",
            "ALL_PROXY cannot be used: it names a proxy of socks5://",
        ),
        (
            "https_proxy",
            "https://user:word@127.0.0.1:1080",
            "https_proxy cannot be used: it names a proxy of https://",
        ),
        ("http_proxy", "http://", "http_proxy cannot be used: it is no address"),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_midfold"));
        for name in
            ["ALL_PROXY", "all_proxy", "HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"]
        {
            command.env_remove(name);
        }
        command
            .args(["serve", "--listen", "127.0.0.1:0", "--store", "memory"])
            .env(variable, address);
        let done =
            command.stdin(Stdio::null()).output().unwrap_or_else(|error| unreachable!("{error}"));
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(done.status.code() == Some(2) && said.contains(wanted), "{said}");
        assert!(said.contains("HTTP_PROXY override ALL_PROXY") && !said.contains("word"), "{said}");
    }
}

/// A provider of the window that the servers are told.
pub async fn upstream() -> ScriptedUpstream {
    let settings = UpstreamSettings {
        limit: Some(12_000),
        script: UpstreamScript::shell_loop(STEPS),
        ..UpstreamSettings::default()
    };
    ScriptedUpstream::start(settings).await.unwrap_or_else(|error| unreachable!("{error}"))
}

/// What a command over this store says; it has to succeed.
fn midfold(store: &str, args: &[&str]) -> String {
    let done = Command::new(env!("CARGO_BIN_EXE_midfold"))
        .args(args)
        .args(["--store", store])
        .output()
        .unwrap_or_else(|error| unreachable!("{error}"));
    assert_eq!(done.status.code(), Some(0), "{done:?}");
    String::from_utf8_lossy(&done.stdout).into_owned()
}

/// Asks until all is written.
fn written(url: &str) {
    let address = url.trim_start_matches("http://");
    for _ in 0..10_000 {
        if metrics(address).is_ok_and(|text| text.contains("\nmidfold_unsaved_conversations 0\n")) {
            return;
        }
    }
}

fn metrics(address: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(address)?;
    stream.write_all(b"GET /metrics HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")?;
    let mut text = String::new();
    stream.read_to_string(&mut text)?;
    Ok(text)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_conversation_outlives_a_server_that_was_killed() {
    let upstream = upstream().await;
    let store = format!("sqlite:{}", crate::folder("serve-killed").join("s.db").display());
    let first = serve(upstream.url(), &store);
    let mut agent =
        ClientAgent { task: task(STEPS), ..ClientAgent::new(WireDialect::Messages, &first.url) }
            .start();
    let folded = |agent: &midfold_testkit::upstream::agent::AgentSession| {
        let last = agent.run().exchanges.last()?;
        let fold = last.header("midfold-fold")?.to_owned();
        Some((fold, last.header("midfold-session")?.to_owned()))
    };
    while folded(&agent).is_none() {
        assert_eq!(agent.end(), None);
        agent.turn().await;
    }
    let before = folded(&agent);
    written(&first.url);
    drop(first);
    let second = serve(upstream.url(), &store);
    agent.go_on_at(&second.url);
    agent.turn().await;
    assert_eq!(folded(&agent), before);
    while agent.end().is_none() {
        agent.turn().await;
    }
    assert!(matches!(agent.end(), Some(RunEnd::Finished(_))), "{:?}", agent.end());
    assert_eq!(upstream.stats().overflows, 0);
    written(&second.url);
    drop(second);
    // It is a session like any other.
    let (_, session) = before.unwrap();
    let listed = midfold(&store, &["session", "list", "--json"]);
    assert!(listed.contains(&session), "{listed}");
    midfold(&store, &["check", "store"]);
    midfold(&store, &["check", "session", &session]);
}

/// Asks two nodes in turns, and the other one alone after one was killed in the middle.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_nodes_share_a_conversation_and_one_is_killed() {
    let cluster = match midfold_testkit::postgres::Cluster::start() {
        Ok(cluster) => cluster,
        Err(why) => return eprintln!("skipped: {why}"),
    };
    let store = cluster.schema().unwrap();
    let upstream = upstream().await;
    let mut nodes = vec![serve(upstream.url(), &store), serve(upstream.url(), &store)];
    let mut agent = ClientAgent {
        task: task(STEPS),
        ..ClientAgent::new(WireDialect::Responses, &nodes[0].url)
    }
    .start();
    for turn in 1.. {
        agent.turn().await;
        if agent.end().is_some() {
            break;
        }
        if turn == STEPS / 2 {
            nodes.remove(0);
        }
        agent.go_on_at(&nodes[turn as usize % nodes.len()].url);
    }
    assert!(matches!(agent.end(), Some(RunEnd::Finished(_))), "{:?}", agent.end());
    let told = |name: &str| -> std::collections::BTreeSet<&str> {
        // The first answer has an id that its node alone has promised.
        agent.run().exchanges.iter().skip(1).filter_map(|it| it.header(name)).collect()
    };
    assert_eq!(told("midfold-session").len(), 1, "one session");
    let folds = told("midfold-fold").len() as u64;
    let stats = upstream.stats();
    assert!((2..=5).contains(&folds) && stats.rewrites <= folds, "{folds}, {}", stats.rewrites);
    assert_eq!((&stats.refused[..], stats.overflows, stats.facts_missing), (&[][..], 0, 0));
    written(&nodes[0].url);
    nodes.clear();
    midfold(&store, &["check", "store"]);
    cluster.drop_schema(&store);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_is_away_stops_nobody() {
    let cluster = match midfold_testkit::postgres::Cluster::start_own() {
        Ok(cluster) => cluster,
        Err(why) => return eprintln!("skipped: {why}"),
    };
    let store = cluster.schema().unwrap();
    let upstream = upstream().await;
    let node = serve(upstream.url(), &store);
    let mut agent =
        ClientAgent { task: task(STEPS), ..ClientAgent::new(WireDialect::Chat, &node.url) }.start();
    for _ in 0..5 {
        agent.turn().await;
    }
    cluster.pause().unwrap();
    for _ in 0..15 {
        agent.turn().await;
    }
    assert_eq!(agent.end(), None);
    cluster.resume().unwrap();
    while agent.end().is_none() {
        agent.turn().await;
    }
    assert!(matches!(agent.end(), Some(RunEnd::Finished(_))), "{:?}", agent.end());
    let stats = upstream.stats();
    assert_eq!((&stats.refused[..], stats.overflows, stats.facts_missing), (&[][..], 0, 0));
    written(&node.url);
    drop(node);
    let told: std::collections::BTreeSet<_> =
        agent.run().exchanges.iter().filter_map(|it| it.header("midfold-session")).collect();
    assert_eq!(told.len(), 1, "one session");
    midfold(&store, &["check", "store"]);
}

/// Many agents at once, a server that is killed under them, and another one over the same file.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_killed_under_load_loses_no_conversation() {
    const AGENTS: usize = 6;
    let upstream = upstream().await;
    let store = format!("sqlite:{}", crate::folder("serve-load").join("s.db").display());
    let (first, second) = (serve(upstream.url(), &store), serve(upstream.url(), &store));
    let (turns, other) = (Arc::new(tokio::sync::Semaphore::new(0)), second.url.clone());
    let work = (0..AGENTS).map(|nth| {
        let task = format!("{} You are number {nth}.", task(STEPS));
        let mut agent =
            ClientAgent { task, ..ClientAgent::new(WireDialect::Messages, &first.url) }.start();
        let (turns, other) = (Arc::clone(&turns), other.clone());
        tokio::spawn(async move {
            let mut has_moved = false;
            loop {
                agent.turn().await;
                turns.add_permits(1);
                match agent.end() {
                    None => {}
                    Some(RunEnd::Broken(_)) if !has_moved => {
                        has_moved = true;
                        agent.go_on_at(&other);
                    }
                    Some(end) => return (end.clone(), has_moved),
                }
            }
        })
    });
    let work: Vec<_> = work.collect();
    let half = AGENTS * STEPS as usize / 2;
    let _ = turns.acquire_many(half as u32).await.unwrap();
    drop(first);
    for agent in work {
        let (end, has_moved) = agent.await.unwrap();
        assert!(matches!(end, RunEnd::Finished(_)), "{end:?}");
        assert!(has_moved, "it was killed under all of them");
    }
    assert_eq!(upstream.stats().overflows, 0);
    written(&second.url);
    drop(second);
    midfold(&store, &["check", "store"]);
    let listed: serde_json::Value =
        serde_json::from_str(&midfold(&store, &["session", "list", "--json"])).unwrap();
    let listed = listed.as_array().unwrap();
    // The task, and of each step what the agent and its tool said, but for the last result.
    let all = u64::from(STEPS) * 2;
    assert!(listed.len() == AGENTS && listed.iter().all(|it| it["events"] == all), "{listed:?}");
}

/// A variable switches recall on: a client that knows nothing of it gets its answers, and its model what was folded.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_looks_up_what_was_folded_unless_a_setting_forbids_it() {
    for (variables, is_on) in [(&[("MIDFOLD_RECALL", "0")][..], false), (&[], true)] {
        let script =
            StepLoop { steps: STEPS, look_ups: Some(LookUps::Before(4)), ..StepLoop::default() };
        let script = UpstreamScript::ShellLoop(script);
        let settings =
            UpstreamSettings { limit: Some(12_000), script, ..UpstreamSettings::default() };
        let upstream = ScriptedUpstream::start(settings).await.unwrap();
        let server = start(upstream.url(), &["--window", "12k", "--store", "memory"], variables);
        let agent =
            ClientAgent { task: task(STEPS), ..ClientAgent::new(WireDialect::Chat, &server.url) };
        let run = agent.run().await;
        assert!(run.answer().is_some(), "{is_on}: {:?}", run.end);
        let figures = metrics(server.url.trim_start_matches("http://")).unwrap();
        assert_eq!(!figures.contains("\nmidfold_recalls_total 0\n"), is_on, "{figures}");
    }
}

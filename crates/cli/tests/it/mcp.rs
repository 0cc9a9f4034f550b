//! `midfold mcp` as a process: what an agent that starts it gets.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};

use crate::{folder, midfold, run, seen, stdout};

/// A running server, and the client's end of it.
struct Server {
    child: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
    asked: u64,
}

impl Server {
    fn start(args: &[&str]) -> Self {
        let mut command = midfold(&[&["mcp"], args].concat());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (to, from) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        let mut server = Self { child, to, from, asked: 0 };
        let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" } });
        let told = server.ask("initialize", hello);
        assert_eq!(told["result"]["serverInfo"]["name"], "midfold", "{told}");
        server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        server
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.to.as_mut().unwrap(), "{message}").unwrap();
    }

    /// The next line is the answer: whatever else were on standard output would be no JSON.
    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.asked += 1;
        let id = self.asked;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        let mut line = String::new();
        self.from.read_line(&mut line).unwrap();
        let answer: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    /// The text of a tool's result, and whether it is an error.
    fn call(&mut self, tool: &str, arguments: Value) -> (String, bool) {
        let answer = self.ask("tools/call", json!({ "name": tool, "arguments": arguments }));
        let result = &answer["result"];
        let text = result["content"][0]["text"].as_str().unwrap_or_default().to_owned();
        (text, result["isError"] == true)
    }

    /// Closes the client's end; what the server said beside the protocol.
    fn end(mut self) -> String {
        drop(self.to.take());
        let output = self.child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", seen(&output));
        String::from_utf8(output.stderr).unwrap()
    }
}

fn url(path: &Path) -> String {
    format!("sqlite:{}", path.display())
}

/// A store with one session that was folded.
fn store(name: &str) -> PathBuf {
    let path = folder(name).join("store.db");
    fill(&path);
    path
}

fn fill(path: &Path) {
    let at = url(path);
    stdout(&["import", "examples/coding-session.jsonl", "--id", "s", "--store", &at], b"");
    stdout(&["session", "compact", "s", "--store", &at], b"");
}

#[test]
fn an_agent_starts_it_and_finds_what_was_folded() {
    let path = store("mcp");
    let mut server = Server::start(&["--store", &url(&path)]);
    let (text, failed) = server.call("recall_find", json!({ "outcome": "failed" }));
    assert!(!failed && text.starts_with("Quoted history") && text.contains("@"), "{text}");
    let (text, failed) = server.call("recall_show", json!({ "messages": "@999999" }));
    assert!(failed && text.starts_with("error: there is no message"), "{text}");
    let list = server.ask("resources/list", json!({}));
    assert_eq!(list["result"]["resources"][0]["uri"], "midfold://session/s/recap");
    assert_eq!(server.end(), "");
}

#[test]
fn the_tools_are_those_that_the_documentation_names() {
    let path = store("mcp-tools");
    let mut server = Server::start(&["--store", &url(&path)]);
    let tools = server.ask("tools/list", json!({}));
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!("mcp-tools", serde_json::to_string_pretty(&tools["result"]).unwrap());
    });
    let docs = std::fs::read_to_string(crate::root().join("docs/MCP.md")).unwrap();
    for tool in tools["result"]["tools"].as_array().unwrap() {
        let name = tool["name"].as_str().unwrap();
        assert!(docs.contains(&format!("`{name}`")), "docs/MCP.md does not name {name}");
    }
    assert_eq!(server.end(), "");
}

#[test]
fn a_session_of_the_connection_is_meant() {
    let path = store("mcp-session");
    let mut server = Server::start(&["--store", &url(&path), "--session", "s"]);
    let tools = server.ask("tools/list", json!({}));
    let properties = &tools["result"]["tools"][0]["inputSchema"]["properties"];
    assert!(properties["session"].is_object() && properties["said"].is_null(), "{properties}");
    assert!(!server.call("recall_find", json!({ "limit": 1 })).1);
    assert_eq!(server.end(), "");
    let mut server = Server::start(&["--store", &url(&path), "--session", "t"]);
    let (text, failed) = server.call("recall_find", json!({}));
    assert!(failed && text.starts_with("error: there is no session `t`\ndo: "), "{text}");
    assert!(server.end().starts_with("note: there is no session `t` in sqlite:"));
}

#[test]
fn a_store_that_comes_later_is_found() {
    let path = folder("mcp-later").join("store.db");
    let mut server = Server::start(&["--store", &url(&path)]);
    let (text, failed) = server.call("sessions", json!({}));
    assert_eq!((text.as_str(), failed), ("no session is stored yet\n", false));
    let (text, failed) = server.call("recall_find", json!({ "query": "x" }));
    assert!(failed && text.contains("no session is stored yet"), "{text}");
    assert!(!path.exists(), "looking made a store");
    fill(&path);
    let (text, failed) = server.call("sessions", json!({}));
    assert!(!failed && text.contains("\ns: "), "{text}");
    let said = server.end();
    assert!(said.contains("note: there is no store at") && said.contains("yet"), "{said}");
}

#[test]
fn nothing_is_logged_to_standard_output() {
    let path = store("mcp-logs");
    let mut server = Server::start(&["-vv", "--store", &url(&path)]);
    let (_, failed) = server.call("recall_find", json!({}));
    assert!(!failed);
    server.end();
}

#[test]
fn sessions_of_another_owner_are_not_there() {
    let path = store("mcp-owner");
    let mut server = Server::start(&["--store", &url(&path), "--owner", "alice"]);
    let other = server.call("recall_find", json!({ "session": "s" }));
    let unknown = server.call("recall_find", json!({ "session": "t" }));
    assert_eq!(other.0.replace("`s`", "`t`"), unknown.0);
    assert!(other.1 && unknown.1);
    server.end();
}

#[test]
fn what_cannot_be_served_says_why() {
    let memory = run(&["mcp", "--store", "memory"], b"");
    assert_eq!(memory.status.code(), Some(2), "{}", seen(&memory));
    let no_store = seen(&run(&["mcp", "--store", "memory.db"], b""));
    assert!(no_store.contains("names no store"), "{no_store}");
    assert!(no_store.contains("--store sqlite:memory.db"), "{no_store}");
    let words = run(
        &["mcp", "--store", &url(&store("mcp-words"))],
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}\n",
    );
    assert!(!words.stdout.starts_with(b"note"), "{}", seen(&words));
    let folder = folder("mcp-folder");
    let place = run(&["mcp", "--store", &url(&folder)], b"");
    assert_eq!(place.status.code(), Some(1), "{}", seen(&place));
    assert!(seen(&place).contains("is a directory"), "{}", seen(&place));
}

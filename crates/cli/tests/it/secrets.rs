//! No command says a secret that nobody asked for. All kinds and places are tested in the library;
//! here it is shown of what the binary prints and writes.

use std::fs;

use midfold_testkit::secrets::planted;
use serde_json::json;

use crate::session::{ok, store};
use crate::{folder, run};

/// A transcript with one secret of each kind, in results, calls and words by turns.
fn transcript(texts: &[String]) -> Vec<String> {
    let mut lines = vec![
        json!({"role": "system", "content": "You are careful."}).to_string(),
        json!({"role": "user", "content": "Set up all of the apps."}).to_string(),
    ];
    for (n, text) in texts.iter().enumerate() {
        let command = if n % 2 == 0 { format!("cat app_{n}/.env") } else { format!("{text} run") };
        let result = if n % 2 == 0 { format!("APP=shop\n{text}\nDEBUG=1") } else { "ok".into() };
        let arguments = json!({"command": command}).to_string();
        let call = json!({"id": format!("c{n}"), "type": "function",
            "function": {"name": "bash", "arguments": arguments}});
        lines.push(json!({"role": "assistant", "content": null, "tool_calls": [call]}).to_string());
        let id = format!("c{n}");
        lines.push(json!({"role": "tool", "tool_call_id": id, "content": result}).to_string());
    }
    for n in 0..8 {
        let text = format!("Part {n} of the docs. ").repeat(90);
        lines.push(json!({"role": "user", "content": format!("Now part {n}.")}).to_string());
        lines.push(json!({"role": "assistant", "content": text}).to_string());
    }
    lines
}

#[test]
fn no_command_says_a_secret() {
    let planted = planted(11);
    let texts: Vec<String> = planted.iter().map(|one| one.text.clone()).collect();
    let tmp = folder("secrets");
    let [before, after, record] =
        ["in.jsonl", "out.jsonl", "fold.json"].map(|name| tmp.join(name).display().to_string());
    let lines = transcript(&texts);
    fs::write(&before, lines.join("\n") + "\n").unwrap();
    let mut said: Vec<(String, String)> = Vec::new();
    let mut runs = |args: &[&str]| {
        let output = run(args, b"");
        let all = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        said.push((args[..2].join(" "), all.concat()));
        output.status.success()
    };
    let window = ["--window", "9k"];
    let out = ["-o", &after, "--record", &record, "--show-recap"];
    assert!(runs(&[&["compact", &before][..], &window, &out].concat()));
    let files = ["check", "file", "--before", &before, "--after", &after];
    assert!(runs(&[&files[..], &["--record", &record]].concat()));
    assert!(!runs(&[&files[..], &["--window", "2100"]].concat()), "what is too long is found");
    said.push(("the record".to_owned(), fs::read_to_string(&record).unwrap()));

    let store = &store("secrets-store");
    ok(store, &["session", "new", "--id", "s", "--window", "9k"], b"");
    ok(store, &["session", "append", "s", "-"], lines.join("\n").as_bytes());
    for args in [
        &["session", "compact", "--dry-run", "s"][..],
        &["session", "compact", "s"],
        &["session", "status", "s"],
        &["check", "session", "s"],
        &["check", "session", "s", "--json"],
        &["explain", "s", "DEBUG"],
        &["explain", "s", "app_8", "--json"],
        &["recall", "describe", "s", "1"],
        &["recall", "names", "s", "key token password", "--max-chars", "20000"],
    ] {
        said.push((args.join(" "), ok(store, args, b"")));
    }
    let leaks: Vec<String> = said
        .iter()
        .flat_map(|(by, text)| planted.iter().map(move |one| (by, text, one)))
        .filter(|(_, text, one)| text.contains(&one.secret))
        .map(|(by, _, one)| format!("{by}: {}", one.kind))
        .collect();
    assert!(leaks.is_empty(), "{}", leaks.join("\n"));
}

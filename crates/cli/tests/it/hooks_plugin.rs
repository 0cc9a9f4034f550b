//! The plug-in of `midfold connect claude`: its files, and what it gets for the event `session.compact`. The
//! client here follows the declarations that Claude Code 2.1.332 writes for plug-ins; `tools/hooks-check` has the real one.

use std::collections::BTreeSet;
use std::fs;

use serde_json::{Value, json};

use crate::hooks::Place;
use crate::seen;

/// A client that compacts by the plug-in.
struct Client {
    rows: Vec<Value>,
    stamped: usize,
    session: &'static str,
}

impl Client {
    fn new() -> Self {
        Self { rows: Vec::new(), stamped: 0, session: "s-1" }
    }

    fn push(&mut self, mut row: Value) {
        row["handle"] = format!("h{}", self.stamped).into();
        self.stamped += 1;
        self.rows.push(row);
    }

    fn says(&mut self, text: &str) {
        self.push(json!({ "role": "user", "text": text, "toolUses": [] }));
    }

    /// An answer with a call, as the client has it: a row for each block.
    fn calls(&mut self, n: usize) {
        let call = json!({ "tool_use_id": format!("toolu_{n}"), "tool": "Bash",
            "input": { "description": "Check it", "command": format!("check part_{n}.py") } });
        self.push(json!({ "role": "assistant", "text": "", "toolUses": [] }));
        self.push(
            json!({ "role": "assistant", "text": format!("Part {n} is next."), "toolUses": [] }),
        );
        self.push(json!({ "role": "assistant", "text": "", "toolUses": [call] }));
    }

    fn gets(&mut self, n: usize, text: &str) {
        let result = json!({ "tool_use_id": format!("toolu_{n}"), "text": text, "isError": false });
        self.push(json!({ "role": "user", "text": "", "toolUses": [], "toolResults": [result] }));
    }

    fn works(&mut self, from: usize, to: usize) {
        for n in from..to {
            self.says(&format!("Check part {n}; its port must stay 80{n:02}."));
            self.calls(n);
            let noise = "looked at a line of the file\n".repeat(40);
            self.gets(n, &format!("{noise}part_{n}.py: code K{n}-77\n3 passed"));
            self.push(json!({ "role": "assistant", "text": format!("Part {n} is checked."), "toolUses": [] }));
        }
    }

    fn event(&self, trigger: &str, instructions: Option<&str>) -> String {
        json!({ "session": self.session, "trigger": trigger, "instructions": instructions,
            "window": 200_000, "model": "claude-opus-4-5", "messages": self.rows })
        .to_string()
    }

    /// Takes an answer over, as the client does: a handle stands once for the row that has it.
    fn takes(&mut self, answer: &Value) {
        let own: Vec<Value> = self.rows.drain(..).collect();
        let mut used = BTreeSet::new();
        for message in answer["messages"].as_array().unwrap() {
            if let Some(handle) = message["handle"].as_str() {
                assert!(used.insert(handle.to_owned()), "{handle} twice");
                let row = own.iter().find(|row| row["handle"] == handle).unwrap();
                self.push(row.clone());
            } else {
                assert!(message["text"].is_string() && message["toolUses"].is_array(), "{message}");
                self.push(message.clone());
            }
        }
        self.has_whole_pairs();
    }

    /// Each call has its result behind it, and no result is without its call.
    fn has_whole_pairs(&self) {
        let ids = |row: &Value, key: &str| -> Vec<String> {
            let list = row[key].as_array().into_iter().flatten();
            list.map(|one| one["tool_use_id"].as_str().unwrap().to_owned()).collect()
        };
        let mut open = BTreeSet::new();
        for row in &self.rows {
            for id in ids(row, "toolResults") {
                assert!(open.remove(&id), "a result without a call: {id}");
            }
            if row["role"] == "user" {
                assert!(open.is_empty(), "a call without a result: {open:?}");
            }
            open.extend(ids(row, "toolUses"));
        }
    }

    fn text(&self) -> String {
        self.rows.iter().map(ToString::to_string).collect()
    }
}

const COMPACT: [&str; 2] = ["hooks", "session-compact"];

fn answer(place: &Place, event: &str) -> Value {
    serde_json::from_str(&place.ok(&COMPACT, event)).unwrap()
}

/// Five compactions in a row are five folds of one session, and what was said stays.
#[test]
fn the_client_compacts_by_midfold_again_and_again() {
    let place = Place::new("plugin-again");
    let mut client = Client::new();
    for round in 0..5 {
        client.works(round * 9, round * 9 + 9);
        let newest = "Now write the changelog; name part 3.";
        client.says(newest);
        let before = client.rows.len();
        let said = answer(&place, &client.event("manual", None));
        assert_eq!(said["session"], "s-1");
        let receipt = said["receipt"].as_str().unwrap();
        assert!(receipt.contains("`midfold recall find s-1 WORDS`"), "{receipt}");
        client.takes(&said);
        assert!(client.rows.len() < before, "{before} to {}", client.rows.len());
        assert_eq!(client.rows.last().unwrap()["text"], newest);
        let text = client.text();
        for n in 0..round * 9 + 9 {
            assert!(text.contains(&format!("port must stay 80{n:02}")), "round {round}: {n}");
        }
    }
    let list: Value = serde_json::from_str(&place.ok(&["session", "list", "--json"], "")).unwrap();
    assert_eq!(list.as_array().unwrap().len(), 1, "{list}");
    assert_eq!((&list[0]["id"], &list[0]["folds"]), (&"s-1".into(), &5.into()), "{list}");
    let found = place.ok(&["recall", "grep", "s-1", "K2-77"], "");
    assert!(found.contains("part_2.py"), "{found}");
    let told = place.ok(&["explain", "s-1", "port must stay 8002"], "");
    assert!(told.contains("in the recap"), "{told}");
    assert_eq!(place.log(), "");
    // The model has this recap already.
    let start = r#"{"session_id":"s-1","source":"compact"}"#;
    assert_eq!(place.ok(&["hooks", "session-start"], start), "");
}

/// The words of the user go back by their handles, and so does the call of the step that runs: its thinking is in it.
#[test]
fn what_a_row_does_not_show_goes_back_with_the_client_s_own_message() {
    let place = Place::new("plugin-handles");
    let mut client = Client::new();
    client.works(0, 20);
    // A picture alone: its row has no text.
    client.says("");
    let picture = client.rows.last().unwrap()["handle"].clone();
    client.calls(20);
    let call: Vec<Value> =
        client.rows.iter().rev().take(3).map(|row| row["handle"].clone()).collect();
    client.gets(20, "part_20.py: code K20-77");
    let said = answer(&place, &client.event("auto", None));
    let messages = said["messages"].as_array().unwrap();
    let handles: Vec<&Value> = messages.iter().filter_map(|row| row.get("handle")).collect();
    assert!(handles.contains(&&picture), "{messages:?}");
    assert!(call.iter().all(|handle| handles.contains(&handle)), "{call:?} of {handles:?}");
    let results = |row: &&Value| row.get("toolResults").is_some();
    let last = messages.iter().rfind(results).unwrap();
    assert_eq!(last["toolResults"][0]["text"], "part_20.py: code K20-77");
    assert_eq!(last.get("handle"), None);
    // Answers before it have no handle: a resumed session would read more than the answer.
    let old = |row: &&Value| row["role"] == "assistant" && row.get("handle").is_none();
    assert!(messages.iter().any(|row| old(&row)), "{messages:?}");
    client.takes(&said);

    // A result that is a picture goes back whole while the model has not seen it.
    client.push(json!({ "role": "assistant", "text": "I see.", "toolUses": [] }));
    client.works(21, 40);
    client.calls(40);
    client.gets(40, "");
    let image = client.rows.last().unwrap()["handle"].clone();
    let said = answer(&place, &client.event("auto", None));
    assert_eq!(said["messages"].as_array().unwrap().last().unwrap()["handle"], image);
}

/// The client gets no words that nobody said, and goes on in its session without them.
#[test]
fn what_only_the_client_can_show_is_not_made_of_words() {
    let compacted = |picture: &str| {
        let place = Place::new(&format!("plugin-unseen-{}", picture.len()));
        let mut client = Client::new();
        client.works(0, 20);
        // A model that only thought, and a picture that it has seen.
        client.push(json!({ "role": "assistant", "text": "", "toolUses": [] }));
        client.says("Go on.");
        client.calls(20);
        client.gets(20, picture);
        client.push(json!({ "role": "assistant", "text": "I see a chart.", "toolUses": [] }));
        client.says("Good.");
        let said = answer(&place, &client.event("manual", None));
        client.takes(&said);
        client.works(21, 40);
        assert_eq!(answer(&place, &client.event("manual", None))["session"], "s-1");
        let receipt = said["receipt"].as_str().unwrap();
        let kept = receipt.split("; ").nth(1).unwrap().split(' ').next().unwrap();
        (said["messages"].to_string(), kept.parse::<usize>().unwrap())
    };
    let (text, kept) = compacted("");
    assert!(!text.contains("Not text"), "{text}");
    assert!(text.contains(r#""text":"[an image]""#), "{text}");
    // A picture does not stay word for word.
    assert_eq!(compacted("of a chart").1, kept + 1);
}

/// The same bytes of a call's input are stored that the client has, and words behind `/compact` weigh.
#[test]
fn the_log_has_the_calls_as_they_were_made() {
    let place = Place::new("plugin-focus");
    let mut client = Client::new();
    client.works(0, 90);
    let told = |instructions| {
        let place = Place::new(if instructions == Some("keep part_3.py") {
            "plugin-with"
        } else {
            "plugin-without"
        });
        answer(&place, &client.event("manual", instructions))
            .to_string()
            .matches("part_3.py")
            .count()
    };
    let (with, without) = (told(Some("keep part_3.py")), told(Some("  ")));
    assert!(with > 0 && with >= without, "{with}, {without}");
    let sorted = r#"{"command":"check part_3.py","description":"Check it"}"#;
    let made = r#"{"description":"Check it","command":"check part_3.py","wait":1.50}"#;
    answer(&place, &client.event("manual", None).replace(sorted, made));
    let log = place.ok(&["session", "log", "s-1", "--json"], "");
    assert!(log.contains(&format!(r#""input":{made}"#)), "{log}");
}

/// A subagent's transcript is a session of its own, by the id that the plug-in gives it.
#[test]
fn a_subagent_has_its_own_session() {
    let place = Place::new("plugin-agent");
    let mut client = Client::new();
    client.works(0, 9);
    answer(&place, &client.event("auto", None));
    let mut other = Client { session: "s-1-agent-a7", ..Client::new() };
    other.works(50, 60);
    let said = answer(&place, &other.event("auto", None));
    assert_eq!(said["session"], "s-1-agent-a7");
    other.takes(&said);
    assert!(!other.text().contains("port must stay 8001"));
}

/// Where there is nothing to fold, `/compact` says so, and a client that needs room makes it by itself.
#[test]
fn a_short_conversation_is_left_alone() {
    let place = Place::new("plugin-short");
    let mut client = Client::new();
    client.says("Say hi.");
    client.push(json!({ "role": "assistant", "text": "Hi.", "toolUses": [] }));
    let said = answer(&place, &client.event("manual", None));
    assert!(said["skip"].as_str().unwrap().starts_with("midfold: "), "{said}");
    let auto = place.run(&COMPACT, &client.event("auto", None));
    let text = seen(&auto);
    assert!(auto.status.code() == Some(1) && text.contains("nothing can be folded: "), "{text}");
}

/// A client that goes back goes on with a session of its own, and none is lost.
#[test]
fn a_transcript_that_went_back_is_another_session() {
    let place = Place::new("plugin-back");
    let mut client = Client::new();
    client.works(0, 12);
    answer(&place, &client.event("manual", None));
    client.rows.truncate(30);
    client.works(70, 82);
    let said = answer(&place, &client.event("manual", None));
    let session = said["session"].as_str().unwrap();
    assert!(session.starts_with("s-1~"), "{session}");
    client.takes(&said);
    let text = client.text();
    assert!(text.contains("port must stay 8002") && text.contains("port must stay 8081"), "{text}");

    // Nothing in common, as after a summary of the client's own.
    let mut other = Client::new();
    other.says("This session is being continued from a previous conversation.");
    other.works(90, 99);
    let said = answer(&place, &other.event("manual", None));
    assert!(said["session"].as_str().unwrap().starts_with("s-1~"), "{said}");
    other.takes(&said);
    assert!(!other.text().contains("port must stay 8081"));
}

/// An event that is another one than this version knows is no reason to lose a conversation.
#[test]
fn an_event_that_cannot_be_read_is_an_error_that_says_what_and_where() {
    let place = Place::new("plugin-odd");
    for (event, says) in [
        (
            "",
            "the event of session.compact cannot be read: EOF while parsing a value at line 1 column 0",
        ),
        (
            r#"{"session":"s","trigger":"auto","messages":[{"role":"user"}]}"#,
            "missing field `text` at line 1 column 59",
        ),
        (
            r#"{"session":"s","trigger":"auto","messages":[{"role":"tool","text":"","handle":"h"}]}"#,
            "unknown variant `tool`",
        ),
        (
            r#"{"session":"s","trigger":"auto","messages":[]}"#,
            "the event of session.compact has no messages",
        ),
    ] {
        let output = place.run(&COMPACT, event);
        let said = seen(&output);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "{said}");
        assert!(said.contains(says), "{said}");
        let log = place.log();
        let line = log.lines().last().unwrap();
        assert!(line.contains("session-compact: ") && line.contains(says), "{line}");
    }
    assert!(place.log().contains("`midfold connect claude`"), "{}", place.log());
}

/// midfold may count more than the client does, and a smaller model may be next.
#[test]
fn a_conversation_above_the_clients_window_is_folded() {
    let place = Place::new("plugin-above");
    let mut client = Client::new();
    client.works(0, 30);
    client.says("Now write the changelog.");
    for (session, trigger) in [("above-auto", "auto"), ("above-manual", "manual")] {
        client.session = session;
        let mut event: Value = serde_json::from_str(&client.event(trigger, None)).unwrap();
        event["window"] = 9_000.into();
        let answer = answer(&place, &event.to_string());
        let sent = answer["messages"].as_array().unwrap();
        assert!(!sent.is_empty() && sent.len() < client.rows.len(), "{trigger}: {answer}");
    }
}

/// The plug-in is written beside the settings, calls this program with this store, and goes whole.
#[test]
fn the_plug_in_comes_and_goes_with_the_hooks() {
    let place = Place::new("plugin-install");
    let claude = place.at.join("project/.claude");
    let store = format!("sqlite:{}", place.at.join("claude.db").display());
    let install = ["connect", "claude", "--store", &store];
    place.ok(&install, "");
    let folder = claude.join("skills/midfold");
    let module = fs::read_to_string(folder.join("hooks/midfold.js")).unwrap();
    let program = env!("CARGO_BIN_EXE_midfold");
    assert!(module.contains(&format!(r#"const MIDFOLD = ["{program}"]"#)), "{module}");
    assert!(module.contains(&format!(r#"const STORE = ["--store","{store}"]"#)), "{module}");
    let text = fs::read_to_string(folder.join(".mcp.json")).unwrap();
    let server: Value = serde_json::from_str(&text).unwrap();
    let server = &server["mcpServers"]["midfold"];
    assert_eq!(*server, json!({ "command": program, "args": ["mcp", "--store", store] }));
    let status: Value = serde_json::from_str(&place.ok(&["connect", "--json"], "")).unwrap();
    assert_eq!(status["files"][0]["plugin"], ".claude/skills/midfold", "{status}");

    // What the client writes beside it goes, too; what somebody else put there stays.
    let types = folder.join(".claude-plugin/types/claude-code");
    fs::create_dir_all(&types).unwrap();
    fs::write(types.join("index.d.ts"), "// Written by Claude Code").unwrap();
    let config = "{\n  \"extends\": \"./.claude-plugin/types/tsconfig.json\"\n}\n";
    fs::write(folder.join("tsconfig.json"), config).unwrap();
    fs::write(folder.join("mine.txt"), "mine").unwrap();
    place.ok(&["connect", "claude", "--remove"], "");
    let left: Vec<_> =
        fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["mine.txt"]);
    fs::remove_file(folder.join("mine.txt")).unwrap();
    fs::remove_dir(&folder).unwrap();
    place.ok(&install, "");
    place.ok(&["connect", "claude", "--remove"], "");
    assert!(!claude.join("skills").exists());

    // A skill of the user's has that name already.
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("SKILL.md"), "mine").unwrap();
    let refused = place.run(&install, "");
    let said = seen(&refused);
    assert!(said.contains("skills/midfold is there, and is not midfold's plug-in"), "{said}");
    assert!(refused.status.code() == Some(1) && !place.settings().exists(), "{said}");
    place.ok(&["connect", "claude", "--remove"], "");
    assert_eq!(fs::read_to_string(folder.join("SKILL.md")).unwrap(), "mine");
}

/// The marketplace in the repository names the folder that the command has its files from.
#[test]
fn the_marketplace_has_the_same_plug_in() {
    let read = |path: &str| -> Value {
        serde_json::from_str(&fs::read_to_string(crate::root().join(path)).unwrap()).unwrap()
    };
    let entry = &read(".claude-plugin/marketplace.json")["plugins"][0];
    let manifest = read("crates/cli/plugin/.claude-plugin/plugin.json");
    assert_eq!(entry["source"], "./crates/cli/plugin");
    assert_eq!(
        (&entry["name"], &entry["description"]),
        (&manifest["name"], &manifest["description"])
    );
    assert_eq!(manifest["version"], env!("CARGO_PKG_VERSION"));
    let hooks = read("crates/cli/plugin/hooks/hooks.json");
    assert_eq!(hooks["modules"], json!(["./midfold.js"]));
}

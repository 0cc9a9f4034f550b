//! Sessions that their client keeps as a folder of files: a command takes the folder as it takes a file.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::{folder, midfold, root, stdout};

fn fixture(name: &str) -> String {
    fs::read_to_string(root().join("crates/formats/tests/fixtures/clients").join(name)).unwrap()
}

fn values(name: &str) -> Vec<Value> {
    let text = fixture(name);
    match serde_json::from_str(&text) {
        Ok(Value::Array(list)) => list,
        _ => text.lines().map(|line| serde_json::from_str(line).unwrap()).collect(),
    }
}

fn write(path: &Path, value: &Value) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    // As OpenCode writes: over several lines.
    fs::write(path, serde_json::to_string_pretty(value).unwrap()).unwrap();
}

/// The records of the stream as OpenCode's `storage` keeps them, with a folder of parts for each session where `old`.
fn storage(at: &Path, old: bool) {
    for record in values("opencode-storage.jsonl") {
        let text = |name: &str| record[name].as_str().map(str::to_owned);
        let file = format!("{}.json", text("id").unwrap());
        let path = match (text("messageID"), text("sessionID")) {
            (Some(message), Some(session)) if old => {
                at.join("part").join(session).join(message).join(file)
            }
            (Some(message), _) => at.join("part").join(message).join(file),
            (None, Some(session)) => at.join("message").join(session).join(file),
            (None, None) if old => at.join("info").join(file),
            (None, None) => at.join("session/p1").join(file),
        };
        write(&path, &record);
    }
    // OpenCode keeps more there, which is no part of a conversation.
    write(&at.join("todo/ses_41aa0001.json"), &serde_json::json!([{ "content": "paint" }]));
}

/// What the folder becomes as Chat Completions messages.
fn messages(path: &Path) -> Value {
    serde_json::from_str(&printed(path)).unwrap()
}

fn printed(path: &Path) -> String {
    let path = path.to_str().unwrap();
    stdout(&["compact", path, "--to", "openai-chat", "--window", "1m"], b"")
}

/// What the same records become as one stream.
fn messages_of(tmp: &Path, records: &[Value]) -> Value {
    let lines: Vec<String> = records.iter().map(Value::to_string).collect();
    let path = tmp.join("stream.jsonl");
    fs::write(&path, lines.join("\n")).unwrap();
    messages(&path)
}

fn has(messages: &Value, word: &str) -> bool {
    messages.to_string().contains(word)
}

#[test]
fn a_storage_folder_of_opencode_is_read_as_its_files_in_one_stream() {
    let tmp = folder("opencode-storage");
    let wanted = messages_of(&tmp, &values("opencode-storage.jsonl"));
    assert!(has(&wanted, "USERWORD2") && !has(&wanted, "GONEWORD6"), "{wanted}");
    for (old, at) in [(false, tmp.join("storage")), (true, tmp.join("old/storage/session"))] {
        storage(&at, old);
        assert_eq!(messages(&at), wanted, "{at:?}");
        assert_eq!(messages(&at.join("message/ses_41aa0001")), wanted, "{at:?}");
    }
}

#[test]
fn a_folder_of_one_session_has_no_word_of_another_one() {
    let tmp = folder("opencode-two");
    let at = tmp.join("storage");
    storage(&at, false);
    let record = |id: &str, more: Value| {
        let mut record = serde_json::json!({ "id": id, "sessionID": "ses_other" });
        record.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        record
    };
    let message = serde_json::json!({ "role": "user", "time": { "created": 1 }, "agent": "build" });
    write(&at.join("message/ses_other/msg_90.json"), &record("msg_90", message));
    let part = serde_json::json!({ "messageID": "msg_90", "type": "text", "text": "OTHERWORD" });
    write(&at.join("part/msg_90/prt_90.json"), &record("prt_90", part));

    let one = messages(&at.join("message/ses_41aa0001"));
    assert!(has(&one, "USERWORD2") && !has(&one, "OTHERWORD"), "{one}");
    let other = messages(&at.join("message/ses_other"));
    assert!(has(&other, "OTHERWORD") && !has(&other, "USERWORD2"), "{other}");
    let both = printed(&at);
    assert!(both.contains("USERWORD2") && both.contains("OTHERWORD"), "{both}");
}

/// A folder with a file for each event, named by `name`.
fn events(at: &Path, list: &[Value], name: impl Fn(usize) -> String) {
    for (number, event) in list.iter().enumerate() {
        write(&at.join("events").join(name(number)), event);
    }
}

#[test]
fn events_of_openhands_are_read_in_the_order_of_their_numbers() {
    let tmp = folder("openhands-events");
    let newer = values("openhands.jsonl");
    let older = values("openhands-old.json");
    // Ten and more, so that the order of names is not the order of numbers.
    assert!(older.len() > 10, "{}", older.len());

    let at = tmp.join("conversations/0a1b");
    events(&at, &newer, |number| format!("event-{number:05}-c0ffee-{number}.json"));
    write(&at.join("base_state.json"), &serde_json::json!({ "id": "0a1b" }));
    let wanted = messages_of(&tmp, &newer);
    assert_eq!(messages(&at), wanted);
    assert_eq!(messages(&at.join("events")), wanted);

    let at = tmp.join("sessions/2c3d");
    events(&at, &older, |number| format!("{number}.json"));
    assert_eq!(messages(&at), messages_of(&tmp, &older));
}

#[test]
fn a_folder_with_sessions_in_it_imports_each_once() {
    let tmp = folder("session-folders");
    storage(&tmp.join("all/opencode/storage"), false);
    events(&tmp.join("all/0a1b"), &values("openhands.jsonl"), |number| {
        format!("event-{number:05}-x.json")
    });
    // Transcripts that are called by numbers are transcripts each.
    let request = r#"{"model":"m","messages":[{"role":"user","content":"hello there"}]}"#;
    fs::create_dir_all(tmp.join("all/runs")).unwrap();
    for number in 1..3 {
        fs::write(tmp.join(format!("all/runs/{number}.json")), request).unwrap();
    }
    let all = tmp.join("all");
    let all = all.to_str().unwrap();
    let store = &format!("sqlite:{}", tmp.join("store.db").display());
    let printed = stdout(&["import", all, "--store", store, "--json"], b"");
    let sessions: Value = serde_json::from_str(&printed).unwrap();
    let ids: Vec<&str> =
        sessions.as_array().unwrap().iter().map(|it| it["id"].as_str().unwrap()).collect();
    // What a client compacted is in the session of the conversation.
    assert_eq!(ids, ["0a1b", "ses_41aa0001", "1", "2"]);
}

#[test]
fn a_broken_file_in_a_session_folder_is_named() {
    let tmp = folder("session-folder-broken");
    let at = tmp.join("storage");
    storage(&at, false);
    fs::write(at.join("part/msg_13/prt_0038.json"), "{\"id\":\"prt_0038\",").unwrap();
    let output = midfold(&["compact", at.to_str().unwrap()]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(output.stdout.is_empty());
    for part in ["part/msg_13/prt_0038.json: no JSON: EOF", "hint: take the broken file out"] {
        assert!(said.contains(part), "{said}");
    }
}

/// A task of Cline or Roo Code has the words that it shows, and notes about it, beside what it sends.
#[test]
fn a_task_folder_is_read_as_its_history() {
    let at = folder("cline-task").join("tasks/1760000000000");
    fs::create_dir_all(&at).unwrap();
    fs::write(at.join("ui_messages.json"), r#"[{"ts":1,"type":"say","say":"text"}]"#).unwrap();
    fs::write(at.join("task_metadata.json"), r#"{"files_in_context":[],"model_usage":[]}"#)
        .unwrap();
    fs::write(at.join("history_item.json"), r#"{"id":"1760000000000","task":"x"}"#).unwrap();
    let history = at.join("api_conversation_history.json");
    fs::write(&history, fixture("cline.json")).unwrap();
    assert_eq!(messages(&at), messages(&history));
    // In a folder of tasks each task is one transcript.
    let store = format!("sqlite:{}", at.join("store.db").display());
    let tasks = at.parent().unwrap().to_str().unwrap();
    let said = stdout(&["import", tasks, "--store", &store], b"");
    assert!(said.contains("1760000000000"), "{said}");
}

#[test]
fn a_session_folder_of_cline_is_read_with_its_compaction() {
    let at = folder("cline-session").join("1784094124598_lamps");
    let [messages_file, compaction] = &values("cline-session.jsonl")[..] else { panic!() };
    write(&at.join("1784094124598_lamps.messages.json"), messages_file);
    write(&at.join("1784094124598_lamps.json"), &serde_json::json!({ "session_id": "x" }));
    let whole = messages(&at);
    assert!(has(&whole, "LATEWORD1"), "{whole}");
    write(&at.join("1784094124598_lamps.compaction.json"), compaction);
    let left = messages(&at);
    assert!(has(&left, "TOOLWORD4") && has(&left, "AGENTWORD2") && !has(&left, "LATEWORD1"));
}

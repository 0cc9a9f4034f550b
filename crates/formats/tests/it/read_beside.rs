//! What stands beside the messages of a session file of Claude Code and is sent with them: what a person typed
//! while the agent worked, what the client adds, what a compaction kept.
#![expect(clippy::unwrap_used, reason = "test helpers may fail loudly")]

use bytes::Bytes;
use midfold_core::view::TextOrigin;
use midfold_formats::read::{ReadOutcome, read, read_recorded};
use serde_json::{Value, json};

/// A session file, record by record, each behind the one before.
#[derive(Default)]
struct File {
    lines: Vec<String>,
    last: Option<String>,
}

impl File {
    fn add(&mut self, record: Value) -> String {
        let id = format!("u{}", self.lines.len());
        let parent = self.last.clone();
        self.hang(&id, parent.as_deref(), record);
        id
    }

    /// A record below this one.
    fn hang(&mut self, id: &str, parent: Option<&str>, mut record: Value) {
        record["uuid"] = id.into();
        record["parentUuid"] = parent.into();
        record["sessionId"] = "s".into();
        self.lines.push(record.to_string());
        self.last = Some(id.to_owned());
    }

    fn user(&mut self, text: &str) -> String {
        self.add(user(text))
    }

    fn call(&mut self, id: &str) -> String {
        let call = json!({ "type": "tool_use", "id": id, "name": "Bash", "input": {} });
        let message = json!({ "id": format!("m-{id}"), "role": "assistant", "content": [call], "usage": { "input_tokens": 900 } });
        self.add(json!({ "type": "assistant", "message": message }))
    }

    fn result(&mut self, id: &str) -> String {
        let result =
            json!({ "type": "tool_result", "tool_use_id": id, "content": format!("result {id}") });
        self.add(json!({ "type": "user", "message": { "role": "user", "content": [result] } }))
    }

    fn attached(&mut self, attachment: Value) -> String {
        self.add(json!({ "type": "attachment", "attachment": attachment }))
    }

    fn queue(&mut self, operation: &str, content: Option<&str>) {
        let mut record =
            json!({ "type": "queue-operation", "operation": operation, "sessionId": "s" });
        if let Some(content) = content {
            record["content"] = content.into();
        }
        self.lines.push(record.to_string());
    }

    fn read(&self) -> ReadOutcome {
        read(&Bytes::from(self.lines.join("\n")), None).unwrap()
    }

    /// What is sent, in order: content, and what is known of its origin.
    fn sent(&self) -> Vec<(String, Option<TextOrigin>)> {
        let found = self.read();
        assert_eq!(found.conversations.len(), 1);
        let events = found.conversations[0].events.iter();
        events.map(|event| (content(&event.bytes), event.origin)).collect()
    }

    fn texts(&self) -> Vec<String> {
        self.sent().into_iter().map(|(text, _)| text).collect()
    }
}

fn user(text: &str) -> Value {
    json!({ "type": "user", "message": { "role": "user", "content": text } })
}

/// The text of a message; of a call and a result its id.
fn content(bytes: &[u8]) -> String {
    let message: Value = serde_json::from_slice(bytes).unwrap();
    let Value::Array(blocks) = &message["content"] else {
        return message["content"].as_str().unwrap().to_owned();
    };
    let text = |block: &Value| {
        ["text", "id", "content"]
            .iter()
            .find_map(|name| block[name].as_str())
            .unwrap_or("-")
            .to_owned()
    };
    blocks.iter().map(text).collect::<Vec<_>>().join("+")
}

fn typed(prompt: Value) -> Value {
    json!({ "type": "queued_command", "commandMode": "prompt", "prompt": prompt, "origin": { "kind": "human" } })
}

#[test]
fn what_was_typed_meanwhile_is_the_users_and_behind_the_results() {
    let mut file = File::default();
    file.user("go");
    file.call("a");
    let first = file.attached(typed("plain words".into()));
    // Results may come behind it: it is sent behind them.
    let _ = first;
    file.result("a");
    let image = json!({ "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": "iVBO" } });
    file.attached(typed(json!([{ "type": "text", "text": "with a picture" }, image])));
    file.call("b");
    file.result("b");
    file.attached(json!({ "type": "queued_command", "commandMode": "task-notification", "prompt": "<task-notification>done</task-notification>" }));
    file.attached(json!({ "type": "queued_command", "commandMode": "prompt", "prompt": "news", "origin": { "kind": "channel" } }));
    let (none, client) = (None, Some(TextOrigin::Injected));
    let wanted = [
        ("go", none),
        ("a", none),
        ("result a", none),
        ("plain words", none),
        ("with a picture+-", none),
        ("b", none),
        ("result b", none),
        ("<task-notification>done</task-notification>", client),
        ("news", client),
    ];
    let sent = file.sent();
    assert_eq!(sent.iter().map(|(text, origin)| (&**text, *origin)).collect::<Vec<_>>(), wanted);
}

#[test]
fn the_queue_of_older_files_is_read_once() {
    let mut file = File::default();
    file.user("go");
    file.call("a");
    file.queue("enqueue", Some("absorbed"));
    file.queue("enqueue", Some("kept for later"));
    file.queue("enqueue", Some("in a record of its own"));
    file.queue("remove", None);
    file.result("a");
    file.queue("remove", Some("in a record of its own"));
    file.attached(typed("in a record of its own".into()));
    file.queue("dequeue", None);
    file.user("kept for later");
    file.queue("enqueue", Some("taken back"));
    file.queue("popAll", None);
    file.queue("remove", None);
    assert_eq!(
        file.texts(),
        ["go", "a", "result a", "absorbed", "in a record of its own", "kept for later"]
    );
    // On a branch that the user went back from it is gone with it.
    let mut file = File::default();
    let first = file.user("go");
    file.user("wrong");
    file.queue("enqueue", Some("said there"));
    file.queue("remove", None);
    file.hang("back", Some(&first), user("right"));
    assert_eq!(file.texts(), ["go", "right"]);
}

#[test]
fn what_the_client_adds_is_sent_and_is_the_clients() {
    for (attachment, words) in [
        (
            json!({ "type": "hook_additional_context", "hookName": "SessionStart", "content": ["one", "two"] }),
            "one\ntwo",
        ),
        (
            json!({ "type": "edited_text_file", "filename": "a.rs", "snippet": "3 fn a()" }),
            "3 fn a()",
        ),
        (
            json!({ "type": "selected_lines_in_ide", "filename": "a.rs", "content": "fn b()" }),
            "fn b()",
        ),
        (
            json!({ "type": "nested_memory", "path": "a/CLAUDE.md", "content": { "type": "Project", "content": "Never x." } }),
            "Never x.",
        ),
        (
            json!({ "type": "hook_blocking_error", "hookName": "Stop", "blockingError": { "blockingError": "not yet" } }),
            "not yet",
        ),
        (
            json!({ "type": "todo_reminder", "content": [{ "content": "mend it", "status": "pending" }] }),
            "mend it",
        ),
    ] {
        let mut file = File::default();
        file.user("go");
        file.attached(attachment.clone());
        let sent = file.sent();
        assert_eq!(sent.len(), 2, "{attachment}");
        assert!(
            sent[1].0.contains(words) && sent[1].0.starts_with("<system-reminder>"),
            "{sent:?}"
        );
        assert_eq!(sent[1].1, Some(TextOrigin::Injected));
    }
    for attachment in [
        json!({ "type": "todo_reminder", "content": [], "itemCount": 0 }),
        json!({ "type": "hook_success", "hookName": "Stop", "content": "", "stdout": "x" }),
        json!({ "type": "skill_listing", "content": "- a" }),
        json!({ "type": "queued_command", "commandMode": "prompt", "prompt": "" }),
        json!({ "type": "queued_command" }),
        json!({}),
    ] {
        let mut file = File::default();
        file.user("go");
        file.attached(attachment.clone());
        assert_eq!(file.texts(), ["go"], "{attachment}");
    }
}

/// Claude Code writes the text of a skill between the results of a batch, and sends it behind all of them.
#[test]
fn the_text_of_a_skill_is_behind_all_results_of_its_batch() {
    let mut file = File::default();
    file.user("go");
    let first = file.call("a");
    file.call("b");
    for line in &mut file.lines[1..] {
        *line = line.replace("m-a", "m").replace("m-b", "m");
    }
    file.last = Some(first);
    file.result("a");
    let mut skill = user("the skill");
    skill["isMeta"] = true.into();
    file.add(skill);
    file.result("b");
    let sent = file.sent();
    let ends: Vec<_> = sent.iter().skip(2).map(|(text, origin)| (text.as_str(), *origin)).collect();
    assert_eq!(ends.len(), 3, "{sent:?}");
    assert!(ends[0].0.contains("result a") && ends[1].0.contains("result b"), "{sent:?}");
    assert_eq!(ends[2], ("the skill", Some(TextOrigin::Injected)));
}

#[test]
fn the_client_says_whose_words_a_record_holds() {
    for (more, origin) in [
        (json!({ "isMeta": true }), Some(TextOrigin::Injected)),
        (json!({ "promptSource": "system" }), Some(TextOrigin::Injected)),
        (json!({ "origin": { "kind": "task-notification" } }), Some(TextOrigin::Injected)),
        (json!({ "origin": { "kind": "human" }, "promptSource": "typed" }), None),
        (json!({ "isCompactSummary": true, "isMeta": true }), Some(TextOrigin::Recap)),
    ] {
        let mut file = File::default();
        let mut record = user("Always do it.");
        record.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        file.add(record);
        assert_eq!(file.sent()[0].1, origin, "{more}");
    }
}

/// A file in which the client compacted and kept the newest messages.
fn compacted(metadata: impl Fn(&[String], &str, &str) -> Value) -> File {
    let mut file = File::default();
    file.user("old");
    file.call("a");
    file.result("a");
    let kept = [file.user("kept words"), file.call("b"), file.result("b")];
    let (boundary, summary) = ("boundary", "summary");
    let about = metadata(&kept, boundary, summary);
    file.hang(
        boundary,
        None,
        json!({ "type": "system", "subtype": "compact_boundary", "compactMetadata": about }),
    );
    let mut recap = user("what was");
    recap["isCompactSummary"] = true.into();
    file.hang(summary, Some(boundary), recap);
    file.user("go on");
    file
}

#[test]
fn what_a_compaction_kept_is_behind_its_summary() {
    let segment = |kept: &[String], anchor: &str| json!({ "headUuid": kept[0], "tailUuid": kept[2], "anchorUuid": anchor });
    let listed = |kept: &[String], _: &str, summary: &str| json!({ "preservedSegment": segment(kept, summary), "preservedMessages": { "anchorUuid": summary, "uuids": kept } });
    let with_chain = |kept: &[String], _: &str, summary: &str| json!({ "preservedSegment": segment(kept, summary) });
    let on_boundary = |kept: &[String], boundary: &str, _: &str| json!({ "preservedSegment": segment(kept, boundary) });
    for file in [compacted(listed), compacted(with_chain), compacted(on_boundary)] {
        assert_eq!(file.texts(), ["what was", "kept words", "b", "result b", "go on"]);
        let found = file.read();
        assert!(found.problems[0].detail.starts_with("3 records"), "{:?}", found.problems);
        // What such a reply cost was the cost of what was sent then.
        let usage = |conversation: &midfold_formats::read::Conversation| {
            conversation.events.iter().filter(|event| event.usage.is_some()).count()
        };
        assert_eq!(usage(&found.conversations[0]), 0);
        let all = read_recorded(&Bytes::from(file.lines.join("\n")), None).unwrap();
        assert_eq!(usage(&all.conversations[0]), 2);
    }
    let odd = |kept: &[String], _: &str, _: &str| json!({ "preservedSegment": { "headUuid": kept[2], "tailUuid": kept[0] } });
    let gone = |_: &[String], _: &str, _: &str| json!({ "preservedSegment": { "headUuid": "x", "tailUuid": "y" } });
    let none = |_: &[String], _: &str, _: &str| Value::Null;
    for file in [compacted(odd), compacted(gone), compacted(none)] {
        assert_eq!(file.texts(), ["what was", "go on"]);
    }
}

#[test]
fn the_echo_of_a_command_is_newer_than_nothing() {
    const EXIT: &str =
        "<command-name>/exit</command-name>\n<command-message>exit</command-message>";
    let mut file = File::default();
    let leaf = file.user("go");
    file.user("what is meant");
    file.call("a");
    // Written at the end, beside the leaf that the client knew.
    file.hang("exit", Some(&leaf), user(EXIT));
    file.hang("bye", Some("exit"), user("<local-command-stdout>Bye!</local-command-stdout>"));
    assert_eq!(file.texts(), ["go", "what is meant", "a"]);
    // A command in the middle hides nothing of what follows it.
    let mut file = File::default();
    let first = file.user("go");
    file.user("abandoned");
    file.hang("login", Some(&first), user("<command-name>/login</command-name>"));
    file.user("what is meant");
    assert_eq!(file.texts(), ["go", "<command-name>/login</command-name>", "what is meant"]);
    // Nor does it decide where the session begins.
    let mut file = File::default();
    file.hang("old", Some("of another file"), user("of the session before"));
    file.hang("plan", None, user("Implement the plan."));
    file.hang("exit", Some("gone"), user(EXIT));
    assert_eq!(file.texts()[0], "Implement the plan.");
}

#[test]
fn a_small_compaction_says_what_it_cleared() {
    let mut file = File::default();
    file.user("go");
    file.call("a");
    file.result("a");
    file.add(json!({ "type": "system", "subtype": "microcompact_boundary", "microcompactMetadata": { "compactedToolIds": ["a"] } }));
    file.user("on");
    assert_eq!(file.texts(), ["go", "a", "result a", "on"]);
    let problems = file.read().problems;
    assert_eq!(problems.iter().map(|p| p.code).collect::<Vec<_>>(), ["cleared-by-client"]);
}

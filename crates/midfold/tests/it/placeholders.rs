//! A call that copies what a fold printed is found, and one that only has the same words is not.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use bytes::Bytes;
use midfold::core::placeholder::{MarkKind, PlaceholderCall};
use midfold::formats::profile;
use midfold::{Budget, DialectKind, EventLog, Meter, Policy, RawEvent, Session, tokens};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Arguments, results and stubs are cut, and a recap covers the oldest part.
const POLICY: &str = "base = \"projection\"\nreducers = [\"arguments\", \"stub\", \"recap\"]\n\
    [arguments]\nmax_chars = 200\nleaf_chars = 60\n[stub]\nmin_chars = 200\n";

/// A file that no other message holds.
fn file(of: usize) -> String {
    (0..40).map(|line| format!("fn part_{of}_{line}() {{ run({}) }}\n", line * 7919)).collect()
}

fn call(id: &str, tool: &str, arguments: &Value) -> Value {
    let function = json!({ "name": tool, "arguments": arguments.to_string() });
    let call = json!({ "id": id, "type": "function", "function": function });
    json!({ "role": "assistant", "content": null, "tool_calls": [call] })
}

fn result(id: &str, text: &str) -> Value {
    json!({ "role": "tool", "tool_call_id": id, "content": text })
}

/// A session that wrote and read files, with these messages in front of the fold, and its fold.
fn folded(policy: &str, first: &[Value]) -> Session {
    let mut rows = vec![json!({ "role": "user", "content": "Write the parts." })];
    rows.extend_from_slice(first);
    for of in 0..30 {
        let (write, read) = (format!("w{of}"), format!("r{of}"));
        let path = format!("src/part_{of}.rs");
        rows.push(call(&write, "write_file", &json!({ "path": path, "content": file(of) })));
        rows.push(result(&write, "written"));
        rows.push(call(&read, "bash", &json!({ "command": format!("make part_{of}") })));
        let output: String =
            (0..30).map(|line| format!("made object {of}.{line} of the part\n")).collect();
        rows.push(result(&read, &output));
    }
    let mut session = open(policy, &rows);
    session.compact(&Budget::new(16_000), None).unwrap();
    assert!(session.active().is_some());
    session
}

fn open(policy: &str, rows: &[Value]) -> Session {
    let events = rows.iter().map(|row| RawEvent::new(Bytes::from(row.to_string())));
    let counter = tokens::by_name("chars:4").unwrap();
    let log = EventLog::of(DialectKind::OpenAiChat.shared(), profile::OPENAI, counter, events);
    Session::over("s", log, Policy::from_toml(policy).unwrap(), Meter::exact())
}

fn found(session: &Session, tool: &str, arguments: &Value) -> Vec<PlaceholderCall> {
    session.placeholders(call("new", tool, arguments).to_string().as_bytes())
}

/// Each argument and result of the context that is not in the log as it is there, with its tool.
fn printed(session: &Session) -> (Vec<Value>, Vec<String>) {
    let sent: Vec<Value> = serde_json::from_slice(&session.view().bytes()).unwrap();
    let log: Vec<Value> = session
        .log()
        .events()
        .iter()
        .map(|it| serde_json::from_slice(&it.bytes).unwrap())
        .collect();
    let cut = || sent.iter().filter(|message| !log.contains(message));
    let arguments = cut().filter_map(|it| it["tool_calls"][0]["function"]["arguments"].as_str());
    let arguments = arguments.map(|text| serde_json::from_str(text).unwrap()).collect();
    let results = cut().filter(|it| it["role"] == "tool");
    (arguments, results.map(|it| it["content"].as_str().unwrap().to_owned()).collect())
}

fn recap(session: &Session) -> &str {
    &session.active().unwrap().recap.as_ref().unwrap().text
}

#[test]
fn whatever_a_fold_printed_is_found_where_it_is_copied_whole() {
    let session = folded(POLICY, &[]);
    let (arguments, results) = printed(&session);
    assert!(arguments.len() > 3 && results.len() > 3, "{} {}", arguments.len(), results.len());
    for cut in &arguments {
        let calls = found(&session, "write_file", cut);
        let it = &calls[0].placeholders[0];
        assert_eq!((it.kind, it.argument.as_str()), (MarkKind::CutArgument, "content"), "{cut}");
        // The mark and the words in front of it tell which message it is of.
        let path = cut["path"].as_str().unwrap();
        let at = it.messages[0] as usize;
        assert!(session.log().events()[at].bytes.windows(path.len()).any(|b| b == path.as_bytes()));
        assert!(calls[0].reason.contains(&it.mark) && calls[0].reason.contains("`content`"));
        // Within another argument, with more behind it.
        let more = format!("// new\n{}\n}}\n", cut["content"].as_str().unwrap());
        let edits = json!({ "edits": [{ "new_text": more }] });
        let calls = found(&session, "edit_file", &edits);
        assert_eq!(calls[0].placeholders[0].argument, "edits[0].new_text");
        let script = format!("cat > a.rs <<'EOF'\n{}\nEOF", cut["content"].as_str().unwrap());
        assert_eq!(found(&session, "bash", &json!({ "command": script })).len(), 1, "{script}");
    }
    for stub in &results {
        let calls = found(&session, "write_file", &json!({ "path": "a", "content": stub }));
        assert_eq!(calls[0].placeholders[0].kind, MarkKind::Line, "{stub}");
    }
}

#[test]
fn lines_of_a_recap_that_tell_of_calls_are_no_content() {
    let session = folded("base = \"default\"", &[]);
    let lines: Vec<&str> = recap(&session)
        .lines()
        .filter(|it| it.contains(" changed ") || it.contains(" ran "))
        .collect();
    assert!(lines.len() > 3, "{}", recap(&session));
    for line in lines.iter().filter(|line| line.starts_with('@')) {
        let content = json!({ "path": "a", "content": format!("use x;\n{line}\n") });
        let calls = found(&session, "write_file", &content);
        assert_eq!(calls[0].placeholders[0].kind, MarkKind::Recap, "{line}");
        // A word about it, or what an agent hands on to another one.
        let note = json!({ "path": "NOTES.md", "content": format!("See \"{line}\".") });
        assert_eq!(found(&session, "write_file", &note), [], "{line}");
        assert_eq!(found(&session, "Task", &json!({ "prompt": line })), [], "{line}");
    }
}

#[test]
fn words_of_a_mark_are_no_placeholder() {
    let session = folded(POLICY, &[]);
    let (arguments, results) = printed(&session);
    let content = arguments[0]["content"].as_str().unwrap();
    let mark = &content[content.find('…').unwrap()..];
    let stub = results[0].lines().next().unwrap();
    let harmless = [
        ("bash", json!({ "command": format!("rg -F \"{mark}\" src") })),
        ("bash", json!({ "command": "rg 'more characters]'" })),
        ("grep", json!({ "pattern": mark })),
        ("read_file", json!({ "path": stub })),
        ("write_file", json!({ "path": "a", "content": "// … [7 more characters]\n" })),
        ("write_file", json!({ "path": "a", "content": format!("It was cut ({mark}) at @12.") })),
        ("write_file", json!({ "path": "a", "content": format!("print('{stub}')") })),
        ("write_file", json!({ "path": "a", "content": "as @12 saw, [Left out: 3 lines]" })),
        ("midfold_recall", json!({ "query": mark })),
        ("recall_find", json!({ "query": mark })),
        ("mcp__midfold__recall_show", json!({ "messages": mark })),
        ("todo_write", json!({ "todos": [{ "content": mark }] })),
    ];
    for (tool, arguments) in harmless {
        assert_eq!(found(&session, tool, &arguments), [], "{tool} {arguments}");
    }
    let text = json!({ "role": "assistant", "content": content }).to_string();
    assert_eq!(session.placeholders(text.as_bytes()), []);
    let unfolded = open(POLICY, &[]);
    assert_eq!(found(&unfolded, "write_file", &arguments[0]), []);
}

#[test]
fn a_refused_call_does_not_make_its_mark_an_original() {
    let mut session = folded(POLICY, &[]);
    let (arguments, _) = printed(&session);
    let cut = &arguments[0];
    for _ in 0..2 {
        let calls = found(&session, "write_file", cut);
        assert_eq!(calls.len(), 1);
        for row in [call("new", "write_file", cut), result("new", &calls[0].reason)] {
            session.append(RawEvent::new(Bytes::from(row.to_string())));
        }
    }
    // It ran after all, and the file is read again: now it holds the mark, and may be mended.
    let content = cut["content"].as_str().unwrap();
    session.append(RawEvent::new(Bytes::from(result("read", content).to_string())));
    let edit = json!({ "path": cut["path"], "old_text": content, "new_text": "" });
    assert_eq!(found(&session, "edit_file", &edit), []);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever a fold printed: a conversation that held it before may write it again.
    #[test]
    fn what_the_conversation_holds_is_no_placeholder(at in 0_usize..8, by_user in any::<bool>()) {
        let (arguments, results) = printed(&folded(POLICY, &[]));
        let text = arguments[at % arguments.len()]["content"].as_str().unwrap().to_owned();
        let stub = results[at % results.len()].clone();
        let held = format!("{text}\n{stub}");
        let first = match by_user {
            true => vec![json!({ "role": "user", "content": held })],
            false => vec![
                call("own", "write_file", &json!({ "path": "own", "content": held })),
                result("own", "written"),
            ],
        };
        let session = folded(POLICY, &first);
        for content in [&text, &stub, &held] {
            let arguments = json!({ "path": "b", "content": content });
            prop_assert_eq!(found(&session, "write_file", &arguments), []);
        }
    }
}

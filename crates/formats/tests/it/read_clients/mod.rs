//! Files of clients: what each reader makes of a session of the exact shape that its client writes.
//!
//! The fixtures are invented. Their words tell whose they are: `USERWORD7` was typed by a person, `TOOLWORD3` is a
//! result's, `AGENTWORD2` the model's; `LATEWORD1` is sent no more as it was, and `GONEWORD4` is not sent at all.
#![expect(clippy::unwrap_used, reason = "test helpers may fail loudly")]

mod aider;
mod chatgpt;
mod cline;
mod continue_dev;
mod copilot;
mod copilot_chat;
mod cursor;
mod droid;
mod gemini_cli;
mod goose;
mod hermes;
mod inspect;
mod kimi;
mod langfuse;
mod letta;
mod opencode;
mod openhands;
mod otel;
mod qwen;
mod times;

use std::collections::BTreeSet;

use bytes::Bytes;
use midfold_core::BlockKind;
use midfold_core::view::{EventView, Role, TextOrigin};
use midfold_formats::profile;
use midfold_formats::read::{
    Conversation, ReadError, ReadOutcome, TranscriptFormat, newest_reply, read, read_recorded,
    rest_of,
};

/// A fixture, and whose it is.
struct Fixture {
    name: &'static str,
    format: TranscriptFormat,
    text: &'static str,
    /// Rules of the dialect's profile that the record itself breaks.
    broken: &'static [&'static str],
}

macro_rules! fixture {
    ($name:literal, $format:ident, $broken:expr) => {
        Fixture {
            name: $name,
            format: TranscriptFormat::$format,
            text: include_str!(concat!("../../fixtures/clients/", $name)),
            broken: $broken,
        }
    };
}

const FIXTURES: &[Fixture] = &[
    fixture!("opencode.json", OpenCode, &[]),
    fixture!("opencode-storage.jsonl", OpenCode, &[]),
    fixture!("gemini-cli.json", GeminiCli, &[]),
    fixture!("gemini-cli.jsonl", GeminiCli, &["alternation", "alternation"]),
    fixture!("cline.json", Cline, &[]),
    fixture!("cline-session.jsonl", Cline, &[]),
    fixture!("roo.json", Cline, &[]),
    fixture!("openhands.jsonl", OpenHands, &[]),
    fixture!("openhands-old.json", OpenHands, &[]),
    fixture!("goose.json", Goose, &[]),
    fixture!("goose.jsonl", Goose, &[]),
    fixture!("hermes.jsonl", Hermes, &[]),
    fixture!("chatgpt.json", ChatGpt, &[]),
    fixture!("letta.af", Letta, &[]),
    fixture!("inspect.json", Inspect, &[]),
    fixture!("aider.md", Aider, &[]),
    fixture!("qwen.jsonl", Qwen, &[]),
    fixture!("cursor.jsonl", Cursor, &["unanswered-call", "unanswered-call", "unanswered-call"]),
    fixture!("cursor-stream.jsonl", Cursor, &[]),
    fixture!("droid.jsonl", Droid, &[]),
    fixture!("copilot.jsonl", Copilot, &[]),
    fixture!("kimi-context.jsonl", Kimi, &[]),
    fixture!("kimi-wire.jsonl", Kimi, &[]),
    fixture!("kimi-code.jsonl", KimiCode, &[]),
    fixture!("copilot-chat.json", CopilotChat, &[]),
    fixture!("copilot-chat.jsonl", CopilotChat, &[]),
    fixture!("continue.json", Continue, &[]),
    fixture!("otel.jsonl", Otel, &[]),
    fixture!("otel-flat.jsonl", Otel, &[]),
    fixture!("langfuse.json", Langfuse, &[]),
];

fn fixture(name: &str) -> &'static str {
    FIXTURES.iter().find(|fixture| fixture.name == name).unwrap().text
}

fn outcome(text: &str) -> ReadOutcome {
    read(&Bytes::copy_from_slice(text.as_bytes()), None).unwrap()
}

fn recorded(text: &str) -> ReadOutcome {
    read_recorded(&Bytes::copy_from_slice(text.as_bytes()), None).unwrap()
}

fn events(conversation: &Conversation) -> Vec<&str> {
    conversation.events.iter().map(|e| std::str::from_utf8(&e.bytes).unwrap()).collect()
}

fn origins(conversation: &Conversation) -> Vec<Option<TextOrigin>> {
    conversation.events.iter().map(|event| event.origin).collect()
}

/// What a reader gives, for people: a line an event, with its origin where it has one.
fn told(found: &ReadOutcome) -> String {
    let mut out = String::new();
    for conversation in &found.conversations {
        let Conversation { id, envelope, .. } = conversation;
        out += &format!("# {:?}, {:?}\n", id.as_deref(), envelope.model.as_deref());
        for (origin, event) in origins(conversation).iter().zip(events(conversation)) {
            let lines = event.lines().map(str::trim).collect::<String>();
            out += &origin.map_or_else(String::new, |origin| format!("{origin:?} "));
            out += &format!("{lines}\n");
        }
    }
    for problem in &found.problems {
        out += &format!("! {problem}\n");
    }
    out
}

fn codes(outcome: &ReadOutcome) -> Vec<&str> {
    outcome.problems.iter().map(|problem| problem.code).collect()
}

/// The marked words of a kind in a text.
fn words(text: &str, kind: &str) -> BTreeSet<String> {
    let starts = text.match_indices(kind).map(|(at, _)| &text[at..]);
    let whole =
        |rest: &str| rest.chars().take_while(|c| c.is_ascii_alphanumeric()).collect::<String>();
    starts.map(whole).collect()
}

/// Whether something is said in the user's role, beside the results of calls.
fn speaks_as_user(view: &EventView) -> bool {
    let has = |kind| view.blocks.iter().any(|block| block.kind == kind);
    let shows = has(BlockKind::Media) && !view.has_results();
    view.role == Role::User && (has(BlockKind::Text) || shows)
}

/// Somebody who collects sessions puts the lines of a file into one list.
#[test]
fn lines_in_a_list_are_read_as_lines() {
    const LINES: [&str; 3] = [
        r#"{"type":"user","uuid":"1","parentUuid":null,"sessionId":"S","message":{"role":"user","content":"go"}}
{"type":"assistant","uuid":"2","parentUuid":"1","message":{"id":"m","role":"assistant","content":[{"type":"text","text":"a"}]}}"#,
        r#"{"timestamp":"2026-01-01T00:00:00Z","type":"session_meta","payload":{"id":"c"}}
{"timestamp":"2026-01-01T00:00:00Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"go"}]}}"#,
        r#"{"type":"session","version":3,"id":"p","timestamp":"2026-01-01T00:00:00Z","cwd":"/srv"}
{"type":"message","id":"a","parentId":null,"timestamp":"2026-01-01T00:00:00Z","message":{"role":"user","content":"go"}}"#,
    ];
    let files = FIXTURES.iter().filter(|fixture| fixture.name.ends_with(".jsonl"));
    for text in files.map(|fixture| fixture.text).chain(LINES) {
        let whole = format!("[{}]", text.trim().replace('\n', ",\n"));
        let (lines, list) = (outcome(text), outcome(&whole));
        assert!(!list.conversations.is_empty(), "{whole}");
        assert_eq!(told(&list), told(&lines));
        let formats = |outcome: &ReadOutcome| outcome.conversations[0].format;
        assert_eq!(formats(&list), formats(&lines));
        let forced = read(&Bytes::from(whole.clone()), Some(formats(&lines))).unwrap();
        assert_eq!(told(&forced), told(&lines));
        assert_eq!(midfold_formats::read::detect(whole.as_bytes()), Some(formats(&lines)));
    }
    let twice = format!("[{0}]\n[{0}]", LINES[0].replace('\n', ","));
    let error = read(&Bytes::from(twice), None).unwrap_err();
    assert!(matches!(error, ReadError::Unrecognised { .. }), "{error}");
}

#[test]
fn whose_words_they_are_is_told_of_every_client() {
    for fixture in FIXTURES {
        let name = fixture.name;
        let found = outcome(fixture.text);
        let mut seen = String::new();
        let typed = words(fixture.text, "USERWORD");
        assert!(!typed.is_empty(), "{name}");
        for conversation in &found.conversations {
            assert_eq!(conversation.format, fixture.format, "{name}");
            for event in &conversation.events {
                let text = std::str::from_utf8(&event.bytes).unwrap();
                let view = fixture.format.dialect().dialect().view(&event.bytes);
                let is_typed = text.contains("USERWORD");
                let is_user = speaks_as_user(&view) && event.origin.is_none();
                assert_eq!(is_typed, is_user, "{name}: {text}");
                seen.push_str(text);
            }
        }
        for kind in ["USERWORD", "TOOLWORD", "AGENTWORD"] {
            let missing: Vec<_> =
                words(fixture.text, kind).difference(&words(&seen, kind)).cloned().collect();
            assert_eq!(missing, [""; 0], "{name}");
        }
        assert!(!seen.contains("GONEWORD"), "{name}");
    }
}

#[test]
fn what_a_client_sends_is_what_its_provider_takes() {
    for fixture in FIXTURES {
        let dialect = fixture.format.dialect();
        for conversation in outcome(fixture.text).conversations {
            let profile = &profile::for_dialect(dialect)[0];
            let found = profile::validate(&events(&conversation), dialect, profile);
            let rules: Vec<_> = found.iter().map(|violation| violation.rule).collect();
            assert_eq!(rules, fixture.broken, "{}: {found:?}", fixture.name);
        }
    }
}

/// Whoever follows a file that is still written takes a reply once each of its calls has a result.
#[test]
fn a_reply_waits_for_the_results_of_its_calls() {
    for (name, lines, expected) in [
        ("qwen.jsonl", 6, (5, false)),
        ("qwen.jsonl", 7, (5, false)),
        ("qwen.jsonl", 8, (5, true)),
        ("copilot.jsonl", 15, (4, false)),
        ("copilot.jsonl", 16, (4, true)),
        ("kimi-wire.jsonl", 9, (1, false)),
        ("kimi-context.jsonl", 10, (4, false)),
        ("cursor-stream.jsonl", 11, (1, false)),
        ("gemini-cli.jsonl", 9, (4, true)),
    ] {
        let written: Vec<_> = fixture(name).lines().take(lines).collect();
        let found = outcome(&written.join("\n"));
        let reply = newest_reply(&found.conversations[0]).unwrap();
        assert_eq!((reply.at, reply.ended), expected, "{name}, {lines} lines");
    }
}

fn all_are_json(found: Result<ReadOutcome, ReadError>) {
    for event in found.iter().flat_map(|found| &found.conversations).flat_map(|c| &c.events) {
        let json = serde_json::from_slice::<&serde_json::value::RawValue>(&event.bytes);
        assert!(json.is_ok(), "{}", String::from_utf8_lossy(&event.bytes));
    }
}

/// Cut anywhere, and with any value in the place of another, a file is read or refused.
#[test]
fn broken_files_of_clients_are_read_as_far_as_they_go() {
    for fixture in FIXTURES {
        let text = fixture.text.as_bytes();
        for at in (0..text.len()).step_by(text.len() / 60 + 1) {
            let cut = Bytes::copy_from_slice(&text[..at]);
            all_are_json(read(&cut, Some(fixture.format)));
            for other in ["null", "[]", "{}", "7", "\"x\""] {
                let Some(colon) = text[at..].iter().position(|byte| *byte == b':') else { break };
                let start = midfold_formats::scan::skip_space(text, at + colon + 1);
                let Some(value) = midfold_formats::scan::value(text, start) else { continue };
                let changed = [&text[..value.start], other.as_bytes(), &text[value.end..]].concat();
                let changed = Bytes::from(changed);
                all_are_json(read(&changed, Some(fixture.format)));
                all_are_json(read_recorded(&changed, None));
            }
        }
    }
}

/// Words, reasoning and calls of a reply in Chat Completions grow in members of their own.
#[test]
fn the_rest_of_a_built_reply_is_what_came_after() {
    let call = |id: &str| format!(r#"{{"id":"{id}","type":"function","function":{{"name":"f"}}}}"#);
    let reply =
        |words: &str, more: &str| format!(r#"{{"role":"assistant","content":{words}{more}}}"#);
    let calls = |ids: &[&str]| {
        let all: Vec<_> = ids.iter().map(|id| call(id)).collect();
        format!(r#","tool_calls":[{}]"#, all.join(","))
    };
    let rest = |before: &str, now: &str| {
        let rest = rest_of(before.as_bytes(), now.as_bytes());
        rest.map(|rest| String::from_utf8(rest).unwrap())
    };
    let one = reply(r#""So""#, "");
    let two = reply(r#""So far.""#, &calls(&["a"]));
    let three = reply(r#""So far.""#, &calls(&["a", "b"]));
    assert_eq!(rest(&one, &two), Some(reply(r#"" far.""#, &calls(&["a"]))));
    assert_eq!(rest(&two, &three), Some(reply("null", &calls(&["b"]))));
    assert_eq!(
        rest(
            &reply("null", r#","reasoning_content":"h""#),
            &reply("null", r#","reasoning_content":"hm""#)
        ),
        Some(reply(r#""""#, r#","reasoning_content":"m""#))
    );
    assert_eq!(rest(&three, &two), None);
    assert_eq!(rest(&two, &two), None);
    assert_eq!(rest(&reply(r#""No""#, ""), &two), None);
}

//! The table of columns: each fact that a format says it holds arrives, and none that it says it lacks.
//!
//! The same table is in `docs/FORMATS.md`: MIDFOLD_WRITE_DOCS=1 writes it anew.
//!
//! A fixture is a session of a client with one line or two for each fact. `FAILWORD` is in the result of a call that
//! failed and `OKWORD` in one that did not, `GONEWORD` is on a branch that was left, `QUEUEDWORD` was typed while the
//! agent worked, and `ANSWERWORD` answers a question of the agent.
#![expect(clippy::unwrap_used, clippy::panic, reason = "test helpers may fail loudly")]

use bytes::Bytes;
use midfold_core::BlockKind;
use midfold_core::event::RawEvent;
use midfold_core::view::EventView;
use midfold_formats::read::{ColumnFact, ReadOutcome, TranscriptFormat, read};

/// The time at which each fixture was recorded.
const MOMENT: u64 = 1_700_000_000_000;

macro_rules! fixture {
    ($format:ident, $name:literal) => {
        (TranscriptFormat::$format, $name, include_str!(concat!("../fixtures/columns/", $name)))
    };
}

/// Each format with a session of it. Requests of all dialects share one description.
const FIXTURES: [(TranscriptFormat, &str, &str); 28] = [
    fixture!(Anthropic, "anthropic.json"),
    fixture!(MiniSweAgent, "mini-swe-agent.json"),
    fixture!(ClaudeCode, "claude-code.jsonl"),
    fixture!(Codex, "codex.jsonl"),
    fixture!(Pi, "pi.jsonl"),
    fixture!(SweAgent, "swe-agent.json"),
    fixture!(Qwen, "qwen-code.jsonl"),
    fixture!(Cline, "cline.json"),
    fixture!(Cline, "cline-session.json"),
    fixture!(OpenHands, "openhands.jsonl"),
    fixture!(OpenHands, "openhands-old.jsonl"),
    fixture!(Goose, "goose.json"),
    fixture!(Hermes, "hermes.jsonl"),
    fixture!(ChatGpt, "chatgpt.json"),
    fixture!(Letta, "letta.json"),
    fixture!(Inspect, "inspect.json"),
    fixture!(Aider, "aider.md"),
    fixture!(OpenCode, "opencode.json"),
    fixture!(GeminiCli, "gemini-cli.jsonl"),
    fixture!(Cursor, "cursor.jsonl"),
    fixture!(Droid, "droid.jsonl"),
    fixture!(Copilot, "copilot-cli.jsonl"),
    // The wire of Kimi CLI alone has errors and usage, so its fixture is that file.
    fixture!(Kimi, "kimi-cli.jsonl"),
    fixture!(KimiCode, "kimi-code.jsonl"),
    fixture!(CopilotChat, "copilot-chat.json"),
    fixture!(Continue, "continue.json"),
    fixture!(Otel, "otel.json"),
    fixture!(Langfuse, "langfuse.jsonl"),
];

/// A session as it was read.
struct ReadSession {
    found: ReadOutcome,
    views: Vec<EventView>,
}

impl ReadSession {
    fn of(format: TranscriptFormat, text: &'static str) -> Self {
        let found = read(&Bytes::from_static(text.as_bytes()), None).unwrap();
        assert_eq!(found.conversations.len(), 1, "{}", format.name());
        assert_eq!(found.conversations[0].format, format);
        let dialect = format.dialect().dialect();
        let views =
            found.conversations[0].events.iter().map(|event| dialect.view(&event.bytes)).collect();
        Self { found, views }
    }

    fn events(&self) -> &[RawEvent] {
        &self.found.conversations[0].events
    }

    /// The places of the messages that hold a word.
    fn with(&self, word: &str) -> Vec<usize> {
        let has =
            |event: &RawEvent| event.bytes.windows(word.len()).any(|it| it == word.as_bytes());
        (0..self.events().len()).filter(|at| has(&self.events()[*at])).collect()
    }

    /// Whether the log will say that a call failed whose result a message holds.
    fn is_failed(&self, at: usize) -> bool {
        self.events()[at].failed || self.views[at].has_failed_result()
    }

    /// Whether the fact of a column arrived.
    fn has(&self, column: &str) -> bool {
        let failed = |word: &str| {
            let at = self.with(word);
            !at.is_empty() && at.into_iter().all(|at| self.is_failed(at))
        };
        let is_media = |view: &EventView| view.blocks.iter().any(|it| it.kind == BlockKind::Media);
        match column {
            "error" => failed("FAILWORD") && !failed("OKWORD"),
            "time" => {
                let typed = self.with("USERWORD");
                !typed.is_empty()
                    && typed.into_iter().all(|at| self.events()[at].at == Some(MOMENT as _))
            }
            "usage" => self.events().iter().any(|event| {
                event.usage.is_some_and(|usage| (usage.prompt, usage.output) == (900, 7))
            }),
            "model" => self.found.conversations[0].envelope.model.as_deref() == Some("mill-9"),
            "parent" => self.with("GONEWORD").is_empty() && !self.found.problems.is_empty(),
            "images" => self.views.iter().any(is_media),
            "queued" => self.with("QUEUEDWORD").len() == 1,
            "answers" => self.with("ANSWERWORD").len() == 1,
            other => panic!("no check for {other}"),
        }
    }
}

/// Facts that one of two shapes of a client's files lacks, though the other one has them.
const OF_ONE_SHAPE: [(&str, &str); 3] =
    [("openhands.jsonl", "usage"), ("openhands.jsonl", "model"), ("openhands-old.jsonl", "parent")];

#[test]
fn each_fact_that_a_format_holds_arrives_and_no_other() {
    let (mut cells, mut differ) = (0, Vec::new());
    for (format, file, text) in FIXTURES {
        let session = ReadSession::of(format, text);
        for (column, fact) in format.columns() {
            if OF_ONE_SHAPE.contains(&(file, column)) || matches!(column, "cwd" | "mode") {
                continue;
            }
            let wanted = matches!(fact, ColumnFact::At(_));
            if session.has(column) != wanted {
                differ.push(format!("{file}: {column}, {fact:?}"));
            }
            cells += usize::from(wanted);
        }
    }
    assert_eq!(differ, [""; 0]);
    assert!(cells > 100, "{cells} facts");
}

#[test]
fn every_format_answers_for_every_column() {
    let with_fixture =
        |format: TranscriptFormat| FIXTURES.iter().any(|(it, ..)| it.columns() == format.columns());
    for format in TranscriptFormat::ALL {
        assert!(with_fixture(format), "{}", format.name());
        for (column, fact) in format.columns() {
            let text = match &fact {
                ColumnFact::At(place) => place.as_str(),
                ColumnFact::Unread(place) => place,
                ColumnFact::Lacks(reason) => reason,
            };
            assert!(text.len() > 2 && !text.contains('|'), "{}: {column}: {text}", format.name());
        }
    }
}

/// The lines of the page between which the table is.
const BEGIN: &str = "<!-- begin of columns -->\n";
const END: &str = "<!-- end of columns -->\n";

/// The table of the page: a row for each description, with the formats that share it.
fn table() -> String {
    let mut rows: Vec<(Vec<&str>, _)> = Vec::new();
    for format in TranscriptFormat::ALL {
        let facts = format.columns();
        match rows.iter_mut().find(|(_, of_row)| *of_row == facts) {
            Some((names, _)) => names.push(format.name()),
            None => rows.push((vec![format.name()], facts)),
        }
    }
    let names = rows[0].1.each_ref().map(|(name, _)| *name);
    let mut out = format!("| format | {} |\n|{}\n", names.join(" | "), "---|".repeat(11));
    for (formats, facts) in rows {
        let cells = facts.map(|(_, fact)| match fact {
            ColumnFact::At(place) => place,
            ColumnFact::Unread(place) => format!("{place} (left out)"),
            ColumnFact::Lacks(reason) => format!("– {reason}"),
        });
        let formats = formats.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        out += &format!("| {formats} | {} |\n", cells.join(" | "));
    }
    out
}

#[test]
fn the_page_has_the_table_of_this_build() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/FORMATS.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(BEGIN).unwrap();
    let (_, after) = rest.split_once(END).unwrap();
    let wanted = format!("{before}{BEGIN}\n{}\n{END}{after}", table());
    if std::env::var_os("MIDFOLD_WRITE_DOCS").is_some() {
        std::fs::write(&path, &wanted).unwrap();
        return;
    }
    let differs = wanted.lines().zip(page.lines()).find(|(wanted, there)| wanted != there);
    assert!(
        page == wanted,
        "docs/FORMATS.md is stale; MIDFOLD_WRITE_DOCS=1 cargo test -p midfold-formats columns writes it anew: {differs:?}"
    );
}

/// A line may be a whole run, with facts of its own that are of no single message.
#[test]
fn the_error_of_a_run_is_not_that_of_its_results() {
    let run = |error: &str| {
        format!(
            r#"{{"id":"r","epoch":1,"input":"x","target":"","error":{error},"messages":[{{"role":"user","content":"go"}},{{"role":"assistant","content":"","tool_calls":[{{"id":"a","function":"sift","arguments":{{}}}}]}},{{"role":"tool","tool_call_id":"a","function":"sift","content":"OKWORD"}}]}}"#
        )
    };
    let text = run("null") + "\n" + &run(r#"{"message":"the run was stopped"}"#);
    let found = read(&Bytes::from(text), None).unwrap();
    assert_eq!(found.conversations.len(), 2);
    for event in found.conversations.iter().flat_map(|it| &it.events) {
        assert!(!event.failed, "{}", String::from_utf8_lossy(&event.bytes));
    }
}

//! A small conversation about a refund bug, and requests over it.

use std::sync::Arc;

use midfold_core::budget::Ratio;
use midfold_core::fold::Span;
use midfold_core::log::EventLog;
use midfold_core::narrate::{FinishReason, ReplyVerdict, SummaryReply, SummaryRequest};
use midfold_core::policy::NarrationStyle;
use midfold_core::recap::ground::{GroundedReply, judge};
use midfold_core::recap::sources::{SourceLimits, sources};
use midfold_core::{Counter, Hash, RawEvent};
use midfold_formats::{DialectKind, profile};
use midfold_testkit::{TestMessage, emit};
use midfold_tokens::CharsCounter;

/// Three characters a token.
pub fn counter() -> Arc<dyn Counter> {
    Arc::new(CharsCounter::new("3").unwrap())
}

pub fn user(text: &str) -> TestMessage {
    TestMessage::User(text.to_owned())
}

pub fn assistant(text: &str) -> TestMessage {
    TestMessage::Assistant { thought: None, text: text.to_owned(), calls: Vec::new() }
}

/// A call and its result.
pub fn step(name: &str, arguments: &str, content: &str) -> [TestMessage; 2] {
    let id = format!("call_{}", name.len() * 1000 + content.len());
    let call = midfold_testkit::TestCall {
        id: id.clone(),
        name: name.to_owned(),
        arguments: arguments.to_owned(),
    };
    [
        TestMessage::Assistant {
            thought: Some("secret musings zqreasoning".to_owned()),
            text: String::new(),
            calls: vec![call],
        },
        TestMessage::Tool { id, name: name.to_owned(), content: content.to_owned() },
    ]
}

pub fn log_of(messages: &[TestMessage]) -> EventLog {
    let lines = emit::openai_chat(messages);
    let events = lines.into_iter().map(|line| RawEvent::new(line.into_bytes().into()));
    EventLog::of(DialectKind::OpenAiChat.shared(), profile::OPENAI, counter(), events)
}

/// The conversation; `planted` comes back from a tool.
pub fn conversation(planted: &str) -> Vec<TestMessage> {
    let mut messages = vec![
        TestMessage::System("You are a coding agent in /srv/build.".to_owned()),
        user(
            "LED-4100: some refunds are booked twice since the deploy of 9 March. Find out why. \
             Never touch migrations/. Yes, you can delete the build folder.",
        ),
    ];
    messages.extend(step(
        "grep",
        r#"{"pattern":"book_refund"}"#,
        "src/settle/window.py:212: def book_refund",
    ));
    messages.extend(step("read_file", r#"{"path":"src/settle/window.py"}"#, planted));
    messages.extend(step(
        "run",
        r#"{"command":"pytest -x -k test_window"}"#,
        "FAILED tests/test_window.py::test_twice on db-prod-1:5432, 3 passed",
    ));
    messages.push(assistant("The cause is in src/settle/window.py:212; FRE-512 has the same."));
    messages.push(user("Good. Bitte antworte auf Deutsch. Please use JWT instead of sessions."));
    // Long enough that a recap of it is smaller.
    messages.push(assistant(&"The window is checked before the lock is taken. ".repeat(150)));
    messages
}

pub fn request(log: &EventLog) -> SummaryRequest {
    let end = log.len();
    SummaryRequest {
        id: Hash([7; 32]),
        session: "s".to_owned(),
        span: Span {
            start: 1,
            end: u32::try_from(end).unwrap(),
            before: log.hash_before(1),
            through: log.hash_before(end),
        },
        header: "## Conversation Summary".to_owned(),
        sections: ["Decisions", "Entities", "Facts", "Open Items"].map(str::to_owned).to_vec(),
        style: NarrationStyle::Bullets,
        words: Some(200),
        max_tokens: 512,
        temperature: Ratio(2_000),
        timeout_seconds: 25,
        previous: None,
        sources: sources(log, 1..end, &SourceLimits::default()),
        focus: None,
        today: Some("2026-11-22".to_owned()),
        replaces: log.tokens_in(1..end),
    }
}

pub fn reply(text: &str) -> SummaryReply {
    SummaryReply {
        text: text.to_owned(),
        finish: FinishReason::Stop,
        model: "m".to_owned(),
        usage: None,
        calls: 1,
    }
}

/// A reply with this text in one section, true ones in the others.
pub fn bullets(decisions: &str, facts: &str) -> String {
    format!(
        "## Conversation Summary\n- **Decisions:** {decisions}\n- **Entities:** src/settle/window.py:212, \
         book_refund, db-prod-1:5432, FRE-512\n- **Facts:** {facts}\n- **Open Items:** test_twice still fails"
    )
}

/// What is made of a reply about the conversation.
pub fn verdict_of(text: &str) -> Result<GroundedReply, ReplyVerdict> {
    let log = log_of(&conversation("nothing odd"));
    judged(&log, &request(&log), text)
}

pub fn judged(
    log: &EventLog,
    request: &SummaryRequest,
    text: &str,
) -> Result<GroundedReply, ReplyVerdict> {
    judge(log, request, &reply(text), &*counter()).map_err(|refused| {
        let detail = refused.detail;
        assert!(!detail.is_empty() && !detail.contains("zq"), "{detail}");
        refused.verdict
    })
}

/// Why lines of a reply were dropped, by code.
pub fn reasons(judged: &GroundedReply) -> Vec<&str> {
    let codes = judged.dropped.iter().filter_map(|dropped| dropped.why.split(':').next());
    codes.collect()
}

//! A step that the provider counts as many times the estimate. While it is in the context, nothing fits; behind a fold it
//! is gone, and so are its tokens.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use midfold::core::Usage;
use midfold::core::engine::Session;
use midfold::formats::profile;
use midfold::{Budget, DialectKind, EventLog, Meter, Policy, RawEvent};
use serde_json::json;

const WINDOW: u64 = 8_000;

fn step(number: usize, result: &str) -> [RawEvent; 2] {
    let call = json!({"id": format!("c{number}"), "type": "function",
        "function": {"name": "bash", "arguments": "{\"command\":\"ls\"}"}});
    let call = json!({"role": "assistant", "content": null, "tool_calls": [call]});
    let answer = json!({"role": "tool", "tool_call_id": format!("c{number}"), "content": result});
    [call, answer].map(|it| RawEvent::new(it.to_string().into()))
}

fn session() -> Session {
    let counter = midfold::tokens::by_name("chars:4").unwrap();
    let task = RawEvent::new(json!({"role": "user", "content": "task"}).to_string().into());
    let log = EventLog::of(DialectKind::OpenAiChat.shared(), profile::OPENAI, counter, vec![task]);
    Session::over("s", log, Policy::preset("default").unwrap(), Meter::chars_over_four())
}

/// The provider's count: a snowman takes six tokens.
fn counted(session: &Session) -> u64 {
    let bytes = session.view().bytes();
    let text = String::from_utf8_lossy(&bytes);
    let snowmen = text.matches('☃').count() as u64;
    (text.chars().count() as u64 - snowmen) / 3 + 6 * snowmen
}

#[test]
fn a_dense_step_refuses_no_later_context() {
    for (at, snowmen) in [(0, 1_300), (6, 1_300), (6, 2_600), (6, 5_000)] {
        let mut session = session();
        let budget = Budget::new(WINDOW);
        let mut over = 0;
        for number in 0..60 {
            let text = if number == at { "☃".repeat(snowmen) } else { "fn z() {}\n".repeat(60) };
            for event in step(number, &text) {
                session.append(event);
            }
            session.context(&budget, 0).unwrap();
            let prompt = counted(&session);
            over += usize::from(prompt > WINDOW);
            session.observe(Usage { prompt, output: 5, ..Usage::default() }, 0);
        }
        // The step is newest once; with four messages in the tail it may stay for one more.
        assert!(over <= 3, "{at} {snowmen}: {over} contexts above the window");
        assert!(session.load().upper <= WINDOW, "{at} {snowmen}");
    }
}

#[test]
fn a_count_of_what_was_not_cached_moves_no_meter() {
    let mut session = session();
    let budget = Budget::new(64_000);
    let before = *session.meter();
    for number in 0..40 {
        for event in step(number, &"fn z() {}\n".repeat(60 + number)) {
            session.append(event);
        }
        let sent = session.context(&budget, 0).unwrap().tokens();
        let prompt = if number == 0 { sent } else { 150 + number as u64 };
        session.observe(Usage { prompt, output: 5, ..Usage::default() }, 0);
        if number > 1 {
            assert!(session.load().estimate >= sent * 9 / 10, "{number}: {before:?}");
        }
    }
}

#[test]
fn the_first_counts_of_little_text_move_the_meter_little() {
    let mut session = session();
    for event in step(1, &"fn z() {}\n".repeat(100)) {
        session.append(event);
    }
    session.context(&Budget::new(64_000), 0).unwrap();
    let estimate = session.meter().calibrated(session.log().tokens());
    let before = session.meter().ratio;
    // A sixth less than estimated, and twice as much of it behind the history as in it.
    let prompt = (estimate + 2 * estimate) * 5 / 6;
    session.observe_with(Usage { prompt, ..Usage::default() }, 2 * estimate, 0);
    let after = session.meter().ratio;
    assert!(after < before && after.0 > before.0 * 9 / 10, "{before:?} {after:?}");
}

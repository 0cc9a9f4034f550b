//! In a window of a few steps a fold behind a proxy leaves room for three more, and waits until no further step fits.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use midfold::core::Usage;
use midfold::core::trigger::{FoldDue, HoldReason};
use midfold::formats::profile;
use midfold::{Budget, DialectKind, EventLog, Meter, Policy, RawEvent, Session};
use serde_json::json;

/// How many of the prompts of 14 steps only append to the one before.
fn appended(preset: &str, step: usize) -> usize {
    let counter = midfold::tokens::by_name("chars:4").unwrap();
    let log = EventLog::new(DialectKind::OpenAiChat.shared(), profile::OPENAI, counter);
    let mut session =
        Session::over("s", log, Policy::preset(preset).unwrap(), Meter::chars_over_four())
            .with_answers_behind();
    let budget = Budget::new(12_000);
    let task = json!({"role": "user", "content": "Go through all parts and say what each holds."});
    session.append(RawEvent::new(task.to_string().into()));
    let (mut kept, mut before) = (0, Vec::new());
    for at in 0..=14 {
        let context = session.context(&budget, at).unwrap();
        let prompt: Vec<_> = context.pieces().map(|piece| piece.bytes.clone()).collect();
        kept += usize::from(at > 0 && prompt.starts_with(&before));
        before = prompt;
        session.observe(Usage { prompt: context.tokens(), ..Usage::default() }, at);
        let lines =
            (0..step / 10).map(|line| format!("part {at}, row {line}: {:012}\n", line * 7919));
        let (id, output) = (format!("c{at}"), lines.collect::<String>());
        let call = json!({"id": id, "type": "function", "function":
            {"name": "bash", "arguments": format!("{{\"command\":\"cat part{at}\"}}")}});
        let answer = json!({"role": "assistant", "content": null, "tool_calls": [call]});
        let result = json!({"role": "tool", "tool_call_id": id, "content": output});
        for message in [answer, result] {
            session.append(RawEvent::new(message.to_string().into()));
        }
    }
    kept
}

#[test]
fn few_prompts_are_rewritten() {
    for (preset, step, least) in [
        ("default", 2_000, 11),
        ("lean", 2_000, 11),
        ("default", 3_000, 8),
        ("lean", 3_000, 9),
        // The window holds two of these and no third.
        ("default", 4_500, 7),
    ] {
        let kept = appended(preset, step);
        assert!(kept >= least, "{preset}, steps of {step}: {kept} of 14");
    }
}

/// A session of ten messages that fill a small window by 80 %.
fn full(preset: &str) -> Session {
    let counter = midfold::tokens::by_name("chars:4").unwrap();
    let log = EventLog::new(DialectKind::OpenAiChat.shared(), profile::OPENAI, counter);
    let session = Session::over("s", log, Policy::preset(preset).unwrap(), Meter::exact());
    let mut session = session.with_answers_behind();
    for at in 0..10 {
        let role = if at % 2 == 0 { "user" } else { "assistant" };
        let message = json!({"role": role, "content": format!("{at} ") + &"a b c d ".repeat(490)});
        session.append(RawEvent::new(message.to_string().into()));
    }
    session
}

/// The reason is named while it waits. Imitated tools do not wait.
#[test]
fn who_asks_learns_why_it_waits() {
    let budget = Budget::new(12_000);
    let waits = FoldDue::Held(HoldReason::FewSteps);
    let session = full("default");
    assert_eq!((session.due(&budget, 0), session.status(&budget, 0).due), (waits, waits));
    for preset in ["hermes", "nucleic", "head-tail"] {
        assert_ne!(full(preset).due(&budget, 0), waits, "{preset}");
    }
}

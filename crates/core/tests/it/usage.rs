//! The counts of providers, where one reply is several events of the log.

use std::sync::Arc;

use bytes::Bytes;
use midfold_core::RawEvent;
use midfold_core::event::Usage;
use midfold_core::log::EventLog;
use midfold_core::meter::Meter;
use midfold_formats::DialectKind;
use midfold_formats::profile::RESPONSES;

use crate::quarter::Quarter;

/// Replies of a message and a call, whose usage is at the call: the prompt of a reply has nothing of the reply itself.
/// Each prompt has `beside` tokens that the log does not have.
fn log(beside: u64) -> EventLog {
    let dialect = DialectKind::OpenAiResponses.shared();
    let mut log = EventLog::new(dialect, RESPONSES, Arc::new(Quarter));
    let append = |log: &mut EventLog, json: String, usage: Option<Usage>| {
        let event = RawEvent { usage, ..RawEvent::new(Bytes::from(json)) };
        log.append(event);
    };
    append(&mut log, r#"{"role":"user","content":"Go."}"#.to_owned(), None);
    for step in 0..12 {
        let usage = Usage { prompt: log.tokens() + beside, ..Usage::default() };
        let words = "word ".repeat(if step % 2 == 0 { 20 } else { 1_500 });
        append(
            &mut log,
            format!(
                r#"{{"type":"message","role":"assistant","content":[{{"type":"output_text","text":"{words}"}}]}}"#
            ),
            None,
        );
        append(
            &mut log,
            format!(
                r#"{{"type":"function_call","call_id":"c{step}","name":"run","arguments":"{{}}"}}"#
            ),
            Some(usage),
        );
        append(
            &mut log,
            format!(
                r#"{{"type":"function_call_output","call_id":"c{step}","output":"{}"}}"#,
                "line ".repeat(200)
            ),
            None,
        );
    }
    log
}

#[test]
fn a_reply_of_several_events_is_no_part_of_its_own_prompt() {
    let mut meter = Meter::exact();
    meter.learn(&log(0));
    assert_eq!(meter.ratio, Meter::exact().ratio);
    assert_eq!(Meter::exact().beside(&log(1_000)), Some(1_000));
}

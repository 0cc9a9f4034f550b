//! What a session gathers while events come in changes how long a fold takes, and nothing else.

#![expect(clippy::unwrap_used, reason = "test helpers may fail loudly")]

use bytes::Bytes;
use midfold::formats::{DialectKind, profile};
use midfold::{Budget, EventLog, Meter, PlanOutcome, Policy, RawEvent, Session, tokens};

fn events(rows: &[String]) -> Vec<RawEvent> {
    rows.iter().map(|row| RawEvent::new(Bytes::from(row.clone()))).collect()
}

fn session(preset: &str, log: EventLog) -> Session {
    Session::over("s", log, Policy::preset(preset).unwrap(), Meter::exact())
}

fn empty() -> EventLog {
    let kind = DialectKind::OpenAiChat;
    EventLog::new(kind.shared(), profile::for_dialect(kind)[0], tokens::by_name("chars:4").unwrap())
}

/// Every fold of a session that was appended to is the fold of one that read the same log at once.
#[test]
fn folds_do_not_depend_on_what_was_gathered_before() {
    let coding = midfold_testkit::coding_session(11, 40);
    // One task and nothing of the user after it, and what comes of pairs that are cut apart.
    let mut alone = midfold_testkit::big_messages(900, 900 * 900);
    let mut user = 0;
    alone.retain(|row| {
        user += usize::from(row.contains(r#""role":"user""#));
        user == 1 || !row.contains(r#""role":"user""#)
    });
    for (name, rows) in [("coding", coding), ("alone", alone)] {
        for preset in Policy::preset_names() {
            for (window, seen) in [(32_000, true), (128_000, false)] {
                let budget = Budget::new(window);
                let mut appended = session(preset, empty());
                for (at, event) in events(&rows).into_iter().enumerate() {
                    appended.append(event);
                    if seen && at == 3 {
                        appended.context(&budget, 0).unwrap();
                    }
                    if at == rows.len() / 2 || at + 1 == rows.len() {
                        let mut whole = appended.fork("s", at + 1);
                        let one = appended.preview(&budget, None).unwrap();
                        let other = whole.compact(&budget, None).unwrap();
                        assert_eq!(one, other, "{name} {preset} {window} {at}");
                        if at + 1 < rows.len() && matches!(one, PlanOutcome::Folded(_)) {
                            appended.compact(&budget, None).unwrap();
                        }
                    }
                }
            }
        }
    }
}

//! Where a fold may come before its line: a piece of work has just ended.

#![expect(clippy::unwrap_used, reason = "test helpers may fail loudly")]

use std::sync::Arc;

use midfold_core::RawEvent;
use midfold_core::budget::{Budget, Ratio};
use midfold_core::engine::Session;
use midfold_core::log::EventLog;
use midfold_core::meter::Meter;
use midfold_core::plan::FoldCause;
use midfold_core::policy::Policy;
use midfold_core::trigger::{FoldDue, LineRule};
use midfold_formats::{DialectKind, profile};
use serde_json::{Value, json};

use crate::deeds::Client::{Bare, Claude};
use crate::deeds::{ALL, Client, Run, kind_of, messages};
use crate::quarter::Quarter;

fn session(kind: DialectKind, messages: &Value) -> Session {
    let counter = Arc::new(Quarter);
    let own = profile::for_dialect(kind)[0];
    let mut log = EventLog::new(kind.shared(), own, counter);
    for message in messages.as_array().into_iter().flatten() {
        log.append(RawEvent::new(message.to_string().into()));
    }
    let mut policy = Policy::preset("default").unwrap();
    policy.trigger.seam = Ratio(6_500);
    Session::over("s", log, policy, Meter::exact())
}

/// Whether a fold comes at a context of 70 % of its budget.
fn is_seam(kind: DialectKind, messages: &Value) -> bool {
    let mut session = session(kind, messages).with_answers_behind();
    let tokens = session.view().tokens();
    // Below the seam line no work that ends matters.
    assert!(matches!(session.due(&Budget::new(tokens * 2), 0), FoldDue::Below(_)));
    let budget = Budget::new(tokens * 100 / 70);
    let due = session.due(&budget, 0);
    if let FoldDue::Seam(line) = due {
        assert_eq!(line.rule, LineRule::Seam);
        session.context(&budget, 0).unwrap();
        assert!(session.folds().iter().all(|fold| fold.cause == FoldCause::Seam));
    } else {
        assert!(matches!(due, FoldDue::Below(line) if line.rule == LineRule::Share), "{due:?}");
    }
    due.fires()
}

fn ends(client: Client, last: Run<'_>) -> bool {
    let long = "x = 1\n".repeat(400);
    let runs: Vec<Run<'_>> =
        (0..6).map(|_| ("cat src/a.py", long.as_str(), 0)).chain([last]).collect();
    is_seam(kind_of(client), &messages(client, &runs))
}

#[test]
fn a_commit_and_a_check_that_passed_end_a_piece_of_work() {
    let commit =
        ("git commit -am 'Mend the parser'", "[main 1a2b3c4] Mend the parser\n 1 file changed", 0);
    let passed = ("pytest -q", "12 passed in 0.31s", 0);
    let failed = ("pytest -q", "FAILED tests/a.py::b\n1 failed, 11 passed in 0.31s", 1);
    let read = ("cat src/b.py", "y = 2", 0);
    let nothing =
        ("git commit -am 'Mend it'", "On branch main\nnothing to commit, working tree clean", 1);
    for client in ALL {
        assert!(ends(client, commit), "{client:?}");
        assert!(ends(client, passed), "{client:?}");
        assert!(!ends(client, read), "{client:?}");
        assert!(!ends(client, failed), "{client:?}");
        assert!(!ends(client, nothing), "{client:?}");
    }
}

#[test]
fn a_turn_that_has_ended_is_a_seam_and_a_call_that_waits_is_none() {
    let long = "x = 1\n".repeat(400);
    let runs: Vec<Run<'_>> = (0..6).map(|_| ("cat src/a.py", long.as_str(), 0)).collect();
    let with = |more: &[Value]| {
        let mut all = messages(Bare, &runs);
        all.as_array_mut().unwrap().extend_from_slice(more);
        is_seam(DialectKind::OpenAiChat, &all)
    };
    let said = json!({"role": "assistant", "content": "The parser reads escapes now."});
    let user = json!({"role": "user", "content": "Now the printer."});
    let call = |id: &str, name: &str, args: Value| {
        json!({"role": "assistant", "content": null, "tool_calls": [
            {"id": id, "type": "function", "function": {"name": name, "arguments": args.to_string()}}]})
    };
    let result =
        |id: &str, text: &str| json!({"role": "tool", "tool_call_id": id, "content": text});
    assert!(with(std::slice::from_ref(&said)));
    assert!(with(&[said.clone(), user.clone()]));
    assert!(!with(&[said, user, call("z", "bash", json!({"command": "ls"}))]));
    // What waits is behind a commit.
    let commit = [
        call("a", "bash", json!({"command": "git commit -qm 'Mend it'"})),
        result("a", "[main 1a2b3c4] Mend it"),
        call("b", "bash", json!({"command": "ls"})),
    ];
    assert!(with(&commit));
}

#[test]
fn an_item_that_is_closed_is_a_seam_and_a_list_that_is_written_again_is_none() {
    let long = "x = 1\n".repeat(400);
    let runs: Vec<Run<'_>> = (0..6).map(|_| ("cat src/a.py", long.as_str(), 0)).collect();
    let list = |states: [&str; 2]| json!({"todos": [{"content": "read", "status": states[0]}, {"content": "mend", "status": states[1]}]});
    let after = |lists: &[Value]| {
        let mut all = messages(Claude, &runs);
        for (at, input) in lists.iter().enumerate() {
            let id = format!("toolu_todo_{at}");
            all.as_array_mut().unwrap().extend([
                json!({"role": "assistant", "content": [
                    {"type": "tool_use", "id": id, "name": "TodoWrite", "input": input}]}),
                json!({"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": id, "content": "Todos have been modified."}]}),
            ]);
        }
        is_seam(DialectKind::Anthropic, &all)
    };
    let (new, begun, one, both) = (
        list(["pending", "pending"]),
        list(["in_progress", "pending"]),
        list(["completed", "in_progress"]),
        list(["completed", "completed"]),
    );
    assert!(!after(std::slice::from_ref(&new)));
    assert!(!after(&[new.clone(), begun.clone()]));
    assert!(after(&[begun, one.clone()]));
    assert!(!after(&[one.clone(), one.clone()]), "nothing was closed since");
    assert!(after(&[one, both]));
}

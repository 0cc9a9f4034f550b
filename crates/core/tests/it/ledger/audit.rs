//! Audits of sessions, true ones and forged ones.

use midfold_core::Hash;
use midfold_core::audit::{Audit, audit, rule};
use midfold_core::fold::{Fold, FoldEntry};
use midfold_core::fold_standing::{FoldStanding, aside};
use midfold_core::ledger::CallRecord;
use midfold_core::trigger::FoldCause;

use super::talk::Talk;

fn session() -> Talk {
    let mut talk = Talk::new(
        "base = \"default\"\nname = \"a\"\n[tail]\nratio = 0.02\nmin_messages = 2\n",
        5_000,
    );
    talk.say("system", "You keep birds.");
    talk.say("user", "Count them, and mind src/birds/redstart.rs.");
    let pinned = talk.say("user", "the key hangs under the wagtail");
    talk.pin(pinned);
    for _ in 0..3 {
        talk.tool("write_file", r#"{"path":"src/nest.rs","content":"twigs and moss"}"#, "written");
        talk.filler(3_000);
        talk.send();
        talk.say("user", "go on");
        talk.fold();
        talk.send();
    }
    talk
}

fn active(talk: &Talk) -> Option<Hash> {
    talk.session.active().map(|fold| fold.id)
}

fn rules(audit: &Audit) -> Vec<&'static str> {
    let mut rules: Vec<_> = audit.findings.iter().map(|finding| finding.rule).collect();
    rules.dedup();
    rules
}

#[test]
fn a_true_session_is_clean() {
    let talk = session();
    let found = audit(talk.session.log(), talk.session.folds(), active(&talk), &talk.calls);
    assert!(found.is_clean(), "{found}");
    assert_eq!((found.folds, found.calls, found.receipts.len()), (3, 6, 3));
    let text = found.to_string();
    assert!(text.starts_with("3 folds, 6 calls: everything holds\nfold 1 ("), "{text}");
}

#[test]
fn the_receipt_says_what_left_and_what_stayed() {
    let talk = session();
    let found = audit(talk.session.log(), talk.session.folds(), active(&talk), &talk.calls);
    let mut left = 0;
    for (receipt, fold) in found.receipts.iter().zip(talk.session.folds()) {
        let recap = receipt.removed.iter().find(|removed| removed.rule == "recap").unwrap();
        // Messages that an earlier fold covers had left with it.
        assert_eq!(recap.items, fold.accounts.recap - left);
        left = fold.accounts.recap;
        // What left and what came make the difference, but for what the message around a recap takes.
        let after = fold.tokens_before - recap.tokens_before + recap.tokens_after;
        assert!(after.abs_diff(fold.tokens_after) <= 4, "{after} {}", fold.tokens_after);
        assert_eq!(recap.reason, "computed");
        assert_eq!(receipt.recallable.len() as u32, fold.accounts.recap);
        assert_eq!(receipt.pins, [2]);
        assert!(receipt.intact && receipt.head_verbatim && receipt.tail_verbatim);
        assert!(!receipt.recallable.contains(&2), "pinned");
        assert!(receipt.kept_ids.1.contains(&"src/nest.rs".to_owned()));
    }
}

#[test]
fn forged_folds_are_found() {
    let talk = session();
    let forged = |change: &dyn Fn(&mut Fold)| {
        let mut folds = talk.session.folds().to_vec();
        change(&mut folds[1]);
        rules(&audit(talk.session.log(), &folds, active(&talk), &talk.calls))
    };
    let recap = forged(&|fold| {
        for entry in &mut fold.entries {
            if let FoldEntry::Recap { bytes } = entry {
                *bytes = bytes.replace("nest", "best");
            }
        }
    });
    assert!(recap.contains(&rule::FOLD_ID) && recap.contains(&rule::CALL_CONTEXT), "{recap:?}");
    assert!(forged(&|fold| fold.accounts.recap += 1).contains(&rule::ACCOUNTS));
    assert!(forged(&|fold| fold.messages_after += 1).contains(&rule::FIGURES));
    assert!(forged(&|fold| fold.tokens_after += 1).contains(&rule::FIGURES));
    assert!(forged(&|fold| fold.span.through = Hash::ROOT).contains(&rule::SPAN));
    assert!(forged(&|fold| fold.prev = Some(Hash::ROOT)).contains(&rule::FOLD_PREV));
    assert!(forged(&|fold| fold.accounts.events = u32::MAX).contains(&rule::ACCOUNTS));
    assert!(forged(&|fold| fold.span.end = u32::MAX).contains(&rule::SPAN));
}

#[test]
fn forged_calls_are_found() {
    let talk = session();
    let forged = |change: &dyn Fn(&mut Vec<CallRecord>)| {
        let mut calls = talk.calls.clone();
        change(&mut calls);
        rules(&audit(talk.session.log(), talk.session.folds(), active(&talk), &calls))
    };
    // Sealed again, so that only what it says of the context is false.
    let seal = |call: &mut CallRecord| call.hash = call.compute_hash();
    assert_eq!(forged(&|calls| calls[2].tokens_counted += 1), [rule::CALL_HASH]);
    assert_eq!(forged(&|calls| drop(calls.remove(3))), [rule::CALL_CHAIN]);
    let hidden = forged(&|calls| {
        calls[5].fold = calls[3].fold;
        seal(&mut calls[5]);
    });
    assert_eq!(hidden, [rule::CALL_CONTEXT]);
    let unknown = forged(&|calls| {
        calls[5].fold = Some(Hash::ROOT);
        seal(&mut calls[5]);
    });
    assert_eq!(unknown, [rule::CALL_FOLD]);
    let moved = forged(&|calls| {
        calls[5].events -= 1;
        seal(&mut calls[5]);
    });
    assert_eq!(moved, [rule::CALL_LOG]);
}

/// A log that was changed behind the ledger's back shows everywhere.
#[test]
fn a_changed_log_is_found() {
    let talk = session();
    let mut other = Talk::new(
        "base = \"default\"\nname = \"a\"\n[tail]\nratio = 0.02\nmin_messages = 2\n",
        5_000,
    );
    other.say("system", "You keep cats.");
    let found = audit(other.session.log(), talk.session.folds(), active(&talk), &talk.calls);
    let rules = rules(&found);
    assert!(rules.contains(&rule::SPAN) && rules.contains(&rule::CALL_LOG), "{rules:?}");
    assert!(found.receipts.iter().all(|receipt| !receipt.intact));
}

/// Folds that no request was read through are listed as what they are, and counted nowhere.
#[test]
fn only_folds_in_force_are_counted() {
    let mut talk = session();
    let more = |talk: &mut Talk| {
        talk.filler(3_000);
        talk.say("user", "go on");
        talk.fold()
    };
    // Made, and taken back before anything was sent through it: one by a worker, one by a person.
    let prepared = more(&mut talk);
    talk.session.undo(None).unwrap();
    let undone = more(&mut talk);
    talk.session.undo(None).unwrap();
    assert_eq!(talk.session.status(&talk.budget, 0).compaction_count, 3);
    // Made, and folded again before anything was sent through it.
    more(&mut talk);
    let last = more(&mut talk);
    talk.send();
    let mut folds = talk.session.folds().to_vec();
    for fold in folds.iter_mut().filter(|fold| fold.id == prepared.id) {
        fold.cause = FoldCause::Prepared;
    }
    let found = audit(talk.session.log(), &folds, Some(last.id), &talk.calls);
    assert!(found.is_clean(), "{found}");
    assert_eq!(found.folds, 4);
    let stand: Vec<FoldStanding> = found.receipts.iter().map(|receipt| receipt.standing).collect();
    let three = [FoldStanding::InForce; 3];
    let rest = [
        FoldStanding::Prepared,
        FoldStanding::Undone,
        FoldStanding::Superseded,
        FoldStanding::InForce,
    ];
    let wanted = [&three[..], &rest[..]].concat();
    assert_eq!(stand, wanted, "{:?}", (undone.id, found.to_string()));
    assert_eq!(aside(&stand), "1 prepared, 1 undone, 1 replaced unsent");
    let text = found.to_string();
    assert!(text.starts_with("4 folds, 7 calls: everything holds"), "{text}");
    assert!(text.contains("policy a: prepared, and never in force"), "{text}");
}

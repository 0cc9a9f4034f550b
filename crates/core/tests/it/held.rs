//! Folds of a session that is held in memory: what it remembers saves time, and changes no fold.

#![expect(clippy::unwrap_used, reason = "test helpers may fail loudly")]

use std::collections::BTreeSet;
use std::sync::Arc;

use midfold_core::RawEvent;
use midfold_core::budget::Budget;
use midfold_core::engine::Session;
use midfold_core::ids::identifiers;
use midfold_core::log::EventLog;
use midfold_core::meter::Meter;
use midfold_core::plan::PlanOutcome;
use midfold_core::policy::Policy;
use midfold_core::view::{BlockKind, Role};
use midfold_formats::{DialectKind, profile};

use crate::quarter::Quarter;

const WINDOW: u64 = 12_000;

fn session(log: EventLog) -> Session {
    Session::over("s", log, Policy::preset("default").unwrap(), Meter::exact())
}

fn empty() -> EventLog {
    let kind = DialectKind::OpenAiChat;
    EventLog::new(kind.shared(), profile::for_dialect(kind)[0], Arc::new(Quarter))
}

/// The user's newest message often stays while later ones are covered, and is covered itself once a newer one comes.
#[test]
fn what_is_remembered_between_folds_changes_no_fold() {
    let budget = Budget::new(WINDOW);
    let mut held = session(empty());
    let (mut folds, mut parted) = (0, 0);
    for (at, row) in (1..).zip(midfold_testkit::coding_session(7, 40)) {
        held.append(RawEvent::new(row.into()));
        if at % 20 != 0 {
            continue;
        }
        let known = (held.folds().to_vec(), held.active().map(|fold| fold.id));
        let mut fresh = session(held.log().prefix(at)).with_folds(known.0, known.1);
        let outcome = held.compact(&budget, None).unwrap();
        assert_eq!(outcome, fresh.compact(&budget, None).unwrap(), "at {at}");
        assert_eq!(held.view().bytes(), fresh.view().bytes(), "at {at}");
        if let PlanOutcome::Folded(fold) = outcome {
            folds += 1;
            parted += usize::from(fold.evicted < fold.span.end - fold.span.start);
        }
    }
    assert!(folds > 10 && parted > 0, "{folds} folds, {parted} in parts");
}

#[test]
fn of_the_lost_names_those_that_somebody_wrote_come_first() {
    let mut session = session(empty());
    let rows = midfold_testkit::coding_session(3, 12);
    rows.into_iter().for_each(|row| {
        session.append(RawEvent::new(row.into()));
    });
    let PlanOutcome::Folded(fold) = session.compact(&Budget::new(WINDOW), None).unwrap() else {
        panic!("nothing was folded")
    };
    let mut written: BTreeSet<String> = BTreeSet::new();
    for event in session.log().events() {
        let by_hand = matches!(event.view.role, Role::Assistant | Role::User);
        for block in event.view.blocks.iter().filter(|_| by_hand) {
            if let BlockKind::Call { name: Some(name), .. } = &block.kind {
                written.insert(name.decode(&event.bytes).into_owned());
            }
            written.extend(identifiers(&block.plain(&event.bytes)).map(str::to_owned));
        }
    }
    let lost = &fold.lost_ids;
    let first = lost.first.iter().take_while(|name| written.contains(*name)).count();
    assert!(lost.first[first..].iter().all(|name| !written.contains(name)), "{lost:?}");
    assert!(lost.count as usize >= lost.first.len() && first > 0);
}

//! "Head, Middle, Tail": two anchors, two floors, and only the middle moves.

use midfold::core::layout::layout;
use midfold::{Budget, Meter, PlanOutcome, Policy, Session};

use super::ports;
use super::recorded::{WINDOWS, recorded};

/// `_head_end`, `_tail_start` and `_snap_to_pair_boundary`, line by line, over every conversation and
/// window. What differs is counted by its reason: a unit of ours can be larger than a call and the
/// tool messages right behind it.
#[test]
fn the_cuts_are_those_of_the_printed_functions() {
    let policy = Policy::preset("head-tail").unwrap();
    let (mut cuts, mut wider) = (0, 0);
    let mut wrong = Vec::new();
    for one in recorded() {
        let units = one.log.units();
        let tokens = one.tokens();
        for window in WINDOWS {
            let found = layout(&one.log, &units, &policy, window, None);
            let head = ports::head_end(&one.messages);
            let tail = ports::tail_start(&one.messages, &tokens, head, window, 0.25, 4);
            cuts += 1;
            if (found.head_end, found.cover_end) == (head, tail) {
                continue;
            }
            let splits =
                |cut: usize| units.iter().any(|u| u.events.start < cut && cut < u.events.end);
            let newest = units.last().map_or(0, |unit| unit.events.start);
            if found.head_end == head && (splits(tail) || tail > newest) {
                wider += 1;
            } else {
                let found = (found.head_end, found.cover_end);
                wrong.push(format!("{} at {window}: {found:?}, not {:?}", one.name, (head, tail)));
            }
        }
    }
    println!("{cuts} layouts: {wider} snap to a wider unit, {} differ otherwise", wrong.len());
    assert!(cuts >= 24 && wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn head_and_tail_are_the_same_slices_on_every_record() {
    let policy = Policy::preset("head-tail").unwrap();
    let mut folds = 0;
    for one in recorded() {
        let mut session = Session::over("s", one.log.clone(), policy.clone(), Meter::exact());
        if let Ok(PlanOutcome::Folded(fold)) = session.compact(&Budget::new(32_000), None) {
            folds += 1;
            let repaired = !fold.repairs.is_empty();
            assert!(repaired || fold.head_verbatim && fold.tail_verbatim, "{}", one.name);
            assert_eq!((fold.strategy.as_str(), fold.fallback_used), ("head-tail", true));
            assert_eq!(fold.fallback.map(|stands| stands.as_str()), Some("marker"));
            assert!(fold.edits.is_empty(), "one recap message stands for the whole middle");
        }
    }
    assert!(folds > 0);
}

/// `compress_in_place(messages, budget)`, by hand: its floors are of the budget, also where the list is
/// smaller, and a list that they protect whole is left as it is.
#[test]
fn by_hand_the_floors_are_of_the_budget() {
    let policy = Policy::preset("head-tail").unwrap();
    let (mut left, mut folded) = (0, 0);
    for one in recorded() {
        let tokens = one.tokens();
        for window in WINDOWS {
            if one.log.tokens() > window * 3 / 4 {
                continue;
            }
            let head = ports::head_end(&one.messages);
            let tail = ports::tail_start(&one.messages, &tokens, head, window, 0.25, 4);
            let mut session = Session::over("s", one.log.clone(), policy.clone(), Meter::exact());
            match session.compact(&Budget::new(window), None).unwrap() {
                PlanOutcome::Folded(fold) => {
                    assert!(head < tail, "{} at {window}: nothing to compress", one.name);
                    assert!(fold.layout.tail.start as usize <= tail, "{} at {window}", one.name);
                    folded += 1;
                }
                // A marker that would take more than the middle is the one thing beside.
                PlanOutcome::Nothing(reason) => {
                    let middle = one.log.tokens_in(head..tail.max(head));
                    assert!(middle < 200, "{} at {window}: {reason}", one.name);
                    left += 1;
                }
            }
        }
    }
    println!("{left} lists left alone, {folded} folded");
    if crate::common::corpus().is_none() {
        println!("skipped: no corpus");
        return;
    }
    assert!(left > 0 && folded > 0);
}

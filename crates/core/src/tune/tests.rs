use proptest::prelude::*;

use super::*;
use crate::policy::Cover;
use crate::replay::Share;

fn base() -> Policy {
    let text = "base = \"default\"\n[tail]\nratio = 0.04\n[recap]\ncap = 0.21";
    Policy::from_toml(text).unwrap()
}

/// A made-up world: recall comes from the recap, cost from the recap and the tail.
fn world(policy: &Policy, salt: u64) -> Evaluated {
    let cap = u64::from(policy.recap.cap.0);
    let tail = u64::from(policy.tail.ratio.0);
    if policy.recap.cover == Cover::Overflow && salt.is_multiple_of(2) {
        return None;
    }
    let one = |number: u64| Measures {
        at_risk: Share { need: 10_000, have: (6_000 + cap + number).min(10_000) },
        cost: 1_000 + cap / 10 + tail + (salt + number) % 7,
        raw_cost: 10_000,
        over: u64::from(policy.trigger.threshold.0 > 8_500),
        ..Measures::default()
    };
    Some((0..4).map(one).collect())
}

fn run(prefer: Prefer, tries: usize, salt: u64) -> (Found, usize) {
    let base = base();
    let plan = Plan { base: &base, prefer, tries, priced: false };
    let mut asked = 0;
    let found = search(&plan, |policies| {
        asked += policies.len();
        policies.iter().map(|policy| world(policy, salt)).collect()
    });
    (found, asked)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_search_stays_within_its_tries_and_never_measures_twice(
        tries in 0usize..90, salt in 0u64..5
    ) {
        let (found, asked) = run(Prefer::Recall, tries, salt);
        prop_assert_eq!(found.trials.len(), asked);
        prop_assert!(asked <= tries.max(1));
        let prints: BTreeSet<_> = found.trials.iter().map(|t| t.policy.fingerprint()).collect();
        prop_assert_eq!(prints.len(), found.trials.len());
        prop_assert_eq!(&found.trials[0].policy, &base());
    }

    #[test]
    fn the_front_has_nothing_dominated_and_nothing_unfit(tries in 1usize..90, salt in 0u64..5) {
        let (found, _) = run(Prefer::Balance, tries, salt);
        let fit: Vec<&Trial> = found.trials.iter().filter(|trial| trial.fit).collect();
        for at in &found.front {
            let here = &found.trials[*at];
            prop_assert!(here.fit && here.total.as_ref().unwrap().over == 0);
            prop_assert!(!fit.iter().any(|other| other.point.dominates(&here.point)));
        }
        prop_assert!(found.trials[found.chosen].fit);
    }

    #[test]
    fn two_searches_are_alike(tries in 1usize..90, salt in 0u64..5) {
        let trail = |found: &Found| -> Vec<_> {
            found.trials.iter().map(|t| (t.policy.fingerprint(), t.from)).collect()
        };
        let (one, two) = (run(Prefer::Cost, tries, salt).0, run(Prefer::Cost, tries, salt).0);
        prop_assert_eq!(trail(&one), trail(&two));
        prop_assert_eq!((one.front, one.chosen), (two.front, two.chosen));
    }
}

#[test]
fn a_wish_is_granted_within_its_limit() {
    for (prefer, salt) in [(Prefer::Recall, 1), (Prefer::Cost, 0), (Prefer::Balance, 0)] {
        let (found, _) = run(prefer, 60, salt);
        let (base, best) = (&found.trials[0].point, &found.trials[found.chosen].point);
        assert_ne!(found.chosen, 0, "{prefer:?}");
        match prefer {
            // More recap is paid for with less tail.
            Prefer::Recall => assert!(best.recall > 0.88 && best.cost <= base.cost),
            Prefer::Cost => assert!(best.cost < base.cost && best.recall >= base.recall),
            Prefer::Balance => {
                assert!(best.recall - best.cost > base.recall - base.cost);
            }
        }
    }
}

#[test]
fn what_does_not_hold_is_not_better() {
    let base = base();
    let plan = Plan { base: &base, prefer: Prefer::Recall, tries: 60, priced: false };
    let (found, _) = run(Prefer::Recall, 60, 1);
    assert!(matches!(judge(&plan, &found, None), Verdict::Better { .. }));
    let chosen = &found.trials[found.chosen].policy;
    let [mine, theirs] = [&base, chosen].map(|policy| world(policy, 1).unwrap());
    let held =
        |chosen: Option<&[Measures]>| judge(&plan, &found, Some(Pair { base: &mine, chosen }));
    assert!(matches!(held(Some(&theirs)), Verdict::Better { .. }));
    assert!(matches!(held(Some(&mine)), Verdict::NotHeld { .. }), "no gain there");
    assert!(matches!(held(None), Verdict::NotHeld { .. }), "it cannot be replayed there");
    let mut over = theirs.clone();
    over[0].over = 1;
    assert!(matches!(held(Some(&over)), Verdict::NotHeld { .. }), "over the window there");
    let mut dear = theirs.clone();
    dear.iter_mut().for_each(|m| m.cost += 2_000);
    assert!(matches!(held(Some(&dear)), Verdict::NotHeld { .. }), "it costs more there");
    let alone = search(&Plan { tries: 1, ..plan }, |policies| {
        policies.iter().map(|policy| world(policy, 1)).collect()
    });
    assert_eq!(judge(&plan, &alone, None), Verdict::Nothing);
}

#[test]
fn losing_rules_rare_words_or_files_is_not_fit() {
    let kept = |have| Share { need: 100, have };
    let base = Measures { rules: kept(90), rare: kept(40), ..Measures::default() };
    assert!(is_fit(&base, &base));
    assert!(is_fit(&base, &Measures { rules: kept(89), ..base.clone() }));
    assert!(!is_fit(&base, &Measures { rules: kept(88), ..base.clone() }));
    assert!(!is_fit(&base, &Measures { rare: kept(38), ..base.clone() }));
    assert!(!is_fit(&base, &Measures { invalid: 1, ..base.clone() }));
}

#[test]
fn halves_have_as_many_of_each_kind_and_both_have_long_ones() {
    assert_eq!(hold_out(&[("a", 5)]), [false]);
    assert_eq!(hold_out(&[("a", 5), ("a", 9)]), [true, false]);
    for n in 1..20u64 {
        let list: Vec<(&str, u64)> = (0..n).map(|tokens| ("a", tokens)).collect();
        let held = hold_out(&list).into_iter().filter(|held| *held).count() as u64;
        assert_eq!(held, n / 2);
    }
    let list: Vec<(&str, u64)> = (0..16).map(|n| (["a", "b"][n % 2], n as u64)).collect();
    let held = hold_out(&list);
    for kind in ["a", "b"] {
        let of =
            |side: bool| list.iter().zip(&held).filter(move |(c, h)| c.0 == kind && **h == side);
        assert_eq!(of(true).count(), 4);
        let tokens = |side: bool| of(side).map(|(c, _)| c.1).sum::<u64>();
        assert_eq!(tokens(true), tokens(false));
    }
}

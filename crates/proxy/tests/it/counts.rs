//! A provider's counts, and what they show together: none of them alone shows that a prompt was cut.

use midfold_proxy::inside::{CountKind, CountPair, CountTrail};

/// The judgements of counts, each with the tokens that were sent. Nothing of the prompts is reasoning.
fn judged(is_set: bool, counts: &[(u64, u64)]) -> (Vec<CountKind>, CountTrail) {
    let mut trail = CountTrail::default();
    let judge = |&(sent, prompt)| trail.judge(CountPair { sent, prompt }, is_set, || 0);
    (counts.iter().map(judge).collect(), trail)
}

/// Counts of a conversation that grows by 400 tokens a request.
fn growing(requests: u64, count: impl Fn(u64) -> u64) -> Vec<(u64, u64)> {
    (1..=requests).map(|at| (at * 400, count(at * 400))).collect()
}

#[test]
fn a_count_of_what_was_not_cached_teaches_nothing() {
    // Whole blocks of a cache, and exact ones; a first prompt that another conversation began, too.
    for block in [1, 128, 1_024] {
        let new = |sent: u64| (1 + sent / 17 % 400).div_ceil(block) * block;
        for is_set in [true, false] {
            let mut counts = vec![(9_000, 1_530)];
            counts.extend(growing(40, new).iter().map(|(sent, count)| (9_000 + sent, *count)));
            let (kinds, trail) = judged(is_set, &counts);
            assert!(kinds.iter().all(|kind| *kind == CountKind::Other), "{block}: {kinds:?}");
            assert_eq!(trail.cut(), None);
        }
    }
}

#[test]
fn an_estimate_that_is_twice_too_high_is_corrected_and_no_truncation() {
    for tenths in [2, 4, 6] {
        let (kinds, trail) = judged(true, &growing(60, |sent| sent * tenths / 10));
        assert_eq!(kinds[0], CountKind::Other, "one count proves nothing");
        assert_eq!((*kinds.last().unwrap(), trail.cut()), (CountKind::Prompt, None), "{tenths}");
    }
}

#[test]
fn a_server_that_cuts_is_found_after_two_signs() {
    const WINDOW: u64 = 8_000;
    type Count = fn(u64) -> u64;
    let counts: [(&str, Count); 4] = [
        ("its end", |sent| sent.min(WINDOW)),
        ("half of its window", |sent| if sent > WINDOW { WINDOW / 2 } else { sent }),
        ("half of the prompt", |sent| if sent > WINDOW { sent / 2 } else { sent }),
        ("whole messages", |sent| if sent > WINDOW { WINDOW - sent / 7 % 400 } else { sent }),
    ];
    for (name, count) in counts {
        for is_set in [true, false] {
            let (kinds, _) = judged(is_set, &growing(24, count));
            let first = kinds.iter().position(|kind| matches!(kind, CountKind::Truncated(_)));
            // 20 requests fit; the first that does not may still have a larger count than the one before.
            assert!(first.is_some_and(|at| (21..=23).contains(&at)), "{name}: {first:?}");
            assert_eq!(kinds[first.unwrap()], CountKind::Truncated(WINDOW), "{name}");
            assert!(kinds[20..first.unwrap()].iter().all(|kind| *kind == CountKind::Other));
        }
    }
}

#[test]
fn one_sign_is_forgotten_when_the_count_grows() {
    let (kinds, trail) =
        judged(true, &[(5_000, 5_000), (5_400, 5_400), (5_900, 3_000), (6_300, 6_300)]);
    let (whole, other) = (CountKind::Prompt, CountKind::Other);
    assert_eq!((kinds, trail.cut()), (vec![whole, whole, other, whole], None));
}

#[test]
fn a_larger_count_takes_a_truncation_back() {
    let mut counts = growing(24, |sent| sent.min(8_000));
    assert_eq!(judged(true, &counts).1.cut(), Some(8_000));
    counts.push((10_200, 10_100));
    assert_eq!(judged(true, &counts).1.cut(), None);
}

#[test]
fn a_count_that_never_grew_is_no_window_that_somebody_set() {
    let long = |is_set| judged(is_set, &[(20_000, 3_000), (20_500, 3_000), (21_000, 3_000)]).1;
    assert_eq!((long(true).cut(), long(false).cut()), (None, Some(3_000)));
    // Here the same number was counted for a prompt that is shorter.
    let (_, trail) = judged(false, &growing(30, |_| 3_000));
    assert_eq!(trail.cut(), None);
}

#[test]
fn reasoning_that_the_server_drops_is_no_truncation() {
    let mut trail = CountTrail::default();
    let mut judge = |sent, prompt| trail.judge(CountPair { sent, prompt }, true, || 8_000);
    for tokens in [4_000, 12_000, 16_000] {
        judge(tokens, tokens);
    }
    // The next turn begins: the thoughts of the turn before are not part of the prompt any more.
    for tokens in [400, 800, 1_200] {
        judge(16_000 + tokens, 8_000 + tokens);
    }
    assert_eq!(trail.cut(), None);
}

#[test]
fn a_sum_of_several_prompts_is_none_and_a_dense_text_is_believed_when_it_stays() {
    let (kinds, _) = judged(true, &growing(30, |sent| sent * 5));
    assert!(kinds.iter().all(|kind| *kind == CountKind::Other), "{kinds:?}");
    let dense = [(3_000, 3_000), (3_200, 3_200), (4_000, 15_000), (4_200, 15_200), (4_400, 15_400)];
    let (kinds, _) = judged(true, &dense);
    assert_eq!(kinds[2..], [CountKind::Other, CountKind::Prompt, CountKind::Prompt]);
}

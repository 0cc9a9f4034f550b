//! What requests cost: a saving is what a fold saved, and nothing else.

use midfold_core::budget::Ratio;
use midfold_core::event::{Hash, Usage};
use midfold_core::spending::{FoldedPrompt, PromptCost, SessionSpending, SpentPrompt};
use proptest::collection::vec;
use proptest::prelude::*;

/// What providers report: with a cache or without one, and with prompts of any length, those of titles among them.
fn usage() -> impl Strategy<Value = Usage> {
    (0_u64..400_000, 0_u64..400_000, 0_u64..400_000, any::<bool>()).prop_map(|(a, b, c, cached)| {
        let (cache_read, cache_write) = if cached { (a, b) } else { (0, 0) };
        Usage { prompt: cache_read + cache_write + c, cache_read, cache_write, output: c % 900 }
    })
}

/// A request of so many tokens, of which a fold left some out.
fn prompt(counted: u64, folded: Option<(u8, u64)>) -> SpentPrompt {
    let folded =
        folded.map(|(fold, left_out)| FoldedPrompt { fold: Hash([fold; 32]), head: 100, left_out });
    SpentPrompt { counted, ratio: Ratio::ONE, folded, is_own: false, at: 0, lifetime: None }
}

fn plain(prompt: u64) -> Usage {
    Usage { prompt, ..Usage::default() }
}

/// The cost where none is known: equal to no other.
const NO_COST: PromptCost = PromptCost { sent: f64::NAN, everything: f64::NAN };

/// The sides of the account, rounded: prices have no exact number in binary.
fn sides(spent: &SessionSpending) -> (f64, f64) {
    let PromptCost { sent, everything } = spent.cost().unwrap_or(NO_COST);
    (sent.round(), everything.round())
}

#[test]
fn impossible_counts_add_up_to_a_number() {
    let mut spent = SessionSpending::default();
    let all = u64::MAX;
    for _ in 0..3 {
        let usage = Usage { prompt: all, output: all, cache_read: all, cache_write: all };
        spent.add(usage, Some(prompt(100, None)));
    }
    assert_eq!(spent.calls, 3);
}

proptest! {
    #[test]
    fn without_a_fold_nothing_is_saved_and_nothing_lost(calls in vec(usage(), 0..40)) {
        let mut spent = SessionSpending::default();
        for usage in &calls {
            spent.add(*usage, Some(prompt(usage.prompt, None)));
            if let Some(cost) = spent.cost() {
                prop_assert_eq!(cost.sent, cost.everything);
            }
        }
    }

    #[test]
    fn a_fold_that_took_nothing_out_saves_nothing_without_a_cache(prompts in vec(1_u64..400_000, 1..40)) {
        let mut spent = SessionSpending::default();
        for tokens in prompts {
            spent.add(plain(tokens), Some(prompt(700, Some((1, 0)))));
        }
        let cost = spent.cost().unwrap();
        prop_assert_eq!(cost.sent, cost.everything);
    }
}

/// What was counted before a fold stays as it was, and what both have after it is what the provider counts.
#[test]
fn only_the_first_request_of_a_fold_is_estimated() {
    let mut spent = SessionSpending::default();
    spent.add(plain(10_000), Some(prompt(7_000, None)));
    spent.add(plain(3_000), Some(prompt(8_000, Some((1, 6_000)))));
    assert_eq!(sides(&spent), (13_000.0, 21_000.0));
    // Grown by 500 tokens of the provider, of which midfold counted 90.
    spent.add(plain(3_500), Some(prompt(8_090, Some((1, 6_000)))));
    assert_eq!(sides(&spent), (16_500.0, 32_500.0));
}

#[test]
fn a_cache_that_ends_in_front_of_the_fold_saves_nothing_behind_it() {
    let call = |prompt, cache_read| Usage { prompt, cache_read, ..Usage::default() };
    let mut spent = SessionSpending::default();
    spent.add(call(10_000, 100), Some(prompt(10_000, None)));
    spent.add(call(11_000, 100), Some(prompt(11_000, None)));
    spent.add(call(2_000, 100), Some(prompt(12_000, Some((1, 10_000)))));
    let (sent, everything) = sides(&spent);
    assert_eq!(sent, 10_000.0 + 11_000.0 + 2_000.0 - 300.0 * 0.9);
    assert_eq!(everything, 10_000.0 + 11_000.0 + 12_000.0 - 300.0 * 0.9);
}

#[test]
fn a_cache_that_is_read_to_the_end_is_read_to_the_end_without_the_fold_too() {
    let call =
        |prompt, cache_read, cache_write| Usage { prompt, cache_read, cache_write, output: 0 };
    let mut spent = SessionSpending::default();
    spent.add(call(10_000, 0, 10_000), Some(prompt(10_000, None)));
    spent.add(call(3_000, 100, 2_900), Some(prompt(11_000, Some((1, 8_000)))));
    let (sent, everything) = sides(&spent);
    assert_eq!(sent, (12_500.0_f64 + 10.0 + 3_625.0).round());
    assert_eq!(everything, 12_500.0 + 1_000.0 + 1_250.0);
    spent.add(call(4_000, 3_000, 1_000), Some(prompt(12_000, Some((1, 8_000)))));
    let (_, next) = sides(&spent);
    assert_eq!(next - everything, 1_100.0 + 1_250.0);
}

/// Where the cache lives no longer than that, the whole prompt had to be paid again.
#[test]
fn after_the_lifetime_of_the_cache_nothing_is_read_from_it() {
    let call = |prompt, cache_read| Usage { prompt, cache_read, ..Usage::default() };
    let later = |lifetime| {
        let mut spent = SessionSpending::default();
        spent.add(call(9_000, 0), Some(prompt(9_000, None)));
        spent.add(call(10_000, 9_000), Some(prompt(10_000, None)));
        let late = SpentPrompt { at: 400_000, lifetime, ..prompt(11_000, Some((1, 8_000))) };
        spent.add(call(3_000, 0), Some(late));
        sides(&spent).1
    };
    assert_eq!(later(None) - later(Some(3_600_000)), 10_000.0 * 0.9);
}

/// Of a look-up's requests the client sent one.
#[test]
fn a_look_up_is_paid_on_one_side_alone() {
    let mut spent = SessionSpending::default();
    spent.add(plain(10_000), Some(prompt(10_000, None)));
    spent.add(plain(3_000), Some(prompt(11_000, Some((1, 8_000)))));
    let (_, before) = sides(&spent);
    let own = SpentPrompt { is_own: true, ..prompt(11_400, Some((1, 8_000))) };
    spent.add(plain(3_400), Some(own));
    assert_eq!(sides(&spent), (16_400.0, before));
    spent.add(plain(3_900), Some(prompt(11_900, Some((1, 8_000)))));
    assert_eq!(sides(&spent), (20_300.0, before + 11_500.0));
    assert_eq!((spent.calls, spent.prompt), (4, 20_300));
}

/// A store of before has sums of another kind: what was before a fold counts as it was.
#[test]
fn what_a_store_kept_before_is_no_saving() {
    let old = r#"{"calls":2,"prompt":900,"output":5,"cache_read":0,"cache_write":0,"everything":4000,"everything_last":3000}"#;
    let spent: SessionSpending = serde_json::from_str(old).unwrap();
    let cost = spent.cost().unwrap();
    assert_eq!((cost.sent, cost.everything), (900.0, 900.0));
    let old = r#"{"calls":2,"prompt":900,"output":5,"cache_read":0,"cache_write":0,"unfolded":{"plain":1200,"read":0,"write":0,"last":700}}"#;
    let spent: SessionSpending = serde_json::from_str(old).unwrap();
    assert_eq!(sides(&spent), (900.0, 1_200.0));
}

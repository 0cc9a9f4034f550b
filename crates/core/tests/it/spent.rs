//! What requests cost: a saving is what a fold saved, and nothing else.

use midfold_core::event::Usage;
use midfold_core::spending::{FoldedPrompt, SessionSpending};
use proptest::collection::vec;
use proptest::prelude::*;

/// What providers report: with a cache or without one, and with prompts of any length, those of titles among them.
fn usage() -> impl Strategy<Value = Usage> {
    (0_u64..400_000, 0_u64..400_000, 0_u64..400_000, any::<bool>()).prop_map(|(a, b, c, cached)| {
        let (cache_read, cache_write) = if cached { (a, b) } else { (0, 0) };
        Usage { prompt: cache_read + cache_write + c, cache_read, cache_write, output: c % 900 }
    })
}

proptest! {
    #[test]
    fn without_a_fold_nothing_is_saved_and_nothing_lost(calls in vec(usage(), 0..40)) {
        let mut spent = SessionSpending::default();
        for usage in &calls {
            spent.add(*usage, None);
            if let Some(cost) = spent.cost() {
                prop_assert_eq!(cost.sent, cost.everything);
            }
        }
    }

    #[test]
    fn a_fold_that_took_nothing_out_saves_nothing_without_a_cache(prompts in vec(1_u64..400_000, 1..40)) {
        let mut spent = SessionSpending::default();
        for prompt in prompts {
            let usage = Usage { prompt, ..Usage::default() };
            spent.add(usage, Some(FoldedPrompt { sent: 700, whole: 700 }));
        }
        let cost = spent.cost().unwrap();
        prop_assert_eq!(cost.sent, cost.everything);
    }
}

/// Sizes as midfold counts them and as the provider does differ: only their ratio is used.
#[test]
fn both_sides_are_in_the_tokens_of_the_provider() {
    let mut spent = SessionSpending::default();
    let usage = Usage { prompt: 3_000, ..Usage::default() };
    spent.add(usage, Some(FoldedPrompt { sent: 1_000, whole: 4_000 }));
    let cost = spent.cost().unwrap();
    assert_eq!((cost.sent, cost.everything, cost.saved()), (3_000.0, 12_000.0, 9_000.0));
}

/// A store of before has sums of another kind: what was before a fold counts as it was.
#[test]
fn what_a_store_kept_before_is_no_saving() {
    let old = r#"{"calls":2,"prompt":900,"output":5,"cache_read":0,"cache_write":0,"everything":4000,"everything_last":3000}"#;
    let spent: SessionSpending = serde_json::from_str(old).unwrap();
    let cost = spent.cost().unwrap();
    assert_eq!((cost.sent, cost.everything), (900.0, 900.0));
}

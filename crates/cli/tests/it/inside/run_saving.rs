//! The line at the end of `midfold run`.

use midfold::core::spending::PromptCost;
use midfold_cli::inside::saving::line;
use midfold_serve::ServerTotals;

#[test]
fn the_line_says_what_happened() {
    let none = ServerTotals::default();
    assert!(line(&none).starts_with("no request came through"));
    let small =
        ServerTotals { requests: 3, with_history: 1, tokens_before: 9, tokens_after: 9, ..none };
    assert_eq!(line(&small), "1 model request, nothing was folded");
    let folded = ServerTotals {
        requests: 16,
        with_history: 15,
        folded: 9,
        folds: 4,
        cost: Some(PromptCost { sent: 48_000.4, everything: 96_000.0 }),
        tokens_before: 210_000,
        tokens_after: 105_000,
        prompt_tokens: 100_000,
        cache_read_tokens: 54_900,
        faults: 2,
        fault_reason: Some("what may not be folded does not fit"),
        ..none
    };
    assert_eq!(
        line(&folded),
        "15 model requests, 4 folds, 54 % of the prompts from the provider's cache, cost −50 % \
         (as 48,000 uncached tokens; sending everything: 96,000), \
         2 sent as they came (what may not be folded does not fit)"
    );
    let looked_up = ServerTotals { look_ups: 3, cost: None, faults: 0, ..folded };
    let wanted =
        "15 model requests, 4 folds, 3 look-ups, 54 % of the prompts from the provider's cache";
    assert_eq!(line(&looked_up), wanted);
    let earlier = ServerTotals { folds: 0, faults: 0, cache_read_tokens: 0, ..folded };
    assert_eq!(
        line(&earlier),
        "15 model requests, an earlier fold, \
         cost −50 % (as 48,000 uncached tokens; sending everything: 96,000)"
    );
    let unreported = ServerTotals { cost: None, ..earlier };
    assert_eq!(line(&unreported), "15 model requests, an earlier fold");
}

//! A comparison of strategies as JSON, for programs and for the report page.

use midfold_args::ReplayMeasure;
use midfold_eval::StrategyComparison;
use midfold_eval::prices::PriceTable;
use serde_json::Value;

use crate::replay::strategies::StrategyRun;
use crate::replay::work::{RunOutcome, WorkOutcome};

/// The whole comparison.
pub fn document(
    outcome: &WorkOutcome,
    runs: &[StrategyRun],
    prices: &PriceTable,
    measure: &ReplayMeasure,
) -> Value {
    StrategyComparison {
        tokenizer: &measure.tokenizer,
        prices,
        conversations: &outcome.conversations,
        runs: runs.iter().zip(&outcome.results).map(one).collect(),
    }
    .to_json()
}

fn one<'a>((run, ran): (&'a StrategyRun, &'a RunOutcome)) -> midfold_eval::StrategyResult<'a> {
    midfold_eval::StrategyResult {
        strategy: &run.name,
        window: run.window,
        form: run.form(),
        is_engine: run.is_engine(),
        totals: &ran.totals,
        each: &ran.each,
    }
}

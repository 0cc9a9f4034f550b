//! A comparison as JSON: for programs, and for the page that draws it.

use midfold::Comparison;
use midfold::core::prices::Prices;
use midfold_args::ReplayMeasure;
use serde_json::Value;

use crate::replay::strategies::Run;
use crate::replay::work::{Outcome, Ran};

/// The whole comparison.
pub fn document(
    outcome: &Outcome,
    runs: &[Run],
    prices: &Prices,
    measure: &ReplayMeasure,
) -> Value {
    Comparison {
        tokenizer: &measure.tokenizer,
        arguments: measure.arguments.name(),
        prices,
        conversations: &outcome.conversations,
        runs: runs.iter().zip(&outcome.results).map(one).collect(),
    }
    .to_json()
}

fn one<'a>((run, ran): (&'a Run, &'a Ran)) -> midfold::Ran<'a> {
    midfold::Ran {
        strategy: &run.name,
        window: run.window,
        form: run.form(),
        is_engine: run.is_engine(),
        totals: &ran.totals,
        each: &ran.each,
    }
}

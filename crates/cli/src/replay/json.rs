//! A comparison as JSON: for programs, and for the page that draws it. Version 1.

use midfold::core::replay::{FoldRow, Loss, Measures, NameClass, Prices, Replayed, percentile};
use serde_json::{Map, Value, json};

use crate::args::ReplayMeasure;
use crate::replay::rows::{EventRow, hidden};
use crate::replay::strategies::Run;
use crate::replay::work::{About, Outcome, Ran};

/// The form of the document.
const VERSION: u32 = 1;
/// Losses listed of one conversation.
const LOSSES: usize = 500;

/// The whole comparison.
pub fn document(
    outcome: &Outcome,
    runs: &[Run],
    prices: &Prices,
    measure: &ReplayMeasure,
) -> Value {
    json!({
        "version": VERSION,
        "midfold": env!("CARGO_PKG_VERSION"),
        "tokenizer": measure.tokenizer,
        "arguments": measure.arguments.name(),
        "prices": prices,
        "conversations": outcome.conversations.iter().map(about).collect::<Vec<_>>(),
        "runs": runs.iter().zip(&outcome.results).map(|(run, ran)| one(run, ran)).collect::<Vec<_>>(),
    })
}

fn about(about: &About) -> Value {
    let row = |event: &EventRow| json!([event.role, event.tokens, event.line, event.tool]);
    json!({
        "name": about.name,
        "dialect": about.dialect,
        "messages": about.messages,
        "tokens": about.tokens,
        "events": about.events.iter().map(row).collect::<Vec<_>>(),
    })
}

fn one(run: &Run, ran: &Ran) -> Value {
    let each = ran.each.iter().map(|(at, found)| match found {
        Ok(found) => conversation(*at, found, run.window),
        Err(error) => json!({ "conversation": at, "error": error }),
    });
    json!({
        "strategy": run.name,
        "window": run.window,
        "form": run.form,
        "engine": run.is_engine(),
        "totals": totals(&ran.totals, run.window),
        "conversations": each.collect::<Vec<_>>(),
    })
}

fn conversation(at: usize, found: &Replayed, window: u64) -> Value {
    let requests = found.requests.iter().map(|row| {
        let fold = row.fold.map_or(-1, |at| i64::try_from(at).unwrap_or(-1));
        json!([
            row.at,
            row.raw,
            row.tokens,
            row.prefix,
            fold,
            u8::from(row.broke),
            row.at_risk.need,
            row.at_risk.have
        ])
    });
    json!({
        "conversation": at,
        "totals": totals(&found.measures, window),
        "requests": requests.collect::<Vec<_>>(),
        "folds": found.folds.iter().map(fold).collect::<Vec<_>>(),
        "losses": found.losses.iter().take(LOSSES).map(loss).collect::<Vec<_>>(),
    })
}

/// Says no more than that the event is a stub.
const PLAIN: &str = "retain: ";

fn fold(fold: &FoldRow) -> Value {
    let tells = |(_, why): &(&u32, &String)| !why.starts_with(PLAIN);
    let why = fold.why.iter().filter(tells).map(|(seq, why)| (seq.to_string(), json!(why)));
    let fates = fold.fates.iter().map(|(cell, count)| json!([cell.letter(), count]));
    json!({
        "at": fold.at,
        "before": fold.before,
        "after": fold.after,
        "fates": fates.collect::<Vec<_>>(),
        "why": why.collect::<Map<_, _>>(),
        // An engine outside need not have hidden anything.
        "recap": fold.recap.as_deref().map(hidden),
        "recap_tokens": fold.recap_tokens,
    })
}

fn loss(loss: &Loss) -> Value {
    json!({
        "id": hidden(&loss.id),
        "class": loss.class.name(),
        "at": loss.at,
        "seen": loss.seen,
        "times": loss.times,
        "recalled": loss.recalled,
    })
}

/// Sums, and the ratios that people ask for.
pub fn totals(sum: &Measures, window: u64) -> Value {
    let classes = NameClass::ALL.iter().zip(sum.classes);
    let classes =
        classes.map(|(class, share)| (class.name().to_owned(), json!([share.need, share.have])));
    let mut value = json!({
        "requests": sum.requests, "counted": sum.counted, "folds": sum.folds,
        "breaks": sum.breaks, "over": sum.over, "invalid": sum.invalid,
        "recall": four(sum.recall.ratio()), "recall_need": sum.recall.need,
        "at_risk": four(sum.at_risk.ratio()), "at_risk_need": sum.at_risk.need,
        "reachable": four(sum.reachable.ratio()), "reachable_need": sum.reachable.need,
        "within_reach": four(sum.within_reach()),
        "rare": four(sum.rare.ratio()), "rare_need": sum.rare.need,
        "classes": classes.collect::<Map<_, _>>(),
        "rules": four(sum.rules.ratio()), "rules_need": sum.rules.need,
        "rereads": sum.rereads,
        "modified": four(sum.modified.ratio()), "modified_need": sum.modified.need,
        "read": four(sum.read.ratio()), "read_need": sum.read.need,
        "mean": four(sum.mean_context()),
        "mean_share": four(sum.mean_context() / window as f64),
        "peak": sum.peak,
        "tokens_by": sum.tokens_by.named().into_iter().map(|(name, n)| (name.to_owned(), json!(n)))
            .collect::<Map<_, _>>(),
        "cost": four(sum.cost_ratio()),
        "price": four(sum.price), "raw_price": four(sum.raw_price),
        "hit_share": four(sum.hit_share()),
        "context_us": times(&sum.context_time), "fold_us": times(&sum.fold_time),
    });
    if sum.summaries > 0 {
        value["summaries"] = json!(sum.summaries);
        value["accepted"] = json!(sum.accepted);
    }
    if sum.usages > 0 {
        value["usage"] = json!({
            "calls": sum.usages, "input": sum.usage.prompt, "output": sum.usage.output,
            "cache_read": sum.usage.cache_read, "cache_write": sum.usage.cache_write,
        });
    }
    value
}

/// Median and 99th percentile, in microseconds.
fn times(nanos: &[u64]) -> Value {
    let at = |share| percentile(nanos, share).map(|nanos| four(nanos as f64 / 1e3));
    json!([at(0.5), at(0.99)])
}

fn four(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}

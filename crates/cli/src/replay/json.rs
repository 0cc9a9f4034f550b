//! A comparison as JSON: for programs, and for the page that draws it. Version 1.

use midfold::core::replay::{Loss, Prices, Replayed};
use midfold::measures;
use serde_json::{Map, Value, json};

use crate::args::ReplayMeasure;
use crate::replay::rows::{EventRow, hidden};
use crate::replay::strategies::Run;
use crate::replay::work::{About, Outcome, Ran};

/// The form of the document.
const VERSION: u32 = 1;
/// Losses listed of one conversation.
const LOSSES: usize = 500;
/// Names listed of one fold.
const REFERENCES: usize = 40;

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
        "form": run.form(),
        "engine": run.is_engine(),
        "totals": measures(&ran.totals, run.window),
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
        "totals": measures(&found.measures, window),
        "requests": requests.collect::<Vec<_>>(),
        "folds": (0..found.folds.len()).map(|at| fold(found, at)).collect::<Vec<_>>(),
        "losses": found.losses.iter().take(LOSSES).map(loss).collect::<Vec<_>>(),
    })
}

/// Says no more than that the event is a stub.
const PLAIN: &str = "retain: ";

fn fold(found: &Replayed, place: usize) -> Value {
    let fold = &found.folds[place];
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
        "referenced_later": referenced_later(found, place),
    })
}

/// Names that were out of the context after this fold, and asked for before the next one.
fn referenced_later(found: &Replayed, place: usize) -> Vec<String> {
    let from = found.folds[place].at;
    let until = found.folds.get(place + 1).map_or(usize::MAX, |next| next.at);
    let missed = found.losses.iter().filter(|loss| (from..until).contains(&loss.at));
    missed.take(REFERENCES).map(|loss| hidden(&loss.id)).collect()
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

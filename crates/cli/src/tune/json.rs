//! A search as JSON. Version 1.

use midfold::core::replay::{Measures, Share};
use midfold::core::tune::{Gain, KNOBS, Prefer, Trial, Verdict, changes};
use serde_json::{Value, json};

use crate::tune::work::Half;
use crate::tune::{BASE, Tuned, file, report};

/// The form of the document.
const VERSION: u32 = 1;

pub fn document(tuned: &Tuned<'_>) -> Value {
    let names = |half: &Half| -> Vec<&str> {
        half.iter().map(|at| tuned.bench.conversations[*at].name.as_str()).collect()
    };
    let held = tuned.on_held.as_ref().map(|(base, chosen)| {
        json!({
            "default": figures(tuned, &tuned.held, base),
            "chosen": chosen.as_ref().map(|sum| figures(tuned, &tuned.held, sum)),
        })
    });
    json!({
        "version": VERSION,
        "midfold": env!("CARGO_PKG_VERSION"),
        "windows": tuned.bench.windows,
        "tokenizer": tuned.args.measure.tokenizer,
        "arguments": tuned.args.measure.arguments.name(),
        "prices": tuned.bench.prices.name,
        "base": BASE,
        "prefer": prefer(tuned.prefer),
        "searched": names(&tuned.searched),
        "held_out": names(&tuned.held),
        "left_out": tuned.left_out,
        "too_short": tuned.bench.skipped.short,
        "trials": tuned.found.trials.iter().map(|one| trial(tuned, one)).collect::<Vec<_>>(),
        "front": tuned.found.front,
        "chosen": tuned.found.chosen,
        "on_held_out": held,
        "verdict": verdict(tuned),
        "policy": file::text(tuned),
    })
}

fn prefer(prefer: Prefer) -> &'static str {
    match prefer {
        Prefer::Recall => "recall",
        Prefer::Cost => "cost",
        Prefer::Balance => "balance",
    }
}

fn verdict(tuned: &Tuned<'_>) -> Value {
    let (name, gain): (_, Option<&Gain>) = match &tuned.verdict {
        Verdict::Better { gain } => ("better", Some(gain)),
        Verdict::Nothing => ("nothing", None),
        Verdict::Noise { gain } => ("noise", Some(gain)),
        Verdict::NotHeld { gain } => ("not-held", Some(gain)),
    };
    json!({
        "is": name,
        "gain": gain.map(|gain| gain.by),
        "noise": gain.map(|gain| gain.noise),
        "text": report::sentence(tuned),
    })
}

fn trial(tuned: &Tuned<'_>, trial: &Trial) -> Value {
    let changes: serde_json::Map<String, Value> = changes(tuned.base, &trial.policy)
        .into_iter()
        .map(|change| (change.key, serde_json::to_value(change.to).unwrap_or_default()))
        .collect();
    json!({
        "changes": changes,
        "from": trial.from.map(|(from, _)| from),
        "knob": trial.from.map(|(_, knob)| KNOBS[knob].key),
        "fit": trial.fit,
        "figures": trial.total.as_ref().map(|sum| figures(tuned, &tuned.searched, sum)),
    })
}

fn figures(tuned: &Tuned<'_>, half: &Half, sum: &Measures) -> Value {
    let ratio = |share: Share| (share.need > 0).then(|| share.ratio());
    json!({
        "requests": sum.requests,
        "at_risk": ratio(sum.at_risk),
        "recall": ratio(sum.recall),
        "rare": ratio(sum.rare),
        "rules": ratio(sum.rules),
        "modified": ratio(sum.modified),
        "read": ratio(sum.read),
        "mean": report::mean(tuned, half, sum),
        "cost": report::cost(tuned, sum),
        "folds": sum.folds,
        "breaks": sum.breaks,
        "over": sum.over,
        "invalid": sum.invalid,
    })
}

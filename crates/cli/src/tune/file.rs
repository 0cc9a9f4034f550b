//! The policy as a file: what differs from the preset, and how it was found.

use midfold::core::replay::Measures;
use midfold::core::tune::overlay;

use crate::tune::{BASE, Tuned, report};
use crate::words::{line, number, wrap};

/// Columns of a comment.
const WIDTH: usize = 98;

pub fn text(tuned: &Tuned<'_>) -> String {
    let files: Vec<String> =
        tuned.args.files.iter().map(|path| line(&path.display().to_string(), 60)).collect();
    let about = [
        format!("Found by `midfold tune` {} on {}.", env!("CARGO_PKG_VERSION"), files.join(", ")),
        format!(
            "{}; {}; longer than {} windows; counted with {}, priced by {}.",
            report::windows(tuned.bench.windows),
            report::halves(tuned),
            tuned.bench.longer_than,
            tuned.args.measure.tokenizer,
            tuned.bench.prices.name,
        ),
        format!(
            "{} policies tried; wanted: {}.",
            number(tuned.found.trials.len() as u64),
            report::wish(tuned.prefer)
        ),
        figures(tuned),
        report::sentence(tuned),
    ];
    let mut out = String::new();
    for paragraph in about.iter().filter(|text| !text.is_empty()) {
        for line in wrap(paragraph, WIDTH) {
            out += &format!("# {line}\n");
        }
    }
    out + &overlay(BASE, tuned.base, &tuned.policy())
}

/// What the policy came to against the preset.
fn figures(tuned: &Tuned<'_>) -> String {
    if !tuned.is_better() {
        return String::new();
    }
    let trials = &tuned.found.trials;
    let (place, half, both) = match &tuned.on_held {
        Some((base, other)) => ("Held out", &tuned.held, (Some(base), other.as_ref())),
        None => {
            let chosen = trials[tuned.found.chosen].total.as_ref();
            ("Where it was searched", &tuned.searched, (trials[0].total.as_ref(), chosen))
        }
    };
    let (Some(base), Some(other)) = both else { return String::new() };
    let pair = |of: &dyn Fn(&Measures) -> f64| format!("{:.3} → {:.3}", of(base), of(other));
    format!(
        "{place}: at-risk retention {}, retention {}, cost {}, mean context {}, folds {} → {}.",
        pair(&|m| m.at_risk.ratio()),
        pair(&|m| m.recall.ratio()),
        pair(&|m| report::cost(tuned, m)),
        pair(&|m| report::mean(tuned, half, m)),
        number(base.folds),
        number(other.folds),
    )
}
